/* Folding views again: all of a thread whose rows another version of the program made, or one on
 * demand that the thread does not keep yet.
 *
 * A long thread is folded in slices, each a write transaction of bounded size. The row LOG_FOLDED
 * of the view holds how far it has come and is written in the same transaction, so that a process
 * that was killed is continued by the next one, and two processes that fold the same view take
 * turns. Until the last slice the head of the thread does not say that the view is kept: an append
 * leaves it behind and never waits. Between two slices other writers get the lock.
 *
 * .global is the exception: agents, titles and deletions are read from its rows in transactions
 * about other threads, so they are never half there. Its views that are kept are folded in one
 * transaction. */
#include "thread/log_internal.h"

#include "base/json.h"
#include "thread/anchor.h"
#include "thread/kind_check.h"
#include "thread/limits.h"
#include "thread/skeleton.h"

int64_t log_view_bit(const struct log *l, const struct view *v)
{
    int64_t bit = 1;

    for (size_t i = 0; l->views[i]; i++) {
        if (l->views[i] == v)
            return v->on_demand ? bit : 0;
        if (l->views[i]->on_demand)
            bit <<= 1;
    }
    return 0;
}

bool log_keeps_view(const struct log *l, size_t i, int64_t views)
{
    int64_t bit = log_view_bit(l, l->views[i]);

    return (views & bit) == bit;
}

enum status log_fold_view(struct rows *f, const struct view *v, const struct entry *n,
                          struct err *e)
{
    struct arena_mark m = arena_mark(f->a);

    struct entry shown = *n;

    shown.payload = skeleton_shown(n, f->a);
    f->view = sv_of(v->name);
    if (v->fold(f, &shown, e))
        return err_in(e, "view %s, entry %lld", v->name, (long long)n->seq);
    arena_reset(f->a, m);
    return ST_OK;
}

/* kind_prepare() again, as if the entry came in now. */
static enum status remark(struct log *l, struct sv thread, const struct entry *n, bool *sound,
                          struct err *e)
{
    struct entry again = *n;
    struct err   ignored;

    *sound = kind_prepare(&again, &ignored) == ST_OK;
    if (*sound && n->erased && n->mark == MARK_NONE && again.mark != MARK_NONE) {
        *sound = false; /* its faulty content was erased: it still has no effect */
        return ST_OK;
    }
    return again.mark == n->mark ? ST_OK : store_set_mark(l->store, thread, n->seq, again.mark, e);
}

/* ---- which views, and how far ------------------------------------------------------------- */

/* What is folded: all views that the thread keeps, or one on demand. */
struct refold {
    struct log        *log;
    struct sv          thread;
    struct store_head  head;
    const struct view *only;   /* NULL: all */
    int64_t            views;  /* of the head, once it is done */
    const struct view *holder; /* the view whose row holds the following */
    int64_t            at;     /* the entry to go on with; -1: rows of before are being dropped */
    bool               whole;  /* in one transaction */
};

static struct store_key place_of(const struct refold *r)
{
    return (struct store_key){ r->thread, sv_of(r->holder->name), LOG_FOLDED };
}

/* The stored state; one of another version, or none, means to begin again. */
static enum status read_state(struct refold *r, bool *found, struct err *e)
{
    struct arena     scratch = { 0 };
    struct store_key k = place_of(r);
    struct json      v;
    struct sv        value;
    int64_t          views = 0;
    enum status      s = store_row_get(r->log->store, &k, &scratch, &value, found, e);

    r->at = -1;
    if (!s && *found) {
        struct err ignored;
        *found = !json_parse(value, 0, &scratch, &v, &ignored) &&
                 json_int(json_find(&v, "views"), &views) && views == r->log->views_id &&
                 json_int(json_find(&v, "at"), &r->at);
    }
    arena_free(&scratch);
    return s;
}

static enum status write_state(const struct refold *r, struct err *e)
{
    char             text[64];
    struct sb        b = sb_on(text, sizeof text, NULL);
    struct store_key k = place_of(r);

    sb_addf(&b, "{\"at\":%lld,\"views\":%lld}", (long long)r->at, (long long)r->log->views_id);
    return store_row_put(r->log->store, &k, sb_sv(&b), e);
}

