/* The log at rest: threads of entries, and the rows that views keep beside them.
 *
 * Append-only: an entry, once committed, keeps its seq and its bytes forever, and no
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

#include "store/types.h"

struct store_options {
    bool create;    /* make it when it is missing; else ST_NOT_FOUND */
    bool read_only; /* no transaction will write: the directory may be read-only */
    int  busy_ms;   /* 0: STORE_BUSY_MS */
    /* A file is reached through this directory: the last component of the path is opened in `dir`,
     * even if the path leads elsewhere by now; the path is only for messages. The descriptor is
     * duplicated. Without at_dir the path itself is opened. */
    bool at_dir;
    int  dir;
    /* The id of the workspace that the log belongs to. A server that has the logs of many
     * workspaces tells them apart by it. Empty: the workspace has no id yet, and so no log on the
     * server. Absent: the caller does not want the log of a workspace. A file belongs to the
     * workspace in which it lies and ignores this. */
    struct sv workspace;
    /* Write also after the log was moved away from here: for those who keep the old store as a copy
     * of the log. */
    bool past_move;
};

/* `url` is a path or sqlite:PATH, postgres://…, mem:NAME, or fault:K:URL, which fails the K-th
 * call. ST_CORRUPT: not a heddle database, or damaged. ST_IO: cannot be opened, or made by a newer
 * version. An older schema is migrated in place, after a copy is made beside it. A store across a
 * network may look only with the first call that reads or writes whether the log is there, and what
 * version it has: ST_NOT_FOUND and these errors come then. */
enum status store_open(struct sv url, const struct store_options *o, struct store **out,
                       struct err *e) MUST_USE;
void        store_close(struct store *s); /* aborts what is open; NULL is fine */

/* The URL of a store for people: without a password. */
struct sv store_url_shown(struct sv url, struct arena *a);

/* The same as a place that others can use, too: what is secret in it is left out, and a file that
 * exists has its whole path, without links. */
struct sv store_url_bare(struct sv url, struct arena *a);

/* Was the log made by this store, when it was opened or first used? */
bool store_is_new(const struct store *s);

/* The time that all who use the log agree on, in milliseconds: that of the machine the log is on,
 * wherever this process runs. Use it for times that one process writes and another compares
 * (leases). While the clock is fixed (clock_set()), the fixed time is returned. A store across a
 * network learns the server's clock with its first answer and uses this machine's until then. */
int64_t store_now(struct store *s);

/* A store that keeps the rows of `thread` in memory, none at first, and passes all other calls on
 * to `real`, which it owns from now on. It takes over the transaction that is open; a call that
 * would write to `real` returns ST_IO. For views that have to be folded where nothing may be
 * written. */
enum status store_beside(struct store *real, struct sv thread, struct store **out,
                         struct err *e) MUST_USE;

/* The same, but the thread shows only its first `end` entries, even if more are appended. */
enum status store_until(struct store *real, struct sv thread, int64_t end, struct store **out,
                        struct err *e) MUST_USE;

/* Remove such a store: returns the store behind it, which the caller owns again. No scan may be
 * open. */
struct store *store_uncover(struct store *front);

/* A transaction sees one state of the log, however long it lasts: that of its beginning, or of its
 * first read. Reads outside a transaction each see the newest. */
enum status store_begin(struct store *s, enum store_mode mode, struct err *e) MUST_USE;

/* The same for a transaction whose subject is `thread`; it may use other threads too. A store that
 * locks threads one by one locks this one. ST_CONFLICT, reason "busy", is returned here or by the
 * first call that uses the thread. SQLite and mem: lock the whole store here. */
enum status store_begin_on(struct store *s, enum store_mode mode, struct sv thread,
                           struct err *e) MUST_USE;
enum status store_commit(struct store *s, struct err *e) MUST_USE; /* on failure: aborted */
void        store_abort(struct store *s); /* harmless when nothing is open */

/* Between two write transactions of long work: a pause in which a process that waits for the lock
 * of the whole store gets it. Engines have no queue of those who wait; they try again at short
 * intervals. */
