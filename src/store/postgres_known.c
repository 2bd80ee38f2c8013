/* The cache of threads and their rows: heads of the open transaction, rows from earlier answers,
 * and what the transaction itself has written. */
#include "store/postgres_internal.h"

#include "base/clock.h"
#include "base/failure.h"

/* Limits of what is kept from one transaction to the next. */
enum { KEPT_THREADS = 512, KEPT_BYTES = 4 << 20, KEPT_IN_ALL = 32 << 20 };
struct pg_thread *pg_thread_of(struct pg_store *p, struct sv id)
{
    struct pg_thread *t = map_find(&p->known, id);

    if (!t) {
        t = ARENA_NEW(&p->known_a, struct pg_thread, 1);
        t->id = sv_dup(id, &p->known_a);
        t->rows = map_in(&t->a);
        map_put(&p->known, id, t);
    }
    if (!t->seen && p->in) {
        t->seen = true;
        t->ops = map_in(&p->tx);
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
        *vec_push(&p->seen, &p->tx) = t;
    }
    if (p->group.open)
        t->part = p->group.number;
    return t;
}

/* ---- rows ----------------------------------------------------------------------------------- */

void pg_rows_forget(struct pg_thread *t)
{
    arena_free(&t->a);
    t->rows = map_in(&t->a);
    t->bytes = 0;
    t->rows_tid = 0;
    t->whole = false;
    t->n_ranges = 0;
    t->tail = (struct pg_tail){ 0 };
    t->cleared = (struct sv_list){ 0 };
}

static struct sv place(struct sv view, struct sv key, struct sb *b)
{
    sb_put(b, view);
    sb_putc(b, 0);
    sb_put(b, key);
    return sb_sv(b);
}

struct pg_row *pg_row_find(struct pg_thread *t, struct sv view, struct sv key)
{
    struct arena   spare = { 0 };
    char           room[256];
    struct sb      b = sb_on(room, sizeof room, &spare);
    struct pg_row *row = map_find(&t->rows, place(view, key, &b));

    arena_free(&spare);
    return row;
}

struct pg_row *pg_row_note(struct pg_thread *t, struct sv view, struct sv key, struct sv value,
                           bool found)
{
    struct pg_row *row = pg_row_find(t, view, key);

    if (!row) {
        struct sb b = sb_in(&t->a, 0);
        struct sv at = place(view, key, &b);
        row = ARENA_NEW(&t->a, struct pg_row, 1);
        row->view = sv_first(at, view.n);
        row->key = sv_skip(at, view.n + 1);
        map_put(&t->rows, at, row);
        t->bytes += at.n * 2 + sizeof *row + 40;
    }
    row->value = found ? sv_dup(value, &t->a) : (struct sv){ 0 };
    row->found = found;
    t->bytes += value.n + 8;
    return row;
}

bool pg_row_is_cleared(const struct pg_thread *t, struct sv view)
{
    for (size_t i = 0; i < t->cleared.n; i++)
        if (sv_eq(t->cleared.v[i], view))
            return true;
    return false;
}

/* ---- transactions ---------------------------------------------------------------- */

void pg_known_forget(struct pg_store *p)
{
    for (size_t i = 0; i < p->known.n; i++)
        arena_free(&((struct pg_thread *)p->known.items[i].value)->a);
    arena_free(&p->known_a);
    p->known = map_in(&p->known_a);
}

void pg_known_begin(struct pg_store *p)
{
    size_t bytes = 0;

    for (size_t i = 0; i < p->known.n; i++)
        bytes += ((struct pg_thread *)p->known.items[i].value)->bytes;
    if (!p->known.a || p->known.n > KEPT_THREADS || bytes > KEPT_IN_ALL)
        pg_known_forget(p);
}

