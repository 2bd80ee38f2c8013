/* The PostgreSQL backend, shared by its files:
 *
 *     postgres.c         opening, closing, the table of functions
 *     postgres_tx.c      transactions: delayed BEGIN, queries, resuming after a lost connection,
 *                        committing and finding out whether a commit happened
 *     postgres_group.c   groups: parts of a transaction that are undone one by one
 *     postgres_ahead.c   what the parts of a group need, asked for all at once
 *     postgres_known.c   cache of threads and rows, from earlier answers and own writes
 *     postgres_hint.c    what the next process will ask for; small threads, read completely
 *     postgres_queue.c   writes that wait for the commit
 *     postgres_log.c     heads, appending, op_ids     postgres_scan.c   scans of entries
 *     postgres_rows.c    rows of views                postgres_text.c   words
 *     postgres_object.c  content by its hash          postgres_moved.c  where the log is
 *     postgres_erase.c   erasing, dropping            postgres_care.c   counts, checks, facts
 *     postgres_watch.c   commits of others            postgres_schema.c tables, migration, roles
 *     postgres_pool.c    connections of the process   postgres_error.c  failures as errors
 *     postgres_link.h    one connection               postgres_value.h  values on the wire
 *     postgres_url.h     where the log is
 *
 * Round trips are the main cost. So begin() sends nothing; BEGIN, the lock of the thread, the rows
 * that the last writer used and the rows that were wanted are sent with the first question of a
 * transaction; writes are queued and sent together with COMMIT. */
#ifndef HEDDLE_POSTGRES_INTERNAL_H
#define HEDDLE_POSTGRES_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "store/postgres_link.h"
#include "store/store_internal.h"
#include "store/words.h"

#include <pthread.h>

enum { POSTGRES_SCHEMA_VERSION = 1 };

/* Statements, by the number under which a session prepares them; the SQL is in postgres_sql.c. */
enum pg_statement {
    PG_META,
    PG_BEGIN_READ,
    PG_BEGIN_WRITE,
    PG_BEGIN_PROBE,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_PART_SAVE,
    PG_PART_UNDO,
    PG_PART_KEEP,
    PG_HEAD,
    PG_LOCK,
    PG_LOCK_FREE,
    PG_NEW,
    PG_HOT,
    PG_TAIL,
    PG_WANT,
    PG_OP,
    PG_OPS,
    PG_OPS_TAKEN,
    PG_CHAIN,
    PG_ROW,
    PG_THREADS,
    PG_HEAD_SET,
    PG_ENTRIES_ADD,
    PG_BLOBS_ADD,
    PG_ROWS_PUT,
    PG_ROWS_DEL,
    PG_ROWS_CLEAR,
    PG_VIEWS,
    PG_MARKS_SET,
    PG_WORDS_ADD,
    PG_HINT_SET,
    PG_WORD_LAST,
    PG_WORD_FIND,
    PG_WORD_FIND_IN,
    PG_ERASE,
    PG_ERASE_PLAIN,
    PG_ERASE_BLOBS,
    PG_ERASE_WORDS,
    PG_RECHAIN,
    PG_RECHAIN_BLOB,
    PG_DROP,
    PG_VERSION,
    PG_OBJECT_PUT,
    PG_OBJECT_GET,
    PG_OBJECT_DROP,
    PG_MOVED,
    PG_MOVED_ROW,
    PG_MOVED_SHARE,
    PG_MOVED_KEEP_OUT,
    PG_MOVED_LOCK_ALL,
    PG_MOVED_PUT,
    PG_MOVED_BUMP,
    PG_SCAN_FIRST, /* 12 kinds: see scan_kind() */
    PG_SCAN_LAST = PG_SCAN_FIRST + 11,
    PG_RANGE_FIRST, /* 4 kinds: with an upper end, backwards */
    PG_RANGE_LAST = PG_RANGE_FIRST + 3,
    /* The same for a thread whose number is known: the server then reads only one partition of each
     * table, which takes half the time. Instead of the id, $1 is the number. */
    PG_OP_AT,
    PG_SCAN_AT_FIRST,
    PG_SCAN_AT_LAST = PG_SCAN_AT_FIRST + 11,
    PG_HOT_AT, /* its $2 is the number already */
    PG_STATEMENTS,
};
_Static_assert((int)PG_STATEMENTS <= (int)PG_QUERIES_MAX, "a session can keep them all");

