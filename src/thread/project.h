/* Projection: the context of a lane at any point of its log. Find the latest snapshot
 * (replace anchor) on the lane's path at or before the point, then fold the messages after
 * it, in order of seq. A plain fold: what it prints depends on the entries alone.
 *
 *     struct projection p;
 *     struct projection_of of = { thread, lane, STORE_TO_END, prompt };
 *     if (log_begin(l, thread, STORE_READ, e) || project_start(l, &of, a, &p, e) ||
 *         project_each(&p, print_one, ctx, e)) ...
 *     log_abort(l); */
#ifndef HEDDLE_PROJECT_H
#define HEDDLE_PROJECT_H

#include "thread/context.h"
#include "thread/lane.h"

struct projection_of {
    struct sv thread, lane;
    int64_t   upto;        /* include entries with seq <= upto; STORE_TO_END: all */
    struct sv base_prompt; /* of a lane without a snapshot; absent: none */
};

struct projection {
    struct log     *log;
    struct arena   *a;
    struct sv       thread, lane;
    int64_t         at;            /* the last seq considered; -1: the log is empty */
    int64_t         anchor;        /* seq of the snapshot, or -1 */
    int64_t         after;         /* messages with seq > after are folded on top of it */
    struct sv       system_prompt; /* absent: none */
    struct context  snapshot;
    struct stretch *path;
    size_t          n_path;
    int64_t         read;      /* entries read from the log so far */
    struct sb       calls;     /* for call_name(): the last tool_calls that were folded ... */
    int             calls_age; /* ... and how many messages ago */
};

/* What project_start() and project_each() will probably read, before the transaction begins: a hint
 * for a store across a network. Without a lane the lane of `agent` is guessed. */
void project_want(struct log *l, const struct projection_of *of, struct sv agent, struct arena *a);

/* Find anchor and path. In a transaction of the log. ST_NOT_FOUND: no such thread. */
enum status project_start(struct log *l, const struct projection_of *of, struct arena *a,
                          struct projection *out, struct err *e) MUST_USE;

/* The snapshot in force at the end of one stretch: its seq, or -1, and behind which seq messages
 * are folded on top of it, as in struct projection. In a transaction. */
enum status project_anchor(struct log *l, struct sv thread, struct stretch *of, int64_t *anchor,
                           int64_t *after, struct err *e) MUST_USE;

/* The snapshots on the path, newest first, until `fn` returns false: entries of kind
 * ai_context_operation, whose bytes are good during the call. */
typedef bool (*anchor_fn)(void *ctx, const struct entry *n);
enum status project_anchors(struct projection *p, anchor_fn fn, void *ctx, struct err *e) MUST_USE;

/* Was a node of the thread ever pruned, excluded or given a version? The loom view knows which. */
enum status project_is_marked(struct log *l, struct sv thread, struct arena *a, bool *out,
                              struct err *e) MUST_USE;

/* Each message, oldest first. The message's bytes are good during the call. */
typedef enum status (*message_fn)(void *ctx, const struct message *m, struct err *e);
enum status project_each(struct projection *p, message_fn fn, void *ctx, struct err *e) MUST_USE;

/* Only what came after `cursor`, for a caller who holds the context as it was at that seq. *restart
 * is true when a snapshot or a fork of the lane came in between: then no message is given, and the
 * caller begins again with project_each(). */
enum status project_since(struct projection *p, int64_t cursor, bool *restart, message_fn fn,
                          void *ctx, struct err *e) MUST_USE;

/* The messages behind the snapshot with seq < before (STORE_TO_END: from the newest), newest first,
 * until `fn` sets *more to false. Cost: what is given. Names of tools are as they were logged. */
typedef enum status (*message_back_fn)(void *ctx, const struct message *m, bool *more,
                                       struct err *e);
enum status project_back(struct projection *p, int64_t before, message_back_fn fn, void *ctx,
                         struct err *e) MUST_USE;

/* All of it in memory. */
enum status project_context(struct projection *p, struct context *out, struct err *e) MUST_USE;

/* The newest of it: `want` messages, or fewer when there are no more; *all is true when none is
 * left out. Read from the end of the lane, so that the cost is what is returned, however long it
 * is. */
enum status project_newest(struct projection *p, size_t want, struct context *out, bool *all,
                           struct err *e) MUST_USE;

/* {"at","lane","messages","system_prompt","thread"} in canonical form. */
enum status project_write(struct projection *p, struct sb *out, struct err *e) MUST_USE;

#endif