void pg_thread_gone(struct pg_store *p, struct pg_thread *t)
{
    pg_rows_forget(t);
    t->known = t->rows_changed = true;
    t->changed = t->locked = t->there = t->made = false;
    t->tid = t->gen = t->rev_0 = t->gen_0 = t->rev_at = t->gen_at = 0;
    t->head = (struct store_head){ 0 };
    t->ops = map_in(&p->tx);
}

void pg_known_dropped(struct pg_store *p)
{
    for (size_t i = 0; i < p->seen.n; i++)
        pg_thread_gone(p, p->seen.v[i]);
}

/* Update the cache of one thread at the end of a transaction: its rows are now what the server
 * has. */
static void end_thread(const struct pg_store *p, struct pg_thread *t, bool committed)
{
    bool appended = t->known && t->head.rev != t->rev_0;
    bool undone =
        !committed && (t->rows_changed || t->cleared.n || appended || (p->group.is && p->sent));

    if (!t->known || undone || t->bytes > KEPT_BYTES) {
        pg_rows_forget(t);
    } else {
        t->rows_tid = t->tid;
        t->rows_rev = committed ? t->head.rev : t->rev_0;
        t->rows_gen = committed ? t->gen : t->gen_0;
    }
    for (size_t i = 0; i < t->rows.n; i++) {
        struct pg_row *row = t->rows.items[i].value;
        row->queued = row->touched = false;
    }
    struct pg_range ranges[PG_RANGES];
    size_t          n_ranges = t->n_ranges;
    memcpy(ranges, t->ranges, sizeof ranges);
    *t = (struct pg_thread){ .id = t->id,
                             .a = t->a,
                             .rows = t->rows,
                             .whole = t->whole,
                             .tail = t->tail,
                             .scanned = t->scanned,
                             .bytes = t->bytes,
                             .rows_tid = t->rows_tid,
                             .rows_rev = t->rows_rev,
                             .rows_gen = t->rows_gen,
                             .hot_sum = t->hot_sum,
                             .hinted = t->hinted,
                             .n_ranges = n_ranges };
    memcpy(t->ranges, ranges, sizeof ranges);
    t->rows.a = &t->a;
}

void pg_known_end(struct pg_store *p, bool committed)
{
    for (size_t i = 0; i < p->seen.n; i++)
        end_thread(p, p->seen.v[i], committed);
    p->seen.n = p->seen.cap = 0;
    p->seen.v = NULL;
    p->before.thread = NULL;
}

/* ---- heads ----------------------------------------------------------------------- */

/* The first question begins the transaction, and BEGIN is sent together with a question for the
 * head of its thread. */
static bool comes_by_itself(const struct pg_store *p, const struct pg_thread *t)
{
    return !t->known && p->in && pg_is_unbegun(p) && sv_eq(p->about, t->id);
}

/* tid, rev, gen, chain, created, views, version; of the last entry seq, chain, at. */
static void read_head(struct pg_thread *t, struct pg_answer *a, int row)
{
    t->tid = pg_int(a, row, 0);
    t->gen = pg_int(a, row, 2);
    t->head = (struct store_head){ .rev = pg_null(a, row, 7) ? 0 : pg_int(a, row, 7) + 1,
                                   .chain = pg_hash(a, row, 8),
                                   .created = pg_int(a, row, 4),
                                   .updated = pg_int(a, row, 9),
                                   .views = pg_int(a, row, 5),
                                   .recorded_rev = pg_int(a, row, 1),
                                   .recorded_chain = pg_hash(a, row, 3) };
    t->head.version = !t->head.rev ? 0 : pg_int(a, row, 6) == 2 ? 2 : 1;
    a->wrong = a->wrong || t->head.rev < 0 || t->head.recorded_rev < 0;
}