/* ---- the process ----------------------------------------------------------------- */

/* Connections of this process to one log, shared by all stores that are open on it. */
struct pg_pool {
    struct pg_pool     *next;
    struct sv           key; /* the URL with the schema in it */
    int                 users;
    struct arena        a;
    struct postgres_url url;
    const struct pq    *lib;
    const char         *sql[PG_STATEMENTS];
    pthread_mutex_t     lock; /* protects the members below */
    pthread_cond_t      freed;
    struct pg_link     *idle;
    int                 open; /* connections, idle or in use */
    bool                pooled;
    bool                reached; /* a connection was made */
    bool    checked; /* the schema exists and has the version that this program expects */
    int64_t partitions, features;
    int64_t clock_ahead; /* how far the server's clock is ahead, milliseconds */
    int64_t commits;     /* of this process */
    /* postgres_watch.c: the last version read, when, after how many commits of this process, and
     * how long reading took */
    int64_t          version, version_us, version_commits, poll_us;
    struct pg_store *waiters;
};

enum status pg_pool_open(struct sv key, const struct postgres_url *url, struct pg_pool **out,
                         struct err *e) MUST_USE;
void        pg_pool_close(struct pg_pool *pool);

/* Take a connection that is not known to be broken; wait for one until `until_us`. */
bool pg_pool_take(struct pg_pool *pool, int64_t until_us, struct pg_link **out,
                  struct pg_failure *why);
void pg_pool_give(struct pg_pool *pool, struct pg_link *link);
bool pg_pool_is_pooled(struct pg_pool *pool);
bool pg_pool_is_checked(struct pg_pool *pool);
bool pg_pool_was_reached(struct pg_pool *pool);

/* ---- what is known --------------------------------------------------------------- */

/* A row of a view: as the server has it, or as the open transaction has changed it. */
struct pg_row {
    struct sv view, key, value;
    bool      found;
    bool      queued;  /* changed, and not sent yet */
    bool      touched; /* used in this transaction */
    int64_t   rank;    /* when it was last used: see postgres_hint.c; 0: never */
};

/* A prefix whose rows are all in the map: a key with this prefix that is not in the map has no
 * row. */
enum { PG_RANGES = 16 };
struct pg_range {
    struct sv view, prefix;
    int64_t   rank;
};

/* What is known of an op_id in the open transaction. */
struct pg_op {
    bool         found;
    struct entry n;
};

/* Writes to one thread that wait to be sent. Lists are the columns of what is sent. */
enum { PG_ENTRY_COLUMNS = 15 };
struct pg_pending {
    struct pg_list entries[PG_ENTRY_COLUMNS], blobs[2], marks[2], words[2];
    int64_t        last_mark;
    VEC(struct sv) cleared; /* views; before the rows */
    VEC(struct pg_row *) rows;
};

/* Writes that were sent to the server, kept to send them again on another connection. */
struct pg_sent {
    struct pg_thread *t;
    struct pg_pending out;
};

/* The last entries of a thread, up to its end: seqs from `from` on. */
struct pg_tail {
    VEC(struct entry) list;
    int64_t from;
    bool    known;
};

/* A thread: its row, rows of its views, and perhaps its last entries. They are kept from one
 * transaction to the next, and are valid while the row of the thread has the same `rev` and `gen`
 * as when they were read: every transaction that changes a thread raises one of the two. */
