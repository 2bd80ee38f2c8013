/* Hints: which rows a process with an empty cache will ask for, so that the first answer brings
 * them.
 *
 * A writer stores a hint beside the thread: the keys that were used last, and the prefixes of
 * ranges. For a thread with few rows the hint asks for all of them. For a range, and for a complete
 * thread, the reader then also knows which rows do not exist. When entries were read, the last
 * entries are sent too. A wrong hint costs a round trip or a few bytes, and nothing else: the rows
 * are read in the same state as every other answer of the transaction, and the code here counts
 * whether a range is complete.
 *
 * A hint is two lists, of views and of keys. A view that begins with a slash means a range; the
 * view with the empty name, whose key is a byte of flags, means the complete thread. */
#include "store/postgres_internal.h"

#include <stdlib.h>

/* PG_HOT returns at most RANGE_ROWS + 1 rows of a range and WHOLE_ROWS + 1 of a thread, PG_TAIL at
 * most TAIL_ENTRIES entries. */
enum { HINT_EVERY = 16, HOT_KEYS = STORE_WANT_MAX, HOT_BYTES = 4096, RANGE_ROWS = 32 };
enum { WHOLE_ROWS = 256, WHOLE_BYTES = 24 << 10, TAIL_ENTRIES = 64 };

enum hint_flag { HINT_WHOLE = 1, HINT_TAIL = 2 };

/* Rows used by this process rank above rows that only a hint brought; those keep the order of the
 * hint. */
enum { RANK_HERE = 1 << 20 };

static uint64_t key_sum(struct sv view, struct sv key)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < view.n; i++)
        h = (h ^ (unsigned char)view.s[i]) * 0x100000001b3u;
    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.s[i]) * 0x100000001b3u;
    return h;
}

/* ---- what is used ---------------------------------------------------------------- */

void pg_row_used(struct pg_store *p, struct pg_row *row)
{
    row->touched = true;
    row->rank = RANK_HERE + ++p->uses;
}

/* When the table is full, the new range replaces the least recently used one. */
static void add_range(struct pg_thread *t, struct sv view, struct sv prefix, int64_t rank)
{
    struct pg_range *r = &t->ranges[0];

    for (size_t i = 0; i < t->n_ranges; i++) {
        struct pg_range *x = &t->ranges[i];
        if (sv_eq(x->view, view) && sv_eq(x->prefix, prefix)) {
            x->rank = rank;
            return;
        }
        r = x->rank < r->rank ? x : r;
    }
    if (t->n_ranges < PG_RANGES)
        r = &t->ranges[t->n_ranges++];
    *r = (struct pg_range){ sv_dup(view, &t->a), sv_dup(prefix, &t->a), rank };
    t->bytes += view.n + prefix.n;
}

void pg_range_used(struct pg_store *p, struct pg_thread *t, struct sv view, struct sv prefix)
{
    if (!pg_row_is_cleared(t, view))
        add_range(t, view, prefix, RANK_HERE + ++p->uses);
}

/* Is `end` the first key behind those with the prefix, or before it? */
static bool is_end_of(struct sv end, struct sv prefix)
{
    struct arena scratch = { 0 };
    struct sv    last = store_prefix_end(prefix, &scratch);
    bool         is = last.s && sv_cmp(end, last) <= 0 && sv_cmp(end, prefix) >= 0;

    arena_free(&scratch);
    return is;
}

static bool has_key(const struct pg_range *r, struct sv view, struct sv key)
{
    return sv_eq(r->view, view) && sv_starts(key, r->prefix);
}

bool pg_row_is_known(const struct pg_thread *t, struct sv view, struct sv key)
{
    if (t->whole || pg_row_is_cleared(t, view))
        return true;
    for (size_t i = 0; i < t->n_ranges; i++)
        if (has_key(&t->ranges[i], view, key))
            return true;
    return false;
}

bool pg_range_is_known(const struct pg_thread *t, struct sv view, struct sv from, struct sv end)
{
    if (t->whole || pg_row_is_cleared(t, view))
        return true;
    for (size_t i = 0; i < t->n_ranges; i++)
        if (end.s && has_key(&t->ranges[i], view, from) && is_end_of(end, t->ranges[i].prefix))
            return true;
    return false;
}

/* ---- what comes ------------------------------------------------------------------ */

static bool is_range(struct sv view)
{
    return view.n && view.s[0] == '/';
}

static bool same_key(struct pg_answer *a, int i, int k)
{
    return sv_eq(pg_sv(a, i, 0), pg_sv(a, k, 0)) && sv_eq(pg_sv(a, i, 1), pg_sv(a, k, 1));
}

