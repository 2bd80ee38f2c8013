/* The log at rest: threads of entries, and the rows that views keep beside them.
 *
 * Append-only: an entry, once committed, keeps its seq and its bytes for ever, and no
 * reader sees part of a transaction. Everything happens in a transaction:
 *
 *     if (store_open(SV(".heddle/heddle.db"), &opts, &s, e)) return err_code(e);
 *     if (store_begin(s, STORE_WRITE, e)) ...
 *     if (store_append(s, thread, rev, entries, n, &head, e) ||
 *         store_row_put(s, &key, value, e) ||
 *         store_commit(s, e))                    durable from here on
 *         store_abort(s);                        nothing of it was written
 *     store_close(s);
 *
 * A store belongs to one thread of execution and has one transaction at a time. Many
 * processes may use one database: a writer waits for another up to `busy_ms`, then gets
 * ST_CONFLICT; readers never wait. tests/conform holds what every backend must do. */
#ifndef HEDDLE_STORE_H
#define HEDDLE_STORE_H

#include "store/entry.h"

struct store;
struct store_scan;
struct store_rows;

enum { STORE_BUSY_MS = 30000 };

struct store_options {
    bool create;    /* make it when it is missing; else ST_NOT_FOUND */
    bool read_only; /* no transaction will write: a read-only folder will do */
    int  busy_ms;   /* 0: STORE_BUSY_MS */
    /* A file is reached through this directory: what is opened is the last name of the path in
     * `dir`, wherever the path leads by now; the path is only for messages. The descriptor is
     * duplicated. Without at_dir the path itself is opened. */
    bool at_dir;
    int  dir;
};

/* `url` is a path or sqlite:PATH, mem:NAME, or fault:K:URL, which fails the K-th call.
 * ST_CORRUPT: not a heddle database, or damaged. ST_IO: cannot be opened, or made by a
 * newer version. An older schema is migrated in place, after a copy is made beside it. */
enum status store_open(struct sv url, const struct store_options *o, struct store **out,
                       struct err *e) MUST_USE;
void        store_close(struct store *s); /* aborts what is open; NULL is fine */

/* Reason of an ST_IO: the store may not be written, now or later. */
#define STORE_READ_ONLY "read_only"

/* A store that keeps the rows of `thread` in memory, none at first, and hands on all else to
 * `real`, which belongs to it from now on. It takes over the transaction that is open; what would
 * write to `real` is ST_IO. For views that have to be folded where nothing may be written. */
enum status store_beside(struct store *real, struct sv thread, struct store **out,
                         struct err *e) MUST_USE;

/* A transaction sees one state of the log, however long it lasts: that of its beginning, or of its
 * first read. Reads outside a transaction each see the newest. */
enum store_mode { STORE_READ, STORE_WRITE };
enum status store_begin(struct store *s, enum store_mode mode, struct err *e) MUST_USE;
enum status store_commit(struct store *s, struct err *e) MUST_USE; /* on failure: aborted */
void        store_abort(struct store *s); /* harmless when nothing is open */

/* ---- the log -------------------------------------------------------------------- */

struct store_head {
    int64_t     rev;     /* number of entries; 0: the thread does not exist */
    struct hash chain;   /* of the last entry; zero when rev is 0 */
    int64_t     created; /* at of the first entry and of the last one */
    int64_t     updated;
    int64_t     views; /* as set by store_set_views(); 0 at first */
    /* rev and chain as the last append recorded them beside the entries. They differ from the two
     * above when entries were cut off or added outside heddle: store_head_agrees(). */
    int64_t     recorded_rev;
    int         version; /* of the chain: that of the first entry; 0 when rev is 0 */
    struct hash recorded_chain;
};

enum status store_head(struct store *s, struct sv thread, struct store_head *out,
                       struct err *e) MUST_USE;

/* ST_CORRUPT, saying what is missing, when the log does not end where its last append left it. */
enum status store_head_agrees(struct sv thread, const struct store_head *h, struct err *e) MUST_USE;

#define STORE_ANY_REV ((int64_t)-1)

