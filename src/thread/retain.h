/* What of a thread is old and not in use, so that a policy may erase it.
 *
 *     struct retain_plan plan;
 *     if (log_begin(l, thread, STORE_WRITE, e) || retain_find(l, &what, &a, &plan, e) ||
 *         (plan.entries && erase_run(l, &plan.erase, &how, &seq, e)) || log_commit(l, e)) ...
 *
 * An entry is a candidate when it is older than a given time and has content. Kept are
 *
 *   - what the context of any lane is made of at the head of the log: its messages and its snapshot
 *     (and any later snapshot that cannot be read: erased, it would hide what is shown now);
 *   - of each agent everything of its last run, and while that is open all that came after its
 *     start; steering that waits, results that are held, operations that are parked;
 *   - the newest write of each document, operations on threads, marks of a tree, and the log's
 *     records about itself;
 *   - what the caller adds: pins and whatever else the loom view shows;
 *   - the raw answers of the messages that are kept or young.
 *
 * Each entry is judged by its own age and use. What was derived from an old entry and is in use,
 * such as the summary that took its place, stays and does not keep its source.
 *
 * Costs two scans of the thread and a few reads a lane and agent, and memory for one bit an entry
 * and a record for each that goes. */
#ifndef HEDDLE_RETAIN_H
#define HEDDLE_RETAIN_H

#include "thread/erase.h"

/* A set of seqs from 0 to rev - 1. */
struct seq_set {
    unsigned char *bits;
    int64_t        rev;
};
struct seq_set seq_set_in(struct arena *a, int64_t rev);
void           seq_set_add(struct seq_set *s, int64_t seq); /* one that cannot be is passed over */
bool           seq_set_has(const struct seq_set *s, int64_t seq);

struct retain_what {
    struct sv thread;
    int64_t   before; /* ms: what is younger is kept */
    size_t    max;    /* at most this many entries at once; 0: all */
    /* Add to `kept`, which has what lanes and runs show, what else is in use. *known false: nobody
     * knows, and every entry of a kind that only a tree has is kept. May be NULL. */
    enum status (*keep)(void *ctx, const struct retain_what *what, struct seq_set *kept,
                        bool *known, struct err *e);
    void *ctx;
};

struct retain_plan {
    struct erase_plan erase;          /* all of it asked for */
    int64_t           entries, bytes; /* that go; bytes of their payloads and refs */
    int64_t           oldest, newest; /* times of them, when there are any */
    int64_t           kept;           /* old, with content, and in use */
    bool              more;           /* there are more than `max` */
};

/* In a transaction of the log begun for the thread. ST_NOT_FOUND: no such thread.
 * ST_INVALID_SYNTAX, reason "version": its chain is of version 1. ST_CORRUPT: part of it cannot be
 * read. */
enum status retain_find(struct log *l, const struct retain_what *what, struct arena *a,
                        struct retain_plan *out, struct err *e) MUST_USE;

/* ---- what lanes show (retain_lanes.c) ------------------------------------------------------ */

/* Which entries the contexts of all lanes of a thread are made of. */
struct lanes_shown {
    struct map lanes; /* name -> struct lane_shown */
};

/* In a transaction. Each point at which a lane is shared is looked at once, however many share it.
 */
enum status lanes_shown_find(struct log *l, struct sv thread, struct arena *a,
                             struct lanes_shown *out, struct err *e) MUST_USE;
bool        lanes_shown_has(const struct lanes_shown *s, const struct entry *n);

#endif
