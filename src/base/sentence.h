/* Sentences of a text, for extracts: in scripts with blanks between words and in those without. */
#ifndef HEDDLE_SENTENCE_H
#define HEDDLE_SENTENCE_H

#include "base/sv.h"

/* The length of the mark at the start of `rest` that ends a sentence there, with the quotation
 * marks that close behind it; 0 when none does. A full stop, ! and ? end one before a blank or at
 * the end of the text; 。！？ and their like always do. */
size_t sentence_mark(struct sv rest);

/* The first sentence, without blanks around it: at most `words` words, and not beyond an empty
 * line. Where words are written without blanks, two characters count as one word. */
struct sv sentence_first(struct sv text, size_t words);

/* Up to the end of the last sentence that is whole; all of it when none is. */
struct sv sentence_whole(struct sv text);

#endif
