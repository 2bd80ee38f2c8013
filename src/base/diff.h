/* Two texts compared line by line. */
#ifndef HEDDLE_DIFF_H
#define HEDDLE_DIFF_H

#include "base/sv.h"

/* Limit of lines, because a comparison needs a table with a cell for each pair of lines. */
enum { DIFF_LINES_MAX = 2000 };

/* Calls `each` for every line, without its line break, in order: mark ' ' is in both, '-' only in
 * `before`, '+' only in `after`. False: a text has more than DIFF_LINES_MAX lines, and nothing was
 * called. */
bool diff_lines(struct sv before, struct sv                               after,
                void (*each)(void *ctx, char mark, struct sv line), void *ctx);

#endif
