/* Copying a log from one store to another, entry by entry with its chain value. Both may be of any
 * kind. A copy that was interrupted goes on where it stopped, thread by thread. */
#include "store/store_internal.h"

#include "base/vec.h"

enum { COPY_ENTRIES = 2000, COPY_BYTES = 4 << 20 };

/* Entries that were read and not written yet, and their memory. */
struct store_batch {
    struct arena a;
    VEC(struct entry) list;
    size_t bytes;
};

struct store_copying {
    struct store      *from, *to;
    struct store_copy *how;
    bool               in_one; /* the target's transaction is the caller's */
};

static enum status conflict(struct sv thread, const char *why, struct err *e)
{
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "': %s", SV_ARG(thread), why);
    err_reason(e, "other_log");
    return err_hint(e,
                    "copy into an empty store, or into one that an earlier copy of this log is in");
}

/* ---- transactions of the target ------------------------------------------------------------- */

static enum status begin(struct store_copying *c, struct sv thread, struct err *e)
{
    return c->in_one ? ST_OK : store_begin_on(c->to, STORE_WRITE, thread, e);
}

/* End the target's transaction: commit it when `s` is ST_OK, else abort it. */
static enum status end(struct store_copying *c, enum status s, struct err *e)
{
    if (c->in_one)
        return s;
    if (!s)
        return store_commit(c->to, e);
    store_abort(c->to);
    return s;
}

/* ---- entries --------------------------------------------------------------------- */

static enum status write_batch(struct store_copying *c, struct sv thread, struct store_batch *b,
                               struct err *e)
{
    struct store_head h;

    if (!b->list.n)
        return ST_OK;
    if (begin(c, thread, e))
        return err_code(e);
    enum status s = store_head(c->to, thread, &h, e);
    if (!s && h.rev != b->list.v[0].seq)
        s = conflict(thread, "somebody else writes to the target", e);
    if (!s)
        s = c->to->ops->insert(c->to, thread, h.rev, b->list.v, b->list.n, e);
    if (!s && h.views) /* the rows were folded without these entries */
        s = c->to->ops->set_views(c->to, thread, 0, e);
    if (!s)
        seen_forget_head(c->to, thread);
    if (end(c, s, e))
        return err_code(e);
    c->how->entries += (int64_t)b->list.n;
    b->list.v = NULL;
    b->list.n = b->list.cap = b->bytes = 0;
    arena_free(&b->a);
    return ST_OK;
}

static enum status copy_entries(struct store_copying *c, const struct store_thread *t, int64_t from,
                                struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = t->id, .from = from, .to = STORE_TO_END };
    struct store_batch b = { 0 };
    struct entry       n;
    bool               more = true;
    enum status        s = store_scan(c->from, &q, &scan, e);

    while (!s && more) {
        s = store_next(scan, &n, &more, e);
        if (!s && more) {
            *vec_push(&b.list, &b.a) = entry_dup(&n, &b.a);
            b.bytes += n.payload.n + n.refs.n;
        }
        if (s || (more && b.list.n < COPY_ENTRIES && b.bytes < COPY_BYTES))
            continue;
        s = write_batch(c, t->id, &b, e);
        if (!s && c->how->progress)
            c->how->progress(c->how->ctx, t->id, more ? n.seq + 1 : t->head.rev, t->head.rev);
    }
    arena_free(&b.a);
    return s;
}

/* How many entries of the thread the target has already; refused when they differ. */
static enum status find_place(struct store_copying *c, const struct store_thread *t, int64_t *from,
                              struct err *e)
{
    struct store_head h;
    struct hash       there;
    bool              found = true;

    if (store_head(c->to, t->id, &h, e))
        return err_code(e);
    *from = h.rev;
    if (!h.rev)
        return ST_OK;
    if (h.rev > t->head.rev)
        return conflict(t->id, "the target has more entries", e);
    if (store_chain_at(c->from, t->id, h.rev - 1, &there, &found, e))
        return err_code(e);
    return found && hash_eq(&there, &h.chain) ? ST_OK
                                              : conflict(t->id, "the target has other entries", e);
}

/* ---- rows of views --------------------------------------------------------------- */