struct pg_thread {
    struct sv       id;
    struct arena    a;                 /* of the rows and the tail */
    struct map      rows;              /* struct pg_row, by view, NUL, key */
    bool            whole;             /* the map has all rows of the thread; else ... */
    struct pg_range ranges[PG_RANGES]; /* ... the prefixes for which it has all rows */
    size_t          n_ranges;
    struct pg_tail  tail;
    bool            scanned; /* its entries were read: the next process is given the tail at once */
    size_t          bytes;
    int64_t         rows_tid, rows_rev, rows_gen; /* when the rows were read; tid 0: none kept */
    uint64_t        hot_sum; /* checksum of the keys that the server sends unasked */
    int hinted; /* write transactions so far: only every HINT_EVERY-th one writes a hint */

    /* In the open transaction: */
    bool              seen;  /* it is in p->seen */
    bool              known; /* the head was read; what follows is filled in */
    bool              fresh; /* the rows were read in this transaction, perhaps without the head */
    bool              there; /* the table of threads has a row for it, perhaps with rev 0 */
    bool              locked;
    bool              made;    /* the row was made by this transaction, to be locked */
    bool              changed; /* the row of the thread must be written */
    bool              rows_changed;
    int64_t           tid, gen;
    struct store_head head;           /* after what this transaction appended */
    int64_t           rev_0, gen_0;   /* as they were when this transaction began */
    int64_t           rev_at, gen_at; /* as the server has them by now ... */
    struct hash       chain_at;       /* ... with new entries, of which the last has this chain */
    bool              grew;           /* (chain_at is filled in) */
    int               grew_in;        /* the part of the group that sent these entries; 0: none */
    int               part;           /* of a group: the last part that used this thread */
    struct sv_list    cleared; /* views that were emptied: rows not in the map do not exist */
    struct map        ops;     /* struct pg_op, by op_id */
    struct pg_pending out;
};

/* Questions that travel with the next one: hints of the caller. */
enum { PG_SCANS_WANTED = 2 };
struct pg_wants {
    VEC(struct store_key) keys;
    struct sv          op_thread, op_id;
    struct store_query scans[PG_SCANS_WANTED];
    size_t             n_scans;
};

/* What a part of a group will be about. */
struct pg_part {
    struct pg_thread *t;
    struct sv         op_id; /* or absent */
};

/* ---- the store ------------------------------------------------------------------- */

struct pg_page;

struct pg_store {
    struct store    base;
    struct pg_pool *pool;
    struct pg_link *link;       /* connection of the open transaction; NULL: not needed yet */
    bool            unscrubbed; /* the database user may not rewrite the tables */
    char           *shown;      /* where the log is, for messages */
    char            workspace[WORKSPACE_ID_MAX + 1];
    int             busy_ms;
    bool            create, read_only;

    struct arena known_a;
    struct map   known; /* struct pg_thread, by id */
    int64_t      uses;  /* how often rows were used */

    /* The open transaction: */
    bool      in, writing;
    bool      began;   /* the server knows of it */
    bool      sent;    /* the server has got writes of it ... */
    bool      once;    /* ... which cannot all be sent again: see pg_sent_once() */
    bool      fragile; /* it has read something that pg_resume() cannot compare */
    bool      repeats; /* an op_id that was asked for exists */
    struct sv about;   /* the thread that it locks, or absent */
    struct {           /* when it is a group: see postgres_group.c */
        bool is;       /* at least one part was begun */
        bool broken;   /* all of it is lost */
        bool open;     /* a part is open; ... */
        bool saved;    /* ... the server has its savepoint; */
        bool failed;   /* ... the server has undone it, after an error */
        int  number;   /* of the part, from 1 */
    } group;
    VEC(struct pg_part) ahead; /* of a group that was not begun on the server yet */
    struct arena tx;
    VEC(struct pg_thread *) seen; /* threads that the transaction uses */
    size_t       queued;          /* about how many bytes wait to be sent */
    struct arena out_a;           /* holds what waits, and what is kept to be sent again: */
    VEC(struct pg_sent) kept;
    size_t       kept_bytes;
    struct arena hints; /* holds the wanted keys and scans, which may come before the transaction */
    struct pg_wants wants;
    struct pg_page *pages[PG_SCANS_WANTED]; /* first pages of the scans that were wanted */
    struct {                                /* of the entry that a scan gave last ... */
        struct pg_thread *thread;
        int64_t           seq; /* ... the one before it */
        struct hash       chain;
    } before;
    struct {                        /* what PG_META answered */
        bool    there, alone, utf8; /* alone: the session has its settings, so no pooler */
        int64_t version, partitions, features, clock_ms;
        char    workspace[WORKSPACE_ID_MAX + 1];
    } meta;
    struct words    *words;    /* made when it is first needed */
    struct store    *attached; /* the copy that pg_replace() reads */
    int              wake;     /* eventfd of store_wait(); -1: none */
    struct pg_store *next_waiter;
};

