/* The connections of a process to logs on PostgreSQL. A store has a connection only while it has a
 * transaction open; afterwards the connection returns to the pool, and another store may take it.
 * No state of a session is relied on, except prepared statements where the session is certainly not
 * shared. */
#include "store/postgres_internal.h"

#include "base/clock.h"
#include "base/failure.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

static struct pg_pool *pools;
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

/* A session keeps statements from its third use on: a process that asks once gains nothing. */
enum { KEEP_FROM = 3 };

static struct pg_pool *new_pool(struct sv key, const struct postgres_url *url, const struct pq *lib)
{
    struct pg_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        failure_memory(sizeof *pool);
    pool->key = sv_dup(key, &pool->a);
    pool->lib = lib;
    pool->url = *url;
    pool->url.given = sv_dup(url->given, &pool->a);
    pool->url.schema = sv_dup(url->schema, &pool->a);
    pool->pooled = url->pooler == POOLER_TRANSACTION;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->freed, &steady);
    pthread_condattr_destroy(&steady);
    pg_sql_make(pool);
    return pool;
}

enum status pg_pool_open(struct sv key, const struct postgres_url *url, struct pg_pool **out,
                         struct err *e)
{
    const struct pq *lib;

    if (pq_load(&lib, e))
        return err_code(e);
    pthread_mutex_lock(&pools_lock);
    struct pg_pool *pool = pools;
    while (pool && !sv_eq(pool->key, key))
        pool = pool->next;
    if (!pool) {
        pool = new_pool(key, url, lib);
        pool->next = pools;
        pools = pool;
    }
    pool->users++;
    pthread_mutex_unlock(&pools_lock);
    *out = pool;
    return ST_OK;
}

void pg_pool_close(struct pg_pool *pool)
{
    pthread_mutex_lock(&pools_lock);
    bool             last = --pool->users == 0;
    struct pg_pool **at = &pools;
    while (last && *at != pool)
        at = &(*at)->next;
    if (last)
        *at = pool->next;
    pthread_mutex_unlock(&pools_lock);
    if (!last)
        return;
    while (pool->idle) {
        struct pg_link *link = pool->idle;
        pool->idle = *pg_link_next(link);
        pg_disconnect(link);
    }
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->freed);
    arena_free(&pool->a);
    free(pool);
}

/* ---- taking and giving ----------------------------------------------------------- */

static bool wait_until(struct pg_pool *pool, int64_t until_us)
{
    struct timespec t = { until_us / 1000000, until_us % 1000000 * 1000 };

    return pthread_cond_timedwait(&pool->freed, &pool->lock, &t) == 0;
}

/* Find an idle connection, or permission to open one (*out is NULL); false: the time is over. */
static bool find_idle(struct pg_pool *pool, int64_t until_us, struct pg_link **out)
{
    bool in_time = true;

    pthread_mutex_lock(&pool->lock);
    while (!pool->idle && pool->open >= pool->url.pool && in_time)
        in_time = wait_until(pool, until_us);
    *out = pool->idle;
    if (*out)
        pool->idle = *pg_link_next(*out);
    else if (in_time)
        pool->open++;
    pthread_mutex_unlock(&pool->lock);
    return *out || in_time;
}

static void closed_one(struct pg_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->open--;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

static bool connect_one(struct pg_pool *pool, struct pg_link **out, struct pg_failure *why)
{
    bool pooled = pg_pool_is_pooled(pool);

    if (!pg_connect(pool->lib, &pool->url, &pooled, out, why)) {
        closed_one(pool);
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    pool->reached = true;
    pool->pooled = pool->pooled || pooled;
    pthread_mutex_unlock(&pool->lock);
    return true;
}

/* A server that is starting, or a primary that is just being promoted, can be asked again soon. */
static bool may_come_up(const struct pg_pool *pool, const struct pg_failure *why)
{
    struct sv text = sv_of(why->text);

    return pool->reached || sv_find(text, SV("starting up")) >= 0 ||
           sv_find(text, SV("shutting down")) >= 0;
}

bool pg_pool_take(struct pg_pool *pool, int64_t until_us, struct pg_link **out,
                  struct pg_failure *why)
{
    for (long pause_ms = 10;; pause_ms = pause_ms < 300 ? pause_ms * 2 : 300) {
        *why = (struct pg_failure){ .number = -1, .lost = true };
        if (!find_idle(pool, until_us, out)) {
            *why = (struct pg_failure){ .number = -1, .state = "55P03" };
            return false;
        }
        if (!*out && !connect_one(pool, out, why)) {
            if (!may_come_up(pool, why) || clock_steady_us() + pause_ms * 1000 > until_us)
                return false;
            nanosleep(&(struct timespec){ 0, pause_ms * 1000000 }, NULL);
            continue;
        }
        if (pg_is_alive(*out))
            break;
        pg_disconnect(*out);
        closed_one(pool);
    }
    pthread_mutex_lock(&pool->lock);
    if (!pool->pooled && pool->checked && pg_count_use(*out) >= KEEP_FROM)
        pg_keep_statements(*out);
    pthread_mutex_unlock(&pool->lock);
    return true;
}

/* An idle connection with an open transaction would keep its locks until the server ends it, after
 * minutes; closing it ends the transaction at once. */
void pg_pool_give(struct pg_pool *pool, struct pg_link *link)
{
    if (pg_is_lost(link) || pg_is_open(link)) {
        pg_disconnect(link);
        closed_one(pool);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    *pg_link_next(link) = pool->idle;
    pool->idle = link;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- what is known of it --------------------------------------------------------- */

static bool flag(struct pg_pool *pool, const bool *which)
{
    pthread_mutex_lock(&pool->lock);
    bool is = *which;
    pthread_mutex_unlock(&pool->lock);
    return is;
}

bool pg_pool_is_pooled(struct pg_pool *pool)
{
    return flag(pool, &pool->pooled);
}

bool pg_pool_is_checked(struct pg_pool *pool)
{
    return flag(pool, &pool->checked);
}

bool pg_pool_was_reached(struct pg_pool *pool)
{
    return flag(pool, &pool->reached);
}
