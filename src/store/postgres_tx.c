/* Transactions on PostgreSQL.
 *
 * pg_begin() sends nothing: BEGIN is sent with the first question. Isolation is REPEATABLE READ, so
 * that a transaction sees one state; a writer's first statement locks the row of its thread. When
 * another writer was first, the server reports it (40001, 55P03), and the beginning is repeated as
 * long as the caller is willing to wait; later in a transaction this is not possible, and the error
 * is CONFLICT.
 *
 * Before the commit a lost connection is replaced: the transaction is begun again on a new one, and
 * when every thread that was read is still at the same revision, the writes so far are sent again
 * and the transaction continues (resume()). A transaction whose writes are too large to be kept
 * fails with an error that says so. When the connection is lost during the commit, it is not known
 * at first whether the commit happened. probe() finds out: it locks the thread, which the old
 * transaction holds until it has committed or rolled back, and checks whether the last entry exists
 * with its chain value. */
#include "store/postgres_internal.h"

#include "base/clock.h"
#include "base/rand.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    MARGIN_MS = 5000,     /* added to the statement timeout of the server */
    PROBE_LATE_MS = 2000, /* how long to wait for a commit that is late already */
    CONNECT_MS = 3000,    /* for a server that was never reached */
    GROUP_LOCK_MS = 10,   /* for a thread that another writer has locked, while other parts wait */
};

void pg_ask(struct pg_store *p, enum pg_statement which, const struct pg_params *params,
            pg_sink *sink, void *ctx)
{
    struct pg_query q = { (int)which, p->pool->sql[which] };

    pg_send(p->link, &q, params, sink, ctx);
}

/* ---- patience -------------------------------------------------------------------- */

struct patience {
    int64_t until_us, lock_us; /* with the server; with another writer */
    int     tries, losses;
};

static struct patience patience_of(const struct pg_store *p)
{
    int64_t now = clock_steady_us();
    int     lock_ms = p->group.open && p->busy_ms > GROUP_LOCK_MS ? GROUP_LOCK_MS : p->busy_ms;

    return (struct patience){ .until_us = now + (int64_t)p->busy_ms * 1000,
                              .lock_us = now + (int64_t)lock_ms * 1000 };
}

static int64_t left_ms(const struct patience *w)
{
    int64_t ms = (w->lock_us - clock_steady_us()) / 1000;

    return ms > 0 ? ms : 0;
}

/* Sleep a little longer each time, with a random part so that waiting processes do not stay in
 * step. False when the time is over. */
static bool wait_a_little(struct patience *w, bool lost)
{
    uint32_t dice;
    int      step = w->tries++;
    int64_t most_us = lost ? 20000LL << (step < 4 ? step : 4) : 500LL * (step < 40 ? step + 1 : 40);

    rand_salt(&dice, sizeof dice);
    dice ^= (uint32_t)getpid() * 2654435761u; /* with a fixed seed all processes draw the same */
    int64_t us = most_us / 4 + dice % (most_us - most_us / 4);
    if (clock_steady_us() + us >= (lost ? w->until_us : w->lock_us))
        return false;
    nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
    return true;
}

static int64_t deadline(const struct pg_store *p, const struct patience *w)
{
    return clock_steady_us() + (left_ms(w) + p->pool->url.statement_ms + MARGIN_MS) * 1000;
}

/* ---- the connection -------------------------------------------------------------- */

static void let_go(struct pg_store *p)
{
    if (p->link)
        pg_pool_give(p->pool, p->link);
    p->link = NULL;
}

/* End what the server has begun for us, without waiting for its answer. */
static void roll_back(struct pg_store *p)
{
    if (p->link && !pg_is_lost(p->link)) {
        pg_ask(p, PG_ROLLBACK, NULL, NULL, NULL);
        pg_sync(p->link);
        pg_push(p->link);
    }
    p->began = p->group.saved = false;
    let_go(p);
}

static void set_local(struct pg_store *p, const char *name, int64_t ms)
{
    char            text[100];
    struct pg_query q = { -1, text };

    snprintf(text, sizeof text, "SET LOCAL %s = %lld", name, (long long)ms);
    pg_send(p->link, &q, NULL, NULL, NULL);
}

