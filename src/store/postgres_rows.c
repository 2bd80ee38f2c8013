/* Rows of views on PostgreSQL: from the cache or from the server; ranges are read in pages. */
#include "store/postgres_internal.h"

#include "base/failure.h"

#include <stdlib.h>

/* ---- one row --------------------------------------------------------------------------------- */

struct row_asked {
    const struct store_key *k;
    struct pg_thread       *t; /* NULL: outside of a transaction */
    struct arena           *a;
    struct sv               value;
    bool                    found;
};

static void take_row(void *ctx, struct pg_answer *a)
{
    struct row_asked *x = ctx;

    if (!pg_shape(a, "b"))
        return;
    x->found = a->n == 1;
    x->value = x->found ? pg_sv(a, 0, 0) : (struct sv){ 0 };
    if (x->t && !pg_row_find(x->t, x->k->view, x->k->key))
        pg_row_note(x->t, x->k->view, x->k->key, x->value, x->found);
    else if (!x->t && x->found)
        x->value = sv_dup(x->value, x->a);
}

static bool is_wanted(const struct pg_store *p, const struct store_key *k)
{
    for (size_t i = 0; i < p->wants.keys.n; i++) {
        const struct store_key *w = &p->wants.keys.v[i];
        if (sv_eq(w->key, k->key) && sv_eq(w->view, k->view) && sv_eq(w->thread, k->thread))
            return true;
    }
    return false;
}

static void build_row(struct pg_store *p, void *ctx)
{
    struct row_asked *x = ctx;
    struct pg_params  q = { 0 };

    pg_ask_known(p, x->t, PG_ABOUT_ROWS);
    if (x->t && is_wanted(p, x->k))
        return;
    pg_add_text(&q, x->k->thread);
    pg_add_text(&q, x->k->view);
    pg_add_bytes(&q, x->k->key);
    pg_ask(p, PG_ROW, &q, take_row, x);
}

/* The cached row; NULL: the server must be asked. */
static struct pg_row *known_row(struct pg_thread *t, const struct store_key *k)
{
    if (!t->known && !t->fresh)
        return NULL;
    struct pg_row *row = pg_row_find(t, k->view, k->key);
    if (!row && pg_row_is_known(t, k->view, k->key))
        row = pg_row_note(t, k->view, k->key, (struct sv){ 0 }, false);
    return row;
}

enum status pg_row_get(struct store *s, const struct store_key *k, struct arena *a,
                       struct sv *value, bool *found, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = p->in ? pg_thread_of(p, k->thread) : NULL;
    struct row_asked  x = { .k = k, .t = t, .a = a };
    struct pg_row    *row = t ? known_row(t, k) : NULL;

    if (!row && pg_run(p, PG_AS_IT_IS, build_row, &x, e))
        return err_code(e);
    if (!t) {
        *found = x.found;
        if (x.found)
            *value = x.value;
        return ST_OK;
    }
    if (!row)
        row = known_row(t, k);
    *found = row && row->found;
    if (*found)
        *value = sv_dup(row->value, a);
    if (row)
        pg_row_used(p, row);
    return ST_OK;
}

/* The map of a thread is emptied when it becomes too large; queued rows in it are sent first. */
static enum status make_room(struct pg_store *p, struct pg_thread *t, struct err *e)
{
    enum { ROWS_BYTES = 64 << 20 };

    if (t->bytes < ROWS_BYTES)
        return ST_OK;
    if (pg_queue_flush(p, e))
        return err_code(e);
    pg_sent_once(p); /* what would be sent again consists of rows of the map */
    pg_rows_forget(t);
    return ST_OK;
}

static enum status change(struct store *s, const struct store_key *k, struct sv value, bool found,
                          struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, k->thread);

    if (pg_know(p, t, e) || make_room(p, t, e))
        return err_code(e);
    if (!t->head.rev)
        return !found
                   ? ST_OK
                   : err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(k->thread));
    if (pg_lock_in_group(p, t, e))
        return err_code(e);
    struct pg_row *row = pg_row_note(t, k->view, k->key, value, found);
    pg_row_used(p, row);
    pg_queue_row(p, t, row);
    return pg_queue_relieve(p, e);
}

enum status pg_row_put(struct store *s, const struct store_key *k, struct sv value, struct err *e)
{
    return change(s, k, value.s ? value : SV(""), true, e);
}

enum status pg_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    return change(s, k, (struct sv){ 0 }, false, e);
}

/* ---- all rows of a view ---------------------------------------------------------- */

static void note_cleared(struct pg_store *p, struct pg_thread *t, struct sv view)
{
    struct sv_list cleared = t->cleared;
    struct sv     *more = ARENA_NEW(&p->tx, struct sv, cleared.n + 1);

    if (pg_row_is_cleared(t, view))
        return;
    if (cleared.n)
        memcpy(more, cleared.v, cleared.n * sizeof *more);
    more[cleared.n] = sv_dup(view, &p->tx);
    t->cleared = (struct sv_list){ more, cleared.n + 1 };
}

