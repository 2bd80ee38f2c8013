/* Projection: the context of a lane at any point of its log. Find the latest snapshot
 * (replace anchor) on the lane's path at or before the point, then fold the messages after
 * it, in order of seq. A plain fold: what it prints depends on the entries alone.
 *
 *     struct projection p;
 *     if (log_begin(l, thread, STORE_READ, e) ||
 *         project(l, &(struct projection_of){ thread, lane, STORE_TO_END, prompt }, a, &p, e) ||
 *         project_each(&p, print_one, ctx, e)) ...
 *     log_abort(l);                                                                        */
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

/* Find anchor and path. In a transaction of the log. ST_NOT_FOUND: no such thread. */
enum status project(struct log *l, const struct projection_of *of, struct arena *a,
                    struct projection *out, struct err *e) MUST_USE;

/* Was a node of the thread ever excluded from what models are sent? The loom view knows which. */
enum status project_excludes(struct log *l, struct sv thread, struct arena *a, bool *out,
                             struct err *e) MUST_USE;

/* Each message, oldest first. The message's bytes are good during the call. */
typedef enum status (*message_fn)(void *ctx, const struct message *m, struct err *e);
enum status project_each(struct projection *p, message_fn fn, void *ctx, struct err *e) MUST_USE;

/* Only what came after `cursor`, for a caller who holds the context as it was at that seq.
 * *restart tells that a snapshot came in between, or that the lane was forked in between: then
 * nothing is given, and project_each() starts from scratch. */
enum status project_since(struct projection *p, int64_t cursor, bool *restart, message_fn fn,
                          void *ctx, struct err *e) MUST_USE;

/* All of it in memory. */
enum status project_context(struct projection *p, struct context *out, struct err *e) MUST_USE;

/* The newest of it: `want` messages, or fewer when there are no more; *all tells that none is left
 * out. Read from the end of the lane, so that the cost is what is returned, however long it is. */
enum status project_newest(struct projection *p, size_t want, struct context *out, bool *all,
                           struct err *e) MUST_USE;

/* {"at","lane","messages","system_prompt","thread"} in canonical form. */
enum status project_write(struct projection *p, struct sb *out, struct err *e) MUST_USE;

#endif