/* Time limits of this transaction, where they are not those of the session. */
static void limit(struct pg_store *p, int64_t lock_ms)
{
    if (p->writing)
        set_local(p, "lock_timeout", lock_ms > 0 ? lock_ms : 1);
    if (!pg_pool_is_pooled(p->pool))
        return;
    set_local(p, "statement_timeout", p->pool->url.statement_ms);
    set_local(p, "idle_in_transaction_session_timeout", 120000);
}

static void begin_on_server(struct pg_store *p, const struct patience *w)
{
    /* A transaction that is alone sees what was committed while it waited for its locks. */
    pg_ask(p,
           p->base.alone ? PG_BEGIN_PROBE
           : p->writing  ? PG_BEGIN_WRITE
                         : PG_BEGIN_READ,
           NULL, NULL, NULL);
    limit(p, left_ms(w));
    pg_ask_moved(p);
}

bool pg_is_unbegun(const struct pg_store *p)
{
    return !p->began || (p->group.open && !p->group.saved);
}

/* ---- one round trip -------------------------------------------------------------- */

/* A group whose first part only read still has the time limits of a reader. */
static void send_begin(struct pg_store *p, const struct patience *w)
{
    struct pg_thread *t = p->about.s ? pg_thread_of(p, p->about) : NULL;

    if (!p->began)
        begin_on_server(p, w);
    else if (p->group.number == 1)
        limit(p, left_ms(w));
    pg_ask_ahead(p);
    if (p->group.open)
        pg_ask(p, PG_PART_SAVE, NULL, NULL, NULL);
    if (t && !t->known) {
        pg_ask_head(p, t, p->writing);
        pg_ask_hot(p, t);
    }
}

/* What is sent first: does the log exist; BEGIN with what is known to be needed; hints. */
static void send_before(struct pg_store *p, const struct patience *w)
{
    if (!pg_pool_is_checked(p->pool))
        pg_schema_ask(p);
    if (!p->in) {
        pg_ask_moved(p);
        return;
    }
    if (pg_is_unbegun(p))
        send_begin(p, w);
    pg_ask_wants(p);
}

void pg_wants_drop(struct pg_store *p)
{
    p->wants = (struct pg_wants){ 0 };
    arena_free(&p->hints);
}

static bool fly(struct pg_store *p, enum pg_flush flush, pg_build *build, void *ctx,
                const struct patience *w, struct pg_failure *why)
{
    int64_t connect_until =
        pg_pool_was_reached(p->pool) ? w->until_us : clock_steady_us() + (int64_t)CONNECT_MS * 1000;

    if (!p->link && !pg_pool_take(p->pool, connect_until, &p->link, why))
        return false;
    send_before(p, w);
    if (flush == PG_FLUSH)
        pg_queue_send(p, false);
    build(p, ctx);
    pg_sync(p->link);
    return pg_collect(p->link, deadline(p, w), why);
}

static void landed(struct pg_store *p, enum pg_flush flush)
{
    p->began = p->in;
    p->group.saved = p->group.open;
    if (flush == PG_FLUSH)
        pg_queue_done(p, false);
    if (p->in)
        pg_wants_drop(p);
    else
        let_go(p);
}

/* Drop everything that was cached in this transaction. */
static void unsee(struct pg_store *p)
{
    for (size_t i = 0; i < p->seen.n; i++) {
        struct pg_thread *t = p->seen.v[i];
        t->known = t->fresh = t->locked = t->there = t->made = false;
        t->ops = map_in(&p->tx);
    }
    pg_pages_drop(p);
}

/* ---- going on after a loss ------------------------------------------------------- */

enum status pg_not_written(struct pg_store *p, const struct pg_failure *why, struct err *e)
{
    err_set(e, ST_IO, "%s: the connection was lost (%s); nothing was written", p->shown,
            why->text[0] ? why->text : "no reason given");
    err_reason(e, "not_written");
    return err_hint(e, "repeat the command");
}