void store_let_others(struct store *s);

/* Write transactions that become durable together, with one sync for all of them: for a process
 * that serves many writers.
 *
 *     if (store_group_begin(s, e)) ...
 *     for each: store_begin(s, STORE_WRITE, e), ..., store_commit(s, e) or store_abort(s)
 *     if (store_group_end(s, e)) ...                        durable from here on
 *
 * Inside a group a transaction is a part of it: store_abort() undoes that part alone; a later part
 * and a transaction that reads see what the parts before it committed, and otherwise the state of
 * the group's beginning, or of its first read; nobody else sees any of it before the end. Where
 * threads are locked one by one, a thread that another process has locked, or has changed since,
 * gives ST_CONFLICT "busy" for that part alone, which is to be run again after the group. A failure
 * of the engine that takes back more than one part (a full disk, a lost connection) breaks the
 * group: further calls return ST_IO, reason "group", and so does store_group_end().
 *
 * store_group_end() fails: nothing of the group was written, unless the reason is "uncertain"; the
 * caller may run each part again by itself. ST_CONFLICT "busy" of a group comes from its begin, or
 * with the first use of a thread, as with store_begin_on(). store_group_abort() drops all of it,
 * and is harmless outside a group. */
struct store_part {
    struct sv thread, op_id; /* absent: none */
};
bool        store_has_groups(const struct store *s);
enum status store_group_begin(struct store *s, struct err *e) MUST_USE;
enum status store_group_end(struct store *s, struct err *e) MUST_USE;
void        store_group_abort(struct store *s);

/* What the parts of the group that was just begun will write to, in their order. A store across a
 * network may then lock these threads and read what their parts need all at once, with its first
 * answer; a thread that another process has is left to its part. Only a hint: parts may be about
 * something else, or not come at all. SQLite and mem: do nothing. */
void store_group_want(struct store *s, const struct store_part *parts, size_t n);

/* ---- where the log is ----------------------------------------------------------- */

/* A log has one owner. When it is moved to another store, the old one is marked in a transaction
 * that no other writer overlaps. From then on each transaction that would write to the old store
 * fails with ST_CONFLICT, reason STORE_MOVED: at its beginning, or with the first answer of a store
 * across a network; also one of a process that had the store open before. Transactions that read go
 * on: store_gone_to() is what the last one saw, or absent while the log is here; when there was
 * none since the last call, it looks now. */
struct sv store_gone_to(struct store *s);

struct store_moved {
    struct sv to;   /* where the log went, without a password; absent: it is here */
    struct sv id;   /* of that move */
    struct sv back; /* the id of a move back to here that is not finished; or absent */
    struct sv came; /* lines "ID PLACE": the moves by which the log came here, oldest first */
};
enum status store_moved(struct store *s, struct arena *a, struct store_moved *out,
                        struct err *e) MUST_USE;

/* A write transaction that begins when no other one is open, keeps all others out until it ends,
 * and is not refused by the mark. In it store_set_moved() writes the mark (`to` absent: removes it)
 * and the list. Outside a group. */
enum status store_begin_alone(struct store *s, struct err *e) MUST_USE;
enum status store_set_moved(struct store *s, const struct store_moved *m, struct err *e) MUST_USE;

/* Did the log come here by the move with this id? */
bool store_came_by(const struct store_moved *m, struct sv id);

/* ---- the log -------------------------------------------------------------------- */

enum status store_head(struct store *s, struct sv thread, struct store_head *out,
                       struct err *e) MUST_USE;

/* Returns ST_CORRUPT with what is missing when the log does not end where its last append left
 * it. */
enum status store_head_agrees(struct sv thread, const struct store_head *h, struct err *e) MUST_USE;

/* Append entries[0..n) to a thread, which is created by its first entry. The store fills in seq and
 * chain of each. *head is the head after them.
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
enum status store_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                       struct err *e) MUST_USE;
enum status store_next(struct store_scan *scan, struct entry *out, bool *more,
                       struct err *e) MUST_USE;
void        store_scan_close(struct store_scan *scan); /* NULL is fine */
void        store_scan_undo(struct store_scan **scan); /* for UNDO() */

