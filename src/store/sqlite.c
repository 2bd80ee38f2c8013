/* One SQLite file in WAL mode with synchronous=FULL: a commit is on the disk when it returns. Other
 * processes may write too; busy() waits for them.
 *
 * The write-ahead log is kept short by this file: it is copied back once it passes
 * CHECKPOINT_PAGES, emptied once it passes TRUNCATE_PAGES, and on closing only when it holds enough
 * for the next process to notice, since a command that appends one line should not pay for four
 * more syncs. A reader that stays in its transaction keeps the log from being emptied; we wait for
 * readers a moment, so that a sequence of short ones does not prevent it, and otherwise try again
 * TRUNCATE_AGAIN pages later. */
#include "base/failure.h"
#include "store/sqlite_internal.h"

#include "base/clock.h"
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CHECKPOINT_PAGES = 2000,
    TRUNCATE_PAGES = 6000,
    TRUNCATE_AGAIN = 2000,
    TRUNCATE_WAIT_MS = 100,
    CLOSE_PAGES = 200,
    VACUUM_PAGES = 256,  /* free pages that are worth giving back on closing */
    VACUUM_SLICE = 2000, /* free pages that are given back in one transaction */
};

/* A thread's row and its last entry, which may be missing. */
#define HEAD_FROM                                                                                  \
    " FROM thread t LEFT JOIN entry e ON e.key ="                                                  \
    " (SELECT max(key) FROM entry WHERE key BETWEEN ?1 AND ?2) WHERE t.tid = ?1 >> 36"

/* clang-format off */
static const char *const sql[Q_COUNT] = {
    [Q_BEGIN]        = "BEGIN",
    [Q_BEGIN_WRITE]  = "BEGIN IMMEDIATE",
    [Q_COMMIT]       = "COMMIT",
    [Q_ROLLBACK]     = "ROLLBACK",
    [Q_PART]         = "SAVEPOINT part",
    [Q_PART_KEEP]    = "RELEASE part",
    [Q_PART_UNDO]    = "ROLLBACK TO part",
    [Q_THREAD_FIND]  = "SELECT tid FROM thread WHERE id = ?",
    [Q_THREAD_FIND_SLOW] = "SELECT tid FROM thread NOT INDEXED WHERE id = ?",
    /* Above every number in use, also by entries and rows whose thread is gone. */
    [Q_THREAD_NEXT]  = "SELECT 1 + max((SELECT coalesce(max(tid), 0) FROM thread),"
                       " (SELECT coalesce(max(key), 0) >> 36 FROM entry),"
                       " (SELECT coalesce(max(tid), 0) FROM row))",
    [Q_THREAD_ADD]   = "INSERT INTO thread(tid, id, version) VALUES(?, ?, ?)",
    [Q_THREAD_HEAD]  = "UPDATE thread SET rev = ?2, chain = ?3 WHERE tid = ?1",
    [Q_THREAD_VIEWS] = "UPDATE thread SET views = ?2 WHERE tid = ?1",
    [Q_HEAD_LAST]    = "SELECT e.key, e.chain, e.at, t.views, t.rev, t.chain, t.version, t.id" HEAD_FROM,
    [Q_HEAD_OLD]     = "SELECT e.key, e.chain, e.at, t.views, NULL, NULL, 1, t.id" HEAD_FROM,
    [Q_CHAIN]        = "SELECT chain FROM entry WHERE key = ?",
    [Q_HEAD_FIRST]   = "SELECT at FROM entry WHERE key = ?",
    [Q_ENTRY_ADD]    = "INSERT INTO entry(key, at, mark, kind, lane, actor, id, op, refs, chain, payload, blob, salt, content)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [Q_BLOB_ADD]     = "INSERT OR IGNORE INTO blob(hash, bytes) VALUES(?, ?)",
    [Q_BLOB_DROP]    = "DELETE FROM blob WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.blob = ?1)",
    [Q_MARK]         = "UPDATE entry SET mark = ?2, kind = " SQLITE_KIND ", lane = CASE WHEN kind = '' AND lane IS NULL"
                       " THEN '" SQLITE_USUAL_LANE "' WHEN ?2 = 1 THEN coalesce(lane, '') ELSE nullif(lane, '') END WHERE key = ?1",
    [Q_ERASE]        = "UPDATE entry SET payload = ?2, blob = ?3, content = ?4, refs = NULL, salt = NULL WHERE key = ?1",
    [Q_RECHAIN]      = "UPDATE entry SET id = ?2, salt = ?3, chain = ?4, payload = ?5, blob = ?6 WHERE key = ?1",
    [Q_RECHAINED]    = "UPDATE thread SET version = 2, chain = ?2 WHERE tid = ?1",
    [Q_ROW_GET]      = "SELECT value FROM row WHERE tid = ? AND view = ? AND key = ?",
    [Q_ROW_PUT]      = "INSERT INTO row(tid, view, key, value) VALUES(?1, ?2, ?3, ?4)"
                       " ON CONFLICT DO UPDATE SET value = excluded.value",
    [Q_ROW_DEL]      = "DELETE FROM row WHERE tid = ? AND view = ? AND key = ?",
    [Q_TEXT_HAS]     = "SELECT 1 FROM text_docsize WHERE id = ?",
    [Q_TEXT_LAST]    = "SELECT max(id) FROM text_docsize WHERE id BETWEEN ? AND ?",
    [Q_TEXT_ADD]     = "INSERT INTO text(rowid, body) VALUES(?, ?)",
    [Q_ROWS_CLEAR]   = "DELETE FROM row WHERE tid = ? AND view = ?",
    [Q_MOVED]        = "SELECT value FROM row WHERE tid = 0 AND view = 'moved' AND key = x'746f'",
};
/* clang-format on */