static enum status changed_meanwhile(struct pg_store *p, struct err *e)
{
    err_set(e, ST_CONFLICT,
            "%s: the connection was lost, and others wrote meanwhile; nothing was written",
            p->shown);
    err_reason(e, "busy");
    return err_hint(e, "repeat the command");
}

/* Is it confirmed that this transaction created the row of the thread? `made` is already set when
 * the statement is sent. */
static bool has_made(const struct pg_thread *t)
{
    return t->made && t->there;
}

/* Ask for the heads of all threads that this transaction has seen, as if it began now. */
static struct pg_thread *ask_again(struct pg_store *p, struct arena *a)
{
    struct pg_thread *now = ARENA_NEW(a, struct pg_thread, p->seen.n + 1);

    for (size_t i = 0; i < p->seen.n; i++) {
        const struct pg_thread *t = p->seen.v[i];
        now[i] = (struct pg_thread){ .id = t->id, .fresh = true };
        if (!t->known)
            continue;
        if (has_made(t))
            pg_ask_new(p, t->id);
        pg_ask_head(p, &now[i], t->locked);
    }
    return now;
}

/* Is everything that was read unchanged? A thread that this transaction had created has another
 * number now. */
static bool is_same_state(struct pg_store *p, const struct pg_thread *now)
{
    for (size_t i = 0; i < p->seen.n; i++) {
        struct pg_thread *t = p->seen.v[i];
        if (!t->known)
            continue;
        if (now[i].rev_0 != t->rev_0 || now[i].gen_0 != t->gen_0 || now[i].there != t->there ||
            now[i].locked != t->locked)
            return false;
        if (has_made(t))
            t->tid = now[i].tid;
        if (now[i].tid != t->tid)
            return false;
    }
    return true;
}

static enum status resume(struct pg_store *p, const struct pg_failure *lost, struct patience *w,
                          struct err *e)
{
    struct pg_failure why = *lost;

    /* Give up when the connection is lost again and again. */
    if (p->once || p->fragile || (w->losses++ && !wait_a_little(w, true)))
        return pg_not_written(p, lost, e);
    for (;;) {
        struct arena      scratch = { 0 };
        struct pg_thread *now = NULL;
        let_go(p);
        bool there = pg_pool_take(p->pool, w->until_us, &p->link, &why);
        if (there) {
            begin_on_server(p, w);
            now = ask_again(p, &scratch);
            pg_sync(p->link);
            there = pg_collect(p->link, deadline(p, w), &why);
        }
        bool same =
            there && is_same_state(p, now) && (!p->writing || !store_check_moved(&p->base, e));
        arena_free(&scratch);
        if (same && p->kept.n) {
            pg_queue_repeat(p);
            pg_sync(p->link);
            there = pg_collect(p->link, deadline(p, w), &why);
        }
        p->group.saved = false;
        /* Also when it does not go on, so that it is ended: it has locked its thread again, and a
         * search for the outcome of a commit has left the old one as not begun. */
        p->began = p->began || there;
        if (there)
            return same ? ST_OK : changed_meanwhile(p, e);
        if (!why.lost)
            roll_back(p);
        if ((!why.lost && !pg_is_busy(&why)) || !wait_a_little(w, why.lost))
            return pg_not_written(p, &why, e);
    }
}

/* ---- asking ---------------------------------------------------------------------- */

/* The first round trip of a transaction failed: nothing depends on it yet. */
static enum status begin_anew(struct pg_store *p, const struct pg_failure *why, struct patience *w,
                              struct err *e)
{
    bool lost = why->lost, ahead = p->ahead.n > 0;

    roll_back(p);
    unsee(p);
    memset(&p->ahead, 0, sizeof p->ahead);
    if (!pg_pool_is_checked(p->pool) && pg_is_missing(why))
        return pg_schema_make(p, e);
    if (ahead && !lost) /* it may have been refused for the sake of another part */
        return ST_OK;
    if ((lost && !why->wrong && pg_pool_was_reached(p->pool)) || pg_is_busy(why)) {
        if (wait_a_little(w, lost))
            return ST_OK;
    }
    return pg_error(p, why, e);
}

