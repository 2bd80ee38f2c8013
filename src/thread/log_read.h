/* Reading a log that may be damaged: every entry that can be read, whether it is what was written,
 * and how many are missing. For export, salvage and other code that reads a whole thread.
 *
 *     struct log_reader r;
 *     if (log_read_open(&r, l, thread, 0, STORE_TO_END, say, ctx, e)) return err_code(e);
 *     while (!(s = log_read_next(&r, &n, &intact, &more, e)) && more) use(&n, intact);
 *     log_read_close(&r);
 *     if (!s) s = log_read_result(&r, e);                  ST_CORRUPT when something is wrong */
#ifndef HEDDLE_LOG_READ_H
#define HEDDLE_LOG_READ_H

#include "base/vec.h"
#include "thread/log.h"

struct log_range {
    int64_t from, to;
};

struct log_reader {
    struct store_scan *scan;
    struct sv          thread;
    int64_t            next;     /* one behind the greatest seq given */
    int64_t            end;      /* one behind the last seq there should be; -1: not known */
    int64_t            read;     /* entries given so far ... */
    int64_t            changed;  /* ... of which these are not what was written */
    int64_t            missing;  /* entries that cannot be read or are gone */
    bool               damaged;  /* the store has reported damage */
    VEC(struct log_range) given; /* the seqs given so far, as stretches */
    int64_t      counted;        /* store_scan_lost() as far as it is in `missing` */
    struct arena scratch;        /* for `given`, and for the proof of one entry */
    struct err   head;           /* ST_CORRUPT: where the log ends is in doubt */
    void (*say)(void *ctx, struct sv finding);
    void *ctx;
};

/* Entries from <= seq <= to. `say` gets one line for each thing that is wrong, when it is met.
 * ST_NOT_FOUND: no such thread. Each call reads in the transaction that is open. */
enum status log_read_open(struct log_reader *r, struct log *l, struct sv thread, int64_t from,
                          int64_t to, void (*say)(void *ctx, struct sv finding), void *ctx,
                          struct err *e) MUST_USE;

/* The next entry that can be read; its bytes are good until the next call. *intact is false when
 * its chain value does not follow from it, or when that cannot be told and no such entry could have
 * been written: its bytes may then be anything. Where the pages of a
 * database are in disorder a seq can be less than the one before; none is given twice. */
enum status log_read_next(struct log_reader *r, struct entry *out, bool *intact, bool *more,
                          struct err *e) MUST_USE;
void        log_read_close(struct log_reader *r);

/* ST_OK when all was there and as it was written, else ST_CORRUPT with the counts. */
enum status log_read_result(const struct log_reader *r, struct err *e) MUST_USE;

#endif