/* How many rows came with a key of the hint. */
static int count_rows(struct pg_answer *a, int of)
{
    int n = 0;

    for (int i = 0; i < a->n; i++)
        n += same_key(a, i, of) && !pg_null(a, i, 2);
    return n;
}

/* One key of the hint, with its rank. */
static void take_key(struct pg_thread *t, struct pg_answer *a, int i, int64_t rank)
{
    struct sv view = pg_sv(a, i, 0), key = pg_sv(a, i, 1);

    t->hot_sum += key_sum(view, key);
    if (!view.n) {
        int flags = key.n == 1 ? key.s[0] : 0;
        t->whole = t->whole || ((flags & HINT_WHOLE) && count_rows(a, i) <= WHOLE_ROWS);
        t->scanned = t->scanned || (flags & HINT_TAIL);
    } else if (is_range(view)) {
        if (count_rows(a, i) <= RANGE_ROWS && !pg_row_is_cleared(t, sv_skip(view, 1)))
            add_range(t, sv_skip(view, 1), key, rank);
    } else {
        pg_row_take(t, view, key, pg_sv(a, i, 4));
        struct pg_row *row = pg_row_find(t, view, key);
        if (row && !row->rank)
            row->rank = rank;
    }
}

/* A key of the hint (view, key), and a row that it stands for (view, key, value) or nothing. */
static void take_hot(void *ctx, struct pg_answer *a)
{
    struct pg_thread *t = ctx;
    int64_t           rank = RANK_HERE;

    if (!pg_shape(a, "tbtbb") || !a->n) /* no rows: the cached rows are still valid */
        return;
    t->hot_sum = 0;
    for (int i = 0; i < a->n; i++) {
        struct sv view = pg_sv(a, i, 0);
        if ((!view.n || is_range(view)) && !pg_null(a, i, 2))
            pg_row_take(t, pg_sv(a, i, 2), pg_sv(a, i, 3), pg_sv(a, i, 4));
        if (!i || !same_key(a, i, i - 1))
            take_key(t, a, i, --rank);
    }
}

struct tail_asked {
    struct pg_store  *p;
    struct pg_thread *t;
};

/* Entries up to the end of the thread, oldest first, or none. */
static void take_tail(void *ctx, struct pg_answer *a)
{
    struct tail_asked *x = ctx;
    struct pg_thread  *t = x->t;
    struct pg_tail     tail = { .known = true };
    struct err         ignored;

    if (!pg_shape(a, PG_ENTRY_SHAPE) || !a->n || t->tail.known || t->head.rev != t->rev_0)
        return;
    for (int i = 0; i < a->n; i++) {
        struct entry n;
        if (pg_read_entry(x->p, a, i, &n, &ignored) || n.seq != t->head.rev - a->n + i)
            return;
        *vec_push(&tail.list, &t->a) = entry_dup(&n, &t->a);
        t->bytes += n.payload.n + n.refs.n + sizeof n;
    }
    tail.from = t->head.rev - a->n;
    t->tail = tail;
}

/* The tail is sent only to a process with an empty cache; any other asks for the new entries. */
void pg_ask_hot(struct pg_store *p, struct pg_thread *t)
{
    struct pg_params q = { 0 }, id = { 0 };

    pg_add_text(&q, t->id);
    pg_add_int(&q, t->rows_tid);
    pg_add_int(&q, t->rows_rev);
    pg_add_int(&q, t->rows_gen);
    pg_ask(p, t->rows_tid ? PG_HOT_AT : PG_HOT, &q, take_hot, t);
    if (t->rows_tid || t->tail.known || !p->in)
        return;
    struct tail_asked *x = ARENA_NEW(&p->tx, struct tail_asked, 1);
    *x = (struct tail_asked){ p, t };
    pg_add_text(&id, t->id);
    pg_ask(p, PG_TAIL, &id, take_tail, x);
}

/* ---- the tail -------------------------------------------------------------------- */

void pg_tail_drop(struct pg_thread *t)
{
    t->tail = (struct pg_tail){ 0 };
}

/* Stores the entries in the form in which a scan returns them. */
void pg_tail_add(struct pg_thread *t, const struct entry *entries, size_t n)
{
    if (!t->tail.known)
        return;
    if (n > TAIL_ENTRIES || t->tail.list.n > TAIL_ENTRIES * 4) {
        pg_tail_drop(t);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct entry as_read = entries[i];
        as_read.skeleton = (struct sv){ 0 };
        if (!as_read.refs.n)
            as_read.refs = SV("{}");
        *vec_push(&t->tail.list, &t->a) = entry_dup(&as_read, &t->a);
        t->bytes += as_read.payload.n + as_read.refs.n + sizeof as_read;
    }
}

static bool is_asked(const struct entry *n, const struct store_query *q)
{
    return !q->lane.s || q->mark == MARK_NONE || (n->mark == q->mark && sv_eq(n->lane, q->lane));
}