/* A later one failed. ST_OK: it can be repeated. */
static enum status go_on(struct pg_store *p, const struct pg_failure *why, struct patience *w,
                         struct err *e)
{
    bool lost = why->lost && !why->wrong;

    if (lost && !resume(p, why, w, e))
        return ST_OK;
    pg_group_failed(p, why);
    return lost ? err_code(e) : pg_error(p, why, e);
}

enum status pg_run(struct pg_store *p, enum pg_flush flush, pg_build *build, void *ctx,
                   struct err *e)
{
    struct patience   w = patience_of(p);
    struct pg_failure why;

    if (pg_group_check(p, e))
        return err_code(e);
    for (;;) {
        bool first = !p->began;
        if (fly(p, flush, build, ctx, &w, &why)) {
            if (!pg_pool_is_checked(p->pool)) {
                enum status s = pg_schema_judge(p, e);
                if (s) {
                    roll_back(p);
                    return s;
                }
            }
            if (p->in && p->writing && store_check_moved(&p->base, e)) {
                roll_back(p);
                unsee(p);
                memset(&p->ahead, 0, sizeof p->ahead);
                return err_code(e);
            }
            landed(p, flush);
            return ST_OK;
        }
        if (first ? begin_anew(p, &why, &w, e) : go_on(p, &why, &w, e))
            return err_code(e);
    }
}

/* Has the caller received anything that a later state of the log might contradict? */
static bool has_told(const struct pg_store *p, const struct pg_thread *about)
{
    for (size_t i = 0; i < p->seen.n; i++) {
        const struct pg_thread *t = p->seen.v[i];
        if (t != about && (t->known || t->fresh))
            return true;
        for (size_t k = 0; k < t->rows.n; k++)
            if (((const struct pg_row *)t->rows.items[k].value)->touched)
                return true;
    }
    return p->sent || p->fragile || !pg_queue_is_empty(p);
}

bool pg_start_over(struct pg_store *p, struct pg_thread *t, int64_t until_us, const struct err *e)
{
    struct patience w = { .until_us = until_us, .lock_us = until_us };

    if (e->code != ST_CONFLICT || p->group.is || !sv_eq(p->about, t->id) || has_told(p, t) ||
        !wait_a_little(&w, false))
        return false;
    roll_back(p);
    unsee(p);
    return true;
}

/* ---- hints ----------------------------------------------------------------------- */

void pg_want(struct store *s, const struct store_key *keys, size_t n)
{
    struct pg_store *p = pg_of(s);

    for (size_t i = 0; i < n && p->wants.keys.n < STORE_WANT_MAX; i++) {
        struct pg_thread *t = p->in ? map_find(&p->known, keys[i].thread) : NULL;
        if (t && (t->known || t->fresh) && (t->whole || pg_row_find(t, keys[i].view, keys[i].key)))
            continue;
        *vec_push(&p->wants.keys, &p->hints) =
            (struct store_key){ .thread = sv_dup(keys[i].thread, &p->hints),
                                .view = sv_dup(keys[i].view, &p->hints),
                                .key = sv_dup(keys[i].key, &p->hints) };
    }
}

void pg_want_op(struct store *s, struct sv thread, struct sv op_id)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = p->in ? map_find(&p->known, thread) : NULL;

    if (t && t->seen && map_find(&t->ops, op_id))
        return;
    p->wants.op_thread = sv_dup(thread, &p->hints);
    p->wants.op_id = sv_dup(op_id, &p->hints);
}

void pg_want_scan(struct store *s, const struct store_query *q)
{
    struct pg_store *p = pg_of(s);

    if (p->wants.n_scans == PG_SCANS_WANTED)
        return;
    struct store_query *to = &p->wants.scans[p->wants.n_scans++];
    *to = *q;
    to->thread = sv_dup(q->thread, &p->hints);
    if (q->lane.s)
        to->lane = sv_dup(q->lane, &p->hints);
}

/* ---- transactions ---------------------------------------------------------------- */

