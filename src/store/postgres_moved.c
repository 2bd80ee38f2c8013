/* Where the log is, when it was moved away from a PostgreSQL server: two rows of the table `row`
 * that belong to thread number 0; moved.c says what is in them.
 *
 * A transaction sees the state of its beginning. So one that began before the mark was committed
 * does not see it, and must fail for another reason. It writes to a thread only after locking its
 * row, or changes that row at the end; the transaction that marks the store locks the rows of all
 * threads, which waits for the writers that have one, and changes them, so that a writer that comes
 * later is told to begin again (40001), and then sees the mark. A row that does not exist yet
 * cannot be locked: a writer that makes a thread locks the row of the mark itself, FOR SHARE, and
 * the transaction that marks the store updates that row first. These are row locks only, which
 * every server has; a writer of an existing thread pays for no more than a question sent with its
 * BEGIN. */
#include "store/postgres_internal.h"

static void take_moved(void *ctx, struct pg_answer *a)
{
    struct pg_store *p = ctx;

    if (pg_shape(a, "b"))
        store_note_moved(&p->base, a->n ? pg_sv(a, 0, 0) : SV(""));
}

void pg_ask_moved(struct pg_store *p)
{
    if (p->base.alone) {
        pg_ask(p, PG_MOVED_KEEP_OUT, NULL, NULL, NULL);
        pg_ask(p, PG_MOVED_LOCK_ALL, NULL, NULL, NULL);
    }
    pg_ask(p, PG_MOVED, NULL, take_moved, p);
}

void pg_ask_new(struct pg_store *p, struct sv thread)
{
    struct pg_params q = { 0 };

    pg_add_text(&q, thread);
    pg_ask(p, PG_MOVED_ROW, NULL, NULL, NULL); /* a log of an older version may not have it */
    pg_ask(p, PG_MOVED_SHARE, NULL, NULL, NULL);
    pg_ask(p, PG_NEW, &q, NULL, NULL);
}

struct moved_texts {
    struct arena *a;
    struct sv     moved, came;
};

static void take_texts(void *ctx, struct pg_answer *a)
{
    struct moved_texts *x = ctx;

    x->moved = x->came = (struct sv){ 0 };
    if (!pg_shape(a, "ib"))
        return;
    for (int i = 0; i < a->n; i++)
        *(pg_int(a, i, 0) ? &x->moved : &x->came) = sv_dup(pg_sv(a, i, 1), x->a);
}

enum status pg_moved_get(struct store *s, struct arena *a, struct sv *moved, struct sv *came,
                         struct err *e)
{
    struct moved_texts x = { .a = a };

    if (pg_run_text(
            pg_of(s),
            "SELECT CASE WHEN key = '\\x746f' THEN 1 ELSE 0 END, value FROM @row WHERE tid = "
            "0 AND view = 'moved'",
            NULL, take_texts, &x, e))
        return err_code(e);
    *moved = x.moved;
    *came = x.came;
    return ST_OK;
}

static void build_put(struct pg_store *p, void *ctx)
{
    const struct moved_texts *x = ctx;
    struct pg_params          q = { 0 };

    pg_add_bytes(&q, x->moved.s ? x->moved : SV(""));
    pg_add_bytes(&q, x->came.s ? x->came : SV(""));
    pg_ask(p, PG_MOVED_PUT, &q, NULL, NULL);
    if (x->moved.n)
        pg_ask(p, PG_MOVED_BUMP, NULL, NULL, NULL);
}

enum status pg_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e)
{
    struct pg_store   *p = pg_of(s);
    struct moved_texts x = { .moved = moved, .came = came };

    if (pg_run(p, PG_FLUSH, build_put, &x, e))
        return err_code(e);
    pg_sent_once(p);
    store_note_moved(s, moved);
    return ST_OK;
}
