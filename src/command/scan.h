/* What a model wrote, taken apart: prose, thoughts, and the commands of one batch.
 *
 * A command is a line that starts with → (after blanks), outside of ``` fences. Commands
 * that follow each other make a batch; a model cannot know their results yet, so the
 * first line of prose after a batch, and all that follows, does not count. A quotation that
 * is still open at the end of a command's line goes on in the next lines. */
#ifndef HEDDLE_COMMAND_SCAN_H
#define HEDDLE_COMMAND_SCAN_H

#include "base/sv.h"

struct scanned_line {
    struct sv text;     /* what follows the arrow; may span lines */
    bool      is_think; /* text is the thought */
};
struct scan {
    struct sv            prose; /* before the batch, without the line breaks at its end */
    struct scanned_line *lines; /* commands and thoughts, in order */
    size_t               n, commands;
    struct sv            discarded; /* what came after the batch; absent: nothing */
};

void scan_output(struct sv output, struct arena *a, struct scan *out);

#endif