/* Append entries[0..n) to a thread, which comes into being with its first entry. The
 * store fills in seq and chain of each. *head is the head after them.
 * ST_CONFLICT: rev is not `expect` (reason "rev"), or an op_id is taken (reason "op_id").
 * ST_CORRUPT: the log does not end where its last append left it.
 * ST_LIMIT_EXCEEDED, ST_INVALID_SYNTAX: an entry is too large or has a bad name. */
enum status store_append(struct store *s, struct sv thread, int64_t expect, struct entry *entries,
                         size_t n, struct store_head *head, struct err *e) MUST_USE;

/* Entries of a thread with from <= seq <= to, in order of seq. Cost follows what is
 * returned. An entry's bytes are good until the next store_next() on the same scan.
 *
 * ST_CORRUPT of store_next(): one entry, or the entries up to the next readable one, cannot be
 * read; the next call goes on behind them (in a forward scan of every entry; another scan ends). */
struct store_query {
    struct sv       thread;
    int64_t         from, to;
    struct sv       lane; /* absent: every entry; else only those of the lane with ... */
    enum entry_mark mark; /* ... this mark (not MARK_NONE) */
    bool            backwards;
    bool            brief; /* only seq, at, payload and refs are wanted; the rest may be absent */
};
#define STORE_TO_END INT64_MAX

enum status store_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                       struct err *e) MUST_USE;
enum status store_next(struct store_scan *scan, struct entry *out, bool *more,
                       struct err *e) MUST_USE;
void        store_scan_close(struct store_scan *scan); /* NULL is fine */
void        store_scan_undo(struct store_scan **scan); /* for UNDO() */

/* How many entries the scan has passed over because they cannot be read. */
int64_t store_scan_lost(const struct store_scan *scan);

/* Is the entry that store_next() just gave what was written? Its chain value must follow from its
 * bytes and the chain value before it; ENTRY_UNPROVEN when the entry before it is gone. The scan
 * must not be brief. Costs a hash, and a read when the entry before it is not the one that the scan
 * gave before. */
enum entry_proof { ENTRY_INTACT, ENTRY_CHANGED, ENTRY_UNPROVEN };
enum status store_prove(struct store_scan *scan, const struct entry *n, enum entry_proof *out,
                        struct err *e) MUST_USE;

/* The first entry of a scan, copied into `a`. */
enum status store_first(struct store *s, const struct store_query *q, struct arena *a,
                        struct entry *out, bool *found, struct err *e) MUST_USE;

enum status store_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                          struct entry *out, bool *found, struct err *e) MUST_USE;

/* The chain value of one entry. *found is false when it is missing or damaged. */
enum status store_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                           bool *found, struct err *e) MUST_USE;

/* Change the mark of one entry: only for rebuilding views. ST_NOT_FOUND: no such entry. */
enum status store_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark mark,
                           struct err *e) MUST_USE;

/* Take the content of entries[0..n) out of the log for good: each keeps its skeleton, its
 * commitment and its chain value; payload, refs, salt and its words in the index go. They are
 * entries of a scan, with skeleton and content filled in; one that is erased already is passed
 * over. In a write transaction. The index of words is emptied as a whole, because it keeps deleted
 * words: it fills again from store_text_last() on. What the engine's files still hold of the bytes
 * goes with store_scrub(), after the commit. ST_CORRUPT: the chain value would not follow from what
 * is left: the entry was changed outside heddle. ST_INVALID_SYNTAX: an entry of chain version 1.
 * Nothing is changed then. */
enum status store_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                        struct err *e) MUST_USE;

/* One step of giving a thread of chain version 1 a chain of version 2: `n` is the next of its
 * entries from the first on, with id, salt, skeleton and content filled in; its payload may hold
 * more ids than it did. *chain is the new chain value before it, and then its own. With `last` the
 * thread becomes one of version 2 with this head. In one write transaction, over every entry.
 * Everything else of the entries stays. */
enum status store_rechain(struct store *s, struct sv thread, struct entry *n, struct hash *chain,
                          bool last, struct err *e) MUST_USE;

struct store_thread {
    struct sv         id;
    struct store_head head;
    bool              damaged; /* the head cannot be read, and is not filled in */
};

/* All threads, by id. */
enum status store_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                          struct err *e) MUST_USE;

/* Wait until the thread has more than `rev` entries or the time is over; *now is its rev
 * then. Outside a transaction. */