/* What a server can do beyond the core of SQL, as found when the schema was created. */
enum pg_feature { PG_PARTITIONED = 1, PG_DEFINER = 2, PG_WORD_INDEX = 4, PG_GRANTED = 8 };

static inline struct pg_store *pg_of(struct store *s)
{
    return (struct pg_store *)s;
}

extern const struct store_ops postgres_ops;

/* Queue a statement of the table on the connection of the store. */
void pg_ask(struct pg_store *p, enum pg_statement which, const struct pg_params *params,
            pg_sink *sink, void *ctx);

/* Put questions to the server and wait for the answers: `build` sends them by pg_ask(). `build` is
 * called again when the connection was lost, so it and its sinks must reset their state each time.
 * With `flush` queued writes are sent first, because the questions are about what this transaction
 * wrote. A transaction that was not begun on the server is begun now; outside a transaction the
 * questions are a transaction of their own. */
typedef void pg_build(struct pg_store *p, void *ctx);
enum pg_flush { PG_AS_IT_IS, PG_FLUSH };
enum status pg_run(struct pg_store *p, enum pg_flush flush, pg_build *build, void *ctx,
                   struct err *e) MUST_USE;

/* ---- postgres_tx.c */
enum status pg_begin(struct store *, enum store_mode, struct sv thread, struct err *);
enum status pg_commit(struct store *, struct err *);
void        pg_abort(struct store *);
/* The thread that the transaction is about could not be locked (`e`). True: the transaction begins
 * again and sees what others have committed; this is possible because no caller has seen the old
 * state. */
bool pg_start_over(struct pg_store *p, struct pg_thread *t, int64_t until_us, const struct err *e);
/* ST_IO, reason "not_written": the connection was lost before the commit. */
enum status pg_not_written(struct pg_store *p, const struct pg_failure *why, struct err *e);
/* Was the transaction, or the part of the group, not begun on the server yet? */
bool pg_is_unbegun(const struct pg_store *p);
void pg_want(struct store *, const struct store_key *, size_t);
void pg_want_op(struct store *, struct sv thread, struct sv op_id);
void pg_want_scan(struct store *, const struct store_query *);
void pg_wants_drop(struct pg_store *p);

/* ---- postgres_moved.c */
/* With BEGIN: was the log moved away? In a transaction that is to be alone also the locks that keep
 * the others out. */
void pg_ask_moved(struct pg_store *p);
/* Make a row for a new thread: the one thing that a writer does without the lock of a thread. */
void        pg_ask_new(struct pg_store *p, struct sv thread);
enum status pg_moved_get(struct store *, struct arena *, struct sv *, struct sv *, struct err *);
enum status pg_moved_set(struct store *, struct sv, struct sv, struct err *);

/* ---- postgres_ahead.c */
void pg_group_want(struct store *, const struct store_part *, size_t);
/* Lock the threads of the coming parts, except those that others have locked, and read what the
 * parts need. This happens before the savepoint of the first part, so that the locks survive when
 * that part is undone. */
void pg_ask_ahead(struct pg_store *p);

