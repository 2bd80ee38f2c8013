/* Sentences of a text, for extracts: in scripts with spaces between words and in those without. */
#ifndef HEDDLE_SENTENCE_H
#define HEDDLE_SENTENCE_H

#include "base/sv.h"

/* The length of the mark at the start of `rest` that ends a sentence there, with the quotation
 * marks that close behind it; 0 when none does. A full stop, ! and ? end one before a space or at
 * the end of the text; 。！？ and their like always do. */
size_t sentence_mark(struct sv rest);

/* The first sentence, without spaces around it: at most `words` words, and not beyond an empty
 * line. Where words are written without spaces, two characters count as one word. */
struct sv sentence_first(struct sv text, size_t words);

/* Has the text at most `words` words, counted in the same way? */
bool sentence_within(struct sv text, size_t words);

/* Up to the end of the last complete sentence; all of the text when there is none. */
struct sv sentence_whole(struct sv text);

#endif
