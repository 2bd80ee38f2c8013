/* A store in front of another that keeps the rows of one thread in memory and hands on everything
 * else. It is for reading where nothing may be written: views that another version of the program
 * folded are folded again into those rows, and the log behind stays as it is. */
#include "store/store_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct beside_store {
    struct store  base;
    struct store *real, *rows; /* rows: a store in memory, with a write transaction open */
    char          thread[NAME_MAX_BYTES + 1];
    int64_t       views; /* of that thread, as set by set_views() ... */
    int64_t       rev;   /* ... when it had so many entries */
};
struct beside_scan {
    struct store_scan  base;
    struct store_scan *real;
};
struct beside_rows {
    struct store_rows  base;
    struct store_rows *real;
};

static struct beside_store *beside_of(struct store *s)
{
    return (struct beside_store *)s;
}

static struct store *real_of(struct store *s)
{
    return beside_of(s)->real;
}

/* The store that has the rows of this thread. */
static struct store *rows_of(struct store *s, struct sv thread)
{
    struct beside_store *b = beside_of(s);

    return sv_is(thread, b->thread) ? b->rows : b->real;
}

static enum status refuse(struct err *e)
{
    err_set(e, ST_IO, "the log cannot be written here");
    err_reason(e, STORE_READ_ONLY);
    return err_hint(e, "check who owns .heddle (ls -ld)");
}

static void beside_close(struct store *s)
{
    struct beside_store *b = beside_of(s);

    store_close(b->rows);
    b->real->ops->close(b->real);
    free(b);
}

static enum status beside_begin(struct store *s, enum store_mode mode, struct err *e)
{
    return mode == STORE_WRITE ? refuse(e) : real_of(s)->ops->begin(real_of(s), mode, e);
}

static enum status beside_commit(struct store *s, struct err *e)
{
    return real_of(s)->ops->commit(real_of(s), e);
}

static void beside_abort(struct store *s)
{
    real_of(s)->ops->abort(real_of(s));
}

static enum status beside_head(struct store *s, struct sv thread, struct store_head *out,
                               struct err *e)
{
    if (real_of(s)->ops->head(real_of(s), thread, out, e))
        return err_code(e);
    /* Another process may have appended since: then the rows are behind, and say so. */
    if (sv_is(thread, beside_of(s)->thread) && out->rev == beside_of(s)->rev)
        out->views = beside_of(s)->views;
    return ST_OK;
}

static enum status beside_insert(struct store *s, struct sv thread, int64_t rev,
                                 const struct entry *entries, size_t n, struct err *e)
{
    (void)s, (void)thread, (void)rev, (void)entries, (void)n;
    return refuse(e);
}

static enum status beside_scan(struct store *s, const struct store_query *q,
                               struct store_scan **out, struct err *e)
{
    struct beside_scan *scan = calloc(1, sizeof *scan);

    if (!scan)
        die("out of memory");
    if (real_of(s)->ops->scan(real_of(s), q, &scan->real, e)) {
        free(scan);
        return err_code(e);
    }
    scan->real->store = real_of(s);
    *out = (struct store_scan *)scan;
    return ST_OK;
}

static enum status beside_next(struct store_scan *base, struct entry *out, bool *more,
                               struct err *e)
{
    struct store_scan *real = ((struct beside_scan *)base)->real;
    enum status        s = real->store->ops->next(real, out, more, e);

    base->lost = real->lost;
    return s;
}

static void beside_scan_close(struct store_scan *base)
{
    struct store_scan *real = ((struct beside_scan *)base)->real;

    real->store->ops->scan_close(real);
    free(base);
}

static enum status beside_find_op(struct store *s, struct sv thread, struct sv op_id,
                                  struct arena *a, struct entry *out, bool *found, struct err *e)
{
    return real_of(s)->ops->find_op(real_of(s), thread, op_id, a, out, found, e);
}

static enum status beside_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                                   bool *found, struct err *e)
{
    return real_of(s)->ops->chain_at(real_of(s), thread, seq, out, found, e);
}

/* Marks belong to entries: what a fold would set anew cannot be set here, and stays. */
static enum status beside_set_mark(struct store *s, struct sv thread, int64_t seq,
                                   enum entry_mark mark, struct err *e)
{
    (void)s, (void)thread, (void)seq, (void)mark, (void)e;
    return ST_OK;
}

static enum status beside_threads(struct store *s, struct arena *a, struct store_thread **out,
                                  size_t *n, struct err *e)
{
    return real_of(s)->ops->threads(real_of(s), a, out, n, e);
}

static enum status beside_row_get(struct store *s, const struct store_key *k, struct arena *a,
                                  struct sv *value, bool *found, struct err *e)
{
    struct store *r = rows_of(s, k->thread);

    return r->ops->row_get(r, k, a, value, found, e);
}

static enum status beside_row_put(struct store *s, const struct store_key *k, struct sv value,
                                  struct err *e)
{
    struct store *r = rows_of(s, k->thread);

    return r == real_of(s) ? refuse(e) : r->ops->row_put(r, k, value, e);
}

static enum status beside_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    struct store *r = rows_of(s, k->thread);

    return r == real_of(s) ? refuse(e) : r->ops->row_del(r, k, e);
}

static enum status beside_rows(struct store *s, const struct store_row_query *q,
                               struct store_rows **out, struct err *e)
{
    struct store       *r = rows_of(s, q->thread);
    struct beside_rows *rows = calloc(1, sizeof *rows);

