/* Rows of views in SQLite: one by one, and below a prefix. */
#include "store/sqlite_internal.h"

#include "base/failure.h"
#include "base/vec.h"

#include <stdlib.h>

/* A zero-length blob, not NULL, when v is empty. `keep` is SQLITE_STATIC when the statement is run
 * before the caller's bytes go, else SQLITE_TRANSIENT. */
static void bind_bytes(sqlite3_stmt *st, int at, struct sv v, sqlite3_destructor_type keep)
{
    sqlite3_bind_blob64(st, at, v.n ? v.s : "", v.n, keep);
}

/* A kept statement bound to (tid, view, key); the thread must have a number for it to be run. */
static enum status at_key(struct sqlite_store *q, enum sqlite_statement which,
                          const struct store_key *k, sqlite3_stmt **st, int64_t *tid, struct err *e)
{
    if (sqlite_tid(q, k->thread, tid, e) || sqlite_ready(q, which, st, e))
        return err_code(e);
    sqlite3_bind_int64(*st, 1, *tid);
    sqlite_bind_sv(*st, 2, k->view);
    bind_bytes(*st, 3, k->key, SQLITE_STATIC);
    return ST_OK;
}

enum status sqlite_row_get(struct store *s, const struct store_key *k, struct arena *a,
                           struct sv *value, bool *found, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    if (at_key(q, Q_ROW_GET, k, &st, &tid, e))
        return err_code(e);
    int rc = sqlite3_step(st);
    *found = rc == SQLITE_ROW;
    if (*found)
        *value = sv_dup(sqlite_column_sv(st, 0), a);
    enum status r = rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_reset(st);
    return r;
}

enum status sqlite_row_put(struct store *s, const struct store_key *k, struct sv value,
                           struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    if (at_key(q, Q_ROW_PUT, k, &st, &tid, e))
        return err_code(e);
    if (!tid)
        return err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(k->thread));
    bind_bytes(st, 4, value, SQLITE_STATIC);
    return sqlite_run(q, st, e);
}

enum status sqlite_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    return at_key(q, Q_ROW_DEL, k, &st, &tid, e) ? err_code(e) : sqlite_run(q, st, e);
}

struct sqlite_rows {
    struct store_rows base;
    sqlite3_stmt     *st;
    int               kind;
    bool              done;
};

/* Only the bounds that are there stand in the text: the planner cannot use one that
 * might be NULL. */
#define ROWS(bounds, order)                                                                        \
    "SELECT key, value FROM row WHERE tid = ?1 AND view = ?2 AND key >= ?3" bounds                 \
    " ORDER BY key" order

enum { HAS_END = 1, STOPS = 2, BACKWARDS = 4 };
static const char *const rows_sql[SQLITE_ROW_SCANS] = {
    [0] = ROWS("", ""),
    [HAS_END] = ROWS(" AND key < ?4", ""),
    [BACKWARDS] = ROWS("", " DESC"),
    [BACKWARDS | HAS_END] = ROWS(" AND key < ?4", " DESC"),
    [BACKWARDS | STOPS] = ROWS(" AND key <= ?5", " DESC"),
    [BACKWARDS | STOPS | HAS_END] = ROWS(" AND key < ?4 AND key <= ?5", " DESC"),
};

/* The caller may free its bytes before the scan ends: everything is copied. */
static void rows_bind(sqlite3_stmt *st, const struct store_row_query *query, int64_t tid, int way,
                      struct sv end)
{
    bool starts = !query->backwards && sv_cmp(query->after, query->prefix) > 0;

    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_text64(st, 2, query->view.s, query->view.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    bind_bytes(st, 3, starts ? query->after : query->prefix, SQLITE_TRANSIENT);
    if (way & HAS_END)
        bind_bytes(st, 4, end, SQLITE_TRANSIENT);
    if (way & STOPS)
        bind_bytes(st, 5, query->after, SQLITE_TRANSIENT);
}

enum status sqlite_rows(struct store *s, const struct store_row_query *query,
                        struct store_rows **out, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    struct arena         scratch = { 0 };
    struct sv            end = store_prefix_end(query->prefix, &scratch);
    int                  way = (end.s ? HAS_END : 0) | (query->backwards ? BACKWARDS : 0) |
              (query->backwards && query->after.s ? STOPS : 0);
    sqlite3_stmt *st = NULL;
    int64_t       tid;

    if (sqlite_tid(q, query->thread, &tid, e) ||
        sqlite_take(q, SQLITE_ENTRY_SCANS + way, rows_sql[way], &st, e)) {
        arena_free(&scratch);
        return err_code(e);
    }
    rows_bind(st, query, tid, way, end);
    arena_free(&scratch);
    struct sqlite_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        failure_memory(sizeof *rows);
    rows->st = st;
    rows->kind = SQLITE_ENTRY_SCANS + way;
    *out = (struct store_rows *)rows;
    return ST_OK;
}

enum status sqlite_rows_next(struct store_rows *base, struct store_row *out, bool *more,
                             struct err *e)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;

    *more = false;
    if (rows->done)
        return ST_OK;
    int rc = sqlite3_step(rows->st);
    if (rc == SQLITE_ROW) {
        *more = true;
        out->key = sqlite_column_sv(rows->st, 0);
        out->value = sqlite_column_sv(rows->st, 1);
        return ST_OK;
    }
    rows->done = true;
    return rc == SQLITE_DONE ? ST_OK : sqlite_fail(sqlite_of(base->store), rc, e);
}

void sqlite_rows_close(struct store_rows *base)
{
    struct sqlite_rows *rows = (struct sqlite_rows *)base;

    sqlite_put_aside(sqlite_of(base->store), rows->kind, rows->st);
    free(rows);
}

enum status sqlite_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_ROWS_CLEAR, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, tid);
    sqlite_bind_sv(st, 2, view);
    q->cleared = true;
    return sqlite_run(q, st, e);
}

/* One seek for each: from the first row of a view to the first of the next. */
enum status sqlite_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                         size_t *n, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    int64_t              tid;
    bool                 in_order = true;
    VEC(struct sv) list = { 0 };

    if (sqlite_tid(q, thread, &tid, e))
        return err_code(e);
    int rc = sqlite3_prepare_v2(
        q->db, "SELECT view FROM row WHERE tid = ? AND view > ? ORDER BY view LIMIT 1", -1, &st,
        NULL);
    while (rc == SQLITE_OK) {
        sqlite3_bind_int64(st, 1, tid);
        sqlite_bind_sv(st, 2, list.n ? list.v[list.n - 1] : SV(""));
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        struct sv view = sqlite_column_sv(st, 0);
        in_order = !list.n || sv_cmp(view, list.v[list.n - 1]) > 0;
        if (!in_order)
            break;
        *vec_push(&list, a) = sv_dup(view, a);
        rc = sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    *out = list.v;
    *n = list.n;
    if (!in_order)
        return sqlite_not_in_order(q, "rows of views", e);
    return rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_THREAD_VIEWS, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_int64(st, 2, views);
    return sqlite_run(q, st, e);
}
