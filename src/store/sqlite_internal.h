/* The SQLite backend, shared by its files: sqlite.c (connection, transactions, care), sqlite_file.c
 * (how the file is reached and made), sqlite_schema.c (tables, migration), sqlite_watch.c (commits
 * of others), sqlite_log.c (entries), sqlite_erase.c (erasing them), sqlite_rows.c (rows),
 * sqlite_drop.c (dropping threads), sqlite_text.c (words), sqlite_moved.c (where the log is). */
#ifndef HEDDLE_SQLITE_INTERNAL_H
#define HEDDLE_SQLITE_INTERNAL_H

#include "store/store_internal.h"

#include "base/path.h"

#include <sqlite3.h>
#include <sys/types.h>

/* Statements that are prepared once and kept; the SQL is in sqlite.c. */
enum sqlite_statement {
    Q_BEGIN,
    Q_BEGIN_WRITE,
    Q_COMMIT,
    Q_ROLLBACK,
    Q_PART,
    Q_PART_KEEP,
    Q_PART_UNDO,
    Q_THREAD_FIND,
    Q_THREAD_FIND_SLOW,
    Q_THREAD_NEXT,
    Q_THREAD_ADD,
    Q_THREAD_HEAD,
    Q_THREAD_VIEWS,
    Q_HEAD_LAST,
    Q_HEAD_OLD,
    Q_HEAD_FIRST,
    Q_CHAIN,
    Q_ENTRY_ADD,
    Q_BLOB_ADD,
    Q_BLOB_DROP,
    Q_MARK,
    Q_ERASE,
    Q_RECHAIN,
    Q_RECHAINED,
    Q_ROW_GET,
    Q_ROW_PUT,
    Q_ROW_DEL,
    Q_ROWS_CLEAR,
    Q_TEXT_HAS,
    Q_TEXT_ADD,
    Q_TEXT_LAST,
    Q_MOVED,
    Q_COUNT,
};

/* Scans come in kinds. Of entries: forwards or backwards, all or by one of two marks, whole or
 * brief. Of rows: with or without a bound at each end, forwards or backwards. The last one finds
 * the entry with an op_id. */
enum { SQLITE_ENTRY_SCANS = 2 * 3 * 2, SQLITE_ROW_SCANS = 2 * 2 * 2 };
enum { SQLITE_FIND_OP = SQLITE_ENTRY_SCANS + SQLITE_ROW_SCANS, SQLITE_SCANS };

struct sqlite_store {
    struct store base;
    sqlite3     *db;
    char        *path;    /* for messages */
    char        *file;    /* what is opened: the path, or a name below /proc/self/fd/DIR */
    int          dir;     /* keeps that directory open; -1: none */
    int          watch;   /* inotify; 0: not tried yet, -1: there is none */
    uint32_t     commits; /* of this connection */
    ino_t        inode;   /* of the file that is open */
    dev_t        device;
    bool         shared; /* opened as usual: SQLite keeps an index of the write-ahead log, which all
                          * who have the file open share */
    sqlite3_file            *main;  /* the file, for sqlite_mark(); NULL: not asked for yet */
    const volatile uint32_t *index; /* ... and the header of that index; NULL: there is none */
    int                      busy_ms;
    int                      patience_ms; /* how long busy() waits now: busy_ms, or less */
    int64_t                  busy_since;  /* steady µs at which the present wait began */
    int  wal_pages;   /* in the write-ahead log after this connection's last commit */
    int  truncate_at; /* pages at which to try to empty it */
    bool cleared;     /* many rows were dropped at once: there may be free pages */
    bool cut_short;   /* the end of the file is missing: only what is there is read */
    int  schema;      /* of the file: an older one is read as it is where nothing may be
                       * written, and else migrated */
    sqlite3_stmt *kept[Q_COUNT];
    sqlite3_stmt *idle[SQLITE_SCANS]; /* a statement of each kind of scan, between two uses */
    char          thread[NAME_MAX_BYTES + 1]; /* the last thread looked up ... */
    int64_t       tid;                        /* ... its number; 0: none ... */
    bool          tid_seen;                   /* ... read in the open transaction */
    int64_t       created;                    /* time of its first entry; 0: not read yet */
};

/* An entry's rowid holds thread and seq, so a thread's entries lie together in order. */
enum { SEQ_BITS = 36, TID_BITS = 63 - SEQ_BITS };
#define SEQ_MAX (((int64_t)1 << SEQ_BITS) - 1)
#define TID_MAX (((int64_t)1 << TID_BITS) - 1)

static inline int64_t entry_key(int64_t tid, int64_t seq)
{
    return (int64_t)((uint64_t)tid << SEQ_BITS) | (seq < 0 ? 0 : seq > SEQ_MAX ? SEQ_MAX : seq);
}