/* ---- postgres_group.c */
enum status pg_part_begin(struct store *, struct sv thread, struct err *);
enum status pg_part_end(struct store *, bool keep, struct err *);
/* ST_IO when nothing can be asked any more, because the part or the group has failed. */
enum status pg_group_check(const struct pg_store *p, struct err *e) MUST_USE;
/* The server has refused something, or the connection is lost for good: undo the part, or give up
 * the group. Outside of groups it does nothing. */
void pg_group_failed(struct pg_store *p, const struct pg_failure *why);

/* ---- postgres_error.c */
enum status pg_error(const struct pg_store *p, const struct pg_failure *why, struct err *e);
enum status pg_unreachable(const char *shown, const struct pg_failure *why, struct err *e);
bool        pg_is_busy(const struct pg_failure *why);    /* another transaction is in the way */
bool        pg_is_missing(const struct pg_failure *why); /* there is no such schema or table */

/* ---- postgres_known.c */
struct pg_thread *pg_thread_of(struct pg_store *p, struct sv id); /* of the open transaction */
void              pg_rows_forget(struct pg_thread *t);
void              pg_thread_gone(struct pg_store *p, struct pg_thread *t); /* it was dropped */
struct pg_row    *pg_row_find(struct pg_thread *t, struct sv view, struct sv key);
struct pg_row    *pg_row_note(struct pg_thread *t, struct sv view, struct sv key, struct sv value,
                              bool found);
/* A row that an answer brought; what this transaction wrote is newer. */
void pg_row_take(struct pg_thread *t, struct sv view, struct sv key, struct sv value);
bool pg_row_is_cleared(const struct pg_thread *t, struct sv view);
void pg_known_begin(struct pg_store *p);
void pg_known_forget(struct pg_store *p);
void pg_known_end(struct pg_store *p, bool committed);
void pg_known_dropped(struct pg_store *p); /* this transaction has removed all threads */

/* The head of a thread, from a row of an answer with the columns of PG_HEAD. */
void pg_head_note(struct pg_thread *t, struct pg_answer *a, int row);

/* Questions about a thread: its entries, or the rows of its views. */
enum pg_about { PG_ABOUT_ENTRIES, PG_ABOUT_ROWS };
void pg_ask_head(struct pg_store *p, struct pg_thread *t, bool lock);
/* Ask for the head, unless it is known or already asked for. Every question about a thread (NULL:
 * outside of transactions) is sent together with it, because pg_resume() compares only heads. */
void pg_ask_known(struct pg_store *p, struct pg_thread *t, enum pg_about what);
/* The number of a thread for a question about it; 0: it is not known. With `guess` it may be the
 * number that an earlier transaction saw. The head must then be asked for in the same round trip,
 * before the question, and the code that takes the answer compares the numbers. */
int64_t pg_tid_of(const struct pg_store *p, const struct pg_thread *t, bool guess);
void    pg_ask_wants(struct pg_store *p);
/* Read the head of the thread, unless it is known; lock the thread, unless it is locked. */
enum status pg_know(struct pg_store *p, struct pg_thread *t, struct err *e) MUST_USE;
enum status pg_lock(struct pg_store *p, struct pg_thread *t, struct err *e) MUST_USE;
/* Lock a thread to which something other than an entry is written. Outside of groups another writer
 * is detected by the row of the thread, which is written last; in a group that would be too
 * late. */
enum status pg_lock_in_group(struct pg_store *p, struct pg_thread *t, struct err *e) MUST_USE;

/* ---- postgres_queue.c */
enum { PG_QUEUE_MAX = 1 << 20 }; /* bytes that wait before they are sent ahead of the commit */
void pg_queue_row(struct pg_store *p, struct pg_thread *t, struct pg_row *row);
void pg_queue_clear(struct pg_store *p, struct pg_thread *t, struct sv view);
void pg_queue_entry(struct pg_store *p, struct pg_thread *t, const struct entry *n);
/* A large payload, which is stored once in its thread, by its hash. */
struct hash pg_queue_blob(struct pg_store *p, struct pg_thread *t, struct sv payload);
void pg_queue_mark(struct pg_store *p, struct pg_thread *t, int64_t seq, enum entry_mark mark);
void pg_queue_words(struct pg_store *p, struct pg_thread *t, int64_t seq, struct sv body);
bool pg_queue_is_empty(const struct pg_store *p);
/* Must queued writes to the thread (NULL: outside of transactions) be sent before a question about
 * its entries or rows? */
