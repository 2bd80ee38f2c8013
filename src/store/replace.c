/* Putting the content of a copy into the place of a log. Where a transaction locks the whole store,
 * the copy comes in as staged threads, in slices between which others write; one short transaction
 * then exchanges the names. */
#include "store/store_internal.h"

#include "base/vec.h"
#include "store/limits.h"

#include <assert.h>

struct replacing {
    struct store        *s, *copy;
    struct sv            staged; /* how the staged ids begin */
    struct arena         a;
    struct store_thread *list; /* the threads of the copy */
    size_t               n;
};

/* The id under which a thread of the copy is staged. */
static struct sv staged_id(struct replacing *r, struct sv thread, size_t i)
{
    struct sb b = sb_in(&r->a, 0);

    sb_addf(&b, SV_FMT "-", SV_ARG(r->staged));
    if (sv_is(thread, ".global"))
        sb_adds(&b, "global");
    else
        sb_addf(&b, "%zu", i + 1);
    return sb_sv(&b);
}

/* End a slice. */
static enum status end_slice(struct store *s, enum status st, struct err *e)
{
    if (!st)
        st = store_commit(s, e);
    store_abort(s); /* no effect after a commit */
    if (!st)
        store_let_others(s);
    return st;
}

/* ---- a thread comes in ----------------------------------------------------------------------- */

/* Is the staged thread as this process left it? Another one may have taken it for left behind. In
 * a transaction. */
static enum status check_there(struct replacing *r, struct sv to, int64_t rev, struct err *e)
{
    struct store_head h;

    if (store_head(r->s, to, &h, e))
        return err_code(e);
    if (h.rev == rev)
        return ST_OK;
    err_set(e, ST_CONFLICT, "another process dropped what was read of the copy");
    err_reason(e, "busy");
    return err_hint(e, "nothing was changed; run the command again");
}

/* Entries of the copy, unchanged, until the slice is full. */
static enum status insert_slice(struct replacing *r, struct store_scan *scan, struct sv to,
                                int64_t *at, bool *more, struct err *e)
{
    struct arena a = { 0 };
    VEC(struct entry) list = { 0 };
    size_t      bytes = 0;
    enum status st = ST_OK;

    while (!st && *more && list.n < REPLACE_ENTRIES && bytes < REPLACE_BYTES) {
        struct entry n;
        st = store_next(scan, &n, more, e);
        if (!st && *more) {
            *vec_push(&list, &a) = entry_dup(&n, &a);
            bytes += n.payload.n + n.refs.n;
        }
    }
    if (!st && list.n)
        st = store_begin(r->s, STORE_WRITE, e);
    if (!st && list.n) {
        st = check_there(r, to, *at, e);
        if (!st)
            st = r->s->ops->insert(r->s, to, *at, list.v, list.n, e);
        *at += (int64_t)list.n;
        st = end_slice(r->s, st, e);
    }
    arena_free(&a);
    return st;
}

static enum status put_slice(struct replacing *r, struct store_rows *rows, struct sv to,
                             struct sv view, bool *more, struct err *e)
{
    size_t      bytes = 0;
    enum status st = store_begin(r->s, STORE_WRITE, e);

    for (int n = 0; !st && *more && n < REPLACE_ROWS && bytes < REPLACE_BYTES; n++) {
        struct store_row row;
        st = store_rows_next(rows, &row, more, e);
        struct store_key k = { to, view, *more && !st ? row.key : (struct sv){ 0 } };
        if (!st && *more) {
            bytes += row.key.n + row.value.n;
            st = r->s->ops->row_put(r->s, &k, row.value, e);
        }
    }
    return end_slice(r->s, st, e);
}

static enum status take_rows(struct replacing *r, const struct store_thread *t, struct sv to,
                             struct err *e)
{
    struct sv *views;
    size_t     n;