/* How many entries the scan has passed over because they cannot be read. */
int64_t store_scan_lost(const struct store_scan *scan);

/* Are entries[0..n), which store_next() gave last and in this order, what was written? The chain
 * value of each must follow from its bytes and the chain value before it; ENTRY_UNPROVEN when the
 * entry before it is gone. The scan must not be brief. Costs a hash each, several of which are
 * computed at a time, and a read where the entry before is not the one that the scan gave before.
 * `scratch` is left as it was.
 *
 * It is store_before(), which may read from the store, and entry_prove(), which does not. */
enum status store_before(struct store_scan *scan, const struct entry *entries, size_t n,
                         struct entry_before *out, struct err *e) MUST_USE;
enum status store_prove(struct store_scan *scan, const struct entry *entries, size_t n,
                        struct arena *scratch, enum entry_proof *out, struct err *e) MUST_USE;

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
 * words: it fills again from store_text_last() on. store_scrub(), after the commit, removes the
 * bytes that are still in the engine's files. ST_CORRUPT: the chain value would not follow from
 * what is left: the entry was changed outside heddle. ST_INVALID_SYNTAX: an entry of chain version
 * 1. Nothing is changed then. */
enum status store_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                        struct err *e) MUST_USE;

/* One step of giving a thread of chain version 1 a chain of version 2: `n` is the next of its
 * entries from the first on, with id, salt, skeleton and content filled in; its payload may hold
 * more ids than it did. *chain is the new chain value before it, and then its own. With `last` the
 * thread becomes one of version 2 with this head. In one write transaction, over every entry.
 * Everything else of the entries stays. */
enum status store_rechain(struct store *s, struct sv thread, struct entry *n, struct hash *chain,
                          bool last, struct err *e) MUST_USE;

/* All threads, by id. */
enum status store_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                          struct err *e) MUST_USE;

/* Only the ids, in the same order: cheaper, because the ends of the logs are not read. */
enum status store_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                             struct err *e) MUST_USE;

/* Wait until something is committed to the store, in whatever thread, by whatever process. *version
 * is what an earlier call left there; a new one (0 at first) is left each time, and differs when
 * there may be something new. Outside a transaction, in which nothing new is seen. `peer` (-1:
 * none) is a descriptor, such as the pipe or socket of the client; the wait ends when its other end
 * is closed. A signal ends it early, as if the time were over. The wait does not poll all the time:
 * the version is read after a notification of the engine, and at intervals. ST_IO, reason
 * "replaced": another file was put in the place of the one that is open. */
enum store_woken {
    STORE_CHANGED,
    STORE_QUIET,    /* the time is over */
    STORE_PEER_GONE /* the other end of `peer` was closed */
};
enum status store_wait(struct store *s, int64_t *version, int timeout_ms, int peer,
                       enum store_woken *why, struct err *e) MUST_USE;

/* What is committed, as a mark. Equal marks mean that nothing was committed between them, in any
 * thread, by any process; the mark includes every commit that was acknowledged before the call.
 * Reading a mark takes no lock of the engine and never waits, so it can be done for every request,
 * inside and outside a transaction. False: there is no mark now (a commit is in progress), or
 * never: the engine is across a network, or the file at its path is no longer the open one. */
enum { STORE_MARK_WORDS = 12 };
struct store_mark {
    uint32_t words[STORE_MARK_WORDS];
};
bool store_mark(struct store *s, struct store_mark *out);
bool store_has_marks(const struct store *s); /* false: store_mark() always returns false */

/* Is the database at its path still the one that is open? A store across a network: always. What is
 * written to a file that was removed or replaced is lost. */
bool store_in_place(struct store *s);

/* ---- threads in the making ------------------------------------------------------- */

