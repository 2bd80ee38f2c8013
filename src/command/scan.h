/* What a model wrote, taken apart: prose, thoughts, and the commands of one batch.
 *
 * A command is a line that starts with → (after spaces), outside of code fences (``` and ~~~), of
 * <!-- --> and of tags that show, quote or think (<pre>, <example>, <thinking>: the table in
 * scan.c), and of thoughts: in those, arrows are text. Where such a block has no end, this is
 * answered. Commands that follow each other make a batch; a model cannot know their results yet, so
 * the first line of prose after a batch, and all that follows, does not count. A quotation that is
 * still open at the end of a command's line goes on in the next lines.
 *
 * A line that looks like a command and is not (- → view a, -> view a, `→ view a`) never runs; it
 * stays in the prose where there is any, and is answered with the line that would run.
 *
 * After a command whose quotations cannot be read nothing more of the output counts: what follows
 * may be part of a text. */
#ifndef HEDDLE_COMMAND_SCAN_H
#define HEDDLE_COMMAND_SCAN_H

#include "base/status.h"
#include "base/sv.h"

struct scanned_line {
    struct sv   text;       /* what follows the arrow; may span lines */
    bool        is_think;   /* text is the thought */
    bool        is_refused; /* it does not run: `refusal` is the answer */
    struct err *refusal;
    size_t      not_run; /* lines with an arrow after this one that do not run because of it */
};
struct scan {
    struct sv            prose; /* before the batch, without the line breaks at its end */
    struct scanned_line *lines; /* commands, thoughts and answers, in order */
    size_t               n, commands;
    struct sv            discarded; /* what came after the batch; absent: nothing */
};

void scan_output(struct sv output, struct arena *a, struct scan *out);

#endif