static enum status copy_view(struct store_copying *c, struct sv thread, struct sv view,
                             struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { .thread = thread, .view = view };
    struct store_row                         row;
    bool                                     more = true;

    if (store_rows(c->from, &q, &rows, e))
        return err_code(e);
    while (more) {
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        struct store_key k = { thread, view, row.key };
        if (more && store_row_put(c->to, &k, row.value, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status clear_rows(struct store_copying *c, struct sv thread, struct arena *a,
                              struct err *e)
{
    struct sv *views;
    size_t     n;

    if (store_views(c->to, thread, a, &views, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (store_rows_clear(c->to, thread, views[i], e))
            return err_code(e);
    return ST_OK;
}

/* Rows are a function of the entries: a target without them folds them again when they are needed.
 */
static enum status copy_rows(struct store_copying *c, const struct store_thread *t, struct err *e)
{
    struct arena      scratch = { 0 };
    struct store_head h;
    struct sv        *views;
    size_t            n = 0;

    if (store_head(c->to, t->id, &h, e))
        return err_code(e);
    if (!c->how->rows || h.views == t->head.views)
        return ST_OK;
    if (begin(c, t->id, e))
        return err_code(e);
    enum status s = clear_rows(c, t->id, &scratch, e);
    if (!s)
        s = store_views(c->from, t->id, &scratch, &views, &n, e);
    for (size_t i = 0; i < n && !s; i++)
        s = copy_view(c, t->id, views[i], e);
    if (!s)
        s = store_set_views(c->to, t->id, t->head.views, e);
    arena_free(&scratch);
    return end(c, s, e);
}

/* ---- all of it ------------------------------------------------------------------- */

static enum status copy_thread(struct store_copying *c, const struct store_thread *t, struct err *e)
{
    struct store_head h;
    int64_t           from;

    if (t->damaged)
        return err_set(e, ST_CORRUPT, "thread '" SV_FMT "' cannot be read", SV_ARG(t->id));
    if (store_head_agrees(t->id, &t->head, e) || find_place(c, t, &from, e) ||
        copy_entries(c, t, from, e) || copy_rows(c, t, e) || store_head(c->to, t->id, &h, e))
        return err_code(e);
    if (h.rev != t->head.rev || !hash_eq(&h.chain, &t->head.chain))
        return err_set(e, ST_CORRUPT, "thread '" SV_FMT "' ends differently in the copy",
                       SV_ARG(t->id));
    c->how->threads++;
    return ST_OK;
}

static bool has_thread(const struct store_thread *list, size_t n, struct sv id)
{
    size_t low = 0, high = n; /* the threads are sorted by id */

    while (low < high) {
        size_t at = low + (high - low) / 2;
        int    order = sv_cmp(list[at].id, id);
        if (!order)
            return true;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return false;
}

/* A target with threads of its own is not a copy, and would not become one. */
static enum status check_target(struct store_copying *c, const struct store_thread *list, size_t n,
                                struct arena *a, struct err *e)
{
    struct store_thread *there;
    size_t               count;

    if (store_threads(c->to, a, &there, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (!has_thread(list, n, there[i].id))
            return conflict(there[i].id, "only the target has it", e);
    return ST_OK;
}

static enum status copy_all(struct store_copying *c, struct arena *a, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (store_threads(c->from, a, &list, &n, e) || check_target(c, list, n, a, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (copy_thread(c, &list[i], e))
            return err_code(e);
    return ST_OK;
}

enum status store_copy(struct store *from, struct store *to, struct store_copy *how, struct err *e)
{
    return store_copy_in(from, to, how, to->open != 0, e);
}

enum status store_copy_in(struct store *from, struct store *to, struct store_copy *how, bool in_one,
                          struct err *e)
{
    struct store_copying c = { .from = from, .to = to, .how = how, .in_one = in_one };
    struct arena         a = { 0 };
    bool                 begun = !from->open;

    how->threads = how->entries = 0;
    if (begun && store_begin(from, STORE_READ, e))
        return err_code(e);
    enum status s = copy_all(&c, &a, e);
    if (begun)
        store_abort(from);
    arena_free(&a);
    return s;
}
