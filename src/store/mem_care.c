/* The store in memory: what it holds, dropping threads, and the calls for which it has nothing to
 * do. */
#include "base/vec.h"
#include "store/mem_internal.h"

#include <stdlib.h>

enum status mem_version(struct store *s, int64_t *out, struct err *e)
{
    struct mem_db *db = mem_of(s)->db;

    (void)e;
    pthread_mutex_lock(&db->lock);
    *out = db->commits + 1; /* 0 means that the caller has seen no version yet */
    pthread_mutex_unlock(&db->lock);
    return ST_OK;
}

enum status mem_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                      struct err *e)
{
    struct store_fact *facts = ARENA_NEW(a, struct store_fact, 2);

    (void)e;
    facts[0] = (struct store_fact){ SV("kind"), SV("mem") };
    facts[1] = (struct store_fact){ SV("place"), sv_dup(sv_of(mem_of(s)->db->name), a) };
    *out = facts;
    *n = 2;
    return ST_OK;
}

static int64_t count_prefix(struct store_tree *t, char table)
{
    struct arena     a = { 0 };
    struct mem_range r = mem_range_of_prefix(t, (struct sv){ &table, 1 }, &a);
    struct tree_item item;
    int64_t          n = 0;

    while (mem_range_next(&r, &item))
        n++;
    arena_free(&a);
    return n;
}

enum status mem_stats(struct store *s, struct store_stats *out, struct err *e)
{
    struct store_tree *t = mem_look(mem_of(s));

    (void)e;
    *out = (struct store_stats){ .threads = count_prefix(t, 't'),
                                 .entries = count_prefix(t, 'e'),
                                 .rows = count_prefix(t, 'r') };
    tree_drop(t);
    return ST_OK;
}

enum status mem_check(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    (void)s, (void)say, (void)ctx, (void)e;
    return ST_OK; /* there is no file that could be damaged */
}

enum status mem_compact(struct store *s, struct err *e)
{
    (void)s, (void)e;
    return ST_OK; /* memory that nobody holds is free already */
}

const char *mem_unreached(const struct store *s, bool *waits)
{
    (void)s, (void)waits;
    return "memory that was freed";
}

enum status mem_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx, struct err *e)
{
    (void)s, (void)removed, (void)ctx, (void)e;
    return ST_OK; /* there is no file */
}

static void drop_prefix(struct mem_store *m, struct sv prefix)
{
    struct store_tree *before = tree_hold(m->seen);
    struct mem_range   r = mem_range_of_prefix(before, prefix, &m->scratch);
    struct tree_item   item;

    while (mem_range_next(&r, &item))
        tree_del(&m->seen, item.key);
    tree_drop(before);
}

enum status mem_drop(struct store *s, struct sv thread, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = mem_scratch_mark(m);

    (void)e;
    for (const char *table = "elor"; *table; table++) {
        struct sb key = mem_table_key(*table, thread, &m->scratch);
        drop_prefix(m, sb_sv(&key));
    }
    tree_del(&m->seen, mem_thread_key(thread, &m->scratch));
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                      size_t *n, struct err *e)
{
    struct store_tree *t = mem_look(mem_of(s));
    struct sb          prefix = mem_table_key('r', thread, a);
    struct mem_range   r = mem_range_of_prefix(t, sb_sv(&prefix), a);
    struct tree_item   item;
    VEC(struct sv) list = { 0 };

    (void)e;
    while (mem_range_next(&r, &item)) {
        struct sv rest, view = mem_counted(sv_skip(item.key, prefix.n), &rest);
        if (!list.n || !sv_eq(list.v[list.n - 1], view))
            *vec_push(&list, a) = sv_dup(view, a);
    }
    tree_drop(t);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

struct mem_sizes {
    VEC(struct store_size) list;
};

static void add_sizes(struct store_tree *t, char table, struct arena *a, struct mem_sizes *to)
{
    struct mem_range r = mem_range_of_prefix(t, (struct sv){ &table, 1 }, a);
    struct tree_item item;

    while (mem_range_next(&r, &item)) {
        struct sv          rest, thread = mem_counted(sv_skip(item.key, 1), &rest);
        struct sv          view = table == 'r' ? mem_counted(rest, &rest) : (struct sv){ 0 };
        struct store_size *last = to->list.n ? &to->list.v[to->list.n - 1] : NULL;
        if (!last || !sv_eq(last->thread, thread) || !sv_eq(last->view, view)) {
            last = vec_push(&to->list, a);
            *last = (struct store_size){ .thread = sv_dup(thread, a),
                                         .view = view.s ? sv_dup(view, a) : view };
        }
        last->n++;
        last->bytes += (int64_t)(table == 'r' ? rest.n + item.value.n
                                              : item.value.n - sizeof(struct mem_entry));
    }
}

static int by_thread_and_view(const void *x, const void *y)
{
    const struct store_size *a = x, *b = y;
    int                      order = sv_cmp(a->thread, b->thread);

    return order ? order : sv_cmp(a->view, b->view);
}

enum status mem_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                      struct err *e)
{
    struct store_tree *t = mem_look(mem_of(s));
    struct mem_sizes   to = { 0 };

    (void)e;
    add_sizes(t, 'e', a, &to);
    add_sizes(t, 'r', a, &to);
    tree_drop(t);
    if (to.list.n)
        qsort(to.list.v, to.list.n, sizeof *to.list.v, by_thread_and_view);
    *out = to.list.v;
    *n = to.list.n;
    return ST_OK;
}

enum status mem_moved_get(struct store *s, struct arena *a, struct sv *moved, struct sv *came,
                          struct err *e)
{
    struct store_tree *now = mem_look(mem_of(s));

    (void)e;
    *moved = *came = (struct sv){ 0 };
    if (tree_get(now, SV("m moved"), moved))
        *moved = sv_dup(*moved, a);
    if (tree_get(now, SV("m came"), came))
        *came = sv_dup(*came, a);
    tree_drop(now);
    return ST_OK;
}

enum status mem_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e)
{
    struct mem_store *m = mem_of(s);

    (void)e;
    tree_put(&m->seen, SV("m moved"), moved);
    tree_put(&m->seen, SV("m came"), came.s ? came : SV(""));
    store_note_moved(s, moved);
    return ST_OK;
}