bool pg_tail_next(struct pg_thread *t, struct store_query *left, const struct entry **out)
{
    const struct pg_tail *tail = &t->tail;
    int64_t               end = tail->from + (int64_t)tail->list.n;

    *out = NULL;
    if (!t->known || !tail->known || end != t->head.rev)
        return false;
    if (!left->backwards && left->from < tail->from)
        return false;
    left->to = left->to < end ? left->to : end - 1;
    while (left->from <= left->to) {
        int64_t seq = left->backwards ? left->to : left->from;
        if (seq < tail->from)
            return false;
        const struct entry *n = &tail->list.v[seq - tail->from];
        if (left->backwards)
            left->to--;
        else
            left->from++;
        if (is_asked(n, left)) {
            *out = n;
            return true;
        }
    }
    return true;
}

/* ---- what is left for others ----------------------------------------------------- */

struct hot {
    struct pg_list views, keys;
    size_t         bytes;
    uint64_t       sum;
};

static void add_hot(struct hot *h, struct sv view, struct sv key)
{
    size_t more = view.n + key.n;

    if (h->keys.n >= HOT_KEYS || h->bytes + more > HOT_BYTES)
        return;
    pg_list_sv(&h->views, view);
    pg_list_sv(&h->keys, key);
    h->bytes += more;
    h->sum += key_sum(view, key);
}

static bool is_small(const struct pg_thread *t)
{
    size_t n = 0, bytes = 0;

    for (size_t i = 0; i < t->rows.n; i++) {
        const struct pg_row *row = t->rows.items[i].value;
        n += row->found;
        bytes += row->found ? row->view.n + row->key.n + row->value.n : 0;
    }
    return t->whole && n <= WHOLE_ROWS && bytes <= WHOLE_BYTES;
}

struct used {
    struct sv view, key;
    int64_t   rank;
};

static int by_rank(const void *a, const void *b)
{
    int64_t x = ((const struct used *)a)->rank, y = ((const struct used *)b)->rank;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* One statement must be able to read the range; its end is the prefix with its last byte raised. */
static bool can_hint(const struct pg_range *r)
{
    return r->rank && r->prefix.n && (unsigned char)r->prefix.s[r->prefix.n - 1] < 0xff;
}

/* The last used keys come first. Keys inside a hinted range are left out. */
static void add_used(struct hot *h, const struct pg_thread *t, struct arena *a)
{
    struct used *list = ARENA_NEW(a, struct used, t->rows.n + PG_RANGES);
    size_t       n = 0;

    for (size_t i = 0; i < t->n_ranges; i++) {
        const struct pg_range *r = &t->ranges[i];
        struct sb              view = sb_in(a, 0);
        sb_addc(&view, '/');
        sb_add(&view, r->view);
        if (can_hint(r))
            list[n++] = (struct used){ sb_sv(&view), r->prefix, r->rank };
    }
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct pg_row *row = t->rows.items[i].value;
        bool                 comes = false;
        for (size_t k = 0; k < t->n_ranges && !comes; k++)
            comes = can_hint(&t->ranges[k]) && has_key(&t->ranges[k], row->view, row->key);
        if (row->rank && !comes)
            list[n++] = (struct used){ row->view, row->key, row->rank };
    }
    qsort(list, n, sizeof *list, by_rank);
    for (size_t i = 0; i < n; i++)
        add_hot(h, list[i].view, list[i].key);
}

/* The same keys are not written again. */
static void send_hint(struct pg_store *p, const struct pg_thread *t)
{
    struct arena     scratch = { 0 };
    struct hot       h = { .views = pg_list_of(PG_TEXT_LIST, &scratch),
                           .keys = pg_list_of(PG_BYTES_LIST, &scratch) };
    struct pg_params q = { 0 };
    bool             whole = is_small(t);
    char             flags = (char)((whole ? HINT_WHOLE : 0) | (t->scanned ? HINT_TAIL : 0));

    if (flags)
        add_hot(&h, SV(""), (struct sv){ &flags, 1 });
    if (!whole)
        add_used(&h, t, &scratch);
    if (h.keys.n && h.sum != t->hot_sum) {
        pg_add_int(&q, t->tid);
        pg_add_list(&q, &h.views);
        pg_add_list(&q, &h.keys);
        pg_ask(p, PG_HINT_SET, &q, NULL, NULL);
    }
    arena_free(&scratch);
}

/* Called for every write transaction; sends with the first one on a thread and then with every
 * HINT_EVERY-th. */
void pg_hint_send(struct pg_store *p, struct pg_thread *t)
{
    if (t->tid && t->hinted++ % HINT_EVERY == 0)
        send_hint(p, t);
}
