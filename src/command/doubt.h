/* Doubt: what makes a line a question rather than a command.
 *
 * A question mark of any script, dots, brackets or quotation marks round the line and words that
 * ask or hedge ("could you", "maybe", "I think": phrase_hedges) leave open whether the line should
 * run. Inside a quotation all of them are text, and so is a mark in the middle of a word (what?.md,
 * ../notes.md). */
#ifndef HEDDLE_COMMAND_DOUBT_H
#define HEDDLE_COMMAND_DOUBT_H

#include "base/sv.h"

/* Is there doubt in a line, without its arrow? Then `sign` is the first that shows it, as it stands
 * there, and `without` the line with no sign of doubt left, in `a`. A line whose quotations do not
 * close has none: its error says so. */
struct doubt {
    struct sv sign, without;
    bool      only_marks; /* question marks and dots, no brackets and no words */
};
bool doubt_find(struct sv line, struct arena *a, struct doubt *out);

#endif
