/* Copies of the database, and measuring the size of threads. */
#include "store/sqlite_internal.h"

#include "base/vec.h"

/* Run one statement with a text for its parameter. */
static enum status run_with(struct sqlite_store *q, const char *sql, struct sv text, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int           rc = sqlite3_prepare_v2(q->db, sql, -1, &st, NULL);

    if (rc == SQLITE_OK) {
        sqlite_bind_sv(st, 1, text);
        rc = sqlite3_step(st);
    }
    enum status s = rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    return s;
}

/* Take staged threads and what is left of dropped ones out of a copy. It is looked for there: in
 * the store another process may have removed it since. */
static enum status drop_in_copy(const struct sqlite_store *q, struct sv path, struct err *e)
{
    struct arena        a = { 0 };
    struct sqlite_store copy = { .path = q->path, .file = q->file, .schema = q->schema };
    bool                any = false, left = true;
    int64_t             n;
    int         rc = sqlite3_open_v2(sv_cstr(path, &a), &copy.db, SQLITE_OPEN_READWRITE, NULL);
    enum status s = rc == SQLITE_OK
                        ? sqlite_exec(&copy,
                                      "PRAGMA journal_mode = OFF;"
                                      "UPDATE thread SET id = char(1) || tid WHERE " SQLITE_STAGED,
                                      e)
                        : sqlite_fail(&copy, rc, e);

    if (!s)
        s = sqlite_drop_some(&copy.base, 0, false, &n, &any, e);
    while (!s && any && left)
        s = sqlite_drop_some(&copy.base, INT64_MAX, false, &n, &left, e);
    if (!s && any)
        s = sqlite_exec(&copy, "VACUUM", e);
    sqlite3_close(copy.db);
    arena_free(&a);
    return s ? err_in(e, "the copy") : ST_OK;
}

/* VACUUM INTO reads one state of the file, and leaves out what is free in it. */
enum status sqlite_backup(struct store *s, struct sv path, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);

    return run_with(q, "VACUUM INTO ?", path, e) ? err_code(e) : drop_in_copy(q, path, e);
}

/* ---- sizes -------------------------------------------------------------------------------- */

enum status sqlite_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                         struct err *e)
{
    static const char sql[] =
        "SELECT t.id, '' AS view, count(e.key), ifnull(sum("
        " length(CAST(" SQLITE_KIND " AS BLOB)) + CASE WHEN e.kind = '' AND e.lane IS NULL"
        " THEN length('" SQLITE_USUAL_LANE "') ELSE ifnull(length(CAST(e.lane AS BLOB)), 0) END +"
        " ifnull(length(CAST(e.actor AS BLOB)), 0) + ifnull(length(CAST(e.id AS BLOB)), 0) +"
        " ifnull(length(CAST(e.op AS BLOB)), 0) + ifnull(length(CAST(e.refs AS BLOB)), 0) +"
        " ifnull(length(CAST(e.payload AS BLOB)), 0) +"
        " ifnull((SELECT length(CAST(bytes AS BLOB)) FROM blob WHERE hash = e.blob), 0)), 0)"
        " FROM (SELECT tid, id FROM thread WHERE " SQLITE_SHOWN
        ") t LEFT JOIN entry e ON e.key BETWEEN t.tid << 36 AND t.tid << 36 | "
        "68719476735"
        " GROUP BY t.tid "
        "UNION ALL SELECT t.id, r.view, count(*), sum(length(r.key) + length(r.value))"
        " FROM row r JOIN (SELECT tid, id FROM thread WHERE " SQLITE_SHOWN
        ") t ON t.tid = r.tid GROUP BY r.tid, r.view ORDER BY 1, 2";
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    VEC(struct store_size) list = { 0 };
    int rc = sqlite3_prepare_v2(q->db, sql, -1, &st, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        struct sv view = sqlite_column_sv(st, 1);
        *vec_push(&list, a) =
            (struct store_size){ .thread = sv_dup(sqlite_column_sv(st, 0), a),
                                 .view = view.n ? sv_dup(view, a) : (struct sv){ 0 },
                                 .n = sqlite3_column_int64(st, 2),
                                 .bytes = sqlite3_column_int64(st, 3) };
    }
    sqlite3_finalize(st);
    *out = list.v;
    *n = list.n;
    return rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}