enum status sqlite_fail(struct sqlite_store *q, int rc, struct err *e)
{
    int         extended = q->db ? sqlite3_extended_errcode(q->db) : rc;
    const char *said = q->db ? sqlite3_errmsg(q->db) : sqlite3_errstr(rc);

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        err_set(e, ST_CONFLICT, "another process kept %s busy for %.1f s", q->path,
                q->busy_ms / 1000.0);
        err_reason(e, "busy");
        return err_hint(e, "nothing was written; run the command again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        err_set(e, ST_CORRUPT, "%s is damaged: %s", q->path, said);
        return err_hint(e, "`heddle doctor` says what is whole; `heddle log export` saves what is "
                           "readable");
    case SQLITE_FULL:
        err_set(e, ST_IO, "the disk is full; nothing was written to %s", q->path);
        return err_hint(e, "free some space and run the command again");
    case SQLITE_READONLY:
        err_set(e, ST_IO, "%s cannot be written: %s", q->path, said);
        err_reason(e, STORE_READ_ONLY);
        return err_hint(e, "check who owns the file and its directory (ls -ld)");
    case SQLITE_CANTOPEN:
        err_set(e, ST_IO, "%s cannot be opened: %s", q->path, said);
        return err_hint(e, "check that the directory exists and may be written");
    default: return err_set(e, ST_IO, "%s: %s (%d)", q->path, said, extended);
    }
}

enum status sqlite_not_in_order(struct sqlite_store *q, const char *what, struct err *e)
{
    err_set(e, ST_CORRUPT, "%s is damaged: %s are not in order", q->path, what);
    return err_hint(e, "`heddle doctor` says what is whole; `heddle log export` saves what is "
                       "readable");
}

