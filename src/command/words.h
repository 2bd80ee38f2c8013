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

/* A plain word that says nothing: "the". */
bool word_is_filler(const struct token *t);

/* What may be the id of a node: letters, digits, edit marks, and ann-3. */
bool word_is_id(struct sv v);

/* An id rather than a word: in brackets, or letters and digits mixed. */
bool word_is_surely_id(const struct token *t);

/* A word that stands for something else: it, here. */
bool word_is_vague(const struct token *t);

/* A place, or an id that is not a word of ours. *id is what goes into the call. */
bool word_as_node(const struct token *t, struct sv *id);

/* A whole number, in digits or "three"; *digits is what goes into the call. */
bool word_as_count(struct sv v, struct sv *digits);

/* notes.md, drafts/one.md: the name of a document without quotes. */
bool word_is_file(const struct token *t);

#endif