static inline struct sqlite_store *sqlite_of(struct store *s)
{
    return (struct sqlite_store *)s;
}

/* The kept statement, reset and ready for binding. */
enum status sqlite_ready(struct sqlite_store *q, enum sqlite_statement which, sqlite3_stmt **out,
                         struct err *e);

/* Run a kept statement to its end. */
enum status sqlite_run(struct sqlite_store *q, sqlite3_stmt *st, struct err *e);

/* Take a statement for a scan of this kind: the idle one, or a new one from `text` when that is in
 * use; and give it back. */
enum status sqlite_take(struct sqlite_store *q, int kind, const char *text, sqlite3_stmt **out,
                        struct err *e);
void        sqlite_put_aside(struct sqlite_store *q, int kind, sqlite3_stmt *st);

/* The last error of SQLite as a struct err. */
enum status sqlite_fail(struct sqlite_store *q, int rc, struct err *e);
/* ST_CORRUPT: rows came in another order than the one asked for, which only damage explains. */
enum status sqlite_not_in_order(struct sqlite_store *q, const char *what, struct err *e);

/* The error for an I/O error during a commit, after which it is not known whether the commit
 * happened. */
enum status sqlite_uncertain(struct sqlite_store *q, struct err *e);

enum status sqlite_exec(struct sqlite_store *q, const char *sql, struct err *e);
enum status sqlite_number(struct sqlite_store *q, const char *sql, int64_t *out, struct err *e);

void      sqlite_bind_sv(sqlite3_stmt *st, int at, struct sv v); /* absent: NULL */
struct sv sqlite_column_sv(sqlite3_stmt *st, int at);            /* NULL: absent */

/* The thread's number, from 1 to TID_MAX; 0 when there is no such thread. ST_CORRUPT: the number in
 * the file is out of range. */
enum status sqlite_tid(struct sqlite_store *q, struct sv thread, int64_t *tid, struct err *e);

/* sqlite_watch.c */
enum status sqlite_version(struct store *s, int64_t *out, struct err *e);
enum status sqlite_pause(struct store *s, int ms, int peer, enum pause_end *end, struct err *e);
bool        sqlite_mark(struct store *s, struct store_mark *out);
bool        sqlite_in_place(struct store *s);
void        sqlite_note_place(struct sqlite_store *q); /* once it is open */

/* Fill in path, file and dir. */
enum status sqlite_locate(struct sqlite_store *q, struct sv path, const struct store_options *o,
                          struct err *e);

/* The VFS by which q->file is opened: SQLite's own, except that a path below /proc/self/fd is
 * taken as it is. NULL: SQLite's default. */
const char *sqlite_vfs_name(void);

/* A write-ahead log (sqlite_wal.c), as xOpen of a VFS in front of `below`; how many bytes the VFS
 * must allocate for it. */
int sqlite_wal_open(sqlite3_vfs *below, const char *name, sqlite3_file *file, int flags, int *out);
int sqlite_wal_room(const sqlite3_vfs *below);

/* Make the file when it is missing, readable by its owner only; files that SQLite makes beside it
 * get the same mode. */
enum status sqlite_make_file(struct sqlite_store *q, struct err *e);

/* Bytes of the file whose name is q->file and `suffix`; 0 when there is none. */
int64_t sqlite_file_size(const struct sqlite_store *q, const char *suffix);

/* Make the schema when the file is empty (ST_CORRUPT without `create`), or bring an older one up
 * to date: the copy, then all steps in one transaction. */
enum { SQLITE_SCHEMA_VERSION = 7, SQLITE_APPLICATION_ID = 0x6864646c /* "hddl" */ };
/* Kind and lane of nearly all entries with MARK_MESSAGE. They are not stored in the rows of such
 * entries; this saves as many bytes as the salt takes. Part of the format. */
#define SQLITE_USUAL_KIND "ai_message"
#define SQLITE_USUAL_LANE "default"
#define SQLITE_KIND "CASE kind WHEN '' THEN '" SQLITE_USUAL_KIND "' ELSE kind END"

/* In a WHERE of the table of threads. Ids of threads that were dropped begin with char(1), which no
 * name has (sqlite_drop.c). */
#define SQLITE_STAGED "id >= '" STORE_STAGED "' AND id < '.staged.'"
#define SQLITE_DROPPED "id < char(2)"
#define SQLITE_SHOWN "id >= char(2) AND NOT (" SQLITE_STAGED ")"

/* The oldest version that can be read without being migrated, where nothing may be written. */
enum { SQLITE_SCHEMA_READABLE = 3 };
struct sqlite_step {
    int         to;
    const char *sql;
};
enum status sqlite_make_schema(struct sqlite_store *q, bool create, struct err *e);

