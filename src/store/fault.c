/* A store in front of another one. Its K-th call returns ST_IO and does not reach the store behind.
 * Tests run the same work with K = 1, 2, 3 ... until nothing fails, and check after each run that
 * the log is intact. Calls that cannot fail (abort and the closes) are not counted. */
#include "store/store_internal.h"

#include "base/failure.h"

#include <assert.h>
#include <stdlib.h>

struct fault_store {
    struct store  base;
    struct store *real;
    int64_t       fail_at, calls;
    bool          lasts;   /* every call behind that one fails, too */
    void (*then)(void);    /* called in the place of the call that fails */
    bool    writing;       /* a write transaction is open ... */
    int64_t handled, most; /* ... entries read or written in it; the most of one */
    struct {
        const char *call;
        int64_t     n;
    } of[64]; /* calls by their names, in the order in which they first came */
};
struct fault_scan {
    struct store_scan  base;
    struct store_scan *real;
};
struct fault_rows {
    struct store_rows  base;
    struct store_rows *real;
};

static struct fault_store *fault_of(struct store *s)
{
    return (struct fault_store *)s;
}

static void count(struct fault_store *f, const char *call)
{
    size_t i = 0;

    while (f->of[i].call && !sv_is(sv_of(call), f->of[i].call))
        i++;
    assert(i + 1 < COUNT(f->of));
    f->of[i].call = call;
    f->of[i].n++;
}

/* Count a call; the error when it is its turn to fail. */
static enum status due(struct fault_store *f, const char *call, struct err *e)
{
    count(f, call);
    f->calls++;
    if (!f->fail_at || f->calls < f->fail_at || (f->calls > f->fail_at && !f->lasts))
        return ST_OK;
    if (f->then)
        f->then();
    err_set(e, ST_IO, "call %lld of the store (%s) was made to fail", (long long)f->calls, call);
    return err_reason(e, "fault");
}

/* Entries read or written: how many of them in one write transaction? */
static void handle(struct fault_store *f, size_t n)
{
    f->handled += f->writing ? (int64_t)n : 0;
    f->most = f->handled > f->most ? f->handled : f->most;
}

/* Return the error, or continue with the store behind. */
#define PASS(s, call)                                                                              \
    struct store *real = fault_of(s)->real;                                                        \
    if (due(fault_of(s), call, e))                                                                 \
    return e->code

static void fault_close(struct store *s)
{
    struct fault_store *f = fault_of(s);

    if (f->real)
        f->real->ops->close(f->real);
    free(f);
}

static enum status fault_begin(struct store *s, enum store_mode mode, struct sv thread,
                               struct err *e)
{
    PASS(s, "begin");
    real->alone = s->alone;
    if (mode == STORE_WRITE)
        count(fault_of(s), "begin_write");
    fault_of(s)->writing = mode == STORE_WRITE;
    fault_of(s)->handled = 0;
    return real->ops->begin(real, mode, thread, e);
}

static enum status fault_moved_get(struct store *s, struct arena *a, struct sv *moved,
                                   struct sv *came, struct err *e)
{
    PASS(s, "moved_get");
    return real->ops->moved_get(real, a, moved, came, e);
}

static enum status fault_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e)
{
    PASS(s, "moved_set");
    return real->ops->moved_set(real, moved, came, e);
}

static struct store *fault_behind(struct store *s)
{
    return fault_of(s)->real;
}

static void fault_want(struct store *s, const struct store_key *keys, size_t n)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "want");
    if (real->ops->want)
        real->ops->want(real, keys, n);
}

static void fault_group_want(struct store *s, const struct store_part *parts, size_t n)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "group_want");
    if (real->ops->group_want)
        real->ops->group_want(real, parts, n);
}

static void fault_want_op(struct store *s, struct sv thread, struct sv op_id)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "want_op");
    if (real->ops->want_op)
        real->ops->want_op(real, thread, op_id);
}

static void fault_bulk(struct store *s, bool on)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "bulk");
    if (real->ops->bulk)
        real->ops->bulk(real, on);
}

static void fault_want_scan(struct store *s, const struct store_query *q)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "want_scan");
    if (real->ops->want_scan)
        real->ops->want_scan(real, q);
}

static enum status fault_commit(struct store *s, struct err *e)
{
    PASS(s, "commit");
    fault_of(s)->writing = false;
    return real->ops->commit(real, e);
}

static void fault_abort(struct store *s)
{
    struct store *real = fault_of(s)->real;

    fault_of(s)->writing = false;
    real->ops->abort(real);
}

static enum status fault_part_begin(struct store *s, struct sv thread, struct err *e)
{
    PASS(s, "part_begin");
    return real->ops->part_begin(real, thread, e);
}