void pg_head_note(struct pg_thread *t, struct pg_answer *a, int row)
{
    t->known = true;
    t->there = row < a->n;
    t->head = (struct store_head){ 0 };
    t->tid = t->gen = 0;
    if (t->there)
        read_head(t, a, row);
    t->rev_0 = t->rev_at = t->head.recorded_rev;
    t->gen_0 = t->gen_at = t->gen;
    if (!t->fresh && (t->rows_tid != t->tid || t->rows_rev != t->head.rev || t->rows_gen != t->gen))
        pg_rows_forget(t);
    t->fresh = true;
    if (!t->head.rev) /* a thread without entries has no rows */
        t->whole = t->tail.known = true;
}

static void take_head(void *ctx, struct pg_answer *a)
{
    if (pg_shape(a, "iiibiiiibi"))
        pg_head_note(ctx, a, 0);
}

/* Takes the lock of a thread that was only read so far; what this transaction has changed in it
 * stays. */
static void take_lock(void *ctx, struct pg_answer *a)
{
    struct pg_thread *t = ctx, now = { .id = t->id, .fresh = true };

    take_head(&now, a);
    bool same = t->known && t->there && now.there && now.tid == t->tid && now.rev_0 == t->rev_0 &&
                now.gen_0 == t->gen_0;
    if (!same)
        take_head(t, a);
    t->locked = now.there;
}

void pg_ask_head(struct pg_store *p, struct pg_thread *t, bool lock)
{
    struct pg_params q = { 0 };

    pg_add_text(&q, t->id);
    pg_ask(p, lock ? PG_LOCK : PG_HEAD, &q, lock ? take_lock : take_head, t);
}

void pg_ask_known(struct pg_store *p, struct pg_thread *t, enum pg_about what)
{
    if (!t || t->known || comes_by_itself(p, t))
        return;
    pg_ask_head(p, t, false);
    if (what == PG_ABOUT_ROWS)
        pg_ask_hot(p, t);
}

/* ---- rows that are asked for together -------------------------------------------- */

void pg_row_take(struct pg_thread *t, struct sv view, struct sv key, struct sv value)
{
    struct pg_row *row = pg_row_find(t, view, key);

    if (pg_row_is_cleared(t, view)) /* the clearing may still be in the queue */
        return;
    if (!row || !row->queued)
        pg_row_note(t, view, key, value, value.s != NULL);
}

int64_t pg_tid_of(const struct pg_store *p, const struct pg_thread *t, bool guess)
{
    if (t->known)
        return t->there ? t->tid : 0;
    return guess && p->in && pg_is_unbegun(p) && sv_eq(p->about, t->id) ? t->rows_tid : 0;
}

/* The number of the key, from 1, and its value. */
static void take_wants(void *ctx, struct pg_answer *a)
{
    struct pg_store *p = ctx;

    if (!pg_shape(a, "ib"))
        return;
    for (int i = 0; i < a->n; i++) {
        int64_t at = pg_int(a, i, 0) - 1;
        if (at < 0 || (size_t)at >= p->wants.keys.n) {
            a->wrong = true;
            return;
        }
        struct store_key *k = &p->wants.keys.v[at];
        struct pg_thread *t = pg_thread_of(p, k->thread);
        if (!t->known && !t->fresh)
            pg_rows_forget(t);
        t->fresh = t->fresh || !t->known;
        pg_row_take(t, k->view, k->key, pg_sv(a, i, 1));
    }
}

/* Code that reads rows of a thread also reads its head. */
static void ask_wanted_heads(struct pg_store *p)
{
    const struct pg_wants *w = &p->wants;

    for (size_t i = 0; i < w->keys.n; i++) {
        bool              again = i && sv_eq(w->keys.v[i].thread, w->keys.v[i - 1].thread);
        struct pg_thread *t = again ? NULL : pg_thread_of(p, w->keys.v[i].thread);
        if (t && !t->known && !t->fresh && !sv_eq(p->about, t->id)) {
            pg_ask_head(p, t, false);
            pg_ask_hot(p, t);
        }
    }
}

/* Was the row read by an earlier transaction? It is valid if the head, which this round trip reads,
 * is unchanged. Otherwise the rows of the hint are sent, and other rows are asked for. */
