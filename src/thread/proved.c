/* Reads a scan ahead, and proves what it read several entries at a time; of a long scan on two
 * threads of execution. */
#include "thread/proved.h"

#include "base/process.h"
#include "thread/skeleton.h"

#include <pthread.h>

enum {
    FEW = STORE_PROVE_MAX,
    FEW_BYTES = 32 << 10, /* no more is read ahead once these are there */
    FEW_ROOM = 64 << 10,  /* for most batches, with what their proof needs */
    MANY = 4 * STORE_PROVE_MAX,
    MANY_BYTES = 128 << 10,
    MANY_ROOM = 120 << 10,
    LONG = 256, /* entries behind which a second thread is worth its start */
    RING = 8,
    RING_BYTES = 1 << 20, /* no further batch is read once these are there */
};

static void batch_begin(struct proved_batch *b, size_t most, size_t room)
{
    arena_begin(&b->a, room);
    b->entries = ARENA_NEW(&b->a, struct entry, most);
    b->before = ARENA_NEW(&b->a, struct entry_before, most);
    b->proofs = ARENA_NEW(&b->a, enum entry_proof, most);
    b->empty = arena_mark(&b->a);
}

/* The entries that come next. What the store has to report behind them is kept until they are
 * given. */
static void read_batch(struct proved *p, struct proved_batch *b, size_t most, size_t most_bytes)
{
    bool more = false;

    arena_reset(&b->a, b->empty);
    b->bytes = 0;
    for (b->n = 0; b->n < most && b->bytes < most_bytes; b->n++) {
        struct entry *n = &b->entries[b->n];
        p->ended = store_next(p->scan, n, &more, &p->end) || !more;
        if (p->ended)
            break;
        entry_keep(n, &b->a);
        b->bytes += n->payload.n + n->refs.n;
    }
    if (store_before(p->scan, b->entries, b->n, b->before, &p->end)) {
        p->ended = true;
        b->n = 0;
    }
}

/* On any thread of execution. */
static void prove_batch(struct proved_batch *b)
{
    skeleton_fill(b->entries, b->n, &b->a);
    entry_prove(b->entries, b->before, b->n, &b->a, b->proofs);
}

/* ---- two threads of execution ------------------------------------------------------------------
 *
 * The thread of the scan fills free batches of a ring and takes the proved ones out, in order; the
 * other one proves the oldest that is not proved yet. When the one that comes next is not proved,
 * the thread of the scan does not wait as long as there is one that it can prove itself. */

struct proved_crew {
    pthread_t       thread;
    pthread_mutex_t lock; /* of what follows, up to `ring` */
    pthread_cond_t  changed;
    bool            stop, helper_waits, reader_waits;
    size_t          waiting; /* batches read since the helper waits */
    size_t          out;     /* the batch that is given, or comes next */
    enum { FREE, READ, TAKEN, PROVED } state[RING];

    size_t              full; /* batches from `out` on that the thread of the scan has filled ... */
    size_t              bytes; /* ... and theirs */
    struct proved_batch ring[RING];
    struct arena        a; /* this struct */
};

/* With the lock held: the oldest batch that nobody proves yet, or the newest; RING: none. */
static size_t find_read(const struct proved_crew *c, bool newest)
{
    size_t found = RING;

    for (size_t i = 0; i < RING; i++) {
        size_t at = (c->out + i) % RING;
        if (c->state[at] == READ && (found == RING || newest))
            found = at;
    }
    return found;
}

/* With the lock held on entry and return. */
static void prove_one(struct proved_crew *c, size_t at)
{
    c->state[at] = TAKEN;
    pthread_mutex_unlock(&c->lock);
    prove_batch(&c->ring[at]);
    pthread_mutex_lock(&c->lock);
    c->state[at] = PROVED;
}

