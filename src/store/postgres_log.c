/* Heads, appending, op_ids, marks and the list of threads on PostgreSQL. */
#include "store/postgres_internal.h"

#include "base/clock.h"

static void build_head(struct pg_store *p, void *ctx)
{
    pg_ask_head(p, ctx, false);
}

/* Outside of a transaction nothing is cached. */
static enum status head_now(struct pg_store *p, struct sv thread, struct store_head *out,
                            struct err *e)
{
    struct pg_thread t = { .id = thread, .fresh = true };

    if (pg_run(p, PG_AS_IT_IS, build_head, &t, e))
        return err_code(e);
    *out = t.head;
    return ST_OK;
}

enum status pg_head(struct store *s, struct sv thread, struct store_head *out, struct err *e)
{
    struct pg_store *p = pg_of(s);

    if (!p->in)
        return head_now(p, thread, out, e);
    struct pg_thread *t = pg_thread_of(p, thread);
    /* A thread that does not exist yet has to be locked too: two writers may want to make it. */
    bool lock = p->writing && sv_eq(p->about, thread);
    if (pg_know(p, t, e) || (lock && pg_lock(p, t, e)))
        return err_code(e);
    *out = t->head;
    return ST_OK;
}

/* ---- appending ------------------------------------------------------------------- */

struct ops_asked {
    struct pg_thread *t;
    struct pg_list    list;
    struct sv         taken; /* in the arena of the transaction */
    struct arena     *a;
};

static void take_taken(void *ctx, struct pg_answer *a)
{
    struct ops_asked *x = ctx;

    x->taken = (struct sv){ 0 };
    if (pg_shape(a, "t") && a->n)
        x->taken = sv_dup(pg_sv(a, 0, 0), x->a);
}

static void build_taken(struct pg_store *p, void *ctx)
{
    struct ops_asked *x = ctx;
    struct pg_params  q = { 0 };

    pg_add_int(&q, x->t->tid);
    pg_add_list(&q, &x->list);
    pg_ask(p, PG_OPS_TAKEN, &q, take_taken, x);
}

static enum status op_taken(struct sv op_id, struct err *e)
{
    err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' is taken in this thread", SV_ARG(op_id));
    return err_reason(e, "op_id");
}

/* Is an op_id of these entries taken? Those that were asked for before, and those of this
 * transaction, are in the cache. */
static enum status check_ops(struct pg_store *p, struct pg_thread *t, const struct entry *entries,
                             size_t n, struct err *e)
{
    struct ops_asked x = { .t = t, .list = pg_list_of(PG_TEXT_LIST, &p->tx), .a = &p->tx };

    for (size_t i = 0; i < n; i++) {
        if (!entries[i].op_id.s)
            continue;
        struct pg_op *op = map_find(&t->ops, entries[i].op_id);
        if (op && op->found)
            return op_taken(entries[i].op_id, e);
        if (!op && t->head.rev)
            pg_list_sv(&x.list, entries[i].op_id);
        op = ARENA_NEW(&p->tx, struct pg_op, 1);
        op->found = true; /* from now on */
        map_put(&t->ops, entries[i].op_id, op);
    }
    if (!x.list.n)
        return ST_OK;
    if (pg_run(p, PG_AS_IT_IS, build_taken, &x, e))
        return err_code(e);
    return x.taken.s ? op_taken(x.taken, e) : ST_OK;
}

/* ---- many at once: COPY ---------------------------------------------------------- */

/* From this many entries on they are sent by COPY, which costs the server half as much as INSERT.
 */
enum { COPY_FROM = 256, COPY_PIECE = 1 << 18 };

static const char copy_sql[] =
    "COPY @entry(tid, seq, at, mark, kind, lane, actor, id, op, refs, chain, payload, blob, salt,"
    " content, size) FROM STDIN (FORMAT binary)";

static struct sv bytes_if(bool there, const void *bytes, size_t n)
{
    return there ? (struct sv){ bytes, n } : (struct sv){ 0 };
}

static void put_int(struct sb *b, int64_t n, int size)
{
    pg_put_number(b, size, 4);
    pg_put_number(b, n, size);
}

