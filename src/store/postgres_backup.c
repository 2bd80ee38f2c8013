/* Copies of a log on PostgreSQL. A backup is an SQLite file, whichever store the log is on: so the
 * same program reads it anywhere, and a log can be put back on the other kind of store. */
#include "store/postgres_internal.h"

#include <errno.h>
#include <sys/stat.h>

static enum status check_empty(struct sv path, struct arena *a, struct err *e)
{
    struct stat st;

    if (stat(sv_cstr(path, a), &st) != 0)
        return errno == ENOENT ? ST_OK : err_errno(e, "stat " SV_FMT, SV_ARG(path));
    return st.st_size == 0 ? ST_OK : err_set(e, ST_IO, SV_FMT " is not empty", SV_ARG(path));
}

/* Rows of views are left out: they are folded again from the entries. The write-ahead log is
 * emptied, so that the file alone is the copy. */
enum status pg_backup(struct store *s, struct sv path, struct err *e)
{
    struct arena         scratch = { 0 };
    struct store_options o = { .create = true };
    struct store_copy    how = { 0 };
    struct store        *to = NULL;
    enum status          st = check_empty(path, &scratch, e);

    if (!st)
        st = sqlite_open(path, &o, &to, e);
    if (!st)
        st = store_copy(s, to, &how, e);
    if (!st)
        st = store_compact(to, e);
    store_close(to);
    arena_free(&scratch);
    return st;
}

enum status pg_attach(struct store *s, struct sv path, struct err *e)
{
    struct pg_store     *p = pg_of(s);
    struct store_options o = { .read_only = true };

    store_close(p->attached);
    p->attached = NULL;
    return path.s ? sqlite_open(path, &o, &p->attached, e) : ST_OK;
}

static void build_empty(struct pg_store *p, void *ctx)
{
    static const char *const tables[] = { "@entry", "@blob", "@row", "@word", "@hint", "@thread" };
    struct arena            *a = ctx;

    for (size_t i = 0; i < COUNT(tables); i++) {
        struct sb b = sb_in(a, 0);
        sb_adds(&b, "DELETE FROM ");
        sb_adds(&b, tables[i]);
        if (sv_is(sv_of(tables[i]), "@row")) /* where the log is belongs to the store */
            sb_adds(&b, " WHERE tid > 0");
        struct pg_query q = { -1, pg_sql_in(p->pool->url.schema, sb_sv(&b).s, a) };
        pg_send(p->link, &q, NULL, NULL, NULL);
    }
}

enum status pg_replace(struct store *s, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct arena      scratch = { 0 };
    struct store_copy how = { 0 };
    enum status       st = pg_run(p, PG_FLUSH, build_empty, &scratch, e);

    arena_free(&scratch);
    if (st)
        return st;
    pg_known_dropped(p);
    pg_sent_once(p);
    return store_copy_in(p->attached, s, &how, true, e);
}
