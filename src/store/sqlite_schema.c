/* Tables and their history. docs/FORMATS.md explains them.
 *
 * entry.key is tid << 36 | seq: a thread's entries lie together, in order, and an index
 * on lane alone is ordered by (lane, key) because every index ends in the rowid. An
 * empty kind is SQLITE_USUAL_KIND, and with it no lane is SQLITE_USUAL_LANE; an empty name is not a
 * lane. A payload of STORE_BLOB_MIN bytes or more lives in `blob`, addressed by its hash, so that
 * the same bytes are stored once however many entries hold them. */
#include "store/sqlite_internal.h"

#include "base/clock.h"
#include "base/fs.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
static const struct sqlite_step steps[] = {
    { 1,
      "CREATE TABLE thread("
      " tid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, views INTEGER NOT NULL DEFAULT 0"
      ") STRICT;"
      "CREATE TABLE entry("
      " key INTEGER PRIMARY KEY, at INTEGER NOT NULL, mark INTEGER NOT NULL, kind TEXT NOT NULL,"
      " lane TEXT, actor TEXT, id TEXT, op TEXT, refs TEXT, chain BLOB NOT NULL,"
      " payload TEXT, blob BLOB"
      ") STRICT;"
      "CREATE INDEX entry_message ON entry(lane) WHERE mark = 1;"
      "CREATE INDEX entry_anchor ON entry(lane) WHERE mark = 2;"
      "CREATE UNIQUE INDEX entry_op ON entry(op, key >> 36) WHERE op IS NOT NULL;"
      "CREATE TABLE blob(hash BLOB PRIMARY KEY, bytes TEXT NOT NULL) STRICT;"
      "CREATE TABLE row("
      " tid INTEGER NOT NULL, view TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,"
      " PRIMARY KEY(tid, view, key)"
      ") STRICT, WITHOUT ROWID;" },
    /* The words of entries, by entry.key. The text itself stays in the entry. */
    { 2,
      "CREATE VIRTUAL TABLE text USING fts5(body, content='',"
      " tokenize='unicode61 remove_diacritics 2');" },
    /* Characters of scripts without spaces became words; what is there is put again on demand. */
    { 3, "INSERT INTO text(text) VALUES('delete-all');" },
    /* Where each log ends, recorded beside it: no entry is rewritten. */
    { 4,
      "ALTER TABLE thread ADD COLUMN rev INTEGER;"
      "ALTER TABLE thread ADD COLUMN chain BLOB;"
      "UPDATE thread SET (rev, chain) = (SELECT (key & 68719476735) + 1, chain FROM entry"
      " WHERE key BETWEEN tid << 36 AND tid << 36 | 68719476735 ORDER BY key DESC LIMIT 1);" },
    /* Salts of what can be erased, commitments of what was; threads that exist keep their chain. */
    { 5,
      "ALTER TABLE thread ADD COLUMN version INTEGER NOT NULL DEFAULT 1;"
      "ALTER TABLE entry ADD COLUMN salt BLOB;"
      "ALTER TABLE entry ADD COLUMN content BLOB;" },
    /* What most messages have in common is not stored in each: room for the salts. Entries that are
     * there stay as they are; the index has both alike. */
    { 6,
      "DROP INDEX entry_message;"
      "CREATE INDEX entry_message ON entry(coalesce(lane, '" SQLITE_USUAL_LANE "')) WHERE mark = 1;" },
    /* So that a large payload can be removed with the last entry that has it. */
    { 7, "CREATE INDEX entry_blob ON entry(blob) WHERE blob IS NOT NULL;" },
};
/* clang-format on */

/* The copy must be durable before the first step changes anything, so that it can be restored. */
static enum status sync_copy(const char *made, const char *name, struct err *e)
{
    UNDO(fd_undo) int fd = open(made, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0 || rename(made, name) != 0)
        return err_errno(e, "keep the copy");
    return ST_OK;
}

/* An empty file, which VACUUM INTO fills: made here so that only its owner can read it. */
static enum status make_copy(const char *made, struct err *e)
{
    unlink(made); /* left by a migration that was killed */
    UNDO(fd_undo) int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return fd < 0 ? err_errno(e, "make the copy") : ST_OK;
}