static enum status fault_part_end(struct store *s, bool keep, struct err *e)
{
    PASS(s, "part_end");
    return real->ops->part_end(real, keep, e);
}

static enum status fault_head(struct store *s, struct sv thread, struct store_head *out,
                              struct err *e)
{
    PASS(s, "head");
    return real->ops->head(real, thread, out, e);
}

static enum status fault_insert(struct store *s, struct sv thread, int64_t rev,
                                const struct entry *entries, size_t n, struct err *e)
{
    PASS(s, "insert");
    handle(fault_of(s), n);
    return real->ops->insert(real, thread, rev, entries, n, e);
}

static enum status fault_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                              struct err *e)
{
    PASS(s, "scan");
    struct store_scan *behind;
    if (real->ops->scan(real, q, &behind, e))
        return err_code(e);
    behind->store = real;
    struct fault_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        failure_memory(sizeof *scan);
    scan->real = behind;
    *out = (struct store_scan *)scan;
    return ST_OK;
}

static enum status fault_next(struct store_scan *base, struct entry *out, bool *more, struct err *e)
{
    PASS(base->store, "next");
    handle(fault_of(base->store), 1);
    struct store_scan *behind = ((struct fault_scan *)base)->real;
    enum status        s = real->ops->next(behind, out, more, e);
    base->lost = behind->lost;
    return s;
}

static void fault_scan_close(struct store_scan *base)
{
    struct store_scan *behind = ((struct fault_scan *)base)->real;

    behind->store->ops->scan_close(behind);
    free(base);
}

static enum status fault_find_op(struct store *s, struct sv thread, struct sv op_id,
                                 struct arena *a, struct entry *out, bool *found, struct err *e)
{
    PASS(s, "find_op");
    return real->ops->find_op(real, thread, op_id, a, out, found, e);
}

static enum status fault_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                                  bool *found, struct err *e)
{
    PASS(s, "chain_at");
    return real->ops->chain_at(real, thread, seq, out, found, e);
}

static enum status fault_set_mark(struct store *s, struct sv thread, int64_t seq,
                                  enum entry_mark mark, struct err *e)
{
    PASS(s, "set_mark");
    return real->ops->set_mark(real, thread, seq, mark, e);
}

static enum status fault_threads(struct store *s, struct arena *a, struct store_thread **out,
                                 size_t *n, struct err *e)
{
    PASS(s, "threads");
    return real->ops->threads(real, a, out, n, e);
}

static enum status fault_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                                    struct err *e)
{
    PASS(s, "thread_ids");
    return store_thread_ids(real, a, out, n, e);
}

static enum status fault_row_get(struct store *s, const struct store_key *k, struct arena *a,
                                 struct sv *value, bool *found, struct err *e)
{
    PASS(s, "row_get");
    return real->ops->row_get(real, k, a, value, found, e);
}

static enum status fault_row_put(struct store *s, const struct store_key *k, struct sv value,
                                 struct err *e)
{
    PASS(s, "row_put");
    return real->ops->row_put(real, k, value, e);
}

static enum status fault_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    PASS(s, "row_del");
    return real->ops->row_del(real, k, e);
}

static enum status fault_rows(struct store *s, const struct store_row_query *q,
                              struct store_rows **out, struct err *e)
{
    PASS(s, "rows");
    struct store_rows *behind;
    if (real->ops->rows(real, q, &behind, e))
        return err_code(e);
    behind->store = real;
    struct fault_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        failure_memory(sizeof *rows);
    rows->real = behind;
    *out = (struct store_rows *)rows;
    return ST_OK;
}

static enum status fault_rows_next(struct store_rows *base, struct store_row *out, bool *more,
                                   struct err *e)
{
    PASS(base->store, "rows_next");
    return real->ops->rows_next(((struct fault_rows *)base)->real, out, more, e);
}

static void fault_rows_close(struct store_rows *base)
{
    struct store_rows *behind = ((struct fault_rows *)base)->real;

    behind->store->ops->rows_close(behind);
    free(base);
}

static enum status fault_rows_clear(struct store *s, struct sv thread, struct sv view,
                                    struct err *e)
{
    PASS(s, "rows_clear");
    return real->ops->rows_clear(real, thread, view, e);
}

static enum status fault_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    PASS(s, "set_views");
    return real->ops->set_views(real, thread, views, e);
}

static enum status fault_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                               size_t *n, struct err *e)
{
    PASS(s, "views");
    return real->ops->views(real, thread, a, out, n, e);
}

static enum status fault_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                                  struct err *e)
{
    PASS(s, "text_put");
    return store_text_put(real, thread, seq, text, e);
}