    if (store_views(r->copy, t->id, &r->a, &views, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        UNDO(store_rows_undo) struct store_rows *rows = NULL;
        struct store_row_query                   q = { .thread = t->id, .view = views[i] };
        bool                                     more = true;
        if (store_rows(r->copy, &q, &rows, e))
            return err_code(e);
        while (more)
            if (put_slice(r, rows, to, views[i], &more, e))
                return err_code(e);
    }
    if (store_begin(r->s, STORE_WRITE, e))
        return err_code(e);
    return end_slice(r->s, r->s->ops->set_views(r->s, to, t->head.views, e), e);
}

static enum status take_thread(struct replacing *r, size_t i, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    const struct store_thread               *t = &r->list[i];
    struct store_query                       q = { .thread = t->id, .to = STORE_TO_END };
    struct sv                                to = staged_id(r, t->id, i);
    int64_t                                  at = 0;
    bool                                     more = true;

    if (store_head_agrees(t->id, &t->head, e) || store_scan(r->copy, &q, &scan, e))
        return err_code(e);
    while (more)
        if (insert_slice(r, scan, to, &at, &more, e))
            return err_code(e);
    return take_rows(r, t, to, e);
}

/* ---- the names ------------------------------------------------------------------------------- */

static enum status exchange(struct replacing *r, struct err *e)
{
    struct sv  *ids;
    size_t      n;
    enum status st = store_thread_ids(r->s, &r->a, &ids, &n, e);

    for (size_t i = 0; !st && i < n; i++)
        st = store_drop_later(r->s, ids[i], e);
    for (size_t i = 0; !st && i < r->n; i++) {
        struct sv from = staged_id(r, r->list[i].id, i);
        st = check_there(r, from, r->list[i].head.rev, e);
        if (!st)
            st = store_rename(r->s, from, r->list[i].id, e);
    }
    return st;
}

enum status store_drop_staged(struct store *s, struct sv staged, bool narrow, struct err *e)
{
    struct arena a = { 0 };
    struct sv   *ids = NULL;
    size_t       n = 0;
    bool         any;
    enum status  st = store_staged(s, &a, &ids, &n, e);

    if (!st && n)
        st = store_begin(s, STORE_WRITE, e);
    for (size_t i = 0; !st && i < n; i++)
        if (sv_starts(ids[i], staged))
            st = store_drop_later(s, ids[i], e);
    if (n)
        st = end_slice(s, st, e);
    arena_free(&a);
    return st ? st : store_drop_slices(s, narrow, &any, e);
}

/* The copy is read in one transaction; the store is written to in many. */
static enum status replace_staged(struct replacing *r, struct sv                        path,
                                  enum status (*check)(void *ctx, struct err *e), void *ctx,
                                  struct err *e)
{
    struct store_options o = { .read_only = true };
    struct err           ignored;
    bool                 exchanged = false;

    if (store_open(path, &o, &r->copy, e))
        return err_code(e);
    store_allow_staged(r->s, true);
    store_bulk(r->s, true);
    enum status st = store_begin(r->copy, STORE_READ, e);
    if (!st)
        st = store_threads(r->copy, &r->a, &r->list, &r->n, e);
    for (size_t i = 0; !st && i < r->n; i++)
        st = take_thread(r, i, e);
    store_close(r->copy);
    if (!st)
        st = store_begin(r->s, STORE_WRITE, e);
    if (!st) {
        st = check(ctx, e) ? err_code(e) : exchange(r, e);
        exchanged = !st && !store_commit(r->s, e);
        st = exchanged ? ST_OK : err_code(e);
        store_abort(r->s);
    }
    /* What came in for nothing, or was there before. Who comes next drops what this one cannot. */
    (void)!store_drop_staged(r->s, r->staged, st == ST_IO, &ignored);
    store_bulk(r->s, false);
    store_allow_staged(r->s, false);
    return st;
}

/* In one transaction. */
static enum status replace_at_once(struct store *s, struct sv                            path,
                                   enum status (*check)(void *ctx, struct err *e), void *ctx,
                                   struct err *e)
{
    struct err ignored;

    if (s->ops->attach(s, path, e))
        return err_code(e);
    enum status st = store_begin(s, STORE_WRITE, e);
    if (!st)
        st = check(ctx, e);
    seen_forget(s);
    if (!st)
        st = s->ops->replace(s, e);
    if (!st)
        st = store_commit(s, e);
    store_abort(s);
    (void)!s->ops->attach(s, (struct sv){ 0 }, &ignored);
    return st;
}

enum status store_replace(struct store *s, struct sv path, struct sv staged,
                          enum status (*check)(void *ctx, struct err *e), void *ctx, struct err *e)
{
    struct replacing r = { .s = s, .staged = staged };

    assert(s->open == TX_CLOSED);
    if (store_stages(s)) {
        enum status st = replace_staged(&r, path, check, ctx, e);
        arena_free(&r.a);
        return st;
    }
    if (s->ops->attach)
        return replace_at_once(s, path, check, ctx, e);
    return err_set(e, ST_USAGE, "a store of the kind %s: has no file that could be copied",
                   s->ops->scheme);
}
