/* Several requests at once: a thread for each, with memory of its own. */
#include "model/model_internal.h"

#include "base/clock.h"

#include <pthread.h>
#include <time.h>

/* Shared by the threads and the one that waits for them. */
struct crowd {
    pthread_mutex_t lock;
    pthread_cond_t  done;
    size_t          left; /* threads that are not done */
};

struct crowd_member {
    struct crowd        *crowd;
    struct model_asking *asking;
    struct model_access  access;
    struct model_client  client; /* a copy: refusals are taken over afterwards */
    struct arena         a;
    pthread_t            thread;
    bool                 runs;
};

static void ask(struct model_client *c, const struct model_access *access, struct arena *a,
                struct model_asking *x)
{
    x->status = model_complete_at(c, access, &x->q, a, &x->out, &x->error);
}

static void *run(void *ctx)
{
    struct crowd_member *m = ctx;

    ask(&m->client, &m->access, &m->a, m->asking);
    pthread_mutex_lock(&m->crowd->lock);
    m->crowd->left--;
    pthread_cond_signal(&m->crowd->done);
    pthread_mutex_unlock(&m->crowd->lock);
    return NULL;
}

static void wait_for_all(struct crowd *crowd, void (*wait)(void *ctx), void *ctx)
{
    enum { STEP_US = 50000 };

    pthread_mutex_lock(&crowd->lock);
    while (crowd->left) {
        int64_t         us = clock_steady_us() + STEP_US;
        struct timespec until = { us / 1000000, us % 1000000 * 1000 };
        pthread_cond_timedwait(&crowd->done, &crowd->lock, &until);
        if (!crowd->left || !wait)
            continue;
        pthread_mutex_unlock(&crowd->lock);
        wait(ctx);
        pthread_mutex_lock(&crowd->lock);
    }
    pthread_mutex_unlock(&crowd->lock);
}

static struct sv copy(struct sv v, struct arena *a)
{
    return v.s ? sv_dup(v, a) : v;
}

/* Copy the answer from the arena of its thread to `a`. The fields that are not copied point to
 * constants or into the request. */
static void take_over(struct crowd_member *m, struct model_client *c, struct arena *a)
{
    struct model_response *r = &m->asking->out;

    for (size_t i = c->refusals.n; i < m->client.refusals.n; i++)
        model_refuse(c, m->client.refusals.v[i].model, m->client.refusals.v[i].setting);
    if (m->asking->status == ST_OK) {
        r->text = copy(r->text, a);
        r->thinking = copy(r->thinking, a);
        r->kept = copy(r->kept, a);
        r->logprobs = copy(r->logprobs, a);
        r->resend = copy(r->resend, a);
        r->interruption = copy(r->interruption, a);
        r->request_id = copy(r->request_id, a);
        r->headers = copy(r->headers, a);
        r->body = copy(r->body, a);
        r->warnings = copy(r->warnings, a);
    }
    arena_free(&m->a);
}

/* If no thread can be created, the request is made on the calling one. */
static void start(struct crowd_member *m, struct model_client *c)
{
    m->client = *c;
    m->client.a = &m->a;
    m->client.refusals.v = ARENA_NEW(&m->a, struct model_refusal, c->refusals.n + 1);
    m->client.refusals.cap = c->refusals.n + 1;
    for (size_t i = 0; i < c->refusals.n; i++)
        m->client.refusals.v[i] = c->refusals.v[i];
    pthread_mutex_lock(&m->crowd->lock);
    m->crowd->left++;
    pthread_mutex_unlock(&m->crowd->lock);
    m->runs = pthread_create(&m->thread, NULL, run, m) == 0;
    if (!m->runs)
        run(m);
}

static bool has_network(struct sv model)
{
    const struct model_provider *p = model_provider_find(sv_cut(model, ':').head);

    return p && p->find;
}

static void ask_crowd(struct model_client *c, struct model_asking *list, size_t n,
                      void (*wait)(void *ctx), void *ctx, struct arena *a)
{
    struct crowd_member *members = ARENA_NEW(a, struct crowd_member, n);
    struct crowd         crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_condattr_t   steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&crowd.done, &steady);
    for (size_t i = 0; i < n; i++) {
        members[i] = (struct crowd_member){ .crowd = &crowd, .asking = &list[i] };
        list[i].status =
            model_access_find(c, list[i].q.model, a, &members[i].access, &list[i].error);
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].status == ST_OK)
            start(&members[i], c);
    wait_for_all(&crowd, wait, ctx);
    for (size_t i = 0; i < n; i++) {
        if (members[i].runs)
            pthread_join(members[i].thread, NULL);
        take_over(&members[i], c, a);
    }
    pthread_cond_destroy(&crowd.done);
    pthread_condattr_destroy(&steady);
    pthread_mutex_destroy(&crowd.lock);
}

void model_complete_all(struct model_client *c, struct model_asking *list, size_t n,
                        void (*wait)(void *ctx), void *ctx, struct arena *a)
{
    bool threads = n > 1;

    for (size_t i = 0; i < n; i++)
        threads = threads && has_network(list[i].q.model);
    if (threads) {
        ask_crowd(c, list, n, wait, ctx, a);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        list[i].q.wait = wait;
        list[i].q.wait_ctx = ctx;
        list[i].status = model_complete(c, &list[i].q, a, &list[i].out, &list[i].error);
    }
}
