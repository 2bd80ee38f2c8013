/* What operations on projections have in common. */
#ifndef HEDDLE_PROJECT_CALL_H
#define HEDDLE_PROJECT_CALL_H

#include "api/request.h"
#include "loom/node.h"

/* Which context is asked for. */
struct project_asked {
    struct sv thread;
    struct sv
        lane; /* must be one of the thread; "default" always exists. Absent: where the agent is */
    struct sv agent; /* absent: who asks, if he said or switched something here; else "default" */
    int64_t   at;    /* as it was after this entry; PARAM_UNSET: now */
};

/* Begin a read transaction with the views that contexts of the thread need. A log without marks on
 * nodes is read without the loom view. */
enum status project_call_begin(struct request *r, struct sv thread, struct err *e) MUST_USE;

/* What of the lane is seen, in that transaction. ST_NOT_FOUND: the thread has no lane of that name,
 * which is taken for a typing error. */
enum status project_call_seen(struct request *r, const struct project_asked *of,
                              struct loom_seen *out, struct err *e) MUST_USE;

/* Warns when the caller asked for the state after an entry that does not exist yet: the state after
 * the last entry is shown instead. `asked` may be PARAM_UNSET. */
void project_call_warn_end(struct request *r, struct sv thread, int64_t asked, int64_t last);

#endif
