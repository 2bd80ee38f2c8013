/* One client: its messages, the calls that wait or run, and their end. */
#include "mcp/message.h"

#include "api/share/context.h"
#include "base/clock.h"
#include "base/failure.h"

#include <stdlib.h>

struct mcp_call {
    struct mcp_session *s;
    struct arena        a;
    mcp_send           *send;
    void               *ctx;
    bool                batch;
    VEC(struct mcp_item *) items;
};

static void *heap(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        failure_memory(size);
    return p;
}

struct mcp_session *mcp_open(const struct mcp_server *server)
{
    struct mcp_session *s = heap(sizeof *s);

    s->server = server;
    s->revision = REVISION_2025_11;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void mcp_close(struct mcp_session *s, mcp_send *send, void *ctx)
{
    while (s->watches) {
        struct arena    a = { 0 };
        struct sb       b = sb_in(&a, 0);
        struct jw       w = jw_in(&b, 0);
        struct mcp_item end = { .id = sv_dup(s->watches->id, &a) };
        jw_open(&w, '{');
        jw_kstr(&w, "jsonrpc", SV("2.0"));
        jw_key(&w, "id");
        jw_raw(&w, end.id);
        jw_key(&w, "result");
        jw_open(&w, '{');
        jw_kstr(&w, "resultType", SV("complete"));
        jw_key(&w, "_meta");
        jw_open(&w, '{');
        jw_key(&w, MCP_META "subscriptionId");
        jw_raw(&w, end.id);
        jw_close(&w, '}');
        jw_close(&w, '}');
        jw_close(&w, '}');
        if (send && end.id.n)
            send(ctx, sb_sv(&b));
        mcp_unlisten(s, end.id);
        arena_free(&a);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- calls in flight ----------------------------------------------------------------------- */

static struct mcp_item *find(struct mcp_session *s, struct sv id)
{
    struct mcp_item *x = s->items;

    while (x && !sv_eq(x->id, id))
        x = x->next;
    return x;
}

/* Adds a request to the session's list, in which cancellations find it. */
static enum status enlist(struct mcp_item *x, struct err *e)
{
    struct mcp_session *s = x->s;
    const char         *why = NULL;

    pthread_mutex_lock(&s->lock);
    if (find(s, x->id))
        why = "a request with this id is not answered yet";
    else if (s->n_items >= MCP_CALLS_MAX)
        why = "too many requests are not answered yet";
    if (!why) {
        x->next = s->items;
        s->items = x;
        s->n_items++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!why)
        return ST_OK;
    x->code = MCP_INVALID_REQUEST;
    return err_set(e, ST_CONFLICT, "%s", why);
}

static void delist(struct mcp_item *x)
{
    struct mcp_session *s = x->s;
    struct mcp_item   **at = &s->items;

    pthread_mutex_lock(&s->lock);
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    s->n_items--;
    pthread_mutex_unlock(&s->lock);
}

static void cancel(struct mcp_session *s, const struct json *params)
{
    const struct json *id = json_find(params, "requestId");
    struct arena       a = { 0 };

    if (id) {
        struct sv text = json_canonical(id, &a);
        pthread_mutex_lock(&s->lock);
        struct mcp_item *x = find(s, text);
        if (x)
            atomic_store(&x->cancel, true);
        pthread_mutex_unlock(&s->lock);
        if (!x)
            mcp_unlisten(s, text);
    }
    arena_free(&a);
}

void mcp_cancel_all(struct mcp_session *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct mcp_item *x = s->items; x; x = x->next)
        atomic_store(&x->cancel, true);
    pthread_mutex_unlock(&s->lock);
}

/* ---- one message --------------------------------------------------------------------------- */

static void end_call(struct mcp_call *c)
{
    struct arena a = c->a;

    free(c);
    arena_free(&a);
}

static void send_text(const struct mcp_call *c, struct sv text)
{
    c->send(c->ctx, text);
}

/* Answers a request at once if its method allows that; else adds it to the call. */
static void take_request(struct mcp_call *c, struct mcp_item *x)
{
    struct err e = { 0 };

    if (x->method->at_once && !c->batch) {
        struct sv text = mcp_answer_text(x);
        if (!x->listens)
            send_text(c, text);
    } else if (enlist(x, &e)) {
        send_text(c, mcp_error_text(x, &e));
    } else {
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
        *vec_push(&c->items, &c->a) = x;
    }
}

static void take_message(struct mcp_call *c, const struct json *v)
{
    struct mcp_item *x = ARENA_NEW(&c->a, struct mcp_item, 1);
    enum mcp_message kind;
    struct sv        method;
    struct err       e = { 0 };

    x->s = c->s;
    x->call = c;
    x->a = &c->a;
    if (mcp_item_read(x, v, &kind, &method, &e))
        send_text(c, mcp_error_text(x, &e));
    else if (kind == MCP_REQUEST)
        take_request(c, x);
    else if (kind == MCP_NOTIFICATION && sv_is(method, "notifications/cancelled"))
        cancel(c->s, x->params);
}

static void refuse(struct mcp_call *c, enum mcp_code code, const struct err *e)
{
    struct mcp_item x = { .a = &c->a, .code = code };

    send_text(c, mcp_error_text(&x, e));
}

/* Revisions before 2025-06-18 know lists of messages. */
static bool takes_lists(struct mcp_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool takes = s->revision >= REVISION_2025_03;
    pthread_mutex_unlock(&s->lock);
    return takes;
}

static void take_text(struct mcp_call *c, struct sv text)
{
    struct json doc;
    struct err  e = { 0 };

    if (json_parse(sv_dup(text, &c->a), JSON_ONE_LINE, &c->a, &doc, &e)) {
        refuse(c, MCP_PARSE_ERROR, &e);
    } else if (doc.type != JSON_ARRAY) {
        take_message(c, &doc);
    } else if (!doc.n || !takes_lists(c->s)) {
        err_set(&e, ST_INVALID_SYNTAX, "a list of messages is not taken");
        refuse(c, MCP_INVALID_REQUEST, &e);
    } else {
        c->batch = true;
        for (size_t i = 0; i < doc.n; i++)
            take_message(c, &doc.items[i]);
    }
}

struct mcp_call *mcp_read(struct mcp_session *s, struct sv message, mcp_send *send, void *ctx)
{
    struct mcp_call *c = heap(sizeof *c);

    *c = (struct mcp_call){ .s = s, .send = send, .ctx = ctx };
    take_text(c, message);
    if (c->items.n)
        return c;
    end_call(c);
    return NULL;
}

void mcp_refuse(const char *why, mcp_send *send, void *ctx)
{
    struct mcp_call c = { .send = send, .ctx = ctx };
    struct err      e = { 0 };

    err_set(&e, ST_LIMIT_EXCEEDED, "%s", why);
    refuse(&c, MCP_INVALID_REQUEST, &e);
    arena_free(&c.a);
}

bool mcp_writes(const struct mcp_call *c)
{
    bool any = false;

    for (size_t i = 0; i < c->items.n; i++)
        any = any || (c->items.v[i]->method->answer == mcp_tools_call &&
                      mcp_tool_writes(c->items.v[i]->params));
    return any;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The client has the injections of a context: they are not sent again. Failure is ignored: sending
 * them twice is better than never. */
static void acknowledge(struct mcp_item *x)
{
    struct context_acknowledge_params p = { .thread = x->context_thread,
                                            .waiting = &x->context_waiting };
    struct request                    r;
    struct err                        ignored;

    if (!x->context_thread.s || !x->context_waiting.n)
        return;
    request_init(&r, x->s->server->ws, x->a);
    r.actor = x->s->server->actor;
    (void)!operation_run(&op_context_acknowledge, &r, &p, &ignored);
    request_end(&r);
}

/* The text of the answer; absent when the request was cancelled. */
static struct sv run_item(struct mcp_item *x)
{
    struct sv text = { 0 };

    if (!atomic_load(&x->cancel))
        text = mcp_answer_text(x);
    if (atomic_load(&x->cancel) || x->listens)
        text = (struct sv){ 0 };
    delist(x);
    if (x->listens && atomic_load(&x->cancel)) /* cancelled while it was set up */
        mcp_unlisten(x->s, x->id);
    return text;
}

static void run_batch(struct mcp_call *c)
{
    struct sb b = sb_in(&c->a, 0);

    for (size_t i = 0; i < c->items.n; i++) {
        struct sv text = run_item(c->items.v[i]);
        if (text.n) {
            sb_addc(&b, b.n ? ',' : '[');
            sb_add(&b, text);
        }
    }
    if (b.n) {
        sb_addc(&b, ']');
        send_text(c, sb_sv(&b));
    }
}

void mcp_run(struct mcp_call *c)
{
    if (c->batch) {
        run_batch(c);
    } else {
        struct sv text = run_item(c->items.v[0]);
        if (text.n)
            send_text(c, text);
    }
    for (size_t i = 0; i < c->items.n; i++)
        if (!atomic_load(&c->items.v[i]->cancel))
            acknowledge(c->items.v[i]);
    end_call(c);
}

/* ---- operations ---------------------------------------------------------------------------- */

void mcp_notify(const struct mcp_item *x, const char *method, struct sv params)
{
    send_text(x->call, mcp_notification_text(method, params, x->a));
}

enum { PROGRESS_US = 100000 };

/* The protocol demands that progress grows with every message, but operations count from 0 in each
 * phase of their work. */
static void progress(void *ctx, const char *what, int64_t done, int64_t total)
{
    struct mcp_item *x = ctx;
    struct sb        b = sb_in(x->a, 0);
    struct jw        w = jw_in(&b, 0);
    int64_t          now = clock_steady_us();

    if (x->progress_what != what) {
        x->progress_base = x->progress_last;
        x->progress_what = what;
        x->progress_at = 0;
    }
    if (x->progress_base + done <= x->progress_last ||
        (x->progress_at && now - x->progress_at < PROGRESS_US && done != total))
        return;
    x->progress_last = x->progress_base + done;
    x->progress_at = now;
    jw_open(&w, '{');
    jw_key(&w, "progressToken");
    jw_raw(&w, x->progress_token);
    jw_kint(&w, "progress", x->progress_last);
    if (total > 0)
        jw_kint(&w, "total", x->progress_base + total);
    jw_kstr(&w, "message", sv_of(what));
    jw_close(&w, '}');
    mcp_notify(x, "notifications/progress", sb_sv(&b));
}

static enum status take_event(void *ctx, struct sv document, struct err *e)
{
    struct sb *out = ctx;

    (void)e;
    sb_add(out, document);
    sb_addc(out, '\n');
    return ST_OK;
}

enum status mcp_operation(struct mcp_item *x, const struct operation *op, const struct json *params,
                          struct sb *out, struct request *r, struct err *e)
{
    const struct mcp_server *server = x->s->server;
    void                    *into = params_init(op->params, op->params_size, x->a);

    request_init(r, server->ws, x->a);
    r->actor = server->actor;
    r->agent = server->agent;
    r->allow = server->allow;
    r->allow_ctx = server->allow_ctx;
    r->cancel = &x->cancel;
    r->out = out;
    if (out && op->streams & STREAM_EVENTS) {
        r->event = take_event;
        r->event_ctx = out;
    }
    if (x->progress_token.n) {
        r->progress = progress;
        r->progress_ctx = x;
    }
    enum status s = params_read(op->params, params, into, x->a, e);
    if (!s)
        s = operation_run(op, r, into, e);
    request_end(r);
    return s;
}

enum status mcp_ask(struct mcp_item *x, const struct operation *op, struct sv params,
                    struct sb *out, struct json *doc, struct err *e)
{
    struct request r;
    struct json    given;

    if (json_parse(params, 0, x->a, &given, e) || mcp_operation(x, op, &given, out, &r, e))
        return err_code(e);
    return json_parse(request_document(&r), JSON_KEEP_ORDER, x->a, doc, e);
}