/* A staged thread is written in any number of transactions before anybody sees it: its id begins
 * with STORE_STAGED, and no list, count or size has it. A store whose transactions lock the whole
 * of it has staged threads (store_stages()), so that much can be brought in while others write:
 *
 *     store_allow_staged(s, true);
 *     slice by slice: store_begin(), store_append(s, staged, ...), store_commit()
 *     store_begin(), store_rename(s, staged, thread, e), store_commit()      now it is there
 *
 * Calls take such an id only while it is allowed, so that no command can name one. A caller
 * that stages must also find (store_staged()) and drop what an interrupted one left behind. */
#define STORE_STAGED ".staged-"
bool store_is_staged(struct sv thread);
bool store_stages(const struct store *s);
void store_allow_staged(struct store *s, bool on);

/* The ids of all of them, in order. */
enum status store_staged(struct store *s, struct arena *a, struct sv **out, size_t *n,
                         struct err *e) MUST_USE;

/* In the write transaction of its first append: the entries of a new staged thread get the seqs and
 * chain values that they would have in a thread with this head. */
void store_stage_after(struct store *s, struct sv staged, const struct store_head *head);

/* In a write transaction: the thread gets another id, of which there must be no thread. Its entries
 * and rows stay where they are. */
enum status store_rename(struct store *s, struct sv from, struct sv to, struct err *e) MUST_USE;

/* Drop all staged threads whose ids begin like this (store_drop_later()), and what is left of any
 * dropped thread. Outside a transaction. `narrow`: there may be no room to write much. */
enum status store_drop_staged(struct store *s, struct sv staged, bool narrow,
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

/* What will be asked for soon: the rows of keys[0..n), the entry with an op_id; in a transaction,
 * or before the one that will ask. A store across a network may fetch them together with its next
 * answer. It is only a hint: asking for something else afterwards, or for nothing, is allowed. At
 * most STORE_WANT_MAX of the keys count. SQLite and mem: do nothing. */
void store_want(struct store *s, const struct store_key *keys, size_t n);
void store_want_op(struct store *s, struct sv thread, struct sv op_id);
/* The same of a scan: its first entries, or those of a scan that begins later or ends earlier. */
void store_want_scan(struct store *s, const struct store_query *q);

/* Hint: much will be written, in any number of transactions, until the hint is taken back. A store
 * may keep more of the database in memory meanwhile. */
void store_bulk(struct store *s, bool on);

/* Keep the rows of one thread in memory, in a write transaction, until they are released: each is
 * read from the engine once and written once, however often it changes. For folding many entries.
 * What is read or written meanwhile is seen by every call of this store, and store_row_get() gives
 * bytes that are good until store_release(). store_release() writes what has
 * changed, and must come before the commit; store_abort() drops it. */
struct store_known;
void        store_hold(struct store *s, struct sv thread, struct store_known *known);
enum status store_release(struct store *s, struct err *e) MUST_USE;

/* Which rows there may be of what is asked for while rows are held (all that were put since there
 * were none; a Bloom filter): the engine is not asked for others. It is good for as long as nobody
 * else puts such rows, also over several transactions. store_hold() takes NULL or an empty one for
 * not knowing. store_known_none(): there are no rows, and about so many will come. */
struct store_known {
    uint64_t *bits;
    uint64_t  n; /* how many bits: a power of two */
};
void store_known_none(struct store_known *k, int64_t rows);
void store_known_free(struct store_known *k); /* harmless when it is empty */

/* A row that is held may be kept as the struct that its bytes are made from. store_held() is the
 * arena for what such structs point to; NULL when rows of this thread are not held. store_object()
 * is the struct of a row that was put with the same `encode`, else NULL. store_put_object() puts
 * the row and gives its struct for the caller to fill: as it was put before with the same `encode`,
 * else zeros. */
struct arena *store_held(struct store *s, struct sv thread);
void         *store_put_object(struct store *s, const struct store_key *k, size_t size,
                               store_encode_fn encode);
const void   *store_object(struct store *s, const struct store_key *k, store_encode_fn encode);

/* Read rows, at most `max`, so that store_row_get() answers for them in this transaction without
 * asking the engine again. */
enum status store_prefetch(struct store *s, const struct store_row_query *q, size_t max,
                           struct err *e) MUST_USE;

/* A row's bytes are good until the next one. */
enum status store_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                       struct err *e) MUST_USE;
enum status store_rows_next(struct store_rows *rows, struct store_row *out, bool *more,
                            struct err *e) MUST_USE;
