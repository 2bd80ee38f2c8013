/* The list of MCP sessions, and the thread that looks at what they have subscribed to. */
#include "front/http/mcp_session.h"

#include "base/clock.h"
#include "base/failure.h"
#include "front/http/who.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct serve_mcps {
    struct serve     *s;
    pthread_mutex_t   lock;
    pthread_cond_t    work; /* signalled when a stream is opened, and at the end */
    struct serve_mcp *first;
    int               sessions; /* that stay */
    bool              stopping, runs;
    pthread_t         thread;
};

struct sv mcp_event_text(struct sv message, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "event: message\ndata: ");
    sb_add(&b, message);
    sb_adds(&b, "\n\n");
    return sb_sv(&b);
}

/* ---- one session
 * --------------------------------------------------------------------------------- */

static enum status allow(void *ctx, const struct operation *op, const void *params, struct err *e)
{
    const struct serve_mcp *m = ctx;

    return who_allows(&m->caller, op, params, e);
}

static struct serve_mcp *new_session(struct serve_call *c, struct sv agent, struct sv thread)
{
    struct serve_mcp *m = calloc(1, sizeof *m);

    if (!m)
        failure_memory(sizeof *m);
    m->all = c->s->mcps;
    m->refs = 1;
    m->used_us = m->beat_us = clock_steady_us();
    pthread_mutex_init(&m->writes, NULL);
    m->caller = c->caller;
    m->caller.id = sv_dup(c->caller.id, &m->a);
    m->caller.actor = sv_dup(c->caller.actor, &m->a);
    m->caller.threads = (struct sv_list){ 0 };
    for (size_t i = 0; i < c->caller.threads.n; i++)
        param_list_add(&m->caller.threads, sv_dup(c->caller.threads.v[i], &m->a), &m->a);
    m->server = (struct mcp_server){
        .ws = c->s->ws, .actor = m->caller.actor, .allow = allow, .allow_ctx = m
    };
    if (agent.n)
        m->server.agent = sv_dup(agent, &m->a);
    if (thread.n)
        m->server.thread = sv_dup(thread, &m->a);
    m->session = mcp_open(&m->server);
    return m;
}

static void destroy(struct serve_mcp *m)
{
    mcp_close(m->session, NULL, NULL);
    pthread_mutex_destroy(&m->writes);
    arena_free(&m->a);
    free(m);
}

/* ---- the list: with its lock held
 * ------------------------------------------------------------------ */

static void enlist(struct serve_mcps *all, struct serve_mcp *m)
{
    m->after = all->first;
    if (all->first)
        all->first->before = m;
    all->first = m;
    m->listed = true;
    m->refs++;
    all->sessions += m->id[0] != 0;
}

/* Removes it from the list; true when no call uses it. */
static bool strike_off(struct serve_mcp *m)
{
    if (!m->listed)
        return false;
    if (m->before)
        m->before->after = m->after;
    else
        m->all->first = m->after;
    if (m->after)
        m->after->before = m->before;
    m->before = m->after = NULL;
    m->listed = false;
    m->all->sessions -= m->id[0] != 0;
    return --m->refs == 0;
}

/* The session that was not used for the longest time makes room for another. */
static struct serve_mcp *find_oldest(struct serve_mcps *all)
{
    struct serve_mcp *oldest = NULL;

    for (struct serve_mcp *m = all->first; m; m = m->after)
        if (m->id[0] && !m->stream && (!oldest || m->used_us < oldest->used_us))
            oldest = m;
    return oldest;
}

struct serve_mcp *mcp_session_make(struct serve_call *c, struct sv agent, struct sv thread,
                                   bool stays)
{
    struct serve_mcps *all = c->s->mcps;
    struct serve_mcp  *m = new_session(c, agent, thread), *old = NULL;

    if (!stays)
        return m;
    session_draw(m->id);
    pthread_mutex_lock(&all->lock);
    if (all->sessions >= MCP_SESSIONS)
        old = find_oldest(all);
    if (old) {
        old->ended = true;
        if (!strike_off(old))
            old = NULL; /* the call that uses it frees it */
    }
    enlist(all, m);
    pthread_mutex_unlock(&all->lock);
    if (old)
        destroy(old);
    return m;
}

struct serve_mcp *mcp_session_find(struct serve_call *c, struct sv id)
{
    struct serve_mcps *all = c->s->mcps;
    struct serve_mcp  *m;

    pthread_mutex_lock(&all->lock);
    for (m = all->first; m; m = m->after)
        if (m->id[0] && hash_same_text(sv_of(m->id), id) && sv_eq(m->caller.id, c->caller.id))
            break;
    if (m) {
        m->refs++;
        m->used_us = clock_steady_us();
    }
    pthread_mutex_unlock(&all->lock);
    return m;
}

void mcp_session_drop(struct serve_mcp *m)
{
    struct serve_mcps *all = m->all;

    pthread_mutex_lock(&all->lock);
    bool last = --m->refs == 0;
    pthread_mutex_unlock(&all->lock);
    if (last)
        destroy(m);
}

/* The stream of a session that ends; the caller ends the call, without the lock. */
static struct serve_call *take_stream(struct serve_mcp *m)
{
    struct serve_call *c = m->stream;

