/* What the parts of a group need, asked for with the first of them: their threads are locked and
 * their heads and op_ids read by one statement each, rows that are not kept by one for each thread,
 * all in one round trip, instead of one for every part. A part that finds everything cached asks
 * nothing, so that the group takes two round trips.
 *
 * No lock is waited for: a thread that another transaction has locked is left out, and its part
 * locks it later or gets CONFLICT "busy". A thread that does not exist yet is left to its part as
 * well. When the round trip fails, its answers are dropped and each part asks for itself. */
#include "store/postgres_internal.h"

enum { AHEAD_MAX = 512 };

static bool is_ahead(const struct pg_store *p, const struct pg_thread *t, struct sv op_id)
{
    for (size_t i = 0; i < p->ahead.n; i++)
        if (p->ahead.v[i].t == t && sv_eq(p->ahead.v[i].op_id, op_id))
            return true;
    return false;
}

void pg_group_want(struct store *s, const struct store_part *parts, size_t n)
{
    struct pg_store *p = pg_of(s);

    if (p->began)
        return;
    for (size_t i = 0; i < n && p->ahead.n < AHEAD_MAX; i++) {
        if (!parts[i].thread.s)
            continue;
        struct pg_thread *t = pg_thread_of(p, parts[i].thread);
        if (is_ahead(p, t, parts[i].op_id))
            continue;
        *vec_push(&p->ahead, &p->tx) =
            (struct pg_part){ t, parts[i].op_id.s ? sv_dup(parts[i].op_id, &p->tx)
                                                  : (struct sv){ 0 } };
    }
}

/* The thread of an answer, if it is one that was asked for. */
static struct pg_thread *asked_thread(struct pg_store *p, struct pg_answer *a, struct sv id)
{
    struct pg_thread *t = id.s ? map_find(&p->known, id) : NULL;

    if (!t || !t->seen) {
        a->wrong = true;
        return NULL;
    }
    return t;
}

static void take_free(void *ctx, struct pg_answer *a)
{
    struct pg_store *p = ctx;

    if (!pg_shape(a, "iiibiiiibit"))
        return;
    for (int i = 0; i < a->n; i++) {
        struct pg_thread *t = asked_thread(p, a, pg_sv(a, i, 10));
        if (!t)
            return;
        pg_head_note(t, a, i);
        t->locked = true;
    }
}

/* Takes the op_ids that were found; all others are free. */
static void take_ops(void *ctx, struct pg_answer *a)
{
    struct pg_store *p = ctx;
    struct entry     n;
    struct err       ignored;

    if (!pg_shape(a, PG_ENTRY_SHAPE "i"))
        return;
    struct pg_op *ops = ARENA_NEW(&p->tx, struct pg_op, p->ahead.n);
    for (int i = 0; i < a->n; i++) {
        int64_t at = pg_int(a, i, 15) - 1;
        if (at < 0 || (size_t)at >= p->ahead.n) {
            a->wrong = true;
            return;
        }
        ops[at].found = p->repeats = true;
        if (pg_read_entry(p, a, i, &n, &ignored) == ST_OK)
            ops[at].n = entry_dup(&n, &p->tx);
    }
    for (size_t i = 0; i < p->ahead.n; i++)
        if (p->ahead.v[i].op_id.s && p->ahead.v[i].t->locked)
            map_put(&p->ahead.v[i].t->ops, p->ahead.v[i].op_id, &ops[i]);
}

/* The thread of the part that begins now is asked for by itself, and waited for. */
static bool is_own(const struct pg_store *p, const struct pg_thread *t)
{
    return sv_eq(p->about, t->id);
}

static bool is_first_of_its_thread(const struct pg_store *p, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (p->ahead.v[i].t == p->ahead.v[at].t)
            return false;
    return true;
}

/* False: the only thread is that of the part itself. */
static bool ask_free(struct pg_store *p, struct arena *scratch)
{
    struct pg_params q = { 0 };
    struct pg_list   ids = pg_list_of(PG_TEXT_LIST, scratch);

    for (size_t i = 0; i < p->ahead.n; i++)
        if (is_first_of_its_thread(p, i) && !is_own(p, p->ahead.v[i].t))
            pg_list_sv(&ids, p->ahead.v[i].t->id);
    if (!ids.n)
        return false;
    pg_add_list(&q, &ids);
    pg_ask(p, PG_LOCK_FREE, &q, take_free, p);
    /* Cached rows are valid while nobody else writes to the thread; otherwise its part asks. */
    for (size_t i = 0; i < p->ahead.n; i++) {
        struct pg_thread *t = p->ahead.v[i].t;
        if (!t->rows_tid && is_first_of_its_thread(p, i) && !is_own(p, t))
            pg_ask_hot(p, t);
    }
    return true;
}

static void ask_ops(struct pg_store *p, struct arena *scratch)
{
    struct pg_params q = { 0 };
    struct pg_list   lists[] = { pg_list_of(PG_TEXT_LIST, scratch),
                                 pg_list_of(PG_TEXT_LIST, scratch) };

    for (size_t i = 0; i < p->ahead.n; i++) {
        pg_list_sv(&lists[0], p->ahead.v[i].t->id);
        pg_list_sv(&lists[1], p->ahead.v[i].op_id);
    }
    for (size_t i = 0; i < COUNT(lists); i++)
        pg_add_list(&q, &lists[i]);
    pg_ask(p, PG_OPS, &q, take_ops, p);
}

void pg_ask_ahead(struct pg_store *p)
{
    struct arena scratch = { 0 };

    if (!p->began && ask_free(p, &scratch))
        ask_ops(p, &scratch);
    arena_free(&scratch);
}