    if (!rows)
        die("out of memory");
    if (r->ops->rows(r, q, &rows->real, e)) {
        free(rows);
        return err_code(e);
    }
    rows->real->store = r;
    *out = (struct store_rows *)rows;
    return ST_OK;
}

static enum status beside_rows_next(struct store_rows *base, struct store_row *out, bool *more,
                                    struct err *e)
{
    struct store_rows *real = ((struct beside_rows *)base)->real;

    return real->store->ops->rows_next(real, out, more, e);
}

static void beside_rows_close(struct store_rows *base)
{
    struct store_rows *real = ((struct beside_rows *)base)->real;

    real->store->ops->rows_close(real);
    free(base);
}

static enum status beside_rows_clear(struct store *s, struct sv thread, struct sv view,
                                     struct err *e)
{
    struct store *r = rows_of(s, thread);

    return r == real_of(s) ? refuse(e) : r->ops->rows_clear(r, thread, view, e);
}

static enum status beside_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    struct store_head h;

    if (rows_of(s, thread) == real_of(s))
        return refuse(e);
    if (real_of(s)->ops->head(real_of(s), thread, &h, e))
        return err_code(e);
    beside_of(s)->views = views;
    beside_of(s)->rev = h.rev;
    return ST_OK;
}

/* Words are an index and nothing more: those that cannot be put are found by no search here. */
static enum status beside_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                                   struct err *e)
{
    (void)s, (void)thread, (void)seq, (void)text, (void)e;
    return ST_OK;
}

static enum status beside_text_last(struct store *s, struct sv thread, int64_t *seq, struct err *e)
{
    return store_text_last(real_of(s), thread, seq, e);
}

static enum status beside_text_find(struct store *s, struct sv thread, const struct sv *words,
                                    size_t n, size_t max, struct arena *a, struct store_hit **out,
                                    size_t *count, struct err *e)
{
    return store_text_find(real_of(s), thread, words, n, max, a, out, count, e);
}

static enum status beside_stats(struct store *s, struct store_stats *out, struct err *e)
{
    return real_of(s)->ops->stats(real_of(s), out, e);
}

static enum status beside_check(struct store *s, void (*say)(void *, struct sv), void *ctx,
                                struct err *e)
{
    return real_of(s)->ops->check(real_of(s), say, ctx, e);
}

static enum status beside_adopt_lost(struct store *s, int64_t *n, struct err *e)
{
    (void)s, (void)n;
    return refuse(e);
}

static enum status beside_compact(struct store *s, struct err *e)
{
    (void)s;
    return refuse(e);
}

static enum status beside_erase(struct store *s, struct sv thread, const struct entry *entries,
                                size_t n, struct err *e)
{
    (void)s, (void)thread, (void)entries, (void)n;
    return refuse(e);
}

static enum status beside_rechain(struct store *s, struct sv thread, const struct entry *n,
                                  bool last, struct err *e)
{
    (void)s, (void)thread, (void)n, (void)last;
    return refuse(e);
}

static enum status beside_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                                struct err *e)
{
    (void)s, (void)removed, (void)ctx;
    return refuse(e);
}

static const struct store_ops beside_ops = {
    .scheme = "beside",
    .close = beside_close,
    .begin = beside_begin,
    .commit = beside_commit,
    .abort = beside_abort,
    .head = beside_head,
    .insert = beside_insert,
    .scan = beside_scan,
    .next = beside_next,
    .scan_close = beside_scan_close,
    .find_op = beside_find_op,
    .chain_at = beside_chain_at,
    .set_mark = beside_set_mark,
    .erase = beside_erase,
    .rechain = beside_rechain,
    .threads = beside_threads,
    .row_get = beside_row_get,
    .row_put = beside_row_put,
    .row_del = beside_row_del,
    .rows = beside_rows,
    .rows_next = beside_rows_next,
    .rows_close = beside_rows_close,
    .rows_clear = beside_rows_clear,
    .set_views = beside_set_views,
    .text_put = beside_text_put,
    .text_last = beside_text_last,
    .text_find = beside_text_find,
    .stats = beside_stats,
    .check = beside_check,
    .adopt_lost = beside_adopt_lost,
    .compact = beside_compact,
    .scrub = beside_scrub,
};

/* A store in memory that knows the thread, so that rows can be put. */
static enum status open_rows(struct beside_store *b, struct err *e)
{
    struct entry      stand_in = { .kind = SV("beside"), .payload = SV("{}") };
    struct store_head h;

    if (store_open(SV("mem:"), &(struct store_options){ .create = true }, &b->rows, e) ||
        store_begin(b->rows, STORE_WRITE, e))
        return err_code(e);
    return store_append(b->rows, sv_of(b->thread), 0, &stand_in, 1, &h, e);
}

enum status store_beside(struct store *real, struct sv thread, struct store **out, struct err *e)
{
    struct beside_store *b = calloc(1, sizeof *b);

    assert(thread.n < sizeof b->thread);
    if (!b)
        die("out of memory");
    b->base.ops = &beside_ops;
    b->base.open = real->open;
    b->base.rows_apart = true;
    b->real = real;
    memcpy(b->thread, thread.s, thread.n);
    if (open_rows(b, e)) {
        store_close(b->rows);
        free(b);
        return err_code(e);
    }
    *out = (struct store *)b;
    return ST_OK;
}