    m->stream = NULL;
    return c;
}

void mcp_session_end(struct serve_mcp *m)
{
    pthread_mutex_lock(&m->all->lock);
    struct serve_call *stream = take_stream(m);
    m->ended = true;
    strike_off(m); /* the caller has it, too */
    pthread_mutex_unlock(&m->all->lock);
    mcp_cancel_all(m->session);
    if (stream)
        call_done(stream);
}

/* ---- streams
 * --------------------------------------------------------------------------------------- */

static void *watch(void *ctx);

void mcp_session_listen(struct serve_mcp *m, struct serve_call *c)
{
    struct serve_mcps *all = m->all;
    struct serve_call *before;

    if (!c->streaming) {
        c->status = 200;
        c->type = "text/event-stream";
    }
    (void)call_write_now(c, SV(": listening\n\n"));
    pthread_mutex_lock(&all->lock);
    bool ends = all->stopping || m->ended;
    before = ends ? c : take_stream(m);
    if (!ends) {
        m->stream = c;
        if (!m->listed)
            enlist(all, m);
        if (!all->runs)
            all->runs = pthread_create(&all->thread, NULL, watch, all) == 0;
        pthread_cond_signal(&all->work);
    }
    pthread_mutex_unlock(&all->lock);
    if (before)
        call_done(before);
}

/* The notifications of a session; a stream whose client does not read is closed. */
struct saying {
    struct serve_call *stream;
    bool               failed;
};

static void say(void *ctx, struct sv message)
{
    struct saying *x = ctx;
    struct arena   a = { 0 };

    if (!x->failed)
        x->failed = call_write_now(x->stream, mcp_event_text(message, &a)) != 0;
    arena_free(&a);
}

/* One look at what a session has subscribed to. False: its reader is gone, or too slow. */
static bool look_at(struct serve_mcp *m, struct serve_call *stream, int64_t now)
{
    struct saying x = { .stream = stream };

    if (mcp_is_watching(m->session))
        mcp_look(m->session, say, &x);
    if (!x.failed && now - m->beat_us > (int64_t)MCP_BEAT_MS * 1000) {
        x.failed = call_write_now(stream, SV(":\n\n")) != 0;
        m->beat_us = now;
    }
    return !x.failed && !atomic_load(&stream->gone);
}

/* With the lock held: the next session with a stream that was not looked at in this round. */
static struct serve_mcp *next_stream(struct serve_mcps *all, int64_t round)
{
    for (struct serve_mcp *m = all->first; m; m = m->after)
        if (m->stream && m->used_us != round)
            return m;
    return NULL;
}

/* With the lock held, which is released while a session is checked. Only this thread writes to
 * streams. */
static void look_at_all(struct serve_mcps *all)
{
    int64_t           round = clock_steady_us();
    struct serve_mcp *m;

    while (!all->stopping && (m = next_stream(all, round))) {
        struct serve_call *stream = m->stream, *ended = NULL;
        m->used_us = round;
        m->refs++;
        call_hold(stream);
        pthread_mutex_unlock(&all->lock);
        bool goes_on = look_at(m, stream, round);
        pthread_mutex_lock(&all->lock);
        if (!goes_on && m->stream == stream) {
            ended = take_stream(m);
            if (!m->id[0])
                strike_off(m);
        }
        pthread_mutex_unlock(&all->lock);
        if (ended)
            call_done(ended);
        call_release(stream);
        mcp_session_drop(m);
        pthread_mutex_lock(&all->lock);
    }
}

static void *watch(void *ctx)
{
    struct serve_mcps *all = ctx;

    pthread_mutex_lock(&all->lock);
    while (!all->stopping) {
        int64_t         us = clock_steady_us() + (int64_t)MCP_LOOK_MS * 1000;
        struct timespec until = { us / 1000000, us % 1000000 * 1000 };
        if (!next_stream(all, 0))
            pthread_cond_wait(&all->work, &all->lock);
        else
            pthread_cond_timedwait(&all->work, &all->lock, &until);
        look_at_all(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* ---- all of them
 * ------------------------------------------------------------------------------------ */

struct serve_mcps *mcps_open(struct serve *s)
{
    struct serve_mcps *all = calloc(1, sizeof *all);
    pthread_condattr_t steady;

    if (!all)
        failure_memory(sizeof *all);
    all->s = s;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&all->work, &steady);
    pthread_condattr_destroy(&steady);
    return all;
}

void mcps_stop(struct serve_mcps *all)
{
    struct serve_mcp *m;

    pthread_mutex_lock(&all->lock);
    all->stopping = true;
    pthread_cond_signal(&all->work);
    bool runs = all->runs;
    all->runs = false;
    pthread_mutex_unlock(&all->lock);
    if (runs)
        pthread_join(all->thread, NULL);
    pthread_mutex_lock(&all->lock);
    while ((m = next_stream(all, -1))) {
        struct serve_call *stream = take_stream(m);
        pthread_mutex_unlock(&all->lock);
        call_done(stream);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
}

void mcps_close(struct serve_mcps *all)
{
    for (struct serve_mcp *m = all->first, *next; m; m = next) {
        next = m->after;
        if (strike_off(m))
            destroy(m);
    }
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->work);
    free(all);
}
