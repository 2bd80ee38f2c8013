/* Long texts in parts. A text is read by its lines; a line of more than PIECE_LINE bytes counts as
 * several, broken after a space where there is one, so that every part of any text can be asked for
 * and no single line is too long to be shown. */
#ifndef HEDDLE_LOOM_PIECE_H
#define HEDDLE_LOOM_PIECE_H

#include "base/sb.h"

enum { PIECE_LINE = 400 };

/* How many lines a text has by this rule. */
int64_t piece_lines(struct sv text);

/* Lines `first` to `*last`, 1-based, with their line ends; *last becomes the text's last line when
 * it is beyond that. ST_LIMIT_EXCEEDED: the text has no line `first`, or the range is empty. */
enum status piece_of(struct sv text, int64_t first, int64_t *last, struct sv *out,
                     struct err *e) MUST_USE;

/* The same for a range written as "10-20"; *first and *last are the lines it selects. */
enum status piece_of_range(struct sv text, struct sv range, int64_t *first, int64_t *last,
                           struct sv *out, struct err *e) MUST_USE;

/* The lines at the start of a text that have at most `bytes` bytes together, and how many they are.
 * Always at least one. */
struct sv piece_start(struct sv text, size_t bytes, int64_t *lines);

#endif
