/* A store in front of another that keeps the rows of one thread in memory and passes everything
 * else on. It is for reading where nothing may be written: views that another version of the
 * program folded are folded again into those rows, and the log behind stays as it is. It can also
 * show a thread as it was: then the thread has only its first entries, and the rows are those. */
#include "store/store_internal.h"

#include "base/failure.h"

#include <stdlib.h>
#include <string.h>

struct beside_store {
    struct store  base;
    struct store *real, *rows; /* rows: a store in memory, with a write transaction open */
    char          thread[NAME_MAX_BYTES + 1];
    int64_t       views; /* of that thread, as set by set_views() ... */
    int64_t       rev;   /* ... when it had this many entries */
    int64_t       end;   /* how many of its entries are shown; INT64_MAX: all */
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

/* Does the thread end before this entry? */
static bool is_hidden(struct store *s, struct sv thread, int64_t seq)
{
    return seq >= beside_of(s)->end && sv_is(thread, beside_of(s)->thread);
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

static enum status beside_begin(struct store *s, enum store_mode mode, struct sv thread,
                                struct err *e)
{
    struct store *behind = s;

    if (mode != STORE_WRITE)
        return real_of(s)->ops->begin(real_of(s), mode, thread, e);
    while (behind->ops->behind)
        behind = behind->ops->behind(behind);
    return store_check_moved(behind, e) ? err_code(e) : refuse(e);
}

static enum status beside_moved_get(struct store *s, struct arena *a, struct sv *moved,
                                    struct sv *came, struct err *e)
{
    return real_of(s)->ops->moved_get(real_of(s), a, moved, came, e);
}

static enum status beside_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e)
{
    (void)s, (void)moved, (void)came;
    return refuse(e);
}

static enum status beside_commit(struct store *s, struct err *e)
{
    return real_of(s)->ops->commit(real_of(s), e);
}

static void beside_abort(struct store *s)
{
    real_of(s)->ops->abort(real_of(s));
}

/* The head of a thread that ends with its entry number `end`. */
static enum status earlier_head(struct store *s, struct sv thread, struct store_head *h,
                                struct err *e)
{
    struct store      *real = real_of(s);
    int64_t            end = beside_of(s)->end;
    struct arena       scratch = { 0 };
    struct entry       last = { 0 };
    bool               found = false;
    struct store_query q = { .thread = thread, .from = end - 1, .to = end - 1 };

    if (end == 0) {
        *h = (struct store_head){ 0 };
        return ST_OK;
    }
    enum status st = real->ops->chain_at(real, thread, end - 1, &h->chain, &found, e);
    if (!st && found)
        st = store_first(real, &q, &scratch, &last, &found, e);
    if (!st && !found)
        st = err_set(e, ST_CORRUPT, "entry %lld is missing", (long long)end - 1);
    h->rev = h->recorded_rev = end;
    h->recorded_chain = h->chain;
    h->updated = last.at;
    h->views = 0;
    arena_free(&scratch);
    return st;
}

static enum status beside_head(struct store *s, struct sv thread, struct store_head *out,
                               struct err *e)
{
    if (real_of(s)->ops->head(real_of(s), thread, out, e))
        return err_code(e);
    if (out->rev > 0 && is_hidden(s, thread, out->rev - 1) && earlier_head(s, thread, out, e))
        return err_code(e);
    /* Another process may have appended since: then the rows are out of date, and `views` stays as
     * it is so that they are folded again. */
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
    struct store_query  shown = *q;

    if (!scan)
        failure_memory(sizeof *scan);
    if (is_hidden(s, q->thread, q->to))
        shown.to = beside_of(s)->end - 1;
    if (real_of(s)->ops->scan(real_of(s), &shown, &scan->real, e)) {
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
    if (real_of(s)->ops->find_op(real_of(s), thread, op_id, a, out, found, e))
        return err_code(e);
    *found = *found && !is_hidden(s, thread, out->seq);
    return ST_OK;
}

static enum status beside_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                                   bool *found, struct err *e)
{
    *found = false;
    return is_hidden(s, thread, seq)
               ? ST_OK
               : real_of(s)->ops->chain_at(real_of(s), thread, seq, out, found, e);
}

/* Marks are stored with entries, which cannot be written here: they stay as they are. */
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

static enum status beside_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                                     struct err *e)
{
    return store_thread_ids(real_of(s), a, out, n, e);
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
        failure_memory(sizeof *rows);
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
    if (beside_head(s, thread, &h, e))
        return err_code(e);
    beside_of(s)->views = views;
    beside_of(s)->rev = h.rev;
    return ST_OK;
}

