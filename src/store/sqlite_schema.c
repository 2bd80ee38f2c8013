/* Tables and their history. docs/FORMATS.md explains them.
 *
 * entry.key is tid << 36 | seq: a thread's entries lie together, in order, and an index
 * on lane alone is ordered by (lane, key) because every index ends in the rowid. A
 * payload of BLOB_MIN bytes or more lives in `blob`, addressed by its hash, so that the
 * same bytes are stored once however many entries hold them. */
#include "store/sqlite_internal.h"

#include <stdio.h>

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
};
/* clang-format on */

static enum status copy_beside(struct sqlite_store *q, int64_t version, struct err *e)
{
    sqlite3_stmt *st;
    char         *copy = sqlite3_mprintf("%s.v%lld.bak", q->path, (long long)version);

    remove(copy); /* left by a migration that failed half-way: made again from the same file */
    int rc = sqlite3_prepare_v2(q->db, "VACUUM INTO ?", -1, &st, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(st, 1, copy, -1, SQLITE_STATIC);
        rc = sqlite3_step(st);
        sqlite3_finalize(st);
    }
    enum status s = rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    if (s)
        err_in(e, "copy before migration to %s", copy);
    sqlite3_free(copy);
    return s;
}

static enum status refuse_newer(struct sqlite_store *q, int64_t version, int current, struct err *e)
{
    err_set(e, ST_IO, "%s has schema %lld; this heddle knows up to %d", q->path, (long long)version,
            current);
    return err_hint(e, "use the newer heddle that made it");
}

/* All steps that are still to do, in one write transaction. */
static enum status run_steps(struct sqlite_store *q, const struct sqlite_step *todo, size_t n,
                             struct err *e)
{
    int64_t version;
    char    pragma[64];

    if (sqlite_exec(q, "BEGIN IMMEDIATE", e))
        return e->code;
    if (sqlite_number(q, "PRAGMA user_version", &version, e))
        goto fail;
    for (size_t i = 0; i < n; i++) {
        if (todo[i].to <= version)
            continue; /* another process was faster */
        snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", todo[i].to);
        if (sqlite_exec(q, todo[i].sql, e) || sqlite_exec(q, pragma, e))
            goto fail;
    }
    if (sqlite_exec(q, "COMMIT", e))
        goto fail;
    return ST_OK;
fail:
    sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
    return e->code;
}

enum status sqlite_migrate(struct sqlite_store *q, const struct sqlite_step *todo, size_t n,
                           int current, struct err *e)
{
    int64_t version;

    if (sqlite_number(q, "PRAGMA user_version", &version, e))
        return e->code;
    if (version > current)
        return refuse_newer(q, version, current, e);
    if (version == current)
        return ST_OK;
    if (version > 0 && copy_beside(q, version, e))
        return e->code;
    return run_steps(q, todo, n, e);
}

enum status sqlite_make_schema(struct sqlite_store *q, struct err *e)
{
    int64_t application, tables, version;
    char    pragma[64];

    if (sqlite_number(q, "PRAGMA application_id", &application, e) ||
        sqlite_number(q, "PRAGMA user_version", &version, e))
        return e->code;
    if (application == SQLITE_APPLICATION_ID && version == SQLITE_SCHEMA_VERSION)
        return ST_OK;
    if (application != SQLITE_APPLICATION_ID) {
        if (sqlite_number(q, "SELECT count(*) FROM sqlite_schema", &tables, e))
            return e->code;
        if (tables) {
            err_set(e, ST_CORRUPT, "%s is an SQLite database, but not heddle's", q->path);
            return err_hint(e, "set \"store\" in .heddle/config.json to another path");
        }
        /* Only before the first table can a file be told to give pages back. */
        snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", SQLITE_APPLICATION_ID);
        if (sqlite_exec(q, "PRAGMA auto_vacuum = INCREMENTAL", e) ||
            sqlite_exec(q, "PRAGMA journal_mode = WAL", e) || sqlite_exec(q, pragma, e))
            return e->code;
    }
    return sqlite_migrate(q, steps, COUNT(steps), SQLITE_SCHEMA_VERSION, e);
}