static enum status copy_to(struct sqlite_store *q, const char *made, const char *name,
                           struct err *e)
{
    struct sqlite_store reader = { .path = q->path, .file = q->file, .busy_ms = q->busy_ms };
    sqlite3_stmt       *st = NULL;
    int rc = sqlite3_open_v2(q->file, &reader.db, SQLITE_OPEN_READWRITE, sqlite_vfs_name());

    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(reader.db, "VACUUM INTO ?", -1, &st, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(st, 1, made, -1, SQLITE_STATIC);
        rc = sqlite3_step(st);
    }
    enum status s = rc == SQLITE_DONE ? ST_OK : sqlite_fail(&reader, rc, e);
    sqlite3_finalize(st);
    sqlite3_close(reader.db);
    return s ? s : sync_copy(made, name, e);
}

/* A copy of the file as it is before migration. We hold the write lock, so that nobody changes
 * it meanwhile; a second connection reads, since a transaction cannot copy itself. */
static enum status copy_beside(struct sqlite_store *q, int64_t version, struct err *e)
{
    char       *name = sqlite3_mprintf("%s.v%lld.bak", q->file, (long long)version);
    char       *made = sqlite3_mprintf("%s.part", name);
    enum status s = make_copy(made, e);

    if (!s)
        s = copy_to(q, made, name, e);
    if (s)
        err_in(e, "copy before migration to %s.v%lld.bak", q->path, (long long)version);
    sqlite3_free(made);
    sqlite3_free(name);
    return s;
}

static enum status refuse_newer(struct sqlite_store *q, int64_t version, int current, struct err *e)
{
    err_set(e, ST_IO, "%s has schema %lld; this heddle knows up to %d", q->path, (long long)version,
            current);
    return err_hint(e, "use the newer heddle that made it");
}

static enum status run_step(struct sqlite_store *q, const struct sqlite_step *step, struct err *e)
{
    char pragma[64];

    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", step->to);
    if (sqlite_exec(q, step->sql, e) || sqlite_exec(q, pragma, e))
        return err_in(e, "migration to schema %d", step->to);
    return ST_OK;
}

/* All steps that are still to do, in the open write transaction. */
static enum status run_steps(struct sqlite_store *q, const struct sqlite_step *todo, size_t n,
                             int current, struct err *e)
{
    int64_t version;

    if (sqlite_number(q, "PRAGMA user_version", &version, e))
        return err_code(e);
    if (version > current)
        return refuse_newer(q, version, current, e);
    if (version > 0 && version < current && copy_beside(q, version, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (todo[i].to > version && run_step(q, &todo[i], e))
            return err_code(e);
    return ST_OK;
}

enum status sqlite_migrate(struct sqlite_store *q, const struct sqlite_step *todo, size_t n,
                           int current, struct err *e)
{
    int64_t version;

    if (sqlite_number(q, "PRAGMA user_version", &version, e))
        return err_code(e);
    if (version > current)
        return refuse_newer(q, version, current, e);
    if (version == current)
        return ST_OK;
    if (sqlite_exec(q, "BEGIN IMMEDIATE", e))
        return err_code(e);
    enum status s = run_steps(q, todo, n, current, e);
    if (!s)
        s = sqlite_exec(q, "COMMIT", e);
    if (s)
        sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    return s;
}

/* Which program made this file, and which schema has it? Both are read from one state, since
 * another process may be creating the schema at this moment. */
static enum status identify(struct sqlite_store *q, int64_t *application, int64_t *version,
                            int64_t *tables, struct err *e)
{
    if (sqlite_exec(q, "BEGIN", e))
        return err_code(e);
    enum status s = sqlite_number(q, "PRAGMA application_id", application, e);
    if (!s)
        s = sqlite_number(q, "PRAGMA user_version", version, e);
    if (!s)
        s = sqlite_number(q, "SELECT count(*) FROM sqlite_schema", tables, e);
    sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
    return s;
}

/* The switch to WAL needs the file for itself, and does not wait for it by the busy handler. */
static enum status switch_to_wal(struct sqlite_store *q, struct err *e)
{
    int64_t until = clock_steady_us() + (int64_t)q->busy_ms * 1000;
    int     rc;

    while ((rc = sqlite3_exec(q->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL)) ==
               SQLITE_BUSY &&
           clock_steady_us() < until)
        nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
    return rc == SQLITE_OK ? ST_OK : sqlite_fail(q, rc, e);
}

/* An empty file becomes a log. auto_vacuum can only be set before the first table exists. */
static enum status adopt(struct sqlite_store *q, struct err *e)
{
    char pragma[64];

    snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", SQLITE_APPLICATION_ID);
    if (sqlite_exec(q, "PRAGMA auto_vacuum = INCREMENTAL", e) || switch_to_wal(q, e))
        return err_code(e);
    q->base.is_new = true;
    return sqlite_exec(q, pragma, e);
}

/* Can this read-only file of an older schema be read without migration? */
static bool is_readable_as_it_is(const struct sqlite_store *q, int64_t version)
{
    return version >= SQLITE_SCHEMA_READABLE && version < SQLITE_SCHEMA_VERSION &&
           sqlite3_db_readonly(q->db, "main") == 1;
}

enum status sqlite_make_schema(struct sqlite_store *q, bool create, struct err *e)
{
    int64_t application, tables, version;

    if (identify(q, &application, &version, &tables, e))
        return err_code(e);
    for (int i = 0; !create && !application && !tables && i < 20; i++) {
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL); /* is someone making it just now? */
        if (identify(q, &application, &version, &tables, e))
            return err_code(e);
    }
    q->schema = SQLITE_SCHEMA_VERSION;
    if (application == SQLITE_APPLICATION_ID && version == SQLITE_SCHEMA_VERSION)
        return ST_OK;
    if (application == SQLITE_APPLICATION_ID && is_readable_as_it_is(q, version)) {
        q->schema = (int)version;
        return ST_OK;
    }
    if (application != SQLITE_APPLICATION_ID && tables) {
        err_set(e, ST_CORRUPT, "%s is an SQLite database, but not heddle's", q->path);
        return err_hint(e, "set \"store\" in .heddle/config.json to another path");
    }
    if (application != SQLITE_APPLICATION_ID && !create) {
        err_set(e, ST_CORRUPT, "%s is empty: it holds no log", q->path);
        return err_hint(e, "put a copy of the log back, or start a new one with `heddle init`");
    }
    if (application != SQLITE_APPLICATION_ID && adopt(q, e))
        return err_code(e);
    return sqlite_migrate(q, steps, COUNT(steps), SQLITE_SCHEMA_VERSION, e);
}

/* ---- what the file holds -------------------------------------------------------------- */

/* Everything in a schema, by name; a step of it. */
struct objects {
    sqlite3_stmt *st;
    int           rc;
};

static struct objects objects_of(sqlite3 *db)
{
    struct objects o = { NULL, SQLITE_OK };

    o.rc = sqlite3_prepare_v2(db, "SELECT name, type, sql FROM sqlite_schema ORDER BY name", -1,
                              &o.st, NULL);
    if (o.rc == SQLITE_OK)
        o.rc = sqlite3_step(o.st);
    return o;
}

static struct sv object_name(const struct objects *o)
{
    return o->rc == SQLITE_ROW ? sqlite_column_sv(o->st, 0) : (struct sv){ 0 };
}

static void complain(void (*say)(void *, struct sv), void *ctx, const struct objects *o,
                     const char *what)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    sb_addf(&b, "the %s '", (const char *)sqlite3_column_text(o->st, 1));
    sb_add(&b, object_name(o));
    sb_addf(&b, "' %s", what);
    say(ctx, sb_sv(&b));
    arena_free(&scratch);
}

