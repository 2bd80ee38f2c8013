/* Compaction: older messages of a lane are replaced by a summary of them, or old results of tools
 * by one line each. It is a context operation like any other (thread/op.h): `replace`, reason
 * `compaction`, with what it was made from in `meta`, and `rebase`, so that messages which come
 * meanwhile stay. The log keeps everything: what is hidden is still found, viewed and pinned.
 *
 *     struct compact_plan plan;
 *     if (log_begin(log, thread, STORE_READ, e) || compact_prepare(&q, a, &plan, e)) ...
 *     log_abort(log);
 *     if (plan.is_due && compact_summarize(&plan, ask, ctx, a, e)) ...   nothing is locked
 *     if (log_begin(log, thread, STORE_WRITE, e) ||
 *         compact_apply(&plan, &who, a, &result, e) || log_commit(log, e)) ...
 *
 * A turn does this before its run begins, since the context of a run does not change while it
 * lasts. It costs little where nothing is due: no more of the conversation is read than the
 * threshold has tokens.
 *
 * A tree in buffer mode is one text: it is not compacted, but cut when it is sent. */
#ifndef HEDDLE_COMPACT_H
#define HEDDLE_COMPACT_H

#include "assemble/counts.h"
#include "loom/node.h"
#include "thread/op.h"
#include "thread/project.h"

enum {
    COMPACT_KEEP = 8,              /* default number of messages at the end that stay */
    COMPACT_AT = 80,               /* percent of the budget at which it is due */
    COMPACT_LINE_OVER = 50,        /* tokens; a shorter result of a tool is not shortened */
    COMPACT_PROMPT_TOKENS = 60000, /* of a conversation that a model is given at once */
    COMPACT_SUMMARY_TOKENS = 2000, /* of its answer */
};

struct compact_request {
    struct loom    loom;  /* in a transaction, with the loom view up to date */
    struct sv      lane;  /* which; absent: the one that the agent's position is on */
    struct sv      agent; /* whose pinned messages are kept in full; absent: none are */
    struct counts *counts;
    int64_t        keep; /* messages at the end that stay; 0: COMPACT_KEEP */
    int64_t        over; /* tokens of the conversation below which nothing is due; 0: it is due in
                          * any case */
    int64_t enough;      /* tokens of the conversation with which shortened results are enough;
                          * 0: they never are */
    bool      results_only; /* only shorten results, make no summary */
    struct sv instructions; /* for the summarising model, or absent */
};

struct compact_part {
    struct sv who, node, text; /* "human", a local id or absent */
    size_t    tokens;
    int64_t   stands_for; /* messages: 1, or those of an earlier summary */
    bool      is_summary;
};

struct compact_plan {
    struct compact_request q;
    bool                   is_due;  /* there is something to do */
    struct sv              why_not; /* else: the reason */
    struct sv              lane;
    int64_t                anchor;     /* the snapshot that is in force now, or -1 */
    int64_t                from, base; /* entries that are covered */
    struct sv            first, last;  /* local ids of the first and last node of them, or absent */
    size_t               kept;
    int64_t              covered; /* messages, those of an earlier summary included */
    size_t               before;  /* tokens of the conversation now */
    size_t               after;   /* and afterwards; set again by compact_summarize() */
    size_t               results, result_tokens; /* shortened ones, and what they had */
    bool                 summarizes;             /* else only results are shortened */
    struct compact_part *parts;                  /* what is to be summarised, oldest first */
    size_t               n_parts;
    size_t               tail;    /* tokens of what stays */
    struct context       context; /* the snapshot */
    struct message      *pinned;
    size_t               n_pinned;
    struct sv            model, summary; /* set by compact_summarize(); no model: an extract */
};

/* ST_INVALID_SYNTAX: the tree is in buffer mode. ST_NOT_FOUND: no such thread or lane. The plan
 * lives in `a`. */
enum status compact_prepare(const struct compact_request *q, struct arena *a,
                            struct compact_plan *out, struct err *e) MUST_USE;

/* Ask for the summary, in parts where the conversation is long: each time with the summary so far.
 * `ask` NULL: the summary consists of the summaries of the messages, one line each. Does nothing
 * when the plan needs no summary. */
typedef enum status compact_ask(void *ctx, struct sv system, struct sv text, int64_t max_tokens,
                                struct arena *a, struct sv *answer, struct err *e);
enum status compact_summarize(struct compact_plan *p, struct sv model, compact_ask *ask, void *ctx,
                              struct arena *a, struct err *e) MUST_USE;

/* The same with a summary that the caller has. ST_INVALID_SYNTAX: it is blank. */
#define COMPACT_GIVEN "given" /* the plan's model then */
enum status compact_summarize_by(struct compact_plan *p, struct sv summary, struct arena *a,
                                 struct err *e) MUST_USE;

/* Who does it, and under which op_id. */
struct compact_by {
    struct sv        agent; /* absent: the agent `default` */
    enum author_kind kind;  /* what it is ... */
    struct sv        node;  /* ... and where: it stays there; absent: at the lane's end */
    struct sv        actor, op_id;
    int64_t          at;
};

/* In a write transaction on the thread. ST_CONFLICT: another snapshot was made meanwhile. */
enum status compact_apply(const struct compact_plan *p, const struct compact_by *by,
                          struct arena *a, struct op_result *out, struct err *e) MUST_USE;

/* Take the newest compaction of a lane back: the snapshot before it is in force again, with all
 * messages behind that. In a write transaction. ST_NOT_FOUND: there is none (any more). */
struct compact_undone {
    struct sv op_id; /* of the compaction */
    int64_t   entry;
};
enum status compact_undo(struct loom *l, struct sv lane, const struct compact_by *by,
                         struct arena *a, struct compact_undone *undone, struct op_result *out,
                         struct err *e) MUST_USE;

#endif