enum status pg_begin(struct store *s, enum store_mode mode, struct sv thread, struct err *e)
{
    struct pg_store *p = pg_of(s);

    (void)e;
    pg_known_begin(p);
    p->in = true;
    p->writing = mode == STORE_WRITE;
    p->about = thread.s ? sv_dup(thread, &p->tx) : (struct sv){ 0 };
    return ST_OK;
}

static void end(struct pg_store *p, bool committed)
{
    pg_known_end(p, committed);
    pg_pages_drop(p);
    pg_wants_drop(p);
    memset(&p->ahead, 0, sizeof p->ahead);
    arena_free(&p->tx);
    arena_free(&p->out_a);
    p->in = p->writing = p->began = p->sent = p->once = p->fragile = p->repeats = false;
    pg_queue_forget(p);
    memset(&p->group, 0, sizeof p->group);
    p->queued = 0;
    p->about = (struct sv){ 0 };
    let_go(p);
}

void pg_abort(struct store *s)
{
    struct pg_store *p = pg_of(s);

    if (p->began)
        roll_back(p);
    end(p, false);
}

/* ---- committing ------------------------------------------------------------------ */

enum outcome { DONE, NOT_DONE, UNKNOWN };

static enum status uncertain(struct pg_store *p, const char *why, struct err *e)
{
    err_set(e, ST_IO, "%s: it is not known whether the commit happened (%s)", p->shown, why);
    err_reason(e, "uncertain");
    return err_hint(e,
                    "repeat the command with the same op_id, which is harmless if it was; without "
                    "one, look first: `heddle log show`");
}

/* Will entries of the thread be sent with the commit? */
static bool grows(const struct pg_thread *t)
{
    return t->changed && t->head.rev > t->rev_at;
}

/* The thread by which a commit can be recognised: one with new entries, else one that was changed.
 */
static struct pg_thread *witness(struct pg_store *p)
{
    struct pg_thread *changed = NULL;

    for (size_t i = 0; i < p->seen.n; i++) {
        struct pg_thread *t = p->seen.v[i];
        if (grows(t) || t->grew)
            return t;
        if (!changed && (t->changed || t->gen_at != t->gen_0))
            changed = t;
    }
    return changed;
}

struct probe {
    struct pg_thread now;
    bool             found;
    struct hash      chain;
};

static void take_chain(void *ctx, struct pg_answer *a)
{
    struct probe *x = ctx;

    if (!pg_shape(a, "b"))
        return;
    x->found = a->n == 1;
    x->chain = x->found ? pg_hash(a, 0, 0) : (struct hash){ 0 };
}

/* In READ COMMITTED, so that what the old transaction committed while we waited for it is seen. */
static bool ask_probe(struct pg_store *p, const struct pg_thread *t, struct probe *x,
                      int64_t lock_ms, int64_t until_us, struct pg_failure *why)
{
    struct pg_params at = { 0 };

    *x = (struct probe){ .now = { .id = t->id, .fresh = true } };
    let_go(p);
    if (!pg_pool_take(p->pool, until_us, &p->link, why))
        return false;
    pg_add_text(&at, t->id);
    pg_add_int(&at, (grows(t) ? t->head.rev : t->rev_at) - 1);
    pg_ask(p, PG_BEGIN_PROBE, NULL, NULL, NULL);
    limit(p, lock_ms);
    if (t->made)
        pg_ask_new(p, t->id);
    pg_ask_head(p, &x->now, true);
    pg_ask(p, PG_CHAIN, &at, take_chain, x);
    pg_sync(p->link);
    return pg_collect(p->link, clock_steady_us() + (lock_ms + MARGIN_MS) * 1000, why);
}

/* Is the last entry in the log the one that was sent last? */
static bool is_there(const struct pg_thread *t, const struct probe *x)
{
    return (grows(t) || t->grew) && x->found &&
           hash_eq(&x->chain, grows(t) ? &t->head.chain : &t->chain_at);
}

/* Where the server waits for standbys, an entry that was found is durable only when the standbys
 * have it too: the old transaction may have ended before that. The probe holds a lock, so that its
 * own commit is recorded behind the one that was found, and waits in the same way. */
