/* The calls of the store that concern the rows of views, and the hints about what will be read. */
#include "base/vec.h"
#include "store/store_internal.h"

#include <assert.h>

enum status store_row_get(struct store *s, const struct store_key *k, struct arena *a,
                          struct sv *value, bool *found, struct err *e)
{
    if (held_get(s, k, value, found) || seen_row(s, k, a, value, found))
        return ST_OK;
    if (s->ops->row_get(s, k, a, value, found, e))
        return err_code(e);
    if (held_note(s, k, *found ? *value : SV(""), *found, false))
        return ST_OK;
    seen_note_row(s, k, *found ? *value : SV(""), *found);
    return ST_OK;
}

void store_want(struct store *s, const struct store_key *keys, size_t n)
{
    struct store_key unseen[STORE_WANT_MAX];
    size_t           m = 0;

    if (!s->ops->want || s->held)
        return;
    for (size_t i = 0; i < n && m < STORE_WANT_MAX; i++)
        if (!seen_has_row(s, &keys[i]))
            unseen[m++] = keys[i];
    if (m)
        s->ops->want(s, unseen, m);
}

void store_want_op(struct store *s, struct sv thread, struct sv op_id)
{
    if (s->ops->want_op)
        s->ops->want_op(s, thread, op_id);
}

void store_bulk(struct store *s, bool on)
{
    if (s->ops->bulk)
        s->ops->bulk(s, on);
}

void store_want_scan(struct store *s, const struct store_query *q)
{
    if (s->ops->want_scan)
        s->ops->want_scan(s, q);
}

enum status store_row_put(struct store *s, const struct store_key *k, struct sv value,
                          struct err *e)
{
    assert(s->open == TX_WRITING || s->rows_apart);
    if (held_note(s, k, value, true, true))
        return ST_OK;
    if (s->ops->row_put(s, k, value, e))
        return err_code(e);
    seen_note_row(s, k, value, true);
    return ST_OK;
}

enum status store_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    assert(s->open == TX_WRITING || s->rows_apart);
    if (held_note(s, k, SV(""), false, true))
        return ST_OK;
    if (s->ops->row_del(s, k, e))
        return err_code(e);
    seen_note_row(s, k, SV(""), false);
    return ST_OK;
}

enum status store_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                       struct err *e)
{
    if (held_write(s, q->thread, e) || s->ops->rows(s, q, out, e))
        return err_code(e);
    (*out)->store = s;
    (*out)->backwards = q->backwards;
    (*out)->last = sb_in(&(*out)->a, 0);
    return ST_OK;
}

/* Is the key behind the one before it? It is kept for the next one. */
static bool is_behind(struct store_rows *rows, struct sv key)
{
    int  order = rows->given ? sv_cmp(key, sb_sv(&rows->last)) : 1;
    bool behind = !rows->given || (rows->backwards ? order < 0 : order > 0);

    rows->last.n = 0;
    sb_add(&rows->last, key);
    rows->given = true;
    return behind;
}

enum status store_rows_next(struct store_rows *rows, struct store_row *out, bool *more,
                            struct err *e)
{
    if (rows->store->ops->rows_next(rows, out, more, e))
        return err_code(e);
    if (!*more || is_behind(rows, out->key))
        return ST_OK;
    *more = false; /* engines go on from the last key: this might never end */
    err_set(e, ST_CORRUPT, "the database is damaged: rows of a view are not in order");
    return err_hint(e, "`heddle doctor --fix` makes the views anew");
}

void store_rows_close(struct store_rows *rows)
{
    if (!rows)
        return;
    arena_free(&rows->a);
    rows->store->ops->rows_close(rows);
}

void store_rows_undo(struct store_rows **rows)
{
    store_rows_close(*rows);
}

enum status store_prefetch(struct store *s, const struct store_row_query *q, size_t max,
                           struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row                         row;
    bool                                     more = true;

    if (store_rows(s, q, &rows, e))
        return err_code(e);
    for (size_t i = 0; i < max; i++) {
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        if (!more)
            break;
        seen_note_row(s, &(struct store_key){ q->thread, q->view, row.key }, row.value, true);
    }
    return ST_OK;
}

enum status store_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e)
{
    assert(s->open == TX_WRITING || s->rows_apart);
    seen_forget(s);
    if (held_write(s, thread, e)) /* those of other views stay */
        return err_code(e);
    held_forget(s, thread);
    return s->ops->rows_clear(s, thread, view, e);
}

enum status store_rows_drop(struct store *s, struct sv thread, struct sv view, struct sv but,
                            size_t max, size_t *n, struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { .thread = thread, .view = view };
    struct store_row                         row;
    struct arena                             keys = { 0 };
    VEC(struct sv) list = { 0 };
    bool more = true;

    *n = 0;
    if (store_rows(s, &q, &rows, e))
        return err_code(e);
    enum status st = ST_OK;
    while (!st && list.n < max && !(st = store_rows_next(rows, &row, &more, e)) && more)
        if (!but.s || !sv_eq(row.key, but))
            *vec_push(&list, &keys) = sv_dup(row.key, &keys);
    for (; !st && *n < list.n; ++*n)
        st = store_row_del(s, &(struct store_key){ thread, view, list.v[*n] }, e);
    arena_free(&keys);
    return st;
}

enum status store_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    assert(s->open == TX_WRITING || s->rows_apart);
    if (s->ops->set_views(s, thread, views, e))
        return err_code(e);
    struct store_head h;
    if (seen_head(s, thread, &h)) {
        h.views = views;
        seen_note_head(s, thread, &h);
    }
    return ST_OK;
}

enum status store_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                        size_t *n, struct err *e)
{
    return s->ops->views(s, thread, a, out, n, e);
}