void        store_rows_close(struct store_rows *rows);
void        store_rows_undo(struct store_rows **rows); /* for UNDO() */

/* Drop rows of a view, at most `max` of them, except the one with the key `but`; *n is how many.
 * Fewer than `max`: there are no others. */
enum status store_rows_drop(struct store *s, struct sv thread, struct sv view, struct sv but,
                            size_t max, size_t *n, struct err *e) MUST_USE;

/* Drop all rows of a view; remember which fold made the rows of a thread. */
enum status store_rows_clear(struct store *s, struct sv thread, struct sv view,
                             struct err *e) MUST_USE;
enum status store_set_views(struct store *s, struct sv thread, int64_t views,
                            struct err *e) MUST_USE;

/* The views of which a thread has rows, by name. */
enum status store_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                        size_t *n, struct err *e) MUST_USE;

/* ---- words of entries -------------------------------------------------------------- */

/* Make an entry findable by the words of `text`. An entry's words never change: to put it
 * again is harmless and does nothing. In a write transaction. */
enum status store_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                           struct err *e) MUST_USE;

/* The last entry of a thread that was put; -1: none. */
enum status store_text_last(struct store *s, struct sv thread, int64_t *seq,
                            struct err *e) MUST_USE;

/* Entries that hold every one of words[0..n), newest first, at most `max`: of one thread, or of all
 * when `thread` is absent (threads in no particular order). A word with spaces in it is a phrase.
 * Case and accents do not matter where the engine has an index; a store without one (mem:) looks
 * through the messages themselves, so callers check each entry they get. */
enum status store_text_find(struct store *s, struct sv thread, const struct sv *words, size_t n,
                            size_t max, struct arena *a, struct store_hit **out, size_t *count,
                            struct err *e) MUST_USE;

/* ---- content ------------------------------------------------------------------------ */

/* Bytes by their BLAKE2b-256, beside the log, for machines that share the store and do not have
 * them: at most STORE_OBJECT_MAX; larger ones are not kept. The calls may be made inside or outside
 * a transaction and are independent of it. The caller of store_object_get() must check that the
 * bytes have the hash. A store that only one machine uses keeps none. */
enum status store_object_put(struct store *s, const struct hash *hash, struct sv bytes,
                             struct err *e) MUST_USE;
enum status store_object_get(struct store *s, const struct hash *hash, struct arena *a,
                             struct sv *bytes, bool *found, struct err *e) MUST_USE;
enum status store_object_drop(struct store *s, const struct hash *hash, struct err *e) MUST_USE;

/* ---- care ----------------------------------------------------------------------- */

enum status store_stats(struct store *s, struct store_stats *out, struct err *e) MUST_USE;

/* Facts for people about where the log is: `kind` and `place` come first, then those of the engine.
 * They contain no secret. Outside a transaction. */
struct store_fact {
    struct sv name, value;
};
enum status store_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                        struct err *e) MUST_USE;

/* Advice on how the log is kept, such as that there is only one copy of it. Nothing of it is an
 * error. Each piece of advice goes to `say`. Outside a transaction. */
enum status store_advise(struct store *s, void (*say)(void *ctx, struct sv advice), void *ctx,
                         struct err *e) MUST_USE;

/* Ask the engine whether its file is intact, whether it contains anything that heddle did not
 * create, and whether there are entries of a thread that no longer exists: each problem goes to
 * `say`. */
enum status store_check(struct store *s, void (*say)(void *ctx, struct sv complaint), void *ctx,
                        struct err *e) MUST_USE;

/* Give each thread whose row is gone, but not its entries, a row again, as `lost-N`; *n is how many
 * there were. In a write transaction. */
enum status store_adopt_lost(struct store *s, int64_t *n, struct err *e) MUST_USE;