enum status log_folded_to(struct log *l, struct sv thread, const struct view *v, int64_t *at,
                          struct err *e)
{
    struct refold r = { .log = l, .thread = thread, .holder = v };
    bool          found;

    if (read_state(&r, &found, e))
        return err_code(e);
    *at = found ? r.at : 0;
    return ST_OK;
}

/* What has to be folded in this thread; *due is false when nothing has. */
static enum status refold_of(struct log *l, struct sv thread, struct refold *out, bool *due,
                             struct err *e)
{
    int64_t wanted = log_view_bit(l, l->wanted), kept;
    bool    found;

    *out = (struct refold){ .log = l, .thread = thread };
    if (store_head(l->store, thread, &out->head, e))
        return err_code(e);
    kept = out->head.views & VIEWS_KEPT;
    bool current = (out->head.views & ~(int64_t)VIEWS_KEPT) == l->views_id;
    *due = out->head.rev && (!current || (kept & wanted) != wanted);
    if (!*due)
        return ST_OK;
    out->only = current ? l->wanted : NULL;
    out->holder = current ? l->wanted : l->views[0];
    out->whole = !current && sv_eq(thread, ANCHOR_THREAD);
    out->views = l->views_id | kept | (current ? wanted : 0);
    if (!out->holder) /* a log without views */
        return ST_OK;
    if (read_state(out, &found, e))
        return err_code(e);
    if (found && (current || !(out->head.views & ~(int64_t)VIEWS_KEPT)))
        return ST_OK;
    out->at = -1;
    /* Nobody takes the rows for those of a version from here on. */
    if (!current && store_set_views(l->store, thread, kept, e))
        return err_code(e);
    return write_state(out, e);
}

/* ---- one slice ------------------------------------------------------------------------------ */

/* Drop rows that were there before, at most *left; less the number of those that were. */
static enum status drop_rows(struct refold *r, size_t *left, struct err *e)
{
    for (size_t i = 0; r->log->views[i] && *left; i++) {
        const struct view *v = r->log->views[i];
        size_t             n = 0;
        if (r->only && v != r->only)
            continue;
        if (store_rows_drop(r->log->store, r->thread, sv_of(v->name),
                            v == r->holder ? LOG_FOLDED : (struct sv){ 0 }, *left, &n, e))
            return err_code(e);
        *left -= n;
    }
    return ST_OK;
}

static enum status fold_one(struct refold *r, struct rows *f, const struct entry *n, struct err *e)
{
    bool sound = true;

    /* A mark says that the entry is sound, if the rules that gave it are those of today. */
    if ((!r->only || n->mark == MARK_NONE) && remark(r->log, r->thread, n, &sound, e))
        return err_code(e);
    for (size_t i = 0; sound && r->log->views[i]; i++) {
        const struct view *v = r->log->views[i];
        if ((r->only ? v == r->only : log_keeps_view(r->log, i, r->views)) &&
            log_fold_view(f, v, n, e))
            return err_code(e);
    }
    return ST_OK;
}

/* Entries from r->at on, until the slice is full. */
static enum status fold_entries(struct refold *r, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = r->thread, .from = r->at };
    struct arena                             scratch = { 0 };
    struct rows  f = { .store = r->log->store, .thread = r->thread, .a = &scratch };
    struct entry n;
    bool         more = true;
    size_t       bytes = 0;

    ARENA_NEW(&scratch, char, 1); /* keeps one block allocated across resets */
    q.to = r->whole ? STORE_TO_END : r->at + FOLD_SLICE - 1;
    enum status s = store_scan(r->log->store, &q, &scan, e);
    while (!s && (r->whole || bytes < FOLD_SLICE_BYTES) && !(s = store_next(scan, &n, &more, e)) &&
           more) {
        bytes += n.payload.n;
        s = fold_one(r, &f, &n, e);
        r->at = n.seq + 1;
    }
    if (!s && !more && !r->whole) /* also where entries are missing, however many */
        r->at = q.to < r->head.rev ? q.to + 1 : r->head.rev;
    arena_free(&scratch);
    return s;
}

enum status log_fold_slice(struct log *l, struct sv thread, struct log_slice *slice, struct err *e)
{
    struct refold r;
    size_t        left;
    bool          due;