static void put_entry(struct sb *b, int64_t tid, const struct entry *n)
{
    bool        large = n->payload.n >= STORE_BLOB_MIN;
    struct hash hash = large ? hash_blake2b(&n->payload, 1) : (struct hash){ 0 };

    pg_put_number(b, 16, 2);
    put_int(b, tid, 8);
    put_int(b, n->seq, 8);
    put_int(b, n->at, 8);
    put_int(b, n->mark, 2);
    pg_put_field(b, n->kind);
    pg_put_field(b, n->lane);
    pg_put_field(b, n->actor);
    pg_put_field(b, n->id);
    pg_put_field(b, n->op_id);
    pg_put_field(b, !n->refs.n || sv_is(n->refs, "{}") ? (struct sv){ 0 } : n->refs);
    pg_put_field(b, bytes_if(true, n->chain.b, HASH_SIZE));
    pg_put_field(b, large ? (struct sv){ 0 } : n->payload);
    pg_put_field(b, bytes_if(large, hash.b, HASH_SIZE));
    pg_put_field(b, bytes_if(n->salted, n->salt, ENTRY_SALT_SIZE));
    pg_put_field(b, bytes_if(n->erased, n->content.b, HASH_SIZE));
    put_int(b, (int64_t)n->payload.n, 8);
}

static bool stream_entries(struct pg_store *p, const struct pg_thread *t,
                           const struct entry *entries, size_t n, int64_t deadline_us,
                           struct pg_failure *why)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    bool         fine = true;

    sb_add(&b, SV("PGCOPY\n\377\r\n\0"));
    pg_put_number(&b, 0, 8); /* flags, and the length of what follows the head */
    for (size_t i = 0; i < n && fine; i++) {
        put_entry(&b, t->tid, &entries[i]);
        if (b.n < COPY_PIECE)
            continue;
        fine = pg_copy_bytes(p->link, sb_sv(&b), deadline_us, why);
        b.n = 0;
    }
    pg_put_number(&b, -1, 2);
    fine = fine && pg_copy_bytes(p->link, sb_sv(&b), deadline_us, why) &&
           pg_copy_end(p->link, NULL, deadline_us, why);
    arena_free(&scratch);
    return fine;
}

/* Payloads that are stored by their hash are sent first, in pieces. */
static enum status send_blobs(struct pg_store *p, struct pg_thread *t, const struct entry *entries,
                              size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (entries[i].payload.n >= STORE_BLOB_MIN)
            pg_queue_blob(p, t, entries[i].payload);
        if (pg_queue_relieve(p, e))
            return err_code(e);
    }
    return pg_queue_flush(p, e);
}

static enum status copy_entries(struct pg_store *p, struct pg_thread *t,
                                const struct entry *entries, size_t n, struct err *e)
{
    struct arena      scratch = { 0 };
    struct pg_failure why;
    int64_t           deadline_us = clock_steady_us() + p->pool->url.statement_ms * 10 * 1000;

    if (send_blobs(p, t, entries, n, e))
        return err_code(e);
    pg_sent_once(p);
    bool fine = pg_copy_begin(p->link, pg_sql_in(p->pool->url.schema, copy_sql, &scratch),
                              deadline_us, &why) &&
                stream_entries(p, t, entries, n, deadline_us, &why);
    arena_free(&scratch);
    if (fine)
        return ST_OK;
    pg_group_failed(p, &why);
    return why.lost && !why.wrong ? pg_not_written(p, &why, e) : pg_error(p, &why, e);
}

