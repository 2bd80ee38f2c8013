/* A bounded pipeline: workers fill slots, the calling thread empties them in order. */
#include "payload/pipeline.h"

#include "base/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, KEEP_CAP = 256 << 10 };

struct pipeline_slot {
    struct pipeline_buffer b;
    bool                   ready;
};

struct pipeline_state {
    const struct pipeline *p;
    size_t                 n;
    pthread_mutex_t        lock;
    pthread_cond_t         room;  /* workers wait for it */
    pthread_cond_t         ready; /* the calling thread waits for the next item */
    size_t                 claimed, delivered, held; /* held: bytes finished, not delivered */
    unsigned               waiting;                  /* workers that wait for room */
    bool                   caller_waits, stop;
    struct pipeline_slot   slots[PIPELINE_AHEAD];
};

bool pipeline_buffer_reserve(struct pipeline_buffer *b, size_t cap)
{
    if (cap <= b->cap)
        return true;
    size_t want = b->cap ? b->cap : 64 << 10;
    while (want < cap)
        want *= 2;
    char *s = malloc(want);
    if (!s)
        return false;
    if (b->n)
        memcpy(s, b->s, b->n);
    free(b->s);
    b->s = s;
    b->cap = want;
    return true;
}

void pipeline_buffer_free(struct pipeline_buffer *b)
{
    free(b->s);
    *b = (struct pipeline_buffer){ 0 };
}

unsigned pipeline_threads(void)
{
    unsigned n = process_cpus();

    return n > THREADS_MAX ? THREADS_MAX : n;
}

/* With the lock held: is there an item to begin? The item that is delivered next may
 * always be begun, whatever is held. */
static bool may_claim(const struct pipeline_state *r)
{
    return !r->stop && r->claimed < r->n && r->claimed < r->delivered + PIPELINE_AHEAD &&
           (r->held < PIPELINE_BYTES || r->claimed == r->delivered);
}

/* With the lock held on entry and return. */
static void work_one(struct pipeline_state *r, void *own)
{
    size_t                i = r->claimed++;
    struct pipeline_slot *s = &r->slots[i % PIPELINE_AHEAD];

    pthread_mutex_unlock(&r->lock);
    s->b.n = 0;
    r->p->work(r->p->ctx, own, i, &s->b);
    pthread_mutex_lock(&r->lock);
    s->ready = true;
    r->held += s->b.n;
    if (r->caller_waits && i == r->delivered)
        pthread_cond_signal(&r->ready);
}

static void *worker(void *arg)
{
    struct pipeline_state *r = arg;
    void                  *own = r->p->open ? r->p->open(r->p->ctx) : NULL;

    pthread_mutex_lock(&r->lock);
    while (!r->stop && r->claimed < r->n) {
        if (may_claim(r)) {
            work_one(r, own);
            continue;
        }
        r->waiting++;
        pthread_cond_wait(&r->room, &r->lock);
        r->waiting--;
    }
    pthread_mutex_unlock(&r->lock);
    if (r->p->close)
        r->p->close(r->p->ctx, own);
    return NULL;
}

/* With the lock held on entry and return. */
static void deliver_one(struct pipeline_state *r, void *own)
{
    struct pipeline_slot *s = &r->slots[r->delivered % PIPELINE_AHEAD];
    bool                  on = true;

    pthread_mutex_unlock(&r->lock);
    if (r->p->deliver)
        on = r->p->deliver(r->p->ctx, own, r->delivered, &s->b);
    size_t n = s->b.n;
    if (s->b.cap > KEEP_CAP)
        pipeline_buffer_free(&s->b);
    pthread_mutex_lock(&r->lock);
    s->ready = false;
    r->held -= n;
    r->delivered++;
    r->stop = r->stop || !on;
    /* Waking a thread costs more than a small file: wait until there is room for several. */
    size_t ahead = r->claimed - r->delivered;
    if (r->waiting && (r->stop || ahead <= PIPELINE_AHEAD / 2))
        pthread_cond_broadcast(&r->room);
}

static void run_caller(struct pipeline_state *r)
{
    void *own = r->p->open ? r->p->open(r->p->ctx) : NULL;

    pthread_mutex_lock(&r->lock);
    while (!r->stop && r->delivered < r->n) {
        if (r->slots[r->delivered % PIPELINE_AHEAD].ready) {
            deliver_one(r, own);
        } else if (may_claim(r)) {
            work_one(r, own);
        } else {
            r->caller_waits = true;
            pthread_cond_wait(&r->ready, &r->lock);
            r->caller_waits = false;
        }
    }
    r->stop = r->stop || r->delivered < r->n;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
    if (r->p->close)
        r->p->close(r->p->ctx, own);
}

bool pipeline_run(const struct pipeline *p, size_t n, unsigned threads)
{
    struct pipeline_state r = { .p = p, .n = n };
    pthread_t             others[THREADS_MAX];
    unsigned              started = 0;

    threads = threads ? threads : pipeline_threads();
    if (threads > n)
        threads = (unsigned)n;
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.room, NULL);
    pthread_cond_init(&r.ready, NULL);
    while (started + 1 < threads && started < THREADS_MAX &&
           pthread_create(&others[started], NULL, worker, &r) == 0)
        started++;
    run_caller(&r);
    while (started)
        pthread_join(others[--started], NULL);
    for (size_t i = 0; i < PIPELINE_AHEAD; i++)
        pipeline_buffer_free(&r.slots[i].b);
    pthread_mutex_destroy(&r.lock);
    pthread_cond_destroy(&r.room);
    pthread_cond_destroy(&r.ready);
    return !r.stop;
}
