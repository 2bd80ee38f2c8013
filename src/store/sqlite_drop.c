/* Dropping threads.
 *
 * A thread that is dropped gets an id that no name can be: from then on nobody who asks by an id,
 * or for all ids, finds it. Its number stays taken until its entries and rows are removed, at once
 * or a slice at a time: then a thread of the same id may be there, which has another number.
 *
 * A page that is freed is written to the write-ahead log all the same, which a full disk has no
 * room for. A narrow slice therefore begins with what came last, whose pages are the last ones of
 * the file, and shortens the file in the same transaction: pages behind its end are not written. */
#include "store/sqlite_internal.h"

#include <stdio.h>

enum { DROP_BYTES = 8 << 20, NARROW_BYTES = 1 << 20 }; /* payloads removed in one slice, about */

static enum status number_with(struct sqlite_store *q, const char *sql, const int64_t *values,
                               size_t n, int64_t *changes, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int           rc = sqlite3_prepare_v2(q->db, sql, -1, &st, NULL);

    for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_int64(st, (int)i + 1, values[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    *changes = sqlite3_changes(q->db);
    enum status s = rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    return s;
}

#define SIZES_OF_ENTRIES                                                                           \
    "SELECT key, ifnull(length(CAST(payload AS BLOB)), 0) + ifnull((SELECT"                        \
    " length(CAST(bytes AS BLOB)) FROM blob WHERE hash = e.blob), 0)"                              \
    " FROM entry e NOT INDEXED WHERE key BETWEEN ?1 AND ?2 ORDER BY key"

/* Of the entries keys[0]... keys[1], those that one slice takes; *n is how many they are. */
static enum status find_slice(struct sqlite_store *q, int64_t *keys, int64_t max, bool narrow,
                              int64_t *n, struct err *e)
{
    sqlite3_stmt *st = NULL;
    const char   *text = narrow ? SIZES_OF_ENTRIES " DESC" : SIZES_OF_ENTRIES;
    int64_t       bytes = 0, last = keys[!narrow];
    int           rc = sqlite3_prepare_v2(q->db, text, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(st, 1, keys[0]);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(st, 2, keys[1]);
    for (*n = 0; rc == SQLITE_OK || rc == SQLITE_ROW;) {
        if (*n >= max || bytes >= (narrow ? NARROW_BYTES : DROP_BYTES))
            break;
        if ((rc = sqlite3_step(st)) != SQLITE_ROW)
            break;
        last = sqlite3_column_int64(st, 0);
        bytes += sqlite3_column_int64(st, 1);
        ++*n;
    }
    enum status s = rc == SQLITE_DONE || rc == SQLITE_ROW ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    keys[!narrow] = last;
    return s;
}

/* Entries of the thread, and large payloads that no other entry has. */
static enum status drop_entries(struct sqlite_store *q, int64_t tid, int64_t max, bool narrow,
                                int64_t *n, struct err *e)
{
    int64_t keys[] = { entry_key(tid, 0), entry_key(tid, SEQ_MAX) }, changes;

    if (find_slice(q, keys, max, narrow, n, e))
        return err_code(e);
    if (!*n)
        return ST_OK;
    return number_with(q,
                       "DELETE FROM blob WHERE hash IN (SELECT blob FROM entry NOT INDEXED"
                       " WHERE key BETWEEN ?1 AND ?2 AND blob IS NOT NULL) AND NOT EXISTS"
                       " (SELECT 1 FROM entry o WHERE o.blob = hash AND o.key NOT BETWEEN ?1 AND "
                       "?2)",
                       keys, 2, &changes, e)
               ? err_code(e)
               : number_with(q, "DELETE FROM entry WHERE key BETWEEN ?1 AND ?2", keys, 2, &changes,
                             e);
}

/* Entries of the thread; when there are none any more rows; and the thread itself with the last. */
static enum status drop_part(struct sqlite_store *q, int64_t tid, int64_t max, bool narrow,
                             int64_t *n, struct err *e)
{
    int64_t all[] = { tid, max }, changes;

    if (drop_entries(q, tid, max, narrow, n, e))
        return err_code(e);
    if (*n)
        return ST_OK;
    if (number_with(q,
                    "DELETE FROM row WHERE (tid, view, key) IN"
                    " (SELECT tid, view, key FROM row WHERE tid = ?1 LIMIT ?2)",
                    all, 2, n, e))
        return err_code(e);
    return *n == max ? ST_OK
                     : number_with(q, "DELETE FROM thread WHERE tid = ?1", all, 1, &changes, e);
}

/* Shorten the file by the pages that have become free since there were `before`. */
static enum status shorten(struct sqlite_store *q, int64_t before, struct err *e)
{
    char    pragma[64];
    int64_t now;

    if (sqlite_number(q, "PRAGMA freelist_count", &now, e))
        return err_code(e);
    if (now <= before)
        return ST_OK;
    snprintf(pragma, sizeof pragma, "PRAGMA incremental_vacuum(%lld)", (long long)(now - before));
    return sqlite_exec(q, pragma, e);
}

enum status sqlite_drop_some(struct store *s, int64_t max, bool narrow, int64_t *n, bool *left,
                             struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              tid, before = 0;

    *n = 0;
    *left = false;
    if (q->schema < SQLITE_SCHEMA_VERSION) /* it is only read */
        return ST_OK;
    if (sqlite_number(q, "SELECT ifnull(min(tid), 0) FROM thread WHERE " SQLITE_DROPPED, &tid, e))
        return err_code(e);
    *left = tid > 0;
    if (!tid || !max)
        return ST_OK;
    q->cleared = true;
    if (sqlite_exec(q, "PRAGMA secure_delete = ON", e) ||
        (narrow && sqlite_number(q, "PRAGMA freelist_count", &before, e)) ||
        drop_part(q, tid, max, narrow, n, e))
        return err_code(e);
    return narrow ? shorten(q, before, e) : ST_OK;
}

enum status sqlite_drop_later(struct store *s, struct sv thread, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              tid, changes;

    if (sqlite_tid(q, thread, &tid, e))
        return err_code(e);
    q->tid = 0;
    if (!tid)
        return ST_OK;
    return number_with(q, "UPDATE thread SET id = char(1) || tid WHERE tid = ?1", &tid, 1, &changes,
                       e)
               ? err_code(e)
           : store_is_staged(thread) ? ST_OK /* none of its words were put */
                                     : sqlite_empty_words(q, e);
}

enum status sqlite_drop(struct store *s, struct sv thread, struct err *e)
{
    int64_t n;
    bool    left = true;

    if (sqlite_drop_later(s, thread, e))
        return err_code(e);
    while (left)
        if (sqlite_drop_some(s, INT64_MAX, false, &n, &left, e))
            return err_code(e);
    return ST_OK;
}
