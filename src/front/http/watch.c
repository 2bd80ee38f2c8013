/* The list of connections, and the thread that ends those that take too long. */
#include "front/http/watch.h"

#include "api/door_token.h"
#include "base/clock.h"
#include "base/failure.h"
#include "front/http/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

int64_t watch_left_us(enum watch_state state, int64_t since_us, int64_t bytes, int64_t now_us)
{
    static const int seconds[] = { [WATCH_HEAD] = WATCH_HEAD_S,
                                   [WATCH_NEXT] = WATCH_NEXT_S,
                                   [WATCH_BODY] = WATCH_BODY_S,
                                   [WATCH_ANSWER] = WATCH_BODY_S };

    if (state == WATCH_FREE)
        return INT64_MAX;
    return since_us + (seconds[state] + bytes / WATCH_RATE) * INT64_C(1000000) - now_us;
}

/* With the lock held: libmicrohttpd cannot close a connection meanwhile, so the descriptors are
 * valid.
 */
static void look(struct serve_watch *w)
{
    int64_t now = clock_steady_us();

    for (struct serve_conn *c = w->all; c; c = c->after) {
        if (watch_left_us((enum watch_state)c->state, c->since_us, c->bytes, now) < 0) {
            shutdown(c->fd, SHUT_RDWR);
            watch_set(c, WATCH_FREE); /* once is enough */
            atomic_fetch_add(&w->shut, 1);
        }
        if (c->token[0] && !token_book_has(c->s->tokens, sv_of(c->token)))
            shutdown(c->fd, SHUT_RDWR);
    }
}

static void *work(void *ctx)
{
    struct serve       *s = ctx;
    struct serve_watch *w = s->watch;

    pthread_mutex_lock(&w->lock);
    while (!w->closing) {
        int64_t         us = clock_steady_us() + 1000000;
        struct timespec until = { us / 1000000, us % 1000000 * 1000 };
        look(w);
        pthread_mutex_unlock(&w->lock);
        cache_tidy(s->cache);
        pthread_mutex_lock(&w->lock);
        if (w->closing)
            break;
        pthread_cond_timedwait(&w->ends, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void watch_open(struct serve *s)
{
    struct serve_watch *w = calloc(1, sizeof *w);
    pthread_condattr_t  steady;

    if (!w)
        failure_memory(sizeof *w);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ends, &steady);
    pthread_condattr_destroy(&steady);
    s->watch = w;
    w->runs = pthread_create(&w->thread, NULL, work, s) == 0;
}

void watch_close(struct serve *s)
{
    struct serve_watch *w = s->watch;

    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->ends);
    pthread_mutex_unlock(&w->lock);
    if (w->runs)
        pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ends);
    free(w);
    s->watch = NULL;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void add(struct serve *s, struct MHD_Connection *conn, void **context)
{
    struct serve_watch             *w = s->watch;
    const union MHD_ConnectionInfo *fd =
        s->mhd.get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct serve_conn *c = calloc(1, sizeof *c);

    if (!c)
        failure_memory(sizeof *c);
    c->s = s;
    c->fd = fd ? fd->connect_fd : -1;
    watch_set(c, WATCH_HEAD);
    *context = c;
    pthread_mutex_lock(&w->lock);
    c->after = w->all;
    if (w->all)
        w->all->before = c;
    w->all = c;
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_add(&w->n, 1);
    atomic_fetch_add(&w->accepted, 1);
}

static void take_away(struct serve *s, struct serve_conn *c)
{
    struct serve_watch *w = s->watch;

    pthread_mutex_lock(&w->lock);
    if (c->before)
        c->before->after = c->after;
    else
        w->all = c->after;
    if (c->after)
        c->after->before = c->before;
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_sub(&w->n, 1);
    free(c);
}

void watch_notify(void *ctx, struct MHD_Connection *conn, void **context,
                  enum MHD_ConnectionNotificationCode code)
{
    struct serve_door *d = ctx;

    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        add(d->s, conn, context);
    else if (*context)
        take_away(d->s, *context);
}

void watch_set(struct serve_conn *c, enum watch_state state)
{
    if (!c)
        return;
    c->since_us = clock_steady_us();
    c->bytes = 0;
    c->state = (int)state;
}

void watch_moved(struct serve_conn *c, size_t bytes)
{
    if (c)
        atomic_fetch_add(&c->bytes, (int64_t)bytes);
}

/* Most connections ask for one caller only: then the lock is taken once. */
void watch_token(struct serve_conn *c, struct sv id)
{
    if (!c || sv_is(id, c->token))
        return;
    pthread_mutex_lock(&c->s->watch->lock);
    snprintf(c->token, sizeof c->token, SV_FMT, SV_ARG(id));
    pthread_mutex_unlock(&c->s->watch->lock);
}