static enum status beside_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                                size_t *n, struct err *e)
{
    struct store *r = rows_of(s, thread);

    return r->ops->views(r, thread, a, out, n, e);
}

/* The index of words cannot be written here: a search does not find the words that are missing in
 * it. */
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
    size_t all, kept = 0;

    if (store_text_find(real_of(s), thread, words, n, max, a, out, &all, e))
        return err_code(e);
    for (size_t i = 0; i < all; i++)
        if (!is_hidden(s, (*out)[i].thread, (*out)[i].seq))
            (*out)[kept++] = (*out)[i];
    *count = kept;
    return ST_OK;
}

static enum status beside_version(struct store *s, int64_t *out, struct err *e)
{
    return real_of(s)->ops->version(real_of(s), out, e);
}

static enum status beside_pause(struct store *s, int ms, int peer, enum pause_end *end,
                                struct err *e)
{
    struct store *real = real_of(s);

    if (real->ops->pause)
        return real->ops->pause(real, ms, peer, end, e);
    *end = store_pause(-1, peer, ms);
    return ST_OK;
}

static enum status beside_stats(struct store *s, struct store_stats *out, struct err *e)
{
    return real_of(s)->ops->stats(real_of(s), out, e);
}

static enum status beside_facts(struct store *s, struct arena *a, struct store_fact **out,
                                size_t *n, struct err *e)
{
    return real_of(s)->ops->facts(real_of(s), a, out, n, e);
}

static enum status beside_advise(struct store *s, void (*say)(void *, struct sv), void *ctx,
                                 struct err *e)
{
    struct store *real = real_of(s);

    return real->ops->advise ? real->ops->advise(real, say, ctx, e) : ST_OK;
}

static int64_t beside_clock_ahead(struct store *s)
{
    struct store *real = real_of(s);

    return real->ops->clock_ahead ? real->ops->clock_ahead(real) : 0;
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

static enum status beside_drop(struct store *s, struct sv thread, struct err *e)
{
    (void)s, (void)thread;
    return refuse(e);
}

static enum status beside_sizes(struct store *s, struct arena *a, struct store_size **out,
                                size_t *n, struct err *e)
{
    struct store *real = beside_of(s)->real;

    return real->ops->sizes(real, a, out, n, e);
}

static enum status beside_backup(struct store *s, struct sv path, struct err *e)
{
    struct store *real = beside_of(s)->real;

    return store_backup(real, path, e);
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
    .thread_ids = beside_thread_ids,
    .row_get = beside_row_get,
    .row_put = beside_row_put,
    .row_del = beside_row_del,
    .rows = beside_rows,
    .rows_next = beside_rows_next,
    .rows_close = beside_rows_close,
    .rows_clear = beside_rows_clear,
    .set_views = beside_set_views,
    .views = beside_views,
    .text_put = beside_text_put,
    .text_last = beside_text_last,
    .text_find = beside_text_find,
    .version = beside_version,
    .pause = beside_pause,
    .stats = beside_stats,
    .facts = beside_facts,
    .advise = beside_advise,
    .clock_ahead = beside_clock_ahead,
    .check = beside_check,
    .adopt_lost = beside_adopt_lost,
    .compact = beside_compact,
    .scrub = beside_scrub,
    .drop = beside_drop,
    .sizes = beside_sizes,
    .moved_get = beside_moved_get,
    .moved_set = beside_moved_set,
    .behind = real_of,
    .backup = beside_backup,
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

enum status store_until(struct store *real, struct sv thread, int64_t end, struct store **out,
                        struct err *e)
{
    struct beside_store *b;

    if (thread.n >= sizeof b->thread)
        return err_set(e, ST_LIMIT_EXCEEDED, "the name of a thread has at most %d bytes",
                       NAME_MAX_BYTES);
    if (!(b = calloc(1, sizeof *b)))
        failure_memory(sizeof *b);
    b->base.ops = &beside_ops;
    b->base.open = real->open;
    b->base.rows_apart = true;
    b->real = real;
    b->end = end;
    memcpy(b->thread, thread.s, thread.n);
    if (open_rows(b, e)) {
        store_close(b->rows);
        free(b);
        return err_code(e);
    }
    seen_release(real); /* from now on the store in front caches what was read */
    *out = (struct store *)b;
    return ST_OK;
}

enum status store_beside(struct store *real, struct sv thread, struct store **out, struct err *e)
{
    return store_until(real, thread, INT64_MAX, out, e);
}

struct store *store_uncover(struct store *front)
{
    struct beside_store *b = beside_of(front);
    struct store        *real = b->real;

    real->open = front->open;
    seen_release(front);
    store_close(b->rows);
    free(b);
    return real;
}