/* Two schemas side by side. */
static void compare(struct objects *there, struct objects *want, void (*say)(void *, struct sv),
                    void *ctx)
{
    while (there->rc == SQLITE_ROW || want->rc == SQLITE_ROW) {
        int order = there->rc != SQLITE_ROW  ? 1
                    : want->rc != SQLITE_ROW ? -1
                                             : sv_cmp(object_name(there), object_name(want));
        if (order < 0)
            complain(say, ctx, there, "of the database was not made by heddle, and is not used");
        else if (order > 0)
            complain(say, ctx, want, "of the database is missing");
        else if (!sv_eq(sqlite_column_sv(there->st, 2), sqlite_column_sv(want->st, 2)))
            complain(say, ctx, there, "of the database is not as heddle made it");
        if (order <= 0)
            there->rc = sqlite3_step(there->st);
        if (order >= 0)
            want->rc = sqlite3_step(want->st);
    }
}

enum status sqlite_check_schema(struct sqlite_store *q, void (*say)(void *, struct sv), void *ctx,
                                struct err *e)
{
    struct sqlite_store model = { .path = q->path, .file = q->file };
    int                 rc = sqlite3_open(":memory:", &model.db);
    enum status         s = rc == SQLITE_OK ? ST_OK : sqlite_fail(&model, rc, e);

    for (size_t i = 0; i < COUNT(steps) && !s; i++)
        if (steps[i].to <= q->schema)
            s = run_step(&model, &steps[i], e);
    if (!s) {
        struct objects there = objects_of(q->db), want = objects_of(model.db);
        compare(&there, &want, say, ctx);
        s = there.rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, there.rc, e);
        sqlite3_finalize(there.st);
        sqlite3_finalize(want.st);
    }
    sqlite3_close(model.db);
    return s;
}