enum pg_flush pg_flush_for(const struct pg_thread *t, enum pg_about what);
/* Send all that waits; with `heads` also the rows of the threads. pg_queue_done() when the server
 * has taken it. */
void pg_queue_send(struct pg_store *p, bool heads);
void pg_queue_done(struct pg_store *p, bool heads);
/* After a lost connection: send again what was sent on it and kept. */
void pg_queue_repeat(struct pg_store *p);
/* Something was sent that is not kept: without its connection the transaction is lost. */
void pg_sent_once(struct pg_store *p);
void pg_queue_forget(struct pg_store *p); /* what was kept; the transaction is over */
/* pg_queue_flush() sends the queue now; the other one only when the queue has grown large. */
enum status pg_queue_flush(struct pg_store *p, struct err *e) MUST_USE;
enum status pg_queue_relieve(struct pg_store *p, struct err *e) MUST_USE;

/* ---- postgres_hint.c */
/* Which rows the next transaction on this thread will probably ask for. */
void pg_hint_send(struct pg_store *p, struct pg_thread *t);
/* Ask for the rows and entries that the last writer's hint names. */
void pg_ask_hot(struct pg_store *p, struct pg_thread *t);
/* Note that a row was used, or all rows with a prefix; the map then has all of those. */
void pg_row_used(struct pg_store *p, struct pg_row *row);
void pg_range_used(struct pg_store *p, struct pg_thread *t, struct sv view, struct sv prefix);
/* Can the map answer for a row; for all rows of the view with from <= key < end (absent: no upper
 * end)? */
bool pg_row_is_known(const struct pg_thread *t, struct sv view, struct sv key);
bool pg_range_is_known(const struct pg_thread *t, struct sv view, struct sv from, struct sv end);
/* Add what this transaction appends to the tail. Without a tail no entry of the thread is
 * cached. */
void pg_tail_add(struct pg_thread *t, const struct entry *entries, size_t n);
void pg_tail_drop(struct pg_thread *t);
/* The next entry of a scan, when it is in the tail: *left is then what remains of the scan. False:
 * the server has to be asked for what is left. */
bool pg_tail_next(struct pg_thread *t, struct store_query *left, const struct entry **out);

/* ---- postgres_log.c */
enum status pg_head(struct store *, struct sv, struct store_head *, struct err *);
enum status pg_insert(struct store *, struct sv, int64_t, const struct entry *, size_t,
                      struct err *);
enum status pg_find_op(struct store *, struct sv, struct sv, struct arena *, struct entry *, bool *,
                       struct err *);
enum status pg_chain_at(struct store *, struct sv, int64_t, struct hash *, bool *, struct err *);
enum status pg_set_mark(struct store *, struct sv, int64_t, enum entry_mark, struct err *);
enum status pg_threads(struct store *, struct arena *, struct store_thread **, size_t *,
                       struct err *);
void        pg_ask_op(struct pg_store *p, struct pg_thread *t, struct sv op_id);

/* ---- postgres_scan.c */
enum status pg_scan(struct store *, const struct store_query *, struct store_scan **, struct err *);
enum status pg_next(struct store_scan *, struct entry *, bool *, struct err *);
void        pg_scan_close(struct store_scan *);
void        pg_ask_page(struct pg_store *p, const struct store_query *q, size_t slot);
void        pg_pages_drop(struct pg_store *p);
/* The columns of PG_OP and of whole scans as an entry; its bytes are those of the answer. */
enum status pg_read_entry(struct pg_store *p, struct pg_answer *a, int row, struct entry *out,
                          struct err *e);
#define PG_ENTRY_SHAPE "iittibbitttttbb"