static enum status fault_text_last(struct store *s, struct sv thread, int64_t *seq, struct err *e)
{
    PASS(s, "text_last");
    return store_text_last(real, thread, seq, e);
}

static enum status fault_text_find(struct store *s, struct sv thread, const struct sv *words,
                                   size_t n, size_t max, struct arena *a, struct store_hit **out,
                                   size_t *count, struct err *e)
{
    PASS(s, "text_find");
    return store_text_find(real, thread, words, n, max, a, out, count, e);
}

static enum status fault_version(struct store *s, int64_t *out, struct err *e)
{
    PASS(s, "version");
    return real->ops->version(real, out, e);
}

static void fault_let_others(struct store *s)
{
    struct store *real = fault_of(s)->real;

    count(fault_of(s), "let_others");
    store_let_others(real);
}

static enum status fault_pause(struct store *s, int ms, int peer, enum pause_end *end,
                               struct err *e)
{
    struct store *real = fault_of(s)->real;

    if (real->ops->pause)
        return real->ops->pause(real, ms, peer, end, e);
    *end = store_pause(-1, peer, ms);
    return ST_OK;
}

static enum status fault_stats(struct store *s, struct store_stats *out, struct err *e)
{
    PASS(s, "stats");
    return real->ops->stats(real, out, e);
}

static enum status fault_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                               struct err *e)
{
    PASS(s, "facts");
    return real->ops->facts(real, a, out, n, e);
}

static enum status fault_advise(struct store *s, void (*say)(void *, struct sv), void *ctx,
                                struct err *e)
{
    PASS(s, "advise");
    return real->ops->advise ? real->ops->advise(real, say, ctx, e) : ST_OK;
}

static bool fault_is_new(const struct store *s)
{
    return store_is_new(((const struct fault_store *)s)->real);
}

static int64_t fault_clock_ahead(struct store *s)
{
    struct store *real = fault_of(s)->real;

    return real->ops->clock_ahead ? real->ops->clock_ahead(real) : 0;
}

static enum status fault_check(struct store *s, void (*say)(void *, struct sv), void *ctx,
                               struct err *e)
{
    PASS(s, "check");
    return real->ops->check(real, say, ctx, e);
}

static enum status fault_adopt_lost(struct store *s, int64_t *n, struct err *e)
{
    PASS(s, "adopt_lost");
    return real->ops->adopt_lost ? real->ops->adopt_lost(real, n, e) : ST_OK;
}

static enum status fault_compact(struct store *s, struct err *e)
{
    PASS(s, "compact");
    return real->ops->compact(real, e);
}

static enum status fault_erase(struct store *s, struct sv thread, const struct entry *entries,
                               size_t n, struct err *e)
{
    PASS(s, "erase");
    handle(fault_of(s), n);
    return real->ops->erase(real, thread, entries, n, e);
}

static enum status fault_rechain(struct store *s, struct sv thread, const struct entry *n,
                                 bool last, struct err *e)
{
    PASS(s, "rechain");
    return real->ops->rechain(real, thread, n, last, e);
}

static enum status fault_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                               struct err *e)
{
    PASS(s, "scrub");
    return real->ops->scrub(real, removed, ctx, e);
}

static const char *fault_unreached(const struct store *s, bool *waits)
{
    return store_unreached(((const struct fault_store *)s)->real, waits);
}

static enum status fault_scrub_waits(struct store *s, int64_t *threads, struct err *e)
{
    PASS(s, "scrub_waits");
    return store_scrub_waits(real, threads, e);
}

static enum status fault_drop(struct store *s, struct sv thread, struct err *e)
{
    struct store_head h = { 0 };
    PASS(s, "drop");
    if (real->ops->head(real, thread, &h, e))
        return err_code(e);
    handle(fault_of(s), (size_t)h.rev);
    return real->ops->drop(real, thread, e);
}

static enum status fault_staged(struct store *s, struct arena *a, struct sv **out, size_t *n,
                                struct err *e)
{
    PASS(s, "staged");
    return real->ops->staged(real, a, out, n, e);
}

static enum status fault_rename(struct store *s, struct sv from, struct sv to, struct err *e)
{
    PASS(s, "rename");
    return real->ops->rename(real, from, to, e);
}

static enum status fault_drop_later(struct store *s, struct sv thread, struct err *e)
{
    PASS(s, "drop_later");
    return (real->ops->drop_later ? real->ops->drop_later : real->ops->drop)(real, thread, e);
}

static enum status fault_drop_some(struct store *s, int64_t max, bool narrow, int64_t *n,
                                   bool *left, struct err *e)
{
    *n = 0;
    *left = false;
    PASS(s, "drop_some");
    if (real->ops->drop_some && real->ops->drop_some(real, max, narrow, n, left, e))
        return err_code(e);
    handle(fault_of(s), (size_t)*n);
    return ST_OK;
}