static enum status add_entries(struct pg_store *p, struct pg_thread *t, const struct entry *entries,
                               size_t n, struct err *e)
{
    if (n >= COPY_FROM)
        return copy_entries(p, t, entries, n, e);
    for (size_t i = 0; i < n; i++) {
        pg_queue_entry(p, t, &entries[i]);
        if (pg_queue_relieve(p, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status pg_insert(struct store *s, struct sv thread, int64_t rev, const struct entry *entries,
                      size_t n, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);

    if (pg_know(p, t, e) || pg_lock(p, t, e))
        return err_code(e);
    if (t->head.rev != rev) {
        err_set(e, ST_CONFLICT, "thread '" SV_FMT "' was changed meanwhile", SV_ARG(thread));
        return err_reason(e, "rev");
    }
    if (check_ops(p, t, entries, n, e) || add_entries(p, t, entries, n, e))
        return err_code(e);
    if (!rev) {
        t->head.created = entries[0].at;
        t->head.version = entry_version(&entries[0]);
    }
    t->head.rev = t->head.recorded_rev = rev + (int64_t)n;
    t->head.chain = t->head.recorded_chain = entries[n - 1].chain;
    t->head.updated = entries[n - 1].at;
    t->changed = true;
    pg_tail_add(t, entries, n);
    return ST_OK;
}

/* ---- op_ids ---------------------------------------------------------------------- */

struct op_asked {
    struct pg_store  *p;
    struct pg_thread *t;
    struct sv         op_id;
    int64_t           tid; /* of the thread that was asked for by its number */
};

/* What was found is kept in the transaction. An entry that cannot be read is read again by the
 * caller's scan, which reports what is wrong with it. */
static void take_op(void *ctx, struct pg_answer *a)
{
    struct op_asked *x = ctx;
    struct pg_op    *op = ARENA_NEW(&x->p->tx, struct pg_op, 1);
    struct entry     n;
    struct err       ignored;

    if (!pg_shape(a, PG_ENTRY_SHAPE) || (x->tid && x->tid != x->t->tid))
        return;
    op->found = a->n == 1;
    x->p->repeats = x->p->repeats || (x->p->in && op->found);
    if (op->found && pg_read_entry(x->p, a, 0, &n, &ignored) == ST_OK)
        op->n = entry_dup(&n, &x->p->tx);
    map_put(&x->t->ops, x->op_id, op);
}

void pg_ask_op(struct pg_store *p, struct pg_thread *t, struct sv op_id)
{
    struct op_asked *x = ARENA_NEW(&p->tx, struct op_asked, 1);
    struct pg_params q = { 0 };

    *x = (struct op_asked){ p, t, sv_dup(op_id, &p->tx), pg_tid_of(p, t, true) };
    if (x->tid)
        pg_add_int(&q, x->tid);
    else
        pg_add_text(&q, t->id);
    pg_add_text(&q, x->op_id);
    pg_ask(p, x->tid ? PG_OP_AT : PG_OP, &q, take_op, x);
}

struct op_wanted {
    struct pg_thread *t;
    struct sv         op_id;
};

static void build_op(struct pg_store *p, void *ctx)
{
    struct op_wanted *x = ctx;

    pg_ask_known(p, p->in ? x->t : NULL, PG_ABOUT_ENTRIES);
    if (!sv_eq(p->wants.op_id, x->op_id) || !sv_eq(p->wants.op_thread, x->t->id))
        pg_ask_op(p, x->t, x->op_id);
}

enum status pg_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                       struct entry *out, bool *found, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread  alone = { .id = thread };
    struct pg_thread *t = p->in ? pg_thread_of(p, thread) : &alone;
    struct op_wanted  x = { t, op_id };
    struct pg_op     *op = p->in ? map_find(&t->ops, op_id) : NULL;
    bool              ours = op && op->found && !op->n.payload.s; /* of this transaction */

    if (!p->in)
        alone.ops = map_in(&p->tx);
    /* Ask again when the thread's number was not the cached one. */
    for (int tries = 0; tries < 2 && (!op || ours); tries++) {
        if (pg_run(p, pg_flush_for(t, PG_ABOUT_ENTRIES), build_op, &x, e))
            return err_code(e);
        op = map_find(&t->ops, op_id);
        ours = false;
    }
    *found = op && op->found;
    if (*found && op->n.payload.s)
        *out = entry_dup(&op->n, a);
    bool damaged = *found && !op->n.payload.s;
    if (!p->in)
        arena_free(&p->tx);
    return damaged ? err_set(e, ST_CORRUPT, "%s: the entry with op_id '" SV_FMT "' cannot be read",
                             p->shown, SV_ARG(op_id))
                   : ST_OK;
}

/* ---- single values --------------------------------------------------------------- */

struct chain_asked {
    struct sv   thread;
    int64_t     seq;
    struct hash chain;
    bool        found;
};

static void take_chain(void *ctx, struct pg_answer *a)
{
    struct chain_asked *x = ctx;

    x->found = pg_shape(a, "b") && a->n == 1 && pg_sv(a, 0, 0).n == HASH_SIZE;
    if (x->found)
        x->chain = pg_hash(a, 0, 0);
}

static void build_chain(struct pg_store *p, void *ctx)
{
    struct chain_asked *x = ctx;
    struct pg_params    q = { 0 };

    pg_ask_known(p, p->in ? pg_thread_of(p, x->thread) : NULL, PG_ABOUT_ENTRIES);
    pg_add_text(&q, x->thread);
    pg_add_int(&q, x->seq);
    pg_ask(p, PG_CHAIN, &q, take_chain, x);
}

enum status pg_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                        bool *found, struct err *e)
{
    struct pg_store   *p = pg_of(s);
    struct pg_thread  *t = p->in ? pg_thread_of(p, thread) : NULL;
    struct chain_asked x = { .thread = thread, .seq = seq };

    *found = true;
    if (t && p->before.thread == t && p->before.seq == seq) {
        *out = p->before.chain;
        return ST_OK;
    }
    if (t && t->known && seq == t->head.rev - 1) {
        *out = t->head.chain;
        return ST_OK;
    }
    if (pg_run(p, pg_flush_for(t, PG_ABOUT_ENTRIES), build_chain, &x, e))
        return err_code(e);
    *found = x.found;
    if (x.found)
        *out = x.chain;
    return ST_OK;
}

enum status pg_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark mark,
                        struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);

    if (pg_know(p, t, e))
        return err_code(e);
    if (seq < 0 || seq >= t->head.rev)
        return err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)seq);
    if (pg_lock_in_group(p, t, e))
        return err_code(e);
    /* One statement sets each entry once. */
    if (t->out.marks[0].n && seq <= t->out.last_mark && pg_queue_flush(p, e))
        return err_code(e);
    pg_queue_mark(p, t, seq, mark);
    pg_tail_drop(t);
    t->rows_changed = true; /* after an abort the cache of the thread is invalid */
    return pg_queue_relieve(p, e);
}

