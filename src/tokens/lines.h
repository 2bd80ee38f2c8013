/* Line starts that are piece borders whatever text is before and after them: the line begins, after
 * spaces and tabs, with a printable ASCII character, and its first byte is not a slash. At such a
 * place the counts of both sides can be added. (A newline ends a piece unless more white space with
 * a newline follows, or, in o200k_base after punctuation, a slash.) */
#ifndef HEDDLE_TOKENS_LINES_H
#define HEDDLE_TOKENS_LINES_H

#include "base/sv.h"

/* The first such line start after offset `from`, which must be at least one byte on; text.n
 * when there is none. */
size_t tokens_lines_next_border(struct sv text, size_t from);

/* The last one; 0 when there is none. */
size_t tokens_lines_last_border(struct sv text);

#endif
