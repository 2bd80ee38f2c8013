/* Staged threads in SQLite: an id is a column of the thread's row, so that a thread gets its name
 * by changing one row, however long it is. */
#include "store/sqlite_internal.h"

enum status sqlite_staged(struct store *s, struct arena *a, struct sv **out, size_t *n,
                          struct err *e)
{
    return sqlite_list_ids(
        sqlite_of(s), "SELECT id FROM thread WHERE " SQLITE_STAGED " ORDER BY id", a, out, n, e);
}

enum status sqlite_rename(struct store *s, struct sv from, struct sv to, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    int64_t              tid, other;

    if (sqlite_tid(q, to, &other, e) || sqlite_tid(q, from, &tid, e))
        return err_code(e);
    if (other || !tid)
        return err_set(e, other ? ST_CONFLICT : ST_NOT_FOUND, "there is %s thread '" SV_FMT "'",
                       other ? "a" : "no", SV_ARG(other ? to : from));
    q->tid = 0;
    int rc = sqlite3_prepare_v2(q->db, "UPDATE thread SET id = ?2 WHERE tid = ?1", -1, &st, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(st, 1, tid);
        sqlite_bind_sv(st, 2, to);
        rc = sqlite3_step(st);
    }
    enum status r = rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    return r;
}