/* ---- all threads ----------------------------------------------------------------- */

struct threads_asked {
    struct arena *a;
    VEC(struct store_thread) list;
};

static void take_threads(void *ctx, struct pg_answer *a)
{
    struct threads_asked *x = ctx;

    x->list.n = 0;
    if (!pg_shape(a, "tiibiiiibi"))
        return;
    for (int i = 0; i < a->n; i++) {
        struct store_thread *t = vec_push(&x->list, x->a);
        t->id = sv_dup(pg_sv(a, i, 0), x->a);
        t->head = (struct store_head){ .rev = pg_null(a, i, 7) ? 0 : pg_int(a, i, 7) + 1,
                                       .chain = pg_hash(a, i, 8),
                                       .created = pg_int(a, i, 4),
                                       .updated = pg_int(a, i, 9),
                                       .views = pg_int(a, i, 5),
                                       .version = pg_int(a, i, 6) == 2 ? 2 : 1,
                                       .recorded_rev = pg_int(a, i, 1),
                                       .recorded_chain = pg_hash(a, i, 3) };
    }
}

static void build_threads(struct pg_store *p, void *ctx)
{
    if (p->in)
        pg_queue_send(p, true);
    pg_ask(p, PG_THREADS, NULL, take_threads, ctx);
}

enum status pg_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                       struct err *e)
{
    struct pg_store     *p = pg_of(s);
    struct threads_asked x = { .a = a };

    if (pg_run(p, PG_AS_IT_IS, build_threads, &x, e))
        return err_code(e);
    if (p->in) {
        pg_queue_done(p, true);
        pg_pages_drop(p); /* it can no longer be seen that the pages are older than the writes */
        p->fragile = true;
    }
    *out = x.list.v;
    *n = x.list.n;
    return ST_OK;
}
