/* The store in memory: the rows of views. */
#include "base/failure.h"
#include "store/mem_internal.h"

#include <stdlib.h>

enum status mem_row_get(struct store *s, const struct store_key *k, struct arena *a,
                        struct sv *value, bool *found, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct arena_mark  mark = mem_scratch_mark(m);
    struct store_tree *t = mem_look(m);
    struct sv          there;

    (void)e;
    *found = tree_get(t, mem_row_key(k->thread, k->view, k->key, &m->scratch), &there);
    if (*found)
        *value = sv_dup(there, a);
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_row_put(struct store *s, const struct store_key *k, struct sv value, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = mem_scratch_mark(m);
    struct store_head h;
    bool              there = mem_read_head(m->seen, k->thread, &m->scratch, &h);

    if (there)
        tree_put(&m->seen, mem_row_key(k->thread, k->view, k->key, &m->scratch), value);
    arena_reset(&m->scratch, mark);
    if (!there)
        return err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(k->thread));
    return ST_OK;
}

enum status mem_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = mem_scratch_mark(m);

    (void)e;
    tree_del(&m->seen, mem_row_key(k->thread, k->view, k->key, &m->scratch));
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

struct mem_rows {
    struct store_rows  base;
    struct store_tree *held;
    struct arena       a;
    size_t             skip; /* bytes of table, thread and view in front of each key */
    struct mem_range   range;
};

enum status mem_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                     struct err *e)
{
    struct mem_rows *rows = calloc(1, sizeof *rows);

    (void)e;
    if (!rows)
        failure_memory(sizeof *rows);
    rows->held = mem_look(mem_of(s));
    rows->skip = mem_row_key(q->thread, q->view, SV(""), &rows->a).n;
    struct mem_range r = mem_range_of_prefix(
        rows->held, mem_row_key(q->thread, q->view, q->prefix, &rows->a), &rows->a);
    struct sv after = mem_row_key(q->thread, q->view, q->after, &rows->a);
    r.backwards = q->backwards;
    if (q->after.s && q->backwards && sv_cmp(after, r.high) < 0) {
        r.high = after;
        r.high_open = false;
    } else if (q->after.s && !q->backwards && sv_cmp(after, r.low) > 0) {
        r.low = after;
    }
    rows->range = r;
    *out = (struct store_rows *)rows;
    return ST_OK;
}

enum status mem_rows_next(struct store_rows *base, struct store_row *out, bool *more, struct err *e)
{
    struct mem_rows *rows = (struct mem_rows *)base;
    struct tree_item item;

    (void)e;
    *more = mem_range_next(&rows->range, &item);
    if (*more)
        *out = (struct store_row){ sv_skip(item.key, rows->skip), item.value };
    return ST_OK;
}

void mem_rows_close(struct store_rows *base)
{
    struct mem_rows *rows = (struct mem_rows *)base;

    tree_drop(rows->held);
    arena_free(&rows->a);
    free(rows);
}

enum status mem_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct arena_mark  mark = mem_scratch_mark(m);
    struct store_tree *before = tree_hold(m->seen);
    struct mem_range   r =
        mem_range_of_prefix(before, mem_row_key(thread, view, SV(""), &m->scratch), &m->scratch);
    struct tree_item item;

    (void)e;
    while (mem_range_next(&r, &item))
        tree_del(&m->seen, item.key);
    tree_drop(before);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = mem_scratch_mark(m);
    struct store_head h;

    (void)e;
    if (mem_read_head(m->seen, thread, &m->scratch, &h)) {
        h.views = views;
        mem_write_head(m, thread, &h);
    }
    arena_reset(&m->scratch, mark);
    return ST_OK;
}