enum status store_wait(struct store *s, struct sv thread, int64_t rev, int timeout_ms, int64_t *now,
                       struct err *e) MUST_USE;

/* ---- rows of views -------------------------------------------------------------- */

/* Ordered key → value rows of one view of one thread. Keys are bytes, ordered as such. */
struct store_key {
    struct sv thread, view, key;
};

/* ST_NOT_FOUND of a put: the thread has no entry yet. Deleting what is not there is fine. */
enum status store_row_get(struct store *s, const struct store_key *k, struct arena *a,
                          struct sv *value, bool *found, struct err *e) MUST_USE;
enum status store_row_put(struct store *s, const struct store_key *k, struct sv value,
                          struct err *e) MUST_USE;
enum status store_row_del(struct store *s, const struct store_key *k, struct err *e) MUST_USE;

struct store_row {
    struct sv key, value;
};

/* Rows whose key starts with `prefix`, from the first key >= `after` (absent: the first;
 * backwards: from the last key <= `after`). A row's bytes are good until the next one. */
struct store_row_query {
    struct sv thread, view, prefix, after;
    bool      backwards;
};
enum status store_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                       struct err *e) MUST_USE;
enum status store_rows_next(struct store_rows *rows, struct store_row *out, bool *more,
                            struct err *e) MUST_USE;
void        store_rows_close(struct store_rows *rows);
void        store_rows_undo(struct store_rows **rows); /* for UNDO() */

/* Drop all rows of a view; remember which fold made the rows of a thread. */
enum status store_rows_clear(struct store *s, struct sv thread, struct sv view,
                             struct err *e) MUST_USE;
enum status store_set_views(struct store *s, struct sv thread, int64_t views,
                            struct err *e) MUST_USE;

/* ---- words of entries -------------------------------------------------------------- */

/* Make an entry findable by the words of `text`. An entry's words never change: to put it
 * again is harmless and does nothing. In a write transaction. */
enum status store_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                           struct err *e) MUST_USE;

/* The last entry of a thread that was put; -1: none. */
enum status store_text_last(struct store *s, struct sv thread, int64_t *seq,
                            struct err *e) MUST_USE;

struct store_hit {
    struct sv thread;
    int64_t   seq;
};

/* Entries that hold every one of words[0..n), newest first, at most `max`: of one thread, or of all
 * when `thread` is absent (threads in no particular order). A word with blanks in it is a
 * phrase. Case and accents do not matter where the engine has an index; a store without one (mem:)
 * looks through the messages themselves, so callers look at what they get. */
enum status store_text_find(struct store *s, struct sv thread, const struct sv *words, size_t n,
                            size_t max, struct arena *a, struct store_hit **out, size_t *count,
                            struct err *e) MUST_USE;

/* ---- care ----------------------------------------------------------------------- */

struct store_stats {
    int64_t threads, entries, rows, blobs;
    int64_t file_bytes, wal_bytes, free_bytes;
    int     schema;
};
enum status store_stats(struct store *s, struct store_stats *out, struct err *e) MUST_USE;

/* Ask the engine whether its file is whole, whether anything is in it that we did not make, and
 * whether entries are left of a thread that is gone: each complaint goes to `say`. */
enum status store_check(struct store *s, void (*say)(void *ctx, struct sv complaint), void *ctx,
                        struct err *e) MUST_USE;

/* Give each thread whose row is gone, but not its entries, a row again, as `lost-N`; *n is how many
 * there were. In a write transaction. */
enum status store_adopt_lost(struct store *s, int64_t *n, struct err *e) MUST_USE;

/* Write the engine's files anew, so that they hold no byte of what was erased: free pages, free
 * space in pages, the write-ahead log; and remove the copies that migrations left beside them, each
 * told to `removed` (may be NULL). Outside a transaction. ST_CONFLICT, reason "busy": another
 * process reads or writes; nothing is lost, and it is to be done again. */
enum status store_scrub(struct store *s, void (*removed)(void *ctx, struct sv name), void *ctx,
                        struct err *e) MUST_USE;

/* Empty the write-ahead log and give free pages back to the file system. */
enum status store_compact(struct store *s, struct err *e) MUST_USE;

#endif
