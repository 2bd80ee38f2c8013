/* One request: reading it, handing it to a thread, and sending what comes back. */
#include "front/http/call.h"

#include "base/clock.h"
#include "base/failure.h"
#include "front/app.h"
#include "front/http/address.h"
#include "front/http/metrics.h"
#include "front/http/route.h"
#include "front/http/watch.h"
#include "front/http/who.h"

#include <errno.h>
#include <stdlib.h>

/* ---- lifetime --------------------------------------------------------------------------- */

static void enlist(struct serve_call *c)
{
    pthread_mutex_lock(&c->s->lock);
    c->after = c->s->calls;
    if (c->after)
        c->after->before = c;
    c->s->calls = c;
    pthread_mutex_unlock(&c->s->lock);
}

static void strike_off(struct serve_call *c)
{
    pthread_mutex_lock(&c->s->lock);
    if (c->before)
        c->before->after = c->after;
    else
        c->s->calls = c->after;
    if (c->after)
        c->after->before = c->before;
    pthread_mutex_unlock(&c->s->lock);
}

bool call_any_runs(struct serve *s)
{
    bool any = feed_counts(s->feed).readers > 0;

    pthread_mutex_lock(&s->lock);
    for (struct serve_call *c = s->calls; c && !any; c = c->after) {
        pthread_mutex_lock(&c->lock);
        any = c->suspended || atomic_load(&c->refs) > 1;
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool call_any_unsent(struct serve *s)
{
    bool any = false;

    pthread_mutex_lock(&s->lock);
    for (struct serve_call *c = s->calls; c && !any; c = c->after) {
        pthread_mutex_lock(&c->lock);
        any = c->conn && (c->answered || c->queued);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

void call_cancel_all(struct serve *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct serve_call *c = s->calls; c; c = c->after) {
        pthread_mutex_lock(&c->lock);
        atomic_store(&c->gone, true);
        pthread_cond_broadcast(&c->moved);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static void drop(struct serve_call *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    strike_off(c);
    pipe_release(&c->in);
    pipe_release(&c->out);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->moved);
    arena_free(&c->a);
    free(c);
}

void call_hold(struct serve_call *c)
{
    atomic_fetch_add(&c->refs, 1);
}

void call_release(struct serve_call *c)
{
    drop(c);
}

void *call_begin(void *ctx, const char *target, struct MHD_Connection *conn)
{
    struct serve_door *door = ctx;
    struct serve_call *c = calloc(1, sizeof *c);

    if (!c)
        failure_memory(sizeof *c);
    arena_begin(&c->a, CALL_ARENA);
    c->s = door->s;
    c->door = door;
    c->conn = conn;
    c->refs = 1;
    c->target_there = sv_of(target);
    c->target = sv_dup(c->target_there, &c->a);
    c->began_us = clock_steady_us();
    const union MHD_ConnectionInfo *context =
        c->s->mhd.get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    c->watched = context ? context->socket_context : NULL;
    c->method = "";
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->moved, NULL);
    enlist(c);
    return c;
}

void call_end(void *ctx, struct MHD_Connection *conn, void **state,
              enum MHD_RequestTerminationCode why)
{
    struct serve_call *c = *state;
    int64_t            us;

    (void)ctx;
    (void)conn;
    (void)why;
    if (!c)
        return;
    *state = NULL;
    us = clock_steady_us() - c->began_us;
    metrics_count(c->s->metrics, c, us);
    metrics_log(c, us);
    watch_set(c->watched, WATCH_NEXT);
    if (c->reader.joined)
        feed_leave(c->s->feed, &c->reader);
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->gone, true);
    c->conn = NULL;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
    drop(c);
}

/* ---- streams out ------------------------------------------------------------------------ */

/* With the lock held. */
static void resume(struct serve_call *c)
{
    if (c->suspended && c->conn) {
        c->suspended = false;
        c->s->mhd.resume_connection(c->conn);
    }
}

static void suspend(struct serve_call *c)
{
    c->suspended = true;
    c->s->mhd.suspend_connection(c->conn);
}

/* Gives libmicrohttpd what the operation has written. */
static ssize_t stream_read(void *ctx, uint64_t pos, char *into, size_t most)
{
    struct serve_call *c = ctx;

    (void)pos;
    pthread_mutex_lock(&c->lock);
    ssize_t n = (ssize_t)pipe_take(&c->out, into, most);
    if (n) {
        c->sent += n;
        pthread_cond_broadcast(&c->moved);
    } else if (c->out.ended) {
        n = c->out.cut ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        suspend(c);
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

enum { STREAM_BLOCK = 32 * 1024, OUT_WHILE_READING_MAX = 64 << 20 };

/* Nothing can be sent before the body is complete: until then the output is buffered. */
static size_t out_most(const struct serve_call *c)
{
    return c->streams_in && !c->in.ended ? OUT_WHILE_READING_MAX : CALL_BUFFER;
}

void call_gather(struct serve_call *c)
{
    pthread_mutex_lock(&c->lock);
    c->gathers = !c->streaming && !c->streams_in;
    pthread_mutex_unlock(&c->lock);
}

bool call_take_back(struct serve_call *c)
{
    pthread_mutex_lock(&c->lock);
    bool here = c->gathers;
    if (here) {
        c->out.n = 0;
        c->gathers = c->streaming = false;
    }
    pthread_mutex_unlock(&c->lock);
    return here;
}

/* With the lock held: does it fit into what is gathered? */
static bool gather(struct serve_call *c, struct sv bytes)
{
    c->gathers = c->gathers && c->out.n + bytes.n <= CALL_GATHER;
    if (c->gathers)
        pipe_put(&c->out, bytes, CALL_GATHER);
    return c->gathers;
}

int call_write(struct serve_call *c, struct sv bytes)
{
    pthread_mutex_lock(&c->lock);
    c->streaming = true;
    if (gather(c, bytes))
        bytes.n = 0;
    while (bytes.n && !atomic_load(&c->gone)) {
        size_t n = c->out.n < out_most(c) ? pipe_put(&c->out, bytes, out_most(c)) : 0;
        bytes = sv_skip(bytes, n);
        if (n && (!c->streams_in || c->in.ended))
            resume(c);
        if (!n && c->streams_in && !c->in.ended)
            atomic_store(&c->gone, true); /* its client does not read while it sends the body */
        else if (!n)
            pthread_cond_wait(&c->moved, &c->lock);
    }
    bool gone = atomic_load(&c->gone);
    pthread_mutex_unlock(&c->lock);
    return gone ? EPIPE : 0;
}

int call_write_now(struct serve_call *c, struct sv bytes)
{
    pthread_mutex_lock(&c->lock);
    bool gone = atomic_load(&c->gone), room = c->out.n + bytes.n <= CALL_BUFFER;
    if (!gone && room) {
        c->streaming = true;
        pipe_put(&c->out, bytes, CALL_BUFFER);
        resume(c);
    }
    pthread_mutex_unlock(&c->lock);
    return gone ? EPIPE : room ? 0 : EAGAIN;
}

void call_done(struct serve_call *c)
{
    pthread_mutex_lock(&c->lock);
    c->answered = true;
    c->out.ended = true;
    if (c->gathers)
        c->text = (struct sv){ c->out.buf + c->out.from, c->out.n };
    c->in.n = 0; /* the rest of the body is not read */
    resume(c);
    pthread_mutex_unlock(&c->lock);
    drop(c);
}

/* ---- bodies ----------------------------------------------------------------------------- */

ssize_t call_read(void *ctx, char *into, size_t most)
{
    struct serve_call *c = ctx;

    pthread_mutex_lock(&c->lock);
    while (!c->in.n && !c->in.ended && !atomic_load(&c->gone))
        pthread_cond_wait(&c->moved, &c->lock);
    ssize_t n = (ssize_t)pipe_take(&c->in, into, most);
    if (n && !c->in.ended)
        resume(c);
    bool cut = !n && !c->in.ended;
    pthread_mutex_unlock(&c->lock);
    if (cut)
        errno = ECONNRESET;
    return cut ? -1 : n;
}

/* Hands the bytes to the operation, as far as there is room; without room the connection is
 * suspended. */
static enum MHD_Result pass_on(struct serve_call *c, const char *upload, size_t *n)
{
    pthread_mutex_lock(&c->lock);
    size_t taken = *n;
    if (!c->answered && c->in.n < CALL_BUFFER)
        taken = pipe_put(&c->in, (struct sv){ upload, *n }, CALL_BUFFER);
    else if (!c->answered)
        taken = 0;
    *n -= taken;
    pthread_cond_broadcast(&c->moved);
    if (!taken)
        suspend(c);
    pthread_mutex_unlock(&c->lock);
    return MHD_YES;
}

static bool too_large(const struct serve_call *c, struct serve_refusal *why)
{
    guard_refuse(why, 413, ST_LIMIT_EXCEEDED, "body",
                 "the body of the request is larger than %lld "
                 "bytes",
                 (long long)c->s->o->max_body);
    err_hint(&why->e, "`heddle serve --max-body` sets the limit; operations that read lines take "
                      "any length as application/x-ndjson");
    return false;
}

static enum MHD_Result take_body(struct serve_call *c, const char *upload, size_t *n)
{
    struct serve_refusal why;

    c->body_bytes += (int64_t)*n;
    watch_moved(c->watched, *n);
    if (c->refused) {
        *n = 0;
        return MHD_YES;
    }
    if (c->streams_in) {
        enum MHD_Result done = pass_on(c, upload, n);
        c->body_bytes -= (int64_t)*n; /* libmicrohttpd passes these bytes again */
        return done;
    }
    if (c->body_bytes > c->s->o->max_body) { /* chunked: known only now */
        too_large(c, &why);
        c->refused = true;
        c->status = why.status;
        c->type = "application/json";
        c->text = call_error_text(c, &why.e, (struct sv){ 0 });
        c->body = (struct sb){ 0 };
    } else {
        sb_add(&c->body, (struct sv){ upload, *n });
    }
    *n = 0;
    return MHD_YES;
}

/* ---- steps ------------------------------------------------------------------------------ */

struct reading {
    struct serve_head *head;
    const char        *next; /* where the next line must begin; NULL: not known */
};

static enum MHD_Result on_field(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_n,
                                const char *value, size_t value_n)
{
    struct reading *r = ctx;
    struct sv       name = { key, key_n }, text = { value ? value : "", value_n };

    (void)kind;
    if (r->next && value)
        head_line(r->head, &r->next, name, text);
    head_field(r->head, name, text);
    return MHD_YES;
}

static void read_head(struct serve_call *c, const char *method, const char *version)
{
    struct reading r = { .head = &c->head };

    head_begin(&c->head, sv_of(method), c->target, sv_of(version));
    if (c->s->mhd.parses_in_place) {
        r.next = c->target_there.s;
        head_method(&c->head, sv_of(method), r.next);
        head_line(&c->head, &r.next, c->target_there, sv_of(version));
    }
    c->s->mhd.get_connection_values_n(c->conn, MHD_HEADER_KIND, on_field, &r);
    const union MHD_ConnectionInfo *size =
        c->s->mhd.get_connection_info(c->conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (r.next && size)
        head_end(&c->head, r.next, method + size->header_size);
}

static bool fits(const struct serve_call *c, struct serve_refusal *why)
{
    int64_t length;

    if (!c->head.length.n || !sv_to_int(c->head.length, &length) || c->streams_in ||
        length <= c->s->o->max_body)
        return true;
    return too_large(c, why);
}

/* A connection beyond the limit gets an error answer and is closed. */
static bool has_room(const struct serve_call *c, struct serve_refusal *why)
{
    if (atomic_load(&c->s->watch->n) <= c->s->o->max_connections)
        return true;
    guard_refuse(why, 503, ST_LIMIT_EXCEEDED, "busy",
                 "the server has as many connections as it may");
    err_hint(&why->e, "`heddle serve --max-connections` sets the limit");
    return false;
}

static const char *method_name(struct sv method)
{
    static const char *const names[] = { "GET", "HEAD", "POST", "DELETE" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(method, names[i]))
            return names[i];
    return "other";
}

static enum MHD_Result begin(struct serve_call *c, const char *method, const char *version)
{
    struct serve_refusal why = { 0 };

    c->begun = true;
    c->body = sb_in(&c->a, 0);
    c->method = method_name(sv_of(method));
    read_head(c, method, version);
    c->chunked = c->head.coding.s;
    address_settle(&c->head, &c->a);
    watch_set(c->watched, head_has_body(&c->head) ? WATCH_BODY : WATCH_FREE);
    if (!guard_pass(&c->door->names, &c->head, &why) || !has_room(c, &why))
        return call_refuse(c, &why);
    c->route = route_find(&c->head, &why);
    if (!c->route || !who_asks(c, &why) || (c->route->begin && !c->route->begin(c, &why)) ||
        !fits(c, &why))
        return call_refuse(c, &why);
    if (c->streams_in)
        watch_set(c->watched, WATCH_FREE);
    return MHD_YES;
}

/* The body is complete. */
static enum MHD_Result go_on(struct serve_call *c)
{
    pthread_mutex_lock(&c->lock);
    bool streaming = c->streaming && !c->gathers, answered = c->answered;
    bool waits = (c->job.run || c->joined) && !streaming && !answered;
    c->in.ended = true;
    pthread_cond_broadcast(&c->moved);
    watch_set(c->watched, WATCH_FREE);
    if (waits)
        suspend(c);
    pthread_mutex_unlock(&c->lock);
    if (waits)
        return MHD_YES;
    if (c->refused)
        return call_queue(c);
    if (streaming)
        return call_stream(c, STREAM_BLOCK, stream_read);
    return answered ? call_queue(c) : c->route->answer(c);
}

enum MHD_Result call_step(void *ctx, struct MHD_Connection *conn, const char *url,
                          const char *method, const char *version, const char *upload,
                          size_t *upload_n, void **state)
{
    struct serve_call *c = *state;

    (void)ctx;
    (void)conn;
    (void)url;
    if (!c)
        return MHD_NO;
    if (!c->begun)
        return begin(c, method, version);
    return *upload_n ? take_body(c, upload, upload_n) : go_on(c);
}

/* With the lock held: no thread could take the call. */
static void answer_busy(struct serve_call *c)
{
    struct serve_refusal why;

    guard_refuse(&why, 503, ST_LIMIT_EXCEEDED, "busy",
                 "the server is busy: too many requests run at the same time");
    metrics_refused(c->s->metrics, "busy");
    c->status = why.status;
    c->type = "application/json";
    c->text = call_error_text(c, &why.e, (struct sv){ 0 });
    call_header(c, "Retry-After", SV("1"));
    c->answered = true;
    resume(c);
}

/* Hand the call to another thread, by `give`. The connection is suspended first, because the answer
 * may be ready before `give` returns. */
static enum MHD_Result hand_over(struct serve_call *c, bool (*give)(struct serve_call *c))
{
    atomic_fetch_add(&c->refs, 1);
    pthread_mutex_lock(&c->lock);
    if (!c->streams_in || c->in.ended)
        suspend(c);
    bool taken = give(c);
    if (!taken)
        answer_busy(c);
    pthread_mutex_unlock(&c->lock);
    if (!taken)
        drop(c);
    return MHD_YES;
}

static bool give_short(struct serve_call *c)
{
    return crew_run(c->s->readers, &c->job);
}

static bool give_stream(struct serve_call *c)
{
    return crew_run(c->s->streams, &c->job);
}

static bool give_waits(struct serve_call *c)
{
    return crew_run(c->s->waits, &c->job);
}

static bool give_writer(struct serve_call *c)
{
    return writer_put(c->s->writer, &c->joined->job);
}

enum MHD_Result call_run(struct serve_call *c, void (*run)(struct crew_job *), enum call_pace pace)
{
    static bool (*const give[])(struct serve_call *) = {
        [PACE_SHORT] = give_short, [PACE_STREAM] = give_stream, [PACE_WAITS] = give_waits
    };

    c->job.run = run;
    return hand_over(c, give[pace]);
}

enum MHD_Result call_join(struct serve_call *c,
                          void (*prepare)(struct writer_job *, struct request *),
                          void (*done)(struct writer_job *))
{
    c->joined = ARENA_NEW(&c->a, struct call_joined, 1);
    c->joined->call = c;
    c->joined->job = (struct writer_job){
        .op = c->op, .params = c->params, .a = &c->a, .prepare = prepare, .done = done
    };
    return hand_over(c, give_writer);
}