static bool is_kept(struct pg_store *p, const struct store_key *k)
{
    struct pg_thread *t = pg_thread_of(p, k->thread);

    return pg_row_find(t, k->view, k->key) || pg_row_is_known(t, k->view, k->key);
}

static void keep_unknown(struct pg_store *p, struct pg_wants *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->keys.n; i++)
        if (!is_kept(p, &w->keys.v[i]))
            w->keys.v[n++] = w->keys.v[i];
    w->keys.n = n;
}

void pg_ask_wants(struct pg_store *p)
{
    struct pg_wants *w = &p->wants;
    struct pg_params q = { 0 };

    ask_wanted_heads(p);
    keep_unknown(p, w);
    if (w->op_id.s)
        pg_ask_op(p, pg_thread_of(p, w->op_thread), w->op_id);
    for (size_t i = 0; i < w->n_scans; i++)
        pg_ask_page(p, &w->scans[i], i);
    if (!w->keys.n)
        return;
    struct pg_list lists[] = { pg_list_of(PG_TEXT_LIST, &p->hints),
                               pg_list_of(PG_TEXT_LIST, &p->hints),
                               pg_list_of(PG_BYTES_LIST, &p->hints) };
    for (size_t i = 0; i < w->keys.n; i++) {
        pg_list_sv(&lists[0], w->keys.v[i].thread);
        pg_list_sv(&lists[1], w->keys.v[i].view);
        pg_list_sv(&lists[2], w->keys.v[i].key);
    }
    for (size_t i = 0; i < COUNT(lists); i++)
        pg_add_list(&q, &lists[i]);
    pg_ask(p, PG_WANT, &q, take_wants, p);
}

/* ---- knowing and locking --------------------------------------------------------- */

static void build_head(struct pg_store *p, void *ctx)
{
    struct pg_thread *t = ctx;

    pg_ask_known(p, t, PG_ABOUT_ROWS);
}

static void build_nothing(struct pg_store *p, void *ctx)
{
    (void)p, (void)ctx;
}

enum status pg_know(struct pg_store *p, struct pg_thread *t, struct err *e)
{
    if (t->known)
        return ST_OK;
    return pg_run(p, PG_AS_IT_IS, build_head, t, e);
}

static void build_lock(struct pg_store *p, void *ctx)
{
    struct pg_thread *t = ctx;

    if (t->known && !t->there) {
        pg_ask_new(p, t->id);
        t->made = true;
    }
    pg_ask_head(p, t, true);
    if (!t->rows.n)
        pg_ask_hot(p, t);
}

/* Two writers may create a thread at the same time: the second one begins again and finds the
 * thread. */
enum status pg_lock(struct pg_store *p, struct pg_thread *t, struct err *e)
{
    int64_t until_us = clock_steady_us() + (int64_t)p->busy_ms * 1000;

    for (int tries = 0; !t->locked && tries < 3; tries++) {
        int64_t rev = t->known ? t->rev_0 : -1;
        if (pg_run(p, PG_AS_IT_IS, comes_by_itself(p, t) ? build_nothing : build_lock, t, e)) {
            if (!pg_start_over(p, t, until_us, e))
                return err_code(e);
            tries = -1;
            continue;
        }
        if (rev >= 0 && t->locked && t->rev_0 != rev) {
            err_set(e, ST_CONFLICT, "thread '" SV_FMT "' was changed meanwhile", SV_ARG(t->id));
            err_reason(e, "busy");
            return err_hint(e, "try again");
        }
    }
    if (t->locked)
        return ST_OK;
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' cannot be locked", SV_ARG(t->id));
    return err_reason(e, "busy");
}

enum status pg_lock_in_group(struct pg_store *p, struct pg_thread *t, struct err *e)
{
    return p->group.open ? pg_lock(p, t, e) : ST_OK;
}
