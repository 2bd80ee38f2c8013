/* Words of a command: what one may be. For the grammar. Lists are "a|b=meant". */
#ifndef HEDDLE_COMMAND_WORDS_H
#define HEDDLE_COMMAND_WORDS_H

#include "command/lexer.h"

/* Equal but for case. */
bool word_same(struct sv a, struct sv b);

/* Is `word` in "a|b=a|c"? *meant is what it stands for. */
bool word_in(const char *words, struct sv word, struct sv *meant);

/* A word that was written as a word: no key, no quotes, no brackets. */
bool word_is_plain(const struct token *t);

/* A plain word of the list. */
bool word_plain_in(const struct token *t, const char *words);

/* Note which of tokens[0..n) are plain words that say nothing: they are asked about for every
 * phrase that a command might begin with. */
void words_mark(struct token *tokens, size_t n);

/* What may be the id of a node: letters, digits, edit marks, and ann-3. */
bool word_is_id(struct sv v);

/* An id rather than a word: in brackets, or letters and digits mixed. */
bool word_is_surely_id(const struct token *t);

/* A word that stands for something else: it, here. */
bool word_is_vague(const struct token *t);

/* A place, or an id that is not a word of the language. *id is what goes into the call. */
bool word_as_node(const struct token *t, struct sv *id);

/* A whole number, in digits or "three"; *digits is what goes into the call. */
bool word_as_count(struct sv v, struct sv *digits);

/* A number such as 1 or 0.7. */
bool word_is_real(struct sv v);

/* notes.md, drafts/one.md: the name of a document without quotes. */
bool word_is_file(const struct token *t);

/* Does the phrase stand at *at of tokens[0..n)? Then *at is what follows it. A word of a phrase may
 * be a choice, "show/view tree"; fillers between its words are skipped. */
bool words_phrase(const struct token *tokens, size_t n, const char *phrase, size_t *at);

#endif
