/* Following a log: a place in each thread, and what has come behind it. */
#include "thread/follow.h"

#include "base/vec.h"
#include "store/store.h"
#include "thread/log_read.h"
#include "thread/scan.h"

struct follow_batch {
    struct arena *a;
    VEC(struct follow_entry) list;
    size_t bytes;
};

struct follow follow_in(struct log *l, struct sv thread, struct arena *a)
{
    return (struct follow){ .l = l, .a = a, .thread = thread, .next = map_in(a) };
}

static void set_next(struct follow *f, struct sv thread, int64_t seq, const struct hash *chain)
{
    struct follow_place *place = map_find(&f->next, thread);

    if (!place) {
        place = ARENA_NEW(f->a, struct follow_place, 1);
        map_put(&f->next, thread, place);
    }
    *place = (struct follow_place){ .next = seq, .known = chain };
    if (chain)
        place->chain = *chain;
}

int64_t follow_next(const struct follow *f, struct sv thread)
{
    const struct follow_place *place = map_find(&f->next, thread);

    return place ? place->next : -1;
}

void follow_start(struct follow *f, struct sv thread, int64_t seq)
{
    if (thread.s)
        set_next(f, thread, seq, NULL);
    else
        f->all = true;
}

static bool is_full(const struct follow_batch *b)
{
    return b->list.n >= FOLLOW_ENTRIES || b->bytes >= FOLLOW_BYTES;
}

static void ignore(void *ctx, struct sv finding)
{
    (void)ctx;
    (void)finding; /* log_read_result() counts all findings */
}

/* Entries of one thread from its place on, as many as there is room for. */
static enum status take_thread(struct follow *f, struct sv thread, int64_t rev,
                               struct follow_batch *b, struct err *e)
{
    int64_t           next = follow_next(f, thread);
    int64_t           room = (int64_t)(FOLLOW_ENTRIES - b->list.n);
    int64_t           to = rev - next > room ? next + room - 1 : rev - 1;
    struct log_reader r;
    struct entry      n;
    bool              more = true, intact;
    enum status       s = log_read_open(&r, f->l, thread, next, to, ignore, NULL, e);

    if (s)
        return s;
    while (!s && !is_full(b) && !(s = log_read_next(&r, &n, &intact, &more, e)) && more) {
        *vec_push(&b->list, b->a) =
            (struct follow_entry){ thread, log_entry_copy(&n, b->a), intact };
        b->bytes += n.payload.n + n.refs.n;
        set_next(f, thread, r.next, intact && r.next == n.seq + 1 ? &n.chain : NULL);
    }
    log_read_close(&r);
    if (s)
        return s;
    if (!f->damage.code && log_read_result(&r, e))
        f->damage = *e;
    return ST_OK;
}

/* Was the entry that was returned last replaced? When nothing was appended since, the head shows
 * it, else one read. */
static enum status is_replaced(struct follow *f, const struct store_thread *t, bool *replaced,
                               struct err *e)
{
    const struct follow_place *p = map_find(&f->next, t->id);
    struct hash                chain = t->head.chain;
    bool                       found = t->head.rev >= p->next;

    *replaced = false;
    if (!p->known || !p->next)
        return ST_OK;
    if (t->head.rev > p->next && store_chain_at(f->l->store, t->id, p->next - 1, &chain, &found, e))
        return err_code(e);
    *replaced = !found || !hash_eq(&chain, &p->chain);
    return ST_OK;
}

static void note_replaced(struct follow *f, struct sv thread)
{
    if (f->damage.code)
        return;
    err_set(&f->damage, ST_CONFLICT,
            "thread " SV_FMT ": entries that were followed are not there any more: a backup was "
            "restored, or the thread was deleted or written anew",
            SV_ARG(thread));
    err_reason(&f->damage, "replaced");
    err_hint(&f->damage, "follow it again, with --from and the entry to go on with");
}

/* A thread with this head: where it is followed from when it is met for the first time. */
static enum status visit(struct follow *f, const struct store_thread *t, struct follow_batch *b,
                         struct err *e)
{
    bool replaced;

    if (follow_next(f, t->id) < 0 && (f->started || f->all))
        set_next(f, t->id, 0, NULL);
    else if (follow_next(f, t->id) < 0)
        set_next(f, t->id, t->head.rev, &t->head.chain);
    if (is_replaced(f, t, &replaced, e))
        return err_code(e);
    if (replaced) {
        note_replaced(f, t->id);
        return ST_OK;
    }
    return t->head.rev > follow_next(f, t->id) ? take_thread(f, t->id, t->head.rev, b, e) : ST_OK;
}

/* Every thread in turn; the next round begins with the thread for which there was no space left. */
static enum status take_all(struct follow *f, struct follow_batch *b, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (log_threads(f->l, b->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        size_t at = (f->turn + i) % n;
        if (is_full(b) && f->started) { /* in the first round every thread gets its place */
            f->turn = at;
            return ST_OK;
        }
        if (list[at].damaged) {
            if (!f->damage.code)
                err_set(&f->damage, ST_CORRUPT, "thread " SV_FMT ": its head cannot be read",
                        SV_ARG(list[at].id));
            continue;
        }
        if (visit(f, &list[at], b, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status take_one(struct follow *f, struct follow_batch *b, struct err *e)
{
    struct store_thread t = { .id = f->thread };

    return log_head(f->l, t.id, &t.head, e) || visit(f, &t, b, e) ? err_code(e) : ST_OK;
}

static enum status tell_damage(const struct follow *f, struct err *e)
{
    *e = f->damage;
    return err_code(e);
}

enum status follow_take(struct follow *f, struct arena *a, struct follow_entry **out, size_t *n,
                        struct err *e)
{
    struct follow_batch b = { .a = a };

    *out = NULL;
    *n = 0;
    if (f->damage.code)
        return tell_damage(f, e);
    if (log_begin(f->l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = f->thread.s ? take_one(f, &b, e) : take_all(f, &b, e);
    log_abort(f->l);
    if (s)
        return s;
    f->started = true;
    if (f->damage.code && !b.list.n) /* no entry precedes it; there may be no next call */
        return tell_damage(f, e);
    *out = b.list.v;
    *n = b.list.n;
    return ST_OK;
}

enum status follow_wait(struct follow *f, int timeout_ms, int peer, enum follow_woken *why,
                        struct err *e)
{
    enum store_woken woken;

    if (store_wait(f->l->store, &f->version, timeout_ms, peer, &woken, e))
        return err_code(e);
    *why = woken == STORE_CHANGED ? FOLLOW_CHANGED
           : woken == STORE_QUIET ? FOLLOW_QUIET
                                  : FOLLOW_PEER_GONE;
    return ST_OK;
}