enum status pg_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);

    if (pg_know(p, t, e))
        return err_code(e);
    if (!t->head.rev)
        return ST_OK;
    if (pg_lock_in_group(p, t, e))
        return err_code(e);
    for (size_t i = 0; i < t->rows.n; i++) {
        struct pg_row *row = t->rows.items[i].value;
        if (sv_eq(row->view, view)) { /* those that wait are sent as deleted */
            row->found = false;
            row->value = (struct sv){ 0 };
        }
    }
    note_cleared(p, t, view);
    pg_queue_clear(p, t, view);
    return ST_OK;
}

enum status pg_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);

    if (pg_know(p, t, e))
        return err_code(e);
    if (!t->head.rev)
        return ST_OK;
    if (pg_lock_in_group(p, t, e))
        return err_code(e);
    t->head.views = views;
    t->changed = true;
    return ST_OK;
}

/* ---- which views there are ------------------------------------------------------- */

struct views_asked {
    struct sv         thread;
    struct pg_thread *t; /* NULL: outside of a transaction */
    struct arena     *a;
    VEC(struct sv) list;
};

static void take_views(void *ctx, struct pg_answer *a)
{
    struct views_asked *x = ctx;

    x->list.n = 0;
    if (!pg_shape(a, "t"))
        return;
    for (int i = 0; i < a->n; i++)
        *vec_push(&x->list, x->a) = sv_dup(pg_sv(a, i, 0), x->a);
}

static void build_views(struct pg_store *p, void *ctx)
{
    struct views_asked *x = ctx;
    struct pg_params    q = { 0 };

    pg_ask_known(p, x->t, PG_ABOUT_ROWS);
    pg_add_text(&q, x->thread);
    pg_ask(p, PG_VIEWS, &q, take_views, x);
}

enum status pg_views(struct store *s, struct sv thread, struct arena *a, struct sv **out, size_t *n,
                     struct err *e)
{
    struct pg_store   *p = pg_of(s);
    struct views_asked x = { thread, p->in ? pg_thread_of(p, thread) : NULL, .a = a };

    if (pg_run(p, pg_flush_for(x.t, PG_ABOUT_ROWS), build_views, &x, e))
        return err_code(e);
    *out = x.list.v;
    *n = x.list.n;
    return ST_OK;
}

/* ---- ranges ---------------------------------------------------------------------- */

enum { RANGE_FIRST = 64, RANGE_MOST = 4096 };

struct postgres_rows {
    struct store_rows base;
    struct arena      a;                       /* of the texts below */
    struct sv         thread, view, from, end; /* from <= key < end; absent end: none */
    struct sv         prefix; /* of a range that is read from its beginning; else absent */
    bool              backwards, done;
    PGresult         *r;
    const struct pq  *lib;
    int               n, at, limit;
    struct store_row *list; /* instead of a result: all rows that are left, from memory */
};

static void take_range(void *ctx, struct pg_answer *a)
{
    struct postgres_rows *rows = ctx;

    if (!pg_shape(a, "bb"))
        return;
    if (a->n > rows->limit) {
        a->wrong = true;
        return;
    }
    if (rows->r)
        rows->lib->PQclear(rows->r);
    rows->r = a->r;
    rows->n = a->n;
    a->r = NULL;
}

static void build_range(struct pg_store *p, void *ctx)
{
    struct postgres_rows *rows = ctx;
    struct pg_params      q = { 0 };

    pg_ask_known(p, p->in ? pg_thread_of(p, rows->thread) : NULL, PG_ABOUT_ROWS);
    pg_add_text(&q, rows->thread);
    pg_add_text(&q, rows->view);
    pg_add_bytes(&q, rows->from);
    pg_add_int(&q, rows->limit);
    if (rows->end.s)
        pg_add_bytes(&q, rows->end);
    pg_ask(p,
           PG_RANGE_FIRST + (enum pg_statement)((rows->end.s ? 1 : 0) + (rows->backwards ? 2 : 0)),
           &q, take_range, rows);
}

/* The smallest key that is greater than this one. */
static struct sv just_behind(struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key);
    sb_addc(&b, 0);
    return sb_sv(&b);
}

/* A range has two bounds, whichever way it is read: the prefix, and where to start. */
static void set_bounds(struct postgres_rows *rows, const struct store_row_query *q)
{
    rows->from = sv_dup(q->prefix.s ? q->prefix : SV(""), &rows->a);
    rows->end = store_prefix_end(rows->from, &rows->a);
    if (!q->after.s && rows->end.s)
        rows->prefix = rows->from;
    if (!q->after.s)
        return;
    if (!q->backwards && sv_cmp(q->after, rows->from) > 0)
        rows->from = sv_dup(q->after, &rows->a);
    if (!q->backwards)
        return;
    struct sv end = just_behind(q->after, &rows->a);
    if (!rows->end.s || sv_cmp(end, rows->end) < 0)
        rows->end = end;
}

