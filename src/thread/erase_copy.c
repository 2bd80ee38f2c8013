/* Erasing in a copy of the log: the store that the log was moved away from, or one that it is
 * copied to again. What was erased or deleted since then is taken out there too. No entry is
 * appended: the chain values stay those of the log, so that what is new can still be copied there.
 */
#include "thread/erase.h"

#include "base/vec.h"
#include "store/store.h"
#include "thread/anchor.h"
#include "thread/deletion.h"
#include "thread/skeleton.h"

enum { COPY_BATCH = 500 };

struct copy_erasing {
    struct store *copy;
    struct map    chains; /* of entries that are erased in the log, as hex */
    bool          dry_run;
    int64_t       n;
};

/* What was read of a thread of the copy and is to be erased. */
struct copy_batch {
    struct arena a;
    VEC(struct entry) list;
};

static enum status erase_batch(struct copy_erasing *x, struct sv thread, struct copy_batch *b,
                               struct err *e)
{
    enum status s = ST_OK;

    if (b->list.n && !x->dry_run)
        s = store_erase(x->copy, thread, b->list.v, b->list.n, e);
    x->n += (int64_t)b->list.n;
    b->list.v = NULL;
    b->list.n = b->list.cap = 0;
    arena_free(&b->a);
    return s;
}

static enum status erase_entries(struct copy_erasing *x, struct sv thread, struct err *e)
{
    struct store_query q = { .thread = thread, .to = STORE_TO_END };
    bool               more = true;
    enum status        s = ST_OK;

    /* A scan ends before its entries are changed, and another one goes on behind them. */
    while (!s && more) {
        UNDO(store_scan_undo) struct store_scan *scan = NULL;
        struct copy_batch                        b = { 0 };
        struct entry                             n;
        s = store_scan(x->copy, &q, &scan, e);
        while (!s && more && b.list.n < COPY_BATCH) {
            struct arena_mark mark = arena_mark(&b.a);
            s = store_next(scan, &n, &more, e);
            if (s || !more)
                break;
            q.from = n.seq + 1;
            if (n.erased || !n.salted || !map_has(&x->chains, hash_hex(&n.chain, &b.a))) {
                arena_reset(&b.a, mark);
                continue;
            }
            struct entry kept = entry_dup(&n, &b.a);
            skeleton_fill(&kept, 1, &b.a);
            *vec_push(&b.list, &b.a) = kept;
        }
        store_scan_close(scan);
        scan = NULL;
        if (!s)
            s = erase_batch(x, thread, &b, e);
        arena_free(&b.a);
    }
    return s;
}

/* Rows were folded from what is gone: they are folded again when somebody reads the copy. */
static enum status clear_views(struct store *copy, struct sv thread, struct err *e)
{
    struct arena a = { 0 };
    struct sv   *views;
    size_t       n = 0;
    enum status  s = store_views(copy, thread, &a, &views, &n, e);

    for (size_t i = 0; !s && i < n; i++)
        s = store_rows_clear(copy, thread, views[i], e);
    if (!s)
        s = store_set_views(copy, thread, 0, e);
    arena_free(&a);
    return s;
}

static enum status clean_thread(struct copy_erasing *x, const struct store_thread *t, bool deleted,
                                struct err *e)
{
    int64_t     before = x->n;
    enum status s = store_begin_on(x->copy, x->dry_run ? STORE_READ : STORE_WRITE, t->id, e);

    if (!s && deleted)
        x->n += t->head.rev;
    if (!s && deleted && !x->dry_run)
        s = store_drop(x->copy, t->id, e);
    if (!s && !deleted)
        s = erase_entries(x, t->id, e);
    if (!s && !deleted && !x->dry_run && x->n > before)
        s = clear_views(x->copy, t->id, e);
    if (!s && !x->dry_run && x->n > before)
        s = store_commit(x->copy, e);
    store_abort(x->copy);
    return s ? err_in(e, "thread " SV_FMT, SV_ARG(t->id)) : ST_OK;
}

enum status erase_in_copy(struct log *l, struct store *copy, enum erase_copy_how how, int64_t *n,
                          struct err *e)
{
    struct arena         a = { 0 };
    struct copy_erasing  x = { .copy = copy, .dry_run = how == ERASE_COPY_COUNT };
    struct store_thread *list = NULL;
    size_t               count = 0;
    bool                 deleted = false;
    enum status          s = log_begin(l, ANCHOR_THREAD, STORE_READ, e);

    if (!s)
        s = erase_known_chains(l, &a, &x.chains, e);
    if (!s)
        s = store_threads(copy, &a, &list, &count, e);
    for (size_t i = 0; !s && i < count; i++) {
        if (how != ERASE_COPY_ENTRIES)
            s = deletion_find(l, list[i].id, &deleted, e);
        if (!s && (deleted || x.chains.n))
            s = clean_thread(&x, &list[i], deleted, e);
    }
    log_abort(l);
    *n = x.n;
    arena_free(&a);
    return s;
}