/* Reports what is in the file and was not made by the steps above, and what is missing. */
enum status sqlite_check_schema(struct sqlite_store *q, void (*say)(void *, struct sv), void *ctx,
                                struct err *e);
enum status sqlite_migrate(struct sqlite_store *q, const struct sqlite_step *steps, size_t n,
                           int current, struct err *e);

extern const struct store_ops sqlite_ops;

/* sqlite_log.c */
enum status sqlite_head(struct store *, struct sv, struct store_head *, struct err *);
enum status sqlite_insert(struct store *, struct sv, int64_t, const struct entry *, size_t,
                          struct err *);
enum status sqlite_scan(struct store *, const struct store_query *, struct store_scan **,
                        struct err *);
enum status sqlite_next(struct store_scan *, struct entry *, bool *, struct err *);
void        sqlite_scan_close(struct store_scan *);
enum status sqlite_find_op(struct store *, struct sv, struct sv, struct arena *, struct entry *,
                           bool *, struct err *);
enum status sqlite_chain_at(struct store *, struct sv, int64_t, struct hash *, bool *,
                            struct err *);
enum status sqlite_set_mark(struct store *, struct sv, int64_t, enum entry_mark, struct err *);
enum status sqlite_add_blob(struct sqlite_store *, struct sv payload, struct hash *, struct err *);
/* Calls back for each thread number that entries have but no thread row has, with the number of
 * entries. */
enum status sqlite_each_lost(struct sqlite_store *,
                             enum status (*each)(void *ctx, int64_t tid, int64_t n, struct err *),
                             void *ctx, struct err *);
enum status sqlite_adopt_lost(struct store *, int64_t *, struct err *);
enum status sqlite_threads(struct store *, struct arena *, struct store_thread **, size_t *,
                           struct err *);
enum status sqlite_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                              struct err *e);
enum status sqlite_list_ids(struct sqlite_store *q, const char *text, struct arena *a,
                            struct sv **out, size_t *n, struct err *e);

/* sqlite_rows.c */
enum status sqlite_row_get(struct store *, const struct store_key *, struct arena *, struct sv *,
                           bool *, struct err *);
enum status sqlite_row_put(struct store *, const struct store_key *, struct sv, struct err *);
enum status sqlite_row_del(struct store *, const struct store_key *, struct err *);
enum status sqlite_rows(struct store *, const struct store_row_query *, struct store_rows **,
                        struct err *);
enum status sqlite_rows_next(struct store_rows *, struct store_row *, bool *, struct err *);
void        sqlite_rows_close(struct store_rows *);
enum status sqlite_rows_clear(struct store *, struct sv, struct sv, struct err *);
enum status sqlite_set_views(struct store *, struct sv, int64_t, struct err *);
enum status sqlite_views(struct store *, struct sv, struct arena *, struct sv **, size_t *,
                         struct err *);

/* sqlite_moved.c; the first at the beginning of a transaction */
enum status sqlite_check_moved(struct sqlite_store *q, enum store_mode mode,
                               struct err *e) MUST_USE;
enum status sqlite_moved_get(struct store *, struct arena *, struct sv *, struct sv *,
                             struct err *);
enum status sqlite_moved_set(struct store *, struct sv, struct sv, struct err *);

/* sqlite_drop.c */
enum status sqlite_drop(struct store *, struct sv, struct err *);
enum status sqlite_drop_later(struct store *, struct sv, struct err *);
enum status sqlite_drop_some(struct store *, int64_t, bool, int64_t *, bool *, struct err *);

/* sqlite_erase.c; the second empties the index of words */
enum status sqlite_erase(struct store *, struct sv, const struct entry *, size_t, struct err *);
enum status sqlite_empty_words(struct sqlite_store *, struct err *);
enum status sqlite_rechain(struct store *, struct sv, const struct entry *, bool, struct err *);
enum status sqlite_scrub(struct store *, void (*)(void *, struct sv), void *, struct err *);

/* sqlite_backup.c */
enum status sqlite_sizes(struct store *, struct arena *, struct store_size **, size_t *,
                         struct err *);
enum status sqlite_backup(struct store *, struct sv, struct err *);

/* sqlite_staged.c */
enum status sqlite_staged(struct store *, struct arena *, struct sv **, size_t *, struct err *);
enum status sqlite_rename(struct store *, struct sv, struct sv, struct err *);

/* sqlite_text.c */
enum status sqlite_text_put(struct store *, struct sv, int64_t, struct sv, struct err *);
enum status sqlite_text_last(struct store *, struct sv, int64_t *, struct err *);
enum status sqlite_text_find(struct store *, struct sv, const struct sv *, size_t, size_t,
                             struct arena *, struct store_hit **, size_t *, struct err *);

#endif
