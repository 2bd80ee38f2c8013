/* The Model Context Protocol on standard input and output.
 *
 * The thread that reads answers what needs no work. Calls that change something run one after the
 * other, in the order in which they came; those that only read run beside them on a few threads, so
 * that a slow call holds up nobody and can be cancelled. A last thread looks at what clients have
 * subscribed to, once a second while there is anything. */
#include "front/mcp/stdio.h"

#include "base/failure.h"
#include "base/lines.h"
#include "mcp/mcp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* gcc's analyzer reports a leak when a second item is put into a queue. It is wrong: run_all()
 * takes out all items. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* How often subscriptions are looked at, and how long calls may take when the client is done. */
enum { LOOK_SECONDS = 1, DRAIN_SECONDS = 3 };

/* Calls that wait for a thread. */
struct queue {
    struct waiting {
        struct mcp_call *call;
        struct waiting  *next;
    } * first, **last;
};

struct stdio {
    struct app         *app;
    struct mcp_server   server;
    struct mcp_session *session;
    pthread_mutex_t     out;           /* of standard output */
    bool                gone;          /* the client closed it; set under `out` */
    pthread_mutex_t     lock;          /* protects the members below */
    pthread_cond_t      more;          /* a call came, or the end */
    pthread_cond_t      watched, quit; /* something is watched; the end */
    struct queue        reads, writes;
    bool                ended;
};

/* ---- out ---------------------------------------------------------------------------------------
 */

static bool write_all(struct sv text)
{
    while (text.n) {
        ssize_t n = write(STDOUT_FILENO, text.s, text.n);
        if (n < 0 && errno != EINTR)
            return false;
        text = sv_skip(text, n > 0 ? (size_t)n : 0);
    }
    return true;
}

static void send_line(void *ctx, struct sv message)
{
    struct stdio *x = ctx;

    pthread_mutex_lock(&x->out);
    if (!x->gone)
        x->gone = !write_all(message) || !write_all(SV("\n"));
    pthread_mutex_unlock(&x->out);
}

/* ---- the threads that run calls ------------------------------------------------------------ */

static void put(struct queue *q, struct waiting *n)
{
    if (!q->first)
        q->last = &q->first;
    *q->last = n;
    q->last = &n->next;
}

/* The next call of a queue; NULL: the end. */
static struct mcp_call *take(struct stdio *x, struct queue *q)
{
    struct mcp_call *call = NULL;

    pthread_mutex_lock(&x->lock);
    while (!q->first && !x->ended)
        pthread_cond_wait(&x->more, &x->lock);
    if (q->first) {
        struct waiting *n = q->first;
        q->first = n->next;
        call = n->call;
        free(n);
    }
    pthread_mutex_unlock(&x->lock);
    return call;
}

static void run_all(struct stdio *x, struct queue *q)
{
    struct mcp_call *call;

    while ((call = take(x, q))) {
        mcp_run(call);
        if (!mcp_is_watching(x->session))
            continue;
        pthread_mutex_lock(&x->lock);
        pthread_cond_signal(&x->watched);
        pthread_mutex_unlock(&x->lock);
    }
}

static void *run_reads(void *ctx)
{
    struct stdio *x = ctx;

    run_all(x, &x->reads);
    return NULL;
}

static void *run_writes(void *ctx)
{
    struct stdio *x = ctx;

    run_all(x, &x->writes);
    return NULL;
}

static struct timespec in_seconds(clockid_t clock, int seconds)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_sec += seconds;
    return t;
}

/* Polls the subscriptions. `quit` wakes it at the end. */
static void *watch(void *ctx)
{
    struct stdio *x = ctx;

    pthread_mutex_lock(&x->lock);
    while (!x->ended) {
        struct timespec until = in_seconds(CLOCK_MONOTONIC, LOOK_SECONDS);
        if (!mcp_is_watching(x->session)) {
            pthread_cond_wait(&x->watched, &x->lock);
            continue;
        }
        while (!x->ended && pthread_cond_timedwait(&x->quit, &x->lock, &until) != ETIMEDOUT)
            ;
        pthread_mutex_unlock(&x->lock);
        mcp_look(x->session, send_line, x);
        pthread_mutex_lock(&x->lock);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* ---- in ----------------------------------------------------------------------------------------
 */

static void take_line(struct stdio *x, struct sv line)
{
    struct mcp_call *call = sv_trim(line).n ? mcp_read(x->session, line, send_line, x) : NULL;

    if (!call)
        return;
    struct waiting *n = calloc(1, sizeof *n);
    if (!n)
        failure_memory(sizeof *n);
    n->call = call;
    pthread_mutex_lock(&x->lock);
    put(mcp_writes(call) ? &x->writes : &x->reads, n);
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
}

static bool is_gone(struct stdio *x)
{
    pthread_mutex_lock(&x->out);
    bool gone = x->gone;
    pthread_mutex_unlock(&x->out);
    return gone;
}

/* Until the client closes its end. A line that is too long is refused, and the next one is read. */
static enum status read_lines(struct stdio *x, struct err *e)
{
    struct lines in = lines_of(STDIN_FILENO, MCP_MESSAGE_MAX, x->app->a);
    struct sv    line;
    bool         more = true;

    app_say_waiting(x->app);
    while (more && !is_gone(x)) {
        enum status s = lines_next(&in, &line, &more, e);
        if (s == ST_LIMIT_EXCEEDED) {
            mcp_refuse("the message is too long", send_line, x);
            s = lines_skip(&in, e);
        } else if (!s && more) {
            take_line(x, line);
        }
        if (s)
            return s;
    }
    return ST_OK;
}

/* Requests that were read before the end of the input are answered, unless that takes longer than
 * DRAIN_SECONDS or the client has closed its end. */
static void end(struct stdio *x, pthread_t *threads, size_t n)
{
    struct timespec until = in_seconds(CLOCK_REALTIME, is_gone(x) ? 0 : DRAIN_SECONDS);

    pthread_mutex_lock(&x->lock);
    x->ended = true;
    pthread_cond_broadcast(&x->more);
    pthread_cond_broadcast(&x->watched);
    pthread_cond_broadcast(&x->quit);
    pthread_mutex_unlock(&x->lock);
    for (size_t i = 0; i < n; i++)
        if (pthread_timedjoin_np(threads[i], NULL, &until) != 0) {
            mcp_cancel_all(x->session);
            pthread_join(threads[i], NULL);
        }
    mcp_close(x->session, send_line, x);
}

static void init(struct stdio *x)
{
    pthread_condattr_t steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&x->quit, &steady);
    pthread_condattr_destroy(&steady);
    pthread_cond_init(&x->more, NULL);
    pthread_cond_init(&x->watched, NULL);
    pthread_mutex_init(&x->out, NULL);
    pthread_mutex_init(&x->lock, NULL);
}

enum status mcp_serve(struct app *app, const struct mcp_options *o, struct err *e)
{
    static void *(*const work[])(void *) = { run_writes, watch, run_reads, run_reads, run_reads };
    struct stdio x = { .app = app };
    pthread_t    threads[COUNT(work)];
    size_t       n = 0;

    x.server = (struct mcp_server){
        .ws = &app->ws, .actor = app->actor, .agent = o->agent, .thread = o->thread
    };
    x.session = mcp_open(&x.server);
    init(&x);
    enum status s = ST_OK;
    while (!s && n < COUNT(work)) {
        errno = pthread_create(&threads[n], NULL, work[n], &x);
        if (errno)
            s = err_errno(e, "start a thread");
        else
            n++;
    }
    if (!s)
        s = read_lines(&x, e);
    end(&x, threads, n);
    return s;
}
