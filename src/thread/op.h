/* Context operations: replace a lane's context with a snapshot, switch an agent to a lane, fork a
 * lane at a point. Each is one log entry, applied at most once: an op_id that was applied before
 * changes nothing and is always reported as a duplicate.
 *
 * While the agent has a run, replace and switch are parked: the latest wins, the one it
 * displaces is recorded as superseded, and it is applied when the run ends. */
#ifndef HEDDLE_OP_H
#define HEDDLE_OP_H

#include "thread/lane.h"

enum op_type { OP_REPLACE, OP_SWITCH, OP_FORK };

struct op {
    enum op_type type;
    struct sv    thread, agent; /* agent absent: "default" */
    struct sv    op_id;         /* required */
    struct sv    lane;          /* absent: the active one; for fork the new lane, required */
    struct sv    reason;        /* manual, restore, compaction or system; absent: manual */
    struct sv    context;       /* replace: a context in either shape, as JSON text */
    bool         has_base_seq;  /* replace: what the snapshot was made from */
    int64_t      base_seq;
    bool         rebase;   /* and messages after it are folded on top; a compaction with a base_seq
                            * does so unless meta says {"rebase":false} */
    struct sv meta;        /* a JSON object; absent: {} */
    struct sv from;        /* fork: absent: the active lane */
    int64_t   from_seq;    /* fork: last shared seq; OP_AT_HEAD: the head */
    bool      also_switch; /* fork: and make it the agent's lane */
    bool      has_expect;  /* only if the thread has exactly `expect` entries */
    int64_t   expect;
    struct sv actor;
    int64_t   at;
};
#define OP_AT_HEAD INT64_MAX

struct op_result {
    struct sv op_id, lane;
    bool      applied, duplicate, deferred;
    int64_t   seq;        /* of the entry that holds it */
    struct sv superseded; /* op_id of the parked operation it displaced, or absent */
};

/* The words of operation.type. */
const char *op_type_name(enum op_type t);

/* One transaction of its own. ST_INVALID_SYNTAX: no op_id, a bad reason, lane or context.
 * ST_CONFLICT: the op_id was used, or is parked by any agent, with other content (reason "op_id"),
 * the head moved (reason "rev"), the lane to fork exists (reason "lane_exists"), or the lane to
 * replace is that of another agent's active run (reason "lane_busy"). ST_NOT_FOUND: no such lane or
 * seq to fork from or to rebase onto. An op_id is up to ENTRY_ID_MAX bytes of UTF-8 without ",
 * \ and control characters. */
enum status op_apply(struct log *l, const struct op *op, struct arena *a, struct op_result *out,
                     struct err *e) MUST_USE;

/* The same inside the caller's write transaction. */
enum status op_apply_in(struct log *l, const struct op *op, struct arena *a, struct op_result *out,
                        struct err *e) MUST_USE;

/* The operation that entry `parked` of the thread holds, made ready for the end of the run of its
 * agent: a snapshot of a compaction gets what the lane has now. When it cannot be applied any more
 * (it cannot be read, its op_id was used, the lane it would fork exists, or its lane is busy), *why
 * is set and ST_OK is returned; only failures of the store are errors. In the caller's write
 * transaction. */
struct op_parked {
    struct op op;
    struct sv payload;
    bool      applied_before; /* another entry has the same content: nothing is left to do */
};
enum status op_parked_read(struct log *l, struct sv thread, int64_t parked, struct sv actor,
                           int64_t at, struct arena *a, struct op_parked *out, struct err *why,
                           struct err *e) MUST_USE;

/* Append it. */
enum status op_parked_apply(struct log *l, const struct op_parked *p, struct arena *a,
                            struct err *e) MUST_USE;

#endif
