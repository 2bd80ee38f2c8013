/* Noticing commits of others. There is no notification: NOTIFY in a transaction takes a lock on the
 * whole server until it has committed, which makes writers wait for each other. Instead the sum
 * over the revisions of all threads is read: at most once in POLL_MS for all waiters in this
 * process, and less often when there are so many threads that reading takes long. Commits of this
 * process wake its own waiters at once. */
#include "store/postgres_internal.h"

#include "base/clock.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* Reading the version takes at most 1/POLL_SHARE of the time. */
enum { POLL_MS = 50, POLL_SHARE = 20 };

static void take_version(void *ctx, struct pg_answer *a)
{
    int64_t *out = ctx;

    if (pg_shape(a, "ii") && a->n == 1)
        *out =
            (int64_t)((uint64_t)pg_int(a, 0, 0) * 0x9e3779b97f4a7c15u + (uint64_t)pg_int(a, 0, 1)) |
            1; /* never 0, which stands for nothing seen */
}

static void build_version(struct pg_store *p, void *ctx)
{
    pg_ask(p, PG_VERSION, NULL, take_version, ctx);
}

/* The version that another waiter of this process read a moment ago, unless this process has
 * committed since.
 */
static bool is_fresh(struct pg_pool *pool, int64_t *out)
{
    int64_t pause = pool->poll_us * POLL_SHARE;

    pause = pause > POLL_MS * 1000 ? pause : POLL_MS * 1000;
    *out = pool->version;
    return pool->version && pool->version_commits == pool->commits &&
           clock_steady_us() - pool->version_us < pause / 2;
}

enum status pg_version(struct store *s, int64_t *out, struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct pg_pool  *pool = p->pool;
    int64_t          from = clock_steady_us();

    pthread_mutex_lock(&pool->lock);
    bool    fresh = is_fresh(pool, out);
    int64_t commits = pool->commits;
    pthread_mutex_unlock(&pool->lock);
    if (fresh)
        return ST_OK;
    if (pg_run(p, PG_AS_IT_IS, build_version, out, e))
        return err_code(e);
    pthread_mutex_lock(&pool->lock);
    pool->version = *out;
    pool->version_commits = commits;
    pool->version_us = clock_steady_us();
    pool->poll_us = pool->version_us - from;
    pthread_mutex_unlock(&pool->lock);
    return ST_OK;
}

int64_t pg_clock_ahead(struct store *s)
{
    struct pg_pool *pool = pg_of(s)->pool;

    pthread_mutex_lock(&pool->lock);
    int64_t ahead = pool->clock_ahead;
    pthread_mutex_unlock(&pool->lock);
    return ahead;
}

/* ---- waiting --------------------------------------------------------------------------------- */

void pg_watch_committed(struct pg_store *p)
{
    uint64_t one = 1;

    pthread_mutex_lock(&p->pool->lock);
    p->pool->commits++;
    for (struct pg_store *w = p->pool->waiters; w; w = w->next_waiter)
        (void)!write(w->wake, &one, sizeof one);
    pthread_mutex_unlock(&p->pool->lock);
}

static void join(struct pg_store *p)
{
    if (p->wake < 0)
        p->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (p->wake < 0)
        return;
    pthread_mutex_lock(&p->pool->lock);
    p->next_waiter = p->pool->waiters;
    p->pool->waiters = p;
    pthread_mutex_unlock(&p->pool->lock);
}

static void leave(struct pg_store *p)
{
    if (p->wake < 0)
        return;
    pthread_mutex_lock(&p->pool->lock);
    struct pg_store **at = &p->pool->waiters;
    while (*at != p)
        at = &(*at)->next_waiter;
    *at = p->next_waiter;
    pthread_mutex_unlock(&p->pool->lock);
}

enum status pg_pause(struct store *s, int ms, int peer, enum pause_end *end, struct err *e)
{
    struct pg_store *p = pg_of(s);
    uint64_t         n;

    (void)e;
    pthread_mutex_lock(&p->pool->lock);
    int64_t pause_ms = p->pool->poll_us * POLL_SHARE / 1000;
    pthread_mutex_unlock(&p->pool->lock);
    pause_ms = pause_ms > POLL_MS ? pause_ms : POLL_MS;
    join(p);
    *end = store_pause(p->wake, peer, ms < pause_ms ? ms : (int)pause_ms);
    leave(p);
    if (*end == PAUSE_HINT && read(p->wake, &n, sizeof n) < 0)
        *end = PAUSE_TIME;
    return ST_OK;
}