/* ---- postgres_rows.c */
enum status pg_row_get(struct store *, const struct store_key *, struct arena *, struct sv *,
                       bool *, struct err *);
enum status pg_row_put(struct store *, const struct store_key *, struct sv, struct err *);
enum status pg_row_del(struct store *, const struct store_key *, struct err *);
enum status pg_rows(struct store *, const struct store_row_query *, struct store_rows **,
                    struct err *);
enum status pg_rows_next(struct store_rows *, struct store_row *, bool *, struct err *);
void        pg_rows_close(struct store_rows *);
enum status pg_rows_clear(struct store *, struct sv, struct sv, struct err *);
enum status pg_set_views(struct store *, struct sv, int64_t, struct err *);
enum status pg_views(struct store *, struct sv, struct arena *, struct sv **, size_t *,
                     struct err *);

/* ---- postgres_text.c */
enum status pg_text_put(struct store *, struct sv, int64_t, struct sv, struct err *);
enum status pg_text_last(struct store *, struct sv, int64_t *, struct err *);
enum status pg_text_find(struct store *, struct sv, const struct sv *, size_t, size_t,
                         struct arena *, struct store_hit **, size_t *, struct err *);

/* ---- postgres_erase.c */
enum status pg_erase(struct store *, struct sv, const struct entry *, size_t, struct err *);
enum status pg_rechain(struct store *, struct sv, const struct entry *, bool, struct err *);
enum status pg_drop(struct store *, struct sv, struct err *);
const char *pg_unreached(const struct store *, bool *waits);
enum status pg_scrub_waits(struct store *, int64_t *, struct err *);
enum status pg_scrub(struct store *, void (*)(void *, struct sv), void *, struct err *);
enum status pg_compact(struct store *, struct err *);

/* ---- postgres_backup.c */
enum status pg_backup(struct store *, struct sv path, struct err *);
enum status pg_attach(struct store *, struct sv path, struct err *);
enum status pg_replace(struct store *, struct err *);

/* ---- postgres_object.c */
enum status pg_object_put(struct store *, const struct hash *, struct sv bytes, struct err *);
enum status pg_object_get(struct store *, const struct hash *, struct arena *, struct sv *, bool *,
                          struct err *);
enum status pg_object_drop(struct store *, const struct hash *, struct err *);

/* ---- postgres_care.c */
enum status pg_stats(struct store *, struct store_stats *, struct err *);
enum status pg_check(struct store *, void (*)(void *, struct sv), void *, struct err *);
enum status pg_adopt_lost(struct store *, int64_t *, struct err *);

/* ---- postgres_facts.c */
enum status pg_facts(struct store *, struct arena *, struct store_fact **, size_t *, struct err *);
enum status pg_advise(struct store *, void (*)(void *, struct sv), void *, struct err *);
enum status pg_sizes(struct store *, struct arena *, struct store_size **, size_t *, struct err *);

/* Run one statement that is not in the table, and hand its answer to `sink`. */
enum status pg_run_text(struct pg_store *p, const char *text, const struct pg_params *params,
                        pg_sink *sink, void *ctx, struct err *e) MUST_USE;

/* ---- postgres_schema.c */
/* Ask which version the schema has; then, with the answer, whether it can be used; make it. */
void        pg_schema_ask(struct pg_store *p);
enum status pg_schema_judge(struct pg_store *p, struct err *e) MUST_USE;
enum status pg_schema_make(struct pg_store *p, struct err *e) MUST_USE;

/* ---- postgres_sql.c: the statements for one schema */
void        pg_sql_make(struct pg_pool *pool);
const char *pg_sql_in(struct sv schema, const char *text, struct arena *a); /* with @ filled in */

/* ---- postgres_watch.c */
void        pg_watch_committed(struct pg_store *p);
enum status pg_version(struct store *, int64_t *, struct err *);
enum status pg_pause(struct store *, int ms, int peer, enum pause_end *, struct err *);
int64_t     pg_clock_ahead(struct store *);

#endif