static bool is_durable(struct pg_store *p, int64_t ms, struct pg_failure *why)
{
    struct sv warning;

    pg_forget_warning(p->link);
    pg_ask(p, PG_COMMIT, NULL, NULL, NULL);
    pg_sync(p->link);
    return pg_collect(p->link, clock_steady_us() + ms * 1000, why) &&
           !pg_has_warning(p->link, &warning);
}

/* Did the commit happen? */
static enum outcome find_out(struct pg_store *p, const struct pg_failure *how, struct patience *w)
{
    struct pg_thread *t = witness(p);
    struct pg_failure why;
    struct probe      x;

    if (!t)
        return UNKNOWN;
    for (;;) {
        int64_t lock_ms = how->late ? PROBE_LATE_MS : left_ms(w) + 1;
        bool    fine = ask_probe(p, t, &x, lock_ms, w->until_us, &why);
        bool    there = fine && is_there(t, &x);
        if (there && is_durable(p, how->late ? PROBE_LATE_MS : p->pool->url.commit_ms, &why))
            return DONE;
        bool lost = !p->link || pg_is_lost(p->link);
        roll_back(p);
        if (fine && !there)
            break;
        if (!lost || why.late || !wait_a_little(w, true))
            return UNKNOWN;
    }
    if (grows(t) || t->grew)
        return NOT_DONE;
    return x.now.gen_0 == t->gen_0 ? NOT_DONE : UNKNOWN;
}

static void build_nothing(struct pg_store *p, void *ctx)
{
    (void)p, (void)ctx;
}

static bool fly_commit(struct pg_store *p, struct pg_failure *why)
{

    pg_forget_warning(p->link);
    pg_queue_send(p, true);
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i]->changed || p->seen.v[i]->grew)
            pg_hint_send(p, p->seen.v[i]);
    pg_ask(p, PG_COMMIT, NULL, NULL, NULL);
    pg_sync(p->link);
    return pg_collect(p->link, clock_steady_us() + p->pool->url.commit_ms * 1000, why);
}

static enum status committed(struct pg_store *p)
{

    pg_queue_done(p, true);
    end(p, true);
    pg_watch_committed(p);
    return ST_OK;
}

/* The connection was lost during the commit. On ST_OK *again says whether to send the commit
 * again. */
static enum status lost_at_commit(struct pg_store *p, const struct pg_failure *why,
                                  struct patience *w, bool *again, struct err *e)
{
    *again = false;
    if (pg_queue_is_empty(p) && !p->sent) { /* the repeated entry exists; is it durable? */
        *again = !why->late;
        return why->late ? uncertain(p, why->text, e) : resume(p, why, w, e);
    }
    switch (find_out(p, why, w)) {
    case DONE: return committed(p);
    case UNKNOWN: return uncertain(p, why->text, e);
    case NOT_DONE: break;
    }
    *again = true;
    return resume(p, why, w, e);
}

enum status pg_commit(struct store *s, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct patience   w = patience_of(p);
    struct pg_failure why;
    bool              again = true;
    struct sv         warning;

    if (pg_group_check(p, e))
        return err_code(e);
    /* A caller that repeats an op_id gets the answer that it is durable, so the commit waits until
     * it is. */
    if (!p->writing || (pg_queue_is_empty(p) && !p->sent && !(p->repeats && p->began))) {
        pg_abort(s); /* nothing was written */
        return ST_OK;
    }
    if (!p->began && pg_run(p, PG_AS_IT_IS, build_nothing, NULL, e))
        return err_code(e);
    while (again) {
        if (fly_commit(p, &why)) {
            /* The server stopped waiting for a standby: the commit may be lost with this server.
             */
            if (pg_has_warning(p->link, &warning))
                return uncertain(p, warning.s, e);
            return committed(p);
        }
        if (!why.lost)
            return pg_error(p, &why, e);
        if (lost_at_commit(p, &why, &w, &again, e))
            return err_code(e);
    }
    return ST_OK;
}