    slice->done = true;
    if (refold_of(l, thread, &r, &due, e))
        return err_code(e);
    if (!due)
        return ST_OK;
    if (!r.holder)
        return store_set_views(l->store, thread, r.views, e);
    left = r.whole ? SIZE_MAX : FOLD_SLICE_ROWS;
    if (r.at < 0 && drop_rows(&r, &left, e))
        return err_code(e);
    if (left && r.at < 0)
        r.at = 0;
    /* Has nobody else written to the thread since the last slice? */
    if (r.at == 0 && r.head.rev > FOLD_SLICE)
        store_known_none(&slice->known, r.head.rev * FOLD_ROWS_AN_ENTRY);
    else if (r.at != slice->at || r.head.rev != slice->of)
        store_known_free(&slice->known);
    store_hold(l->store, thread, &slice->known);
    if (left && fold_entries(&r, e))
        return err_code(e);
    slice->done = r.at >= r.head.rev;
    slice->at = r.at < 0 ? 0 : r.at;
    slice->of = r.head.rev;
    struct store_key k = place_of(&r);
    if ((slice->done ? store_row_del(l->store, &k, e) : write_state(&r, e)) ||
        store_release(l->store, e))
        return err_code(e);
    if (slice->done && store_set_views(l->store, thread, r.views, e))
        return err_code(e);
    /* Views of an older version are done; one on demand may have to follow. */
    int64_t wanted = log_view_bit(l, l->wanted);
    slice->done = slice->done && (r.views & wanted) == wanted;
    return ST_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Outside a transaction: one slice in a write transaction of its own. */
static enum status fold_next(struct log *l, struct sv thread, struct log_slice *slice,
                             struct err *e)
{
    if (!store_begin_on(l->store, STORE_WRITE, thread, e) && !log_fold_slice(l, thread, slice, e) &&
        !store_commit(l->store, e))
        return l->folding ? l->folding(l->folding_ctx, thread, slice->at, slice->of, e) : ST_OK;
    store_abort(l->store);
    return err_code(e);
}

enum status log_fold_behind(struct log *l, struct sv thread, struct err *e)
{
    struct log_slice slice = { 0 };
    enum status      s = fold_next(l, thread, &slice, e);
    bool             bulk = !s && !slice.done;

    if (bulk)
        store_bulk(l->store, true);
    for (int backwards = 0; !s && !slice.done;) {
        int64_t before = slice.at;
        store_let_others(l->store);
        s = fold_next(l, thread, &slice, e);
        /* Views of two kinds are folded one after the other; more often means that somebody else
         * begins again all the time. */
        backwards += slice.at < before;
        if (!s && backwards > 3) {
            s = err_set(e, ST_CONFLICT, "two versions of heddle use this log at once");
            err_hint(e, "stop the older one");
        }
    }
    if (bulk)
        store_bulk(l->store, false);
    store_known_free(&slice.known);
    return s;
}

enum status log_refold(struct log *l, struct sv thread, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, thread, &h, e))
        return err_code(e);
    if (h.rev <= FOLD_SLICE || !l->views[0] || sv_eq(thread, ANCHOR_THREAD))
        return log_rebuild(l, thread, e);
    struct store_key k = { thread, sv_of(l->views[0]->name), LOG_FOLDED };
    return store_row_del(l->store, &k, e) /* of a fold that is under way */
               ? err_code(e)
               : store_set_views(l->store, thread, h.views & VIEWS_KEPT, e);
}

enum status log_rebuild(struct log *l, struct sv thread, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct arena                             scratch = { 0 };
    struct rows   f = { .store = l->store, .thread = thread, .a = &scratch };
    struct refold r = { .log = l, .thread = thread };
    struct entry  n;
    bool          more = true;
    enum status   s = store_head(l->store, thread, &r.head, e);

    r.views = l->views_id | (r.head.views & VIEWS_KEPT) | log_view_bit(l, l->wanted);
    for (size_t i = 0; !s && l->views[i]; i++)
        s = store_rows_clear(l->store, thread, sv_of(l->views[i]->name), e);
    if (!s)
        s = store_scan(l->store, &q, &scan, e);
    while (!s && !(s = store_next(scan, &n, &more, e)) && more)
        s = fold_one(&r, &f, &n, e);
    arena_free(&scratch);
    return s ? s : store_set_views(l->store, thread, r.views, e);
}