enum status sqlite_exec(struct sqlite_store *q, const char *text, struct err *e)
{
    int rc = sqlite3_exec(q->db, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_number(struct sqlite_store *q, const char *text, int64_t *out, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int           rc = sqlite3_prepare_v2(q->db, text, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_ready(struct sqlite_store *q, enum sqlite_statement which, sqlite3_stmt **out,
                         struct err *e)
{
    if (!q->kept[which]) {
        int rc = sqlite3_prepare_v3(q->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    &q->kept[which], NULL);
        if (rc != SQLITE_OK)
            return sqlite_fail(q, rc, e);
    }
    *out = q->kept[which];
    return ST_OK;
}

enum status sqlite_take(struct sqlite_store *q, int kind, const char *text, sqlite3_stmt **out,
                        struct err *e)
{
    int rc = SQLITE_OK;

    *out = q->idle[kind];
    q->idle[kind] = NULL;
    if (!*out)
        rc = sqlite3_prepare_v3(q->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return rc == SQLITE_OK ? ST_OK : sqlite_fail(q, rc, e);
}

void sqlite_put_aside(struct sqlite_store *q, int kind, sqlite3_stmt *st)
{
    sqlite3_reset(st);
    if (st && !q->idle[kind])
        q->idle[kind] = st;
    else
        sqlite3_finalize(st);
}

enum status sqlite_run(struct sqlite_store *q, sqlite3_stmt *st, struct err *e)
{
    int         rc = sqlite3_step(st);
    enum status s = rc == SQLITE_DONE || rc == SQLITE_ROW ? ST_OK : sqlite_fail(q, rc, e);

    sqlite3_reset(st);
    return s;
}

static enum status run_kept(struct sqlite_store *q, enum sqlite_statement which, struct err *e)
{
    sqlite3_stmt *st = NULL;

    return sqlite_ready(q, which, &st, e) ? err_code(e) : sqlite_run(q, st, e);
}

void sqlite_bind_sv(sqlite3_stmt *st, int at, struct sv v)
{
    if (v.s)
        sqlite3_bind_text64(st, at, v.s, v.n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(st, at);
}

struct sv sqlite_column_sv(sqlite3_stmt *st, int at)
{
    /* Looked up once: a store belongs to one thread of execution, so nobody else changes the
     * value. */
    sqlite3_value *v = sqlite3_column_value(st, at);
    const char    *s = sqlite3_value_blob(v);

    if (s)
        return (struct sv){ s, (size_t)sqlite3_value_bytes(v) };
    /* NULL, or empty: SQLite has no pointer for either. */
    return sqlite3_value_type(v) == SQLITE_NULL ? (struct sv){ 0 } : SV("");
}

static enum status find_tid(struct sqlite_store *q, enum sqlite_statement how, struct sv thread,
                            int64_t *tid, struct err *e)
{
    sqlite3_stmt *st = NULL;

    if (sqlite_ready(q, how, &st, e))
        return err_code(e);
    sqlite_bind_sv(st, 1, thread);
    int         rc = sqlite3_step(st);
    int64_t     n = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    enum status s = rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_reset(st);
    if (!s && rc == SQLITE_ROW && (n < 1 || n > TID_MAX)) {
        err_set(e, ST_CORRUPT, "%s: thread '" SV_FMT "' has the impossible number %lld", q->path,
                SV_ARG(thread), (long long)n);
        return err_hint(e, "the file was changed outside heddle: put a copy of it back");
    }
    *tid = n;
    return s;
}

enum status sqlite_tid(struct sqlite_store *q, struct sv thread, int64_t *tid, struct err *e)
{
    if (q->tid && q->tid_seen && sv_is(thread, q->thread)) {
        *tid = q->tid;
        return ST_OK;
    }
    *tid = 0;
    if (thread.n && thread.s[0] == 1) /* one that was dropped */
        return ST_OK;
    enum status s = find_tid(q, Q_THREAD_FIND, thread, tid, e);
    if (s == ST_CORRUPT) /* perhaps only the index is */
        s = find_tid(q, Q_THREAD_FIND_SLOW, thread, tid, e);
    if (s)
        return s;
    if (*tid && thread.n < sizeof q->thread) {
        memcpy(q->thread, thread.s, thread.n);
        q->thread[thread.n] = 0;
        q->tid = *tid;
        q->tid_seen = !sqlite3_get_autocommit(q->db);
        q->created = 0;
    }
    return ST_OK;
}

/* ---- transactions --------------------------------------------------------------- */

enum { BUSY_SPREAD_US = 200 };

/* Sleep a little longer each time, with a random part so that two waiting processes do not stay in
 * step. The pauses are short because the holder only waits for one sync of the disk. */
static int busy(void *ctx, int tries)
{
    struct sqlite_store *q = ctx;
    int64_t              now = clock_steady_us();

    if (tries == 0)
        q->busy_since = now;
    if (now - q->busy_since > (int64_t)q->patience_ms * 1000)
        return 0;
    long us = 50 + (tries < 30 ? tries * 50 : 1500) + (now ^ getpid()) % BUSY_SPREAD_US;
    nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
    return 1;
}

/* Longer than the longest pause of busy(). */
static void sqlite_let_others(struct store *s)
{
    (void)s;
    nanosleep(&(struct timespec){ 0, (50 + 1500 + BUSY_SPREAD_US + 250) * 1000 }, NULL);
}

/* A checkpoint that cannot be made now is made later, so its failure is not reported. */
static void empty_wal(struct sqlite_store *q, const char *name)
{
    q->patience_ms = q->busy_ms < TRUNCATE_WAIT_MS ? q->busy_ms : TRUNCATE_WAIT_MS;
    int rc = sqlite3_wal_checkpoint_v2(q->db, name, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    q->patience_ms = q->busy_ms;
    q->truncate_at = rc == SQLITE_OK ? TRUNCATE_PAGES : q->wal_pages + TRUNCATE_AGAIN;
}

static int after_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_store *q = ctx;

    q->wal_pages = pages;
    q->commits++;
    if (pages < TRUNCATE_PAGES)
        q->truncate_at = TRUNCATE_PAGES;
    if (pages >= q->truncate_at)
        empty_wal(q, name);
    else if (pages >= CHECKPOINT_PAGES)
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

static void sqlite_abort(struct store *s);

static enum status sqlite_begin(struct store *s, enum store_mode mode, struct sv thread,
                                struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);

    (void)thread;
    /* A rollback that failed is tried again here, where the error can be returned. */
    if (!sqlite3_get_autocommit(q->db) && run_kept(q, Q_ROLLBACK, e))
        return err_in(e, "the transaction before this one");
    q->tid_seen = false; /* another process may have restored a backup since */
    if (run_kept(q, mode == STORE_WRITE ? Q_BEGIN_WRITE : Q_BEGIN, e))
        return err_code(e);
    enum status status = sqlite_check_moved(q, mode, e);
    if (status)
        sqlite_abort(s);
    return status;
}

/* What an I/O error during a commit means: the pages and the commit mark may be in the write-ahead
 * log, and the error came from syncing them. This connection takes the transaction back, but the
 * next one that reads the log may find it complete. */
enum status sqlite_uncertain(struct sqlite_store *q, struct err *e)
{
    char said[200];

    snprintf(said, sizeof said, "%s", sqlite3_errmsg(q->db));
    err_set(e, ST_IO, "%s: the disk failed while committing (%s): it may have been written",
            q->path, said);
    err_reason(e, "uncertain");
    return err_hint(e,
                    "repeat the command with the same op_id, which is harmless if it was; without "
                    "one, look first: `heddle log show`");
}

static enum status sqlite_commit(struct store *s, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;

    if (sqlite_ready(q, Q_COMMIT, &st, e))
        return err_code(e);
    int         rc = sqlite3_step(st);
    enum status status = rc == SQLITE_DONE             ? ST_OK
                         : (rc & 0xff) == SQLITE_IOERR ? sqlite_uncertain(q, e)
                                                       : sqlite_fail(q, rc, e);
    sqlite3_reset(st);
    return status;
}

static void sqlite_abort(struct store *s)
{
    struct sqlite_store *q = sqlite_of(s);
    struct err           ignored;

    q->tid = 0; /* it may have been made by what is now undone */
    if (!sqlite3_get_autocommit(q->db))
        (void)run_kept(q, Q_ROLLBACK, &ignored); /* the next begin repeats it */
}

/* After some errors (a full disk, out of memory) SQLite has rolled back the whole transaction, and
 * with it the parts before this one. */
static enum status check_group(struct sqlite_store *q, struct err *e)
{
    if (!sqlite3_get_autocommit(q->db))
        return ST_OK;
    err_set(e, ST_IO, "%s: the transaction was rolled back as a whole", q->path);
    return err_reason(e, "group");
}

static enum status sqlite_part_begin(struct store *s, struct sv thread, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);

    (void)thread;
    return check_group(q, e) || run_kept(q, Q_PART, e) ? err_code(e) : ST_OK;
}

static enum status sqlite_part_end(struct store *s, bool keep, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);

    if (!keep)
        q->tid = 0; /* it may have been made by what is now undone */
    if (check_group(q, e) || (!keep && run_kept(q, Q_PART_UNDO, e)))
        return err_code(e);
    return run_kept(q, Q_PART_KEEP, e);
}

/* ---- opening -------------------------------------------------------------------- */

/* Give free pages back to the file system if there are at least `least`, VACUUM_SLICE of them in
 * each transaction. *any: there were. */
static enum status give_back_pages(struct sqlite_store *q, int64_t least, bool *any, struct err *e)
{
    int64_t left = 0, before;
    char    pragma[64];

    snprintf(pragma, sizeof pragma, "PRAGMA incremental_vacuum(%d)", VACUUM_SLICE);
    if (sqlite_number(q, "PRAGMA freelist_count", &left, e))
        return err_code(e);
    *any = left && left >= least;
    if (!*any)
        return ST_OK;
    for (before = left + 1; left && left < before;) { /* an old file gives none back this way */
        before = left;
        if (sqlite_exec(q, pragma, e) || sqlite_number(q, "PRAGMA freelist_count", &left, e))
            return err_code(e);
        if (left)
            sqlite_let_others(&q->base);
    }
    return ST_OK;
}

static void sqlite_close(struct store *s)
{
    struct sqlite_store *q = sqlite_of(s);
    struct err           ignored;
    bool                 gave = false;

    if (q->cleared)
        (void)!give_back_pages(q, VACUUM_PAGES, &gave, &ignored);
    for (size_t i = 0; i < Q_COUNT; i++)
        sqlite3_finalize(q->kept[i]);
    for (size_t i = 0; i < SQLITE_SCANS; i++)
        sqlite3_finalize(q->idle[i]);
    if (q->db && q->wal_pages < CLOSE_PAGES && !gave)
        sqlite3_db_config(q->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(q->db);
    if (q->watch > 0)
        close(q->watch);
    fd_undo(&q->dir);
    free(q->file);
    free(q->path);
    store_note_moved(s, SV(""));
    free(q);
}

/* SQLite takes the write-ahead log beside an empty file for a leftover and removes it; but the
 * newest entries may be in there, and nowhere else. */
static enum status check_there(const struct sqlite_store *q, const struct store_options *o,
                               struct err *e)
{
    if (!sqlite_file_size(q, "") && sqlite_file_size(q, "-wal")) {
        err_set(e, ST_CORRUPT, "%s is empty or gone, but %s-wal holds entries", q->path, q->path);
        return err_hint(e, "put a copy of the file back, or move the -wal file away");
    }
    if (o->create || access(q->file, F_OK) == 0)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "there is no log at %s", q->path);
    return err_hint(e, "`heddle init` makes one here; --root names another workspace");
}

/* file:PATH?immutable=1, where bytes of the path that mean something in a URI are escaped. */
static int open_immutable(struct sqlite_store *q)
{
    struct arena scratch = { 0 };
    struct sb    uri = sb_in(&scratch, 0);

    sb_adds(&uri, "file:");
    for (const char *p = q->file; *p; p++)
        if (*p == '?' || *p == '#' || *p == '%')
            sb_addf(&uri, "%%%02x", (unsigned char)*p);
        else
            sb_addc(&uri, *p);
    sb_adds(&uri, "?immutable=1");
    int rc = sqlite3_open_v2(sb_sv(&uri).s, &q->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                             sqlite_vfs_name());
    arena_free(&scratch);
    return rc;
}

static int connect(struct sqlite_store *q, const struct store_options *o)
{
    int flags = SQLITE_OPEN_READWRITE | (o->create ? SQLITE_OPEN_CREATE : 0);

    return sqlite3_open_v2(q->file, &q->db, flags | SQLITE_OPEN_NOMUTEX, sqlite_vfs_name());
}

/* The file may come from somebody else. Whatever its schema could make SQLite run (triggers, views,
 * functions in them, changes of the schema itself) is switched off. */
static void distrust(struct sqlite_store *q)
{
    static const struct {
        int what, on;
    } settings[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 }, /* takes back what open_cut_short() asks for */
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
        { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
    };

    for (size_t i = q->cut_short ? 1 : 0; i < COUNT(settings); i++)
        sqlite3_db_config(q->db, settings[i].what, settings[i].on, NULL);
}

static enum status set_up(struct sqlite_store *q, const struct store_options *o, struct err *e)
{
    distrust(q);
    q->busy_ms = q->patience_ms = o->busy_ms ? o->busy_ms : STORE_BUSY_MS;
    q->truncate_at = TRUNCATE_PAGES;
    sqlite3_busy_handler(q->db, busy, q);
    sqlite3_wal_hook(q->db, after_commit, q);
    sqlite3_extended_result_codes(q->db, 0);
    if (sqlite_exec(q, "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 8388608;", e))
        return err_code(e);
    return sqlite_make_schema(q, o->create, e);
}

/* A file or directory that may not be written. In WAL mode SQLite makes its shared index beside the
 * file even to read it; with no write-ahead log there the file itself is everything, and can be
 * read as it is. */
static enum status open_to_read(struct sqlite_store *q, const struct store_options *o,
                                struct err *e)
{
    sqlite3_close(q->db);
    q->db = NULL;
    int rc = sqlite_file_size(q, "-wal")
                 ? sqlite3_open_v2(q->file, &q->db, SQLITE_OPEN_READONLY, sqlite_vfs_name())
                 : open_immutable(q);
    return rc == SQLITE_OK ? set_up(q, o, e) : sqlite_fail(q, rc, e);
}

/* Does the header name more pages than the file has? */
static bool is_cut_short(const struct sqlite_store *q)
{
    unsigned char     h[100];
    UNDO(fd_undo) int fd = open(q->file, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || pread(fd, h, sizeof h, 0) != sizeof h || memcmp(h, "SQLite format 3", 16) != 0)
        return false;
    int64_t page = h[16] << 8 | h[17];
    int64_t pages = (int64_t)h[28] << 24 | h[29] << 16 | h[30] << 8 | h[31];
    return (page == 1 ? 65536 : page) * pages > sqlite_file_size(q, "");
}

/* SQLite refuses a file whose end is missing, unless writable_schema says that the file is being
 * repaired. Nothing is repaired here: the connection cannot write, and reading a missing page is an
 * error. */
static enum status open_cut_short(struct sqlite_store *q, const struct store_options *o,
                                  struct err *e)
{
    sqlite3_close(q->db);
    q->db = NULL;
    q->cut_short = true;
    int rc = open_immutable(q);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(q->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    return rc == SQLITE_OK ? set_up(q, o, e) : sqlite_fail(q, rc, e);
}

static enum status open_file(struct sqlite_store *q, const struct store_options *o, struct err *e)
{
    int         rc = connect(q, o);
    enum status s = rc == SQLITE_OK ? set_up(q, o, e) : sqlite_fail(q, rc, e);

    q->shared = !s;
    if (s == ST_IO && o->read_only)
        s = open_to_read(q, o, e);
    if (s == ST_CORRUPT && o->read_only && is_cut_short(q))
        s = open_cut_short(q, o, e);
    sqlite_note_place(q);
    return s;
}

enum status sqlite_open(struct sv rest, const struct store_options *o, struct store **out,
                        struct err *e)
{
    struct sqlite_store *q = calloc(1, sizeof *q);

    if (!q)
        failure_memory(sizeof *q);
    q->base.ops = &sqlite_ops;
    q->base.past_move = o->past_move;
    enum status s = sqlite_locate(q, rest, o, e);
    if (!s)
        s = check_there(q, o, e);
    if (!s && o->create)
        s = sqlite_make_file(q, e);
    if (!s)
        s = open_file(q, o, e);
    if (s) {
        sqlite_close(&q->base);
        return s;
    }
    *out = (struct store *)q;
    return ST_OK;
}

/* ---- care ----------------------------------------------------------------------- */

#define HIDDEN "(SELECT tid FROM thread WHERE NOT (" SQLITE_SHOWN "))"

static enum status sqlite_stats(struct store *s, struct store_stats *out, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              page = 0, free_pages = 0, schema = 0;

    if (sqlite_number(q, "SELECT count(*) FROM thread WHERE " SQLITE_SHOWN, &out->threads, e) ||
        sqlite_number(q,
                      "SELECT (SELECT count(*) FROM entry) - (SELECT count(*) FROM " HIDDEN
                      " h JOIN entry e ON e.key BETWEEN h.tid << 36 AND h.tid << 36 | 68719476735)",
                      &out->entries, e) ||
        sqlite_number(
            q,
            "SELECT (SELECT count(*) FROM row WHERE tid > 0) - (SELECT count(*) FROM " HIDDEN
            " h JOIN row r ON r.tid = h.tid)",
            &out->rows, e) ||
        sqlite_number(q, "SELECT count(*) FROM blob", &out->blobs, e) ||
        sqlite_number(q, "PRAGMA page_size", &page, e) ||
        sqlite_number(q, "PRAGMA freelist_count", &free_pages, e) ||
        sqlite_number(q, "PRAGMA user_version", &schema, e))
        return err_code(e);
    out->file_bytes = sqlite_file_size(q, "");
    out->wal_bytes = sqlite_file_size(q, "-wal");
    out->free_bytes = page * free_pages;
    out->schema = (int)schema;
    return ST_OK;
}

static void add_fact(struct store_fact *facts, size_t *n, struct sv name, struct arena *a,
                     const char *fmt, ...) PRINTF(5, 6);
static void add_fact(struct store_fact *facts, size_t *n, struct sv name, struct arena *a,
                     const char *fmt, ...)
{
    struct sb b = sb_in(a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    facts[(*n)++] = (struct store_fact){ name, sb_sv(&b) };
}

static enum status sqlite_facts(struct store *s, struct arena *a, struct store_fact **out,
                                size_t *n, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    struct store_fact   *facts = ARENA_NEW(a, struct store_fact, 6);
    int64_t              schema;

    if (sqlite_number(q, "PRAGMA user_version", &schema, e))
        return err_code(e);
    *n = 0;
    add_fact(facts, n, SV("kind"), a, "sqlite");
    add_fact(facts, n, SV("place"), a, "%s", q->path);
    add_fact(facts, n, SV("version"), a, "SQLite %s", sqlite3_libversion());
    add_fact(facts, n, SV("schema version"), a, "%lld", (long long)schema);
    add_fact(facts, n, SV("size"), a, "%lld bytes, write-ahead log %lld bytes",
             (long long)sqlite_file_size(q, ""), (long long)sqlite_file_size(q, "-wal"));
    add_fact(facts, n, SV("replication"), a, "none: this file is the only copy, beside backups");
    *out = facts;
    return ST_OK;
}

struct told {
    void (*say)(void *, struct sv);
    void *ctx;
};

static enum status tell_lost(void *ctx, int64_t tid, int64_t n, struct err *e)
{
    struct told *t = ctx;
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    (void)e;
    if (tid < 1) {
        sb_addf(&b, "%lld entr%s no thread can have", (long long)n, n == 1 ? "y" : "ies");
        t->say(t->ctx, sb_sv(&b));
        arena_free(&scratch);
        return ST_OK;
    }
    sb_addf(&b,
            "%lld entr%s of thread number %lld %s there, and the thread is gone from the table of "
            "threads; `heddle doctor --fix` names it lost-%lld",
            (long long)n, n == 1 ? "y" : "ies", (long long)tid, n == 1 ? "is" : "are",
            (long long)tid);
    t->say(t->ctx, sb_sv(&b));
    arena_free(&scratch);
    return ST_OK;
}

static enum status sqlite_check(struct store *s, void (*say)(void *, struct sv), void *ctx,
                                struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    int rc = sqlite3_prepare_v2(q->db, "PRAGMA integrity_check(20)", -1, &st, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc == SQLITE_ROW && !sv_is(sqlite_column_sv(st, 0), "ok"))
            say(ctx, sqlite_column_sv(st, 0));
    }
    sqlite3_finalize(st);
    if (rc != SQLITE_DONE)
        return sqlite_fail(q, rc, e);
    struct told t = { say, ctx };
    return sqlite_check_schema(q, say, ctx, e) ? err_code(e)
                                               : sqlite_each_lost(q, tell_lost, &t, e);
}

static enum status sqlite_compact(struct store *s, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    bool                 any;

    if (give_back_pages(q, 0, &any, e))
        return err_code(e);
    return sqlite_exec(q, "PRAGMA wal_checkpoint(TRUNCATE)", e);
}

/* Keys of imported entries are random, so that a small cache would read and write the pages of
 * their index again and again. */
static void sqlite_bulk(struct store *s, bool on)
{
    sqlite3_exec(sqlite_of(s)->db, on ? "PRAGMA cache_size=-24000" : "PRAGMA cache_size=-2000",
                 NULL, NULL, NULL);
}

static const char *sqlite_unreached(const struct store *s, bool *waits)
{
    (void)s, (void)waits;
    return "blocks that the file system freed, and its snapshots";
}

const struct store_ops sqlite_ops = {
    .scheme = "sqlite",
    .close = sqlite_close,
    .begin = sqlite_begin,
    .bulk = sqlite_bulk,
    .commit = sqlite_commit,
    .abort = sqlite_abort,
    .part_begin = sqlite_part_begin,
    .part_end = sqlite_part_end,
    .head = sqlite_head,
    .insert = sqlite_insert,
    .scan = sqlite_scan,
    .next = sqlite_next,
    .scan_close = sqlite_scan_close,
    .find_op = sqlite_find_op,
    .chain_at = sqlite_chain_at,
    .set_mark = sqlite_set_mark,
    .erase = sqlite_erase,
    .rechain = sqlite_rechain,
    .threads = sqlite_threads,
    .thread_ids = sqlite_thread_ids,
    .row_get = sqlite_row_get,
    .row_put = sqlite_row_put,
    .row_del = sqlite_row_del,
    .rows = sqlite_rows,
    .rows_next = sqlite_rows_next,
    .rows_close = sqlite_rows_close,
    .rows_clear = sqlite_rows_clear,
    .set_views = sqlite_set_views,
    .views = sqlite_views,
    .text_put = sqlite_text_put,
    .text_last = sqlite_text_last,
    .text_find = sqlite_text_find,
    .version = sqlite_version,
    .pause = sqlite_pause,
    .let_others = sqlite_let_others,
    .mark = sqlite_mark,
    .in_place = sqlite_in_place,
    .stats = sqlite_stats,
    .facts = sqlite_facts,
    .check = sqlite_check,
    .adopt_lost = sqlite_adopt_lost,
    .compact = sqlite_compact,
    .scrub = sqlite_scrub,
    .unreached = sqlite_unreached,
    .drop = sqlite_drop,
    .drop_later = sqlite_drop_later,
    .drop_some = sqlite_drop_some,
    .sizes = sqlite_sizes,
    .moved_get = sqlite_moved_get,
    .moved_set = sqlite_moved_set,
    .staged = sqlite_staged,
    .rename = sqlite_rename,
    .backup = sqlite_backup,
};