enum status pg_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                    struct err *e)
{
    struct postgres_rows *rows = calloc(1, sizeof *rows);

    (void)e;
    if (!rows)
        failure_memory(sizeof *rows);
    rows->base.store = s;
    rows->lib = pg_of(s)->pool->lib;
    rows->thread = sv_dup(q->thread, &rows->a);
    rows->view = sv_dup(q->view, &rows->a);
    rows->backwards = q->backwards;
    rows->limit = RANGE_FIRST;
    set_bounds(rows, q);
    *out = (struct store_rows *)rows;
    return ST_OK;
}

static int by_key(const void *a, const void *b)
{
    return sv_cmp(((const struct store_row *)a)->key, ((const struct store_row *)b)->key);
}

static int by_key_backwards(const void *a, const void *b)
{
    return by_key(b, a);
}

/* List the range from the cache; all rows of the thread are in it. */
static void list_known(struct postgres_rows *rows, const struct pg_thread *t)
{
    rows->list = ARENA_NEW(&rows->a, struct store_row, t->rows.n + 1);
    rows->n = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct pg_row *row = t->rows.items[i].value;
        if (row->found && sv_eq(row->view, rows->view) && sv_cmp(row->key, rows->from) >= 0 &&
            (!rows->end.s || sv_cmp(row->key, rows->end) < 0))
            rows->list[rows->n++] =
                (struct store_row){ sv_dup(row->key, &rows->a), sv_dup(row->value, &rows->a) };
    }
    qsort(rows->list, (size_t)rows->n, sizeof *rows->list,
          rows->backwards ? by_key_backwards : by_key);
}

/* A range that came in one answer need not be asked for again. */
static void keep_range(struct pg_store *p, struct pg_thread *t, const struct postgres_rows *rows)
{
    struct pg_answer a = { .lib = rows->lib, .r = rows->r, .n = rows->n };

    for (int i = 0; i < rows->n; i++)
        pg_row_take(t, rows->view, pg_sv(&a, i, 0), pg_sv(&a, i, 1));
    pg_range_used(p, t, rows->view, rows->prefix);
}

static enum status next_page(struct pg_store *p, struct postgres_rows *rows, struct err *e)
{
    struct pg_thread *t = p->in ? pg_thread_of(p, rows->thread) : NULL;
    bool              full = !rows->list && (!rows->r || rows->n == rows->limit);

    rows->done = !full;
    if (rows->done)
        return ST_OK;
    if (t && t->known && pg_range_is_known(t, rows->view, rows->from, rows->end)) {
        rows->at = 0;
        list_known(rows, t);
        if (rows->prefix.s && !rows->r && rows->n < RANGE_FIRST)
            pg_range_used(p, t, rows->view, rows->prefix);
        return ST_OK;
    }
    if (rows->r)
        rows->limit = rows->limit < RANGE_MOST ? rows->limit * 4 : RANGE_MOST;
    rows->at = rows->n = 0;
    bool first = !rows->r;
    if (pg_run(p, pg_flush_for(t, PG_ABOUT_ROWS), build_range, rows, e))
        return err_code(e);
    if (first && t && rows->prefix.s && rows->n < rows->limit)
        keep_range(p, t, rows);
    return ST_OK;
}

enum status pg_rows_next(struct store_rows *base, struct store_row *out, bool *more, struct err *e)
{
    struct postgres_rows *rows = (struct postgres_rows *)base;
    struct pg_store      *p = pg_of(base->store);

    *more = false;
    if (!rows->done && rows->at == rows->n && next_page(p, rows, e))
        return err_code(e);
    if (rows->done || rows->at == rows->n)
        return ST_OK;
    *more = true;
    if (rows->list) {
        *out = rows->list[rows->at++];
        return ST_OK;
    }
    struct pg_answer a = { .lib = rows->lib, .r = rows->r, .n = rows->n };
    out->key = pg_sv(&a, rows->at, 0);
    out->value = pg_sv(&a, rows->at, 1);
    if (++rows->at == rows->n) { /* where the next page begins */
        if (rows->backwards)
            rows->end = sv_dup(out->key, &rows->a);
        else
            rows->from = just_behind(out->key, &rows->a);
    }
    return ST_OK;
}

void pg_rows_close(struct store_rows *base)
{
    struct postgres_rows *rows = (struct postgres_rows *)base;

    if (rows->r)
        rows->lib->PQclear(rows->r);
    arena_free(&rows->a);
    free(rows);
}