static void *help(void *ctx)
{
    struct proved_crew *c = ctx;

    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        size_t at = find_read(c, false);
        if (at < RING) {
            prove_one(c, at);
            if (c->reader_waits)
                pthread_cond_broadcast(&c->changed);
        } else {
            c->helper_waits = true;
            c->waiting = 0;
            pthread_cond_wait(&c->changed, &c->lock);
            c->helper_waits = false;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void crew_free(struct proved_crew *c)
{
    struct arena a = c->a;

    for (size_t i = 0; i < RING; i++)
        arena_free(&c->ring[i].a);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    arena_free(&a);
}

/* NULL: there is one processor, or no thread can be started. */
static struct proved_crew *crew_start(void)
{
    struct arena        a = { 0 };
    struct proved_crew *c;

    if (process_cpus() < 2)
        return NULL;
    c = ARENA_NEW(&a, struct proved_crew, 1);
    c->a = a;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    for (size_t i = 0; i < RING; i++)
        batch_begin(&c->ring[i], MANY, MANY_ROOM);
    if (pthread_create(&c->thread, NULL, help, c)) {
        crew_free(c);
        return NULL;
    }
    return c;
}

static void crew_close(struct proved_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    crew_free(c);
}

/* Fill each free batch with the entries that come next; fewer when these are large. */
static void fill_ring(struct proved *p)
{
    struct proved_crew *c = p->crew;

    for (; c->full < RING && (!c->full || c->bytes < RING_BYTES) && !p->ended; c->full++) {
        size_t at = (c->out + c->full) % RING;
        read_batch(p, &c->ring[at], MANY, MANY_BYTES);
        c->bytes += c->ring[at].bytes;
        pthread_mutex_lock(&c->lock);
        c->state[at] = READ;
        if (c->helper_waits && ++c->waiting >= RING / 2) /* to wake it for each would cost more */
            pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
    }
}

/* The batch that comes next, proved; NULL: none does. `given`: the one before it is in the ring. */
static struct proved_batch *next_of_ring(struct proved *p, bool given)
{
    struct proved_crew *c = p->crew;

    if (given) {
        c->full--;
        c->bytes -= c->ring[c->out].bytes;
        pthread_mutex_lock(&c->lock);
        c->state[c->out] = FREE;
        c->out = (c->out + 1) % RING;
        pthread_mutex_unlock(&c->lock);
    }
    fill_ring(p);
    if (!c->full)
        return NULL;
    pthread_mutex_lock(&c->lock);
    while (c->state[c->out] != PROVED) {
        size_t at = c->state[c->out] == READ ? c->out : find_read(c, true);
        if (at < RING) {
            prove_one(c, at);
        } else {
            c->reader_waits = true;
            pthread_cond_wait(&c->changed, &c->lock);
            c->reader_waits = false;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return &c->ring[c->out];
}

/* ---- entry by entry ----------------------------------------------------------------------------
 */

enum status proved_open(struct proved *p, struct store *s, const struct store_query *q,
                        struct err *e)
{
    batch_begin(&p->few, FEW, FEW_ROOM);
    return store_scan(s, q, &p->scan, e);
}

static struct proved_batch *next_batch(struct proved *p)
{
    bool of_ring = p->crew && p->current != &p->few;

    p->given += p->current ? p->current->n : 0;
    if (!p->is_long && p->given >= LONG && !p->ended) {
        p->is_long = true;
        p->crew = crew_start();
    }
    if (p->crew)
        return next_of_ring(p, of_ring);
    if (p->ended)
        return NULL;
    read_batch(p, &p->few, FEW, FEW_BYTES);
    prove_batch(&p->few);
    return &p->few;
}

enum status proved_next(struct proved *p, const struct entry **out, enum entry_proof *proof,
                        bool *more, struct err *e)
{
    while (!p->done && (!p->current || p->at == p->current->n)) {
        p->current = next_batch(p);
        p->done = !p->current;
        p->at = 0;
    }
    *more = !p->done;
    if (p->done && p->end.code)
        *e = p->end;
    if (p->done)
        return p->end.code;
    *out = &p->current->entries[p->at];
    *proof = p->current->proofs[p->at++];
    return ST_OK;
}

void proved_close(struct proved *p)
{
    if (p->crew)
        crew_close(p->crew);
    store_scan_close(p->scan);
    arena_free(&p->few.a);
}
