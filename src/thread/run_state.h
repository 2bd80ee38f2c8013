/* The state of an agent's run, folded from the log into one row (run/AGENT). Beside it are the rows
 *
 *     busy/LANE            the agent whose run is active in the lane
 *     parked/OP_ID         {"agent","seq"}: the operation that waits for the end of the agent's run
 *     applied/AGENT/SEQ    the op_id of an operation of the agent
 */
#ifndef HEDDLE_RUN_STATE_H
#define HEDDLE_RUN_STATE_H

#include "base/json.h"
#include "thread/log.h"

enum { RUN_ITERATIONS = 10 }; /* default limit of iterations */

enum run_status { RUN_IDLE, RUN_AWAITING_LLM, RUN_AWAITING_TOOL, RUN_COMPLETED, RUN_ERROR };

struct run_call {
    struct sv id, name;
    bool      done;
    int64_t   held; /* seq of a result that waits for an earlier call's; -1: none */
};
struct run_input {
    struct sv id;
    int64_t   seq; /* of its run_input entry */
};

struct run_state {
    enum run_status   status;
    bool              active; /* awaiting the model or a tool */
    bool              sealed; /* a final answer is in and nothing is queued: no more steering */
    struct sv         request_id, run_id, lane;
    int64_t           iteration, max_iterations;
    int64_t           event_seq;          /* highest seq of a runtime event that was logged */
    struct sv         result;             /* canonical JSON; absent: none yet */
    struct sv         termination_reason; /* absent while active */
    struct sv         cancel_reason, checkpoint_token;
    struct sv         usage; /* canonical object, numbers summed over the run; absent: none */
    struct run_call  *calls; /* of the last assistant message, in its order */
    size_t            n_calls;
    int64_t           calls_seq; /* of that message; -1: none */
    int64_t           asked_seq; /* model_request that has no answer yet; -1: none */
    int64_t           batch_seq; /* model_response whose commands are to be run; -1: none */
    struct run_input *queue;     /* steering that waits */
    size_t            n_queue;
    struct run_input *dropped; /* of a run that ended: steering that it never drained */
    size_t            n_dropped;
    struct sv         parked_op;  /* op_id of the parked context operation */
    int64_t           parked_seq; /* -1: none */
    struct sv         dropped_op; /* of a run that ended: the parked operation that could not be
                                   * applied, as {"op_id","reason","seq"}; absent: none */
};

const char *run_status_name(enum run_status s);

/* An agent that never ran is idle. In a transaction. */
enum status run_state_read(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                           struct run_state *out, struct err *e) MUST_USE;

/* All agents that ran in a thread, by name. In a transaction. */
struct run_named {
    struct sv        agent;
    struct run_state state;
};
enum status run_states(struct log *l, struct sv thread, struct arena *a, struct run_named **out,
                       size_t *n, struct err *e) MUST_USE;

/* Canonical JSON, as stored. */
void run_state_write(struct sb *b, const struct run_state *s);

/* The agent whose run is active in a lane; absent: none. In a transaction. */
enum status run_in_lane(struct log *l, struct sv thread, struct sv lane, struct arena *a,
                        struct sv *agent, struct err *e) MUST_USE;

/* The entry of the operation that waits under an op_id, of any agent; -1: none. */
enum status run_parked(struct log *l, struct sv thread, struct sv op_id, struct arena *a,
                       int64_t *seq, struct sv *agent, struct err *e) MUST_USE;

/* The part of thread_view's fold that concerns runs. */
enum status run_fold(struct rows *f, const struct entry *n, struct err *e) MUST_USE;

#endif
