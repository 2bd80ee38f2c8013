/* Where the log is, when it was moved: two rows of the table `row` that belong to thread number 0,
 * which no thread has. They are there in every schema, so that a file is marked without a
 * migration. moved.c says what is in them. */
#include "store/sqlite_internal.h"

/* The lock of a writer is the whole file's: what this reads stays true until the transaction ends.
 * A row that cannot be read because the file is damaged does not keep anybody from saving what is
 * in the file, or from repairing it. */
enum status sqlite_check_moved(struct sqlite_store *q, enum store_mode mode, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct err    ignored;

    if (sqlite_ready(q, Q_MOVED, &st, mode == STORE_WRITE ? e : &ignored))
        return mode == STORE_WRITE && e->code != ST_CORRUPT ? err_code(e) : ST_OK;
    int         rc = sqlite3_step(st);
    enum status s = ST_OK;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        store_note_moved(&q->base, rc == SQLITE_ROW ? sqlite_column_sv(st, 0) : SV(""));
    else if (mode == STORE_WRITE && (rc & 0xff) != SQLITE_CORRUPT)
        s = sqlite_fail(q, rc, e);
    sqlite3_reset(st);
    if (!s && mode == STORE_WRITE)
        s = store_check_moved(&q->base, e);
    return s;
}

enum status sqlite_moved_get(struct store *s, struct arena *a, struct sv *moved, struct sv *came,
                             struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    int                  rc = sqlite3_prepare_v2(
                         q->db, "SELECT key = x'746f', value FROM row WHERE tid = 0 AND view = 'moved'", -1, &st,
                         NULL);

    *moved = *came = (struct sv){ 0 };
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc == SQLITE_ROW)
            *(sqlite3_column_int(st, 0) ? moved : came) = sv_dup(sqlite_column_sv(st, 1), a);
    }
    sqlite3_finalize(st);
    return rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    struct {
        struct sv key, value;
    } rows[] = { { SV("to"), moved }, { SV("came"), came } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        sqlite3_stmt *st = NULL;
        if (sqlite_ready(q, Q_ROW_PUT, &st, e))
            return err_code(e);
        sqlite3_bind_int64(st, 1, 0);
        sqlite_bind_sv(st, 2, SV("moved"));
        sqlite3_bind_blob64(st, 3, rows[i].key.s, rows[i].key.n, SQLITE_STATIC);
        sqlite3_bind_blob64(st, 4, rows[i].value.n ? rows[i].value.s : "", rows[i].value.n,
                            SQLITE_STATIC);
        if (sqlite_run(q, st, e))
            return err_code(e);
    }
    store_note_moved(s, moved);
    return ST_OK;
}
