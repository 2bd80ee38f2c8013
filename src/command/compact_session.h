/* Compaction inside a session: planned in a reading transaction, summarised with nothing locked,
 * applied in a writing one (assemble/compact.h).
 *
 *     struct compact_how how = compact_automatic(budget, percent);
 *     how.counts = &counts, how.model = model, ...
 *     if (session_compact(&s, &how, &plan, &result, e)) ...
 *     plan.is_due                        it was done; else plan.why_not
 *
 * A turn calls it before its run begins, and assembles afterwards: <thread_context> is then put in
 * again by itself, because the message that held it is hidden. */
#ifndef HEDDLE_COMPACT_SESSION_H
#define HEDDLE_COMPACT_SESSION_H

#include "assemble/compact.h"
#include "command/session.h"

struct compact_how {
    struct sv      lane; /* absent: the one that the agent's position is on */
    struct counts *counts;
    int64_t        keep, over, enough; /* as in struct compact_request */
    bool           results_only;
    struct sv      instructions;
    struct sv      model;   /* that makes the summary; absent: the messages' own first sentences */
    bool           named;   /* the caller named the model, which needs no warning */
    struct sv      summary; /* it is there already; absent: it is made */
    struct sv      last;    /* local id: what is replaced has to end there; absent: anywhere */
    struct sv      op_id;   /* absent: a random one */
    bool           preview; /* nothing is written, and no model is asked */
};

/* For a conversation that may have `budget` tokens: due when it has `percent` of them. Shortened
 * results are enough when they bring it to three quarters of that. */
struct compact_how compact_automatic(int64_t budget, int64_t percent);

/* ST_MODEL_ERROR and what s->env.ask returns: nothing was written. ST_CONFLICT: another snapshot
 * was made meanwhile, or what is replaced ends elsewhere than at how->last. During a run of the
 * agent the operation is parked (result.deferred). */
enum status session_compact(struct session *s, const struct compact_how *how,
                            struct compact_plan *plan, struct op_result *result,
                            struct err *e) MUST_USE;

/* Take back the newest compaction of a lane (absent: as above). */
enum status session_compact_undo(struct session *s, struct sv lane, struct sv op_id,
                                 struct compact_undone *undone, struct op_result *result,
                                 struct err *e) MUST_USE;

#endif