static enum status fault_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                               struct err *e)
{
    PASS(s, "sizes");
    return real->ops->sizes(real, a, out, n, e);
}

static enum status fault_backup(struct store *s, struct sv path, struct err *e)
{
    PASS(s, "backup");
    return store_backup(real, path, e);
}

static enum status fault_attach(struct store *s, struct sv path, struct err *e)
{
    PASS(s, "attach");
    return real->ops->attach ? real->ops->attach(real, path, e)
                             : err_set(e, ST_USAGE, "this store has no file");
}

static enum status fault_replace(struct store *s, struct err *e)
{
    PASS(s, "replace");
    return real->ops->replace(real, e);
}

static const struct store_ops fault_ops = {
    .scheme = "fault",
    .close = fault_close,
    .begin = fault_begin,
    .want = fault_want,
    .want_op = fault_want_op,
    .group_want = fault_group_want,
    .want_scan = fault_want_scan,
    .bulk = fault_bulk,
    .commit = fault_commit,
    .abort = fault_abort,
    .part_begin = fault_part_begin,
    .part_end = fault_part_end,
    .head = fault_head,
    .insert = fault_insert,
    .scan = fault_scan,
    .next = fault_next,
    .scan_close = fault_scan_close,
    .find_op = fault_find_op,
    .chain_at = fault_chain_at,
    .set_mark = fault_set_mark,
    .erase = fault_erase,
    .rechain = fault_rechain,
    .threads = fault_threads,
    .thread_ids = fault_thread_ids,
    .row_get = fault_row_get,
    .row_put = fault_row_put,
    .row_del = fault_row_del,
    .rows = fault_rows,
    .rows_next = fault_rows_next,
    .rows_close = fault_rows_close,
    .rows_clear = fault_rows_clear,
    .set_views = fault_set_views,
    .views = fault_views,
    .text_put = fault_text_put,
    .text_last = fault_text_last,
    .text_find = fault_text_find,
    .version = fault_version,
    .pause = fault_pause,
    .let_others = fault_let_others,
    .stats = fault_stats,
    .facts = fault_facts,
    .advise = fault_advise,
    .is_new = fault_is_new,
    .clock_ahead = fault_clock_ahead,
    .check = fault_check,
    .adopt_lost = fault_adopt_lost,
    .compact = fault_compact,
    .scrub = fault_scrub,
    .unreached = fault_unreached,
    .scrub_waits = fault_scrub_waits,
    .drop = fault_drop,
    .drop_later = fault_drop_later,
    .drop_some = fault_drop_some,
    .sizes = fault_sizes,
    .staged = fault_staged,
    .rename = fault_rename,
    .moved_get = fault_moved_get,
    .moved_set = fault_moved_set,
    .behind = fault_behind,
    .backup = fault_backup,
    .attach = fault_attach,
    .replace = fault_replace,
};

int64_t fault_calls(const struct store *s)
{
    return ((const struct fault_store *)s)->calls;
}

int64_t fault_most_in_write(const struct store *s)
{
    return ((const struct fault_store *)s)->most;
}

int64_t fault_calls_of(const struct store *s, const char *call)
{
    const struct fault_store *f = (const struct fault_store *)s;

    for (size_t i = 0; f->of[i].call; i++)
        if (sv_is(sv_of(call), f->of[i].call))
            return f->of[i].n;
    return 0;
}

void fault_arm(struct store *s, int64_t k)
{
    fault_of(s)->fail_at = k;
    fault_of(s)->calls = 0;
    fault_of(s)->lasts = false;
}

void fault_break(struct store *s, int64_t k)
{
    fault_arm(s, k);
    fault_of(s)->lasts = true;
}

void fault_then(struct store *s, void (*then)(void))
{
    fault_of(s)->then = then;
}

enum status fault_open(struct sv rest, const struct store_options *o, struct store **out,
                       struct err *e)
{
    struct sv_cut at = sv_cut(rest, ':');
    int64_t       k;

    if (!at.found || !sv_to_int(at.head, &k) || k < 0) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' does not say which call fails", SV_ARG(rest));
        return err_hint(e, "fault:3:sqlite:PATH fails the third call; fault:0:... none");
    }
    struct fault_store *f = calloc(1, sizeof *f);
    if (!f)
        failure_memory(sizeof *f);
    f->base.ops = &fault_ops;
    f->fail_at = k;
    if (store_open(at.tail, o, &f->real, e)) {
        free(f);
        return err_code(e);
    }
    *out = (struct store *)f;
    return ST_OK;
}