/* Rewrite the engine's files, so that they hold no byte of what was erased: free pages, free space
 * in pages, the write-ahead log. Also remove the copies that migrations and restores left beside
 * them; each is reported to `removed` (may be NULL). Outside a transaction. ST_CONFLICT, reason
 * "busy": another process reads or writes; nothing is lost, and the call can be repeated. */
enum status store_scrub(struct store *s, void (*removed)(void *ctx, struct sv name), void *ctx,
                        struct err *e) MUST_USE;

/* Text for people: where the engine may still have erased bytes that store_scrub() cannot reach.
 * *waits: its own tables are among them, because the last store_scrub() was not allowed to rewrite
 * them; the owner of the tables has to repeat it. */
const char *store_unreached(const struct store *s, bool *waits);

/* How many threads still have erased content in the engine's files. It stays there until a user who
 * may rewrite the files calls store_scrub(). */
enum status store_scrub_waits(struct store *s, int64_t *threads, struct err *e) MUST_USE;

/* Is the log a file, with others beside it that store_scrub() cleans or removes? */
bool store_has_file(const struct store *s);

/* Empty the write-ahead log and give free pages back to the file system. */
enum status store_compact(struct store *s, struct err *e) MUST_USE;

/* Take a thread out of the store: its entries, rows and words, and large payloads that no other
 * entry has. In a write transaction; a thread that does not exist is fine. store_scrub(), after the
 * commit, removes the bytes that are still in the engine's files. */
enum status store_drop(struct store *s, struct sv thread, struct err *e) MUST_USE;

/* The same for a thread that may be long: with this transaction it is gone for everybody, and its
 * id is free; what it had may stay in the store until store_drop_rest(), which store_scrub() begins
 * with. That removes it in write transactions of bounded size, between which others write; it is
 * called outside a transaction, and goes on where another one was interrupted. *any: there was
 * something to remove. A store that locks no more than the thread drops it at once. */
enum status store_drop_later(struct store *s, struct sv thread, struct err *e) MUST_USE;
enum status store_drop_rest(struct store *s, bool *any, struct err *e) MUST_USE;

/* Only look: is there something that store_drop_rest() would remove? */
enum status store_drop_waits(struct store *s, bool *any, struct err *e) MUST_USE;

/* What threads and their views take, by thread and view, a thread's entries first. Reads
 * everything. */
enum status store_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                        struct err *e) MUST_USE;

/* Write a copy of the store as it is now to the file `path`, which must be empty or missing, while
 * others read and write: store_open() opens it. It has no free pages, so that nothing is in it that
 * a scan would not show. Outside a transaction. Not synced. ST_USAGE: a store of this kind has no
 * file. */
enum status store_backup(struct store *s, struct sv path, struct err *e) MUST_USE;

/* Replace the content of this store by that of the copy `path`, in one transaction that others see
 * as a whole or not at all. `check` is called in that transaction, before anything is changed, and
 * may refuse. The copy must have been opened by this version before, so that it is migrated, and be
 * closed. Outside a transaction. A store with staged threads takes the copy in as such, under the
 * ids STAGED-1, STAGED-2 ..., and the transaction only gives the threads their names; those of
 * before are then dropped in slices. */
enum status store_replace(struct store *s, struct sv path, struct sv staged,
                          enum status (*check)(void *ctx, struct err *e), void *ctx,
                          struct err *e) MUST_USE;

/* Copy all threads to another store, of whatever kind: every entry unchanged, with its chain value,
 * and with `rows` also the rows of the views; without them the views are folded again when they are
 * needed. Everything is read from one state of `from`: that of its open transaction, or of one that
 * is begun here. In `to` each part is a transaction of its own, unless one is open there. Repeated
 * after an interruption, or after `from` has grown, it goes on where it stopped. ST_CONFLICT,
 * reason "other_log": `to` has something that `from` has not. */
struct store_copy {
    bool rows;
    void (*progress)(void *ctx, struct sv thread, int64_t done, int64_t of); /* may be NULL */
    void   *ctx;
    int64_t threads, entries; /* filled in: threads that are equal now, entries copied */
};
enum status store_copy(struct store *from, struct store *to, struct store_copy *how,
                       struct err *e) MUST_USE;

#endif
