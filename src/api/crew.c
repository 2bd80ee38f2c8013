/* A pool of threads that grows when there is work and shrinks when there is none. */
#include "api/crew.h"

#include "base/clock.h"
#include "base/failure.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { IDLE_SECONDS = 10 };

struct crew {
    pthread_mutex_t  lock;
    pthread_cond_t   work, ended; /* there is a job, or the crew ends; a thread has ended */
    struct crew_job *first, **last;
    int              usual, most, queue_most, threads, idle, queued;
    bool lurks; /* an idle thread waits until the first job of the queue has waited long enough */
    bool closing;
    pthread_t
         last_gone; /* the thread that ended last, once has_gone: it has joined the one before */
    bool has_gone;
};

struct crew *crew_open(int usual, int most, int queue)
{
    struct crew       *c = calloc(1, sizeof *c);
    pthread_condattr_t steady;

    if (!c)
        failure_memory(sizeof *c);
    c->usual = usual;
    c->most = most;
    c->queue_most = queue;
    c->last = &c->first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&c->work, &steady);
    pthread_cond_init(&c->ended, NULL);
    pthread_condattr_destroy(&steady);
    return c;
}

static void *work(void *ctx);

/* With the lock held: how many idle threads there should be. One is enough when as many run as
 * usual: it takes over when they take long. */
static int idle_wanted(const struct crew *c)
{
    int room = c->usual - (c->threads - c->idle);

    return room < 1 ? c->queued > 0 : room < c->queued ? room : c->queued;
}

/* With the lock held: one thread more, when it is wanted and allowed. */
static void grow(struct crew *c)
{
    pthread_t id; /* a thread hands it on itself when it ends */

    if (c->idle >= idle_wanted(c) || c->threads >= c->most)
        return;
    if (pthread_create(&id, NULL, work, c) == 0) {
        c->threads++;
        c->idle++;
    }
}

/* With the lock held: wait until `us`, or until something happens. ETIMEDOUT: the time is over.
 */
static int wait_until(struct crew *c, int64_t us)
{
    struct timespec until = { us / 1000000, us % 1000000 * 1000 };

    return pthread_cond_timedwait(&c->work, &c->lock, &until);
}

/* With the lock held, in an idle thread: may it take the first job now? */
static bool may_take(const struct crew *c)
{
    return c->first && (c->closing || c->threads - c->idle < c->usual ||
                        clock_steady_us() - c->first->since_us >= CREW_PATIENCE_US);
}

/* With the lock held, in a thread that counts as idle: the next job, after waiting for it; NULL:
 * this thread is not needed. */
static struct crew_job *next_job(struct crew *c)
{
    int64_t until = clock_steady_us() + (int64_t)IDLE_SECONDS * 1000000;
    int     rc = 0;

    while (!may_take(c) && (c->first || !c->closing) && rc == 0) {
        bool lurks = c->first && !c->lurks; /* one is enough */
        if (lurks) {
            c->lurks = true;
            (void)wait_until(c, c->first->since_us + CREW_PATIENCE_US);
            c->lurks = false;
        } else {
            rc = wait_until(c, until);
        }
    }
    struct crew_job *job = may_take(c) ? c->first : NULL;
    c->idle--;
    if (!job)
        return NULL;
    c->first = job->next;
    if (!c->first)
        c->last = &c->first;
    c->queued--;
    if (c->first && !c->lurks) { /* one thread must watch the jobs that still wait */
        grow(c);
        pthread_cond_signal(&c->work);
    }
    return job;
}

/* Each thread that ends joins the one that ended before it, so that joining the last one waits for
 * all of them: what libraries keep for a thread is gone as well, not only the work done. */
static void *work(void *ctx)
{
    struct crew     *c = ctx;
    struct crew_job *job;

    pthread_mutex_lock(&c->lock);
    while ((job = next_job(c))) {
        pthread_mutex_unlock(&c->lock);
        job->run(job);
        pthread_mutex_lock(&c->lock);
        c->idle++;
    }
    pthread_t before = c->last_gone;
    bool      joins = c->has_gone;
    c->last_gone = pthread_self();
    c->has_gone = true;
    c->threads--;
    pthread_cond_signal(&c->ended);
    pthread_mutex_unlock(&c->lock);
    if (joins)
        pthread_join(before, NULL);
    return NULL;
}

static bool has_room(const struct crew *c)
{
    int free_threads = c->idle + c->most - c->threads;

    return !c->closing && c->queued < free_threads + c->queue_most;
}

bool crew_run(struct crew *c, struct crew_job *job)
{
    pthread_mutex_lock(&c->lock);
    bool taken = has_room(c);
    if (taken) {
        job->next = NULL;
        job->since_us = clock_steady_us();
        *c->last = job;
        c->last = &job->next;
        c->queued++;
        grow(c);
        taken = c->threads > 0;
    }
    if (taken) {
        if (c->threads - c->idle < c->usual || !c->lurks)
            pthread_cond_signal(&c->work);
    } else if (c->first == job) { /* it is the only job, and there is no thread at all */
        c->first = NULL;
        c->last = &c->first;
        c->queued--;
    }
    pthread_mutex_unlock(&c->lock);
    return taken;
}

struct crew_counts crew_counts(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    struct crew_counts n = { c->threads, c->idle, c->queued };
    pthread_mutex_unlock(&c->lock);
    return n;
}

void crew_close(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->work);
    while (c->threads)
        pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
    if (c->has_gone)
        pthread_join(c->last_gone, NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->ended);
    free(c);
}
