/* The state of the log that an answer follows from, as a short text: "12-3f09…", the revision of
 * the thread and a hash of what else an answer of an operation with `of_log` depends on. Equal
 * texts mean equal answers to equal requests. */
#ifndef HEDDLE_REVISION_H
#define HEDDLE_REVISION_H

#include "api/request.h"

/* `thread` absent: the workspace's own log. `form`: of the answer, where there are several. Opens
 * the log of the request. A commit between this and the answer makes the text too old, never too
 * new. */
enum status revision_write(struct request *r, struct sv thread, struct sv form, struct sb *out,
                           struct err *e) MUST_USE;

#endif
