/* Entries as they are committed, by whatever process: of one thread or of all.
 *
 *     struct follow f = follow_in(l, SV("design"), a);          absent: all threads
 *     follow_start(&f, thread, seq);                            else from now on
 *     for (;;) {
 *         if (follow_take(&f, &scratch, &list, &n, e)) return err_code(e);
 *         for (size_t i = 0; i < n; i++) use(&list[i]);
 *         if (!n && follow_wait(&f, 1000, peer, &why, e)) return err_code(e);
 *     }
 *
 * Entries of a thread come in order of seq, each once; between threads there is no order. No
 * transaction is open outside of the calls, so a slow reader blocks no writer. */
#ifndef HEDDLE_FOLLOW_H
#define HEDDLE_FOLLOW_H

#include "base/map.h"
#include "thread/limits.h"
#include "thread/log.h"

struct follow_entry {
    struct sv    thread;
    struct entry entry;
    bool         intact; /* false: its bytes may be anything */
};

/* How far a thread was followed. */
struct follow_place {
    int64_t     next;  /* the seq that comes next */
    struct hash chain; /* of the entry before it ... */
    bool        known; /* ... when that was looked at */
};

struct follow {
    struct log   *l;
    struct arena *a;
    struct sv     thread; /* absent: all */
    struct map    next;   /* struct follow_place by thread */
    bool started;    /* the first round is over: a thread that is found now is new and followed from
                        its start */
    bool       all;  /* existing threads are followed from their start too */
    size_t     turn; /* which thread comes first in the next round */
    int64_t    version; /* of the store, for store_wait() */
    struct err damage; /* ST_CORRUPT, ST_CONFLICT: what was found; returned after the entries before
                          it, or at once when there are none */
};

struct follow follow_in(struct log *l, struct sv thread, struct arena *a);

/* Before the first follow_take(): a thread from `seq` on; absent: every thread from its first
 * entry on. */
void follow_start(struct follow *f, struct sv thread, int64_t seq);

/* Entries committed since the last call, at most FOLLOW_ENTRIES of them; n is 0 when there are
 * none, and then nothing is wrong either: the caller may wait. Copied into `a`. ST_CORRUPT: part of
 * the log is missing or was changed. ST_CONFLICT, reason "replaced": entries that were returned
 * before no longer exist, because a backup was restored or the thread was deleted. */
enum status follow_take(struct follow *f, struct arena *a, struct follow_entry **out, size_t *n,
                        struct err *e) MUST_USE;

/* Wait for more: see store_wait(). */
enum follow_woken { FOLLOW_CHANGED, FOLLOW_QUIET, FOLLOW_PEER_GONE };
enum status follow_wait(struct follow *f, int timeout_ms, int peer, enum follow_woken *why,
                        struct err *e) MUST_USE;

/* The next seq of a thread; -1: the thread was not found yet. */
int64_t follow_next(const struct follow *f, struct sv thread);

#endif
