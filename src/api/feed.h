/* News of a workspace: which threads have new entries, committed by this process, another one, or
 * another machine on the same store. A piece of news is (thread, revision, kinds) without the
 * content of the entries; a reader that needs it reads the log.
 *
 *     struct feed *f = feed_open(ws);
 *     struct feed_reader r = { .rest = my_rest, .wake = my_wake };
 *     feed_join(f, &r, since, last_id);
 *     n = feed_take(f, &r, buf, sizeof buf);          0: nothing now, and rest() was called
 *     feed_leave(f, &r);
 *     feed_close(f);
 *
 * Text is that of server-sent events. All readers share the news that are kept, so that one that
 * does not read costs nothing; a reader whose next piece is no longer kept is told to begin again.
 * Between threads there is no order, and several commits may be one piece of news. A thread of its
 * own follows the log while there are readers, and for a while after the last one. */
#ifndef HEDDLE_FEED_H
#define HEDDLE_FEED_H

#include "api/workspace.h"

#include <stddef.h>

enum {
    FEED_KEPT = 4096,      /* pieces of news */
    FEED_BEAT_MS = 15000,  /* a comment goes out after this much silence */
    FEED_LINGER_MS = 60000 /* how long the log is followed without readers */
};

struct feed;

/* Owned by the caller, zeroed, and valid until feed_leave(). The two functions are called with a
 * lock of the feed held: they must not call the feed. */
struct feed_reader {
    void (*rest)(struct feed_reader *r); /* there is nothing: do not ask again before wake() */
    void (*wake)(struct feed_reader *r); /* there is something, or the feed ends; any thread */
    struct sv_list threads;              /* news of these alone; empty: of all. Outlives it */

    /* of the feed */
    struct feed_reader *before, *after;
    uint64_t            next; /* number of the piece of news that comes next */
    size_t              at;   /* bytes of it that were taken */
    int64_t             beat_us;
    bool                rests, beats, joined, ended;
    bool                fresh;   /* it waits until the state it begins with was looked at */
    bool                resumes; /* its last_id is known here */
    char               *since;
    char               *own; /* text for this reader alone */
    size_t              own_n, own_at;
};

struct feed_counts {
    int64_t readers, news, dropped;
};

struct feed *feed_open(struct workspace *ws);
void         feed_close(struct feed *f); /* no reader is left */

/* `last_id`: the id of the last event that was received, or absent. `since`: "T:REV,T2:REV", for
 * each of these threads the difference to its present revision is sent first; absent: only news
 * from now on. */
void feed_join(struct feed *f, struct feed_reader *r, struct sv since, struct sv last_id);
void feed_leave(struct feed *f, struct feed_reader *r);

/* Up to n bytes; 0: nothing now, rest() was called; -1: this reader should end. */
ptrdiff_t feed_take(struct feed *f, struct feed_reader *r, char *into, size_t n);

/* Tell all readers that the server ends; feed_take() then gives a last event and -1. */
void feed_end(struct feed *f);

struct feed_counts feed_counts(struct feed *f);

#endif
