/* Requests to /mcp: which session they belong to, and how they are answered. */
#include "front/http/mcp.h"

#include "base/hash.h"
#include "front/http/mcp_session.h"
#include "front/http/who.h"

#include <errno.h>

/* The used fields of the head, copied because the head belongs to the connection. */
struct mcp_asked {
    struct sv session, version, method, name, agent, thread;
    bool      takes_events;
};

#define MCP_VERSION_KEY "io.modelcontextprotocol/protocolVersion"
#define MCP_MODERN "2026-07-28"
enum { MCP_HEADER_MISMATCH = -32020 };

/* ---- answers ------------------------------------------------------------------------------------
 */

/* The messages that answer one POST. */
struct mcp_reply {
    struct serve_call *c;
    bool               takes_events, modern;
    struct sv          held; /* the first message, as long as it may be the only one */
    size_t             n;
};

static bool is_notification(struct sv message)
{
    return sv_starts(message, SV("{\"jsonrpc\":\"2.0\",\"method\""));
}

static void send_event(struct mcp_reply *x, struct sv message)
{
    struct arena a = { 0 };

    if (!x->c->streaming) {
        x->c->status = 200;
        x->c->type = "text/event-stream";
    }
    (void)call_write(x->c, mcp_event_text(message, &a));
    arena_free(&a);
}

/* One message is an answer in JSON. As soon as there are more, they are events. */
static void take_message(void *ctx, struct sv message)
{
    struct mcp_reply *x = ctx;

    if (is_notification(message) && !x->takes_events)
        return; /* nothing but the answer can be sent */
    if (!x->n++ && !is_notification(message)) {
        x->held = sv_dup(message, &x->c->a);
        return;
    }
    if (x->held.n)
        send_event(x, x->held);
    x->held = (struct sv){ 0 };
    send_event(x, message);
}

/* The code of an error; 0: it is a result. */
static int64_t error_code(struct sv message, struct arena *a)
{
    struct json doc;
    struct err  ignored;

    if (message.n > 64 * 1024 || json_parse(message, 0, a, &doc, &ignored))
        return 0;
    return json_number(json_find(&doc, "error"), "code");
}

/* Statuses as the revision without a handshake has them; before, an error was an answer. */
static int status_of(const struct mcp_reply *x, int64_t code)
{
    if (!code || (!x->modern && code != -32700 && code != -32600))
        return 200;
    return code == -32601 ? 404 : code == -32603 ? 500 : 400;
}

static void finish(struct mcp_reply *x)
{
    struct serve_call *c = x->c;

    if (x->held.n) {
        c->status = status_of(x, error_code(x->held, &c->a));
        c->type = "application/json";
        c->text = x->held;
    } else if (!x->n) {
        c->status = 202;
        c->type = "application/json";
        c->text = SV("");
    }
    call_done(c);
}

/* An error of the transport, as an answer of JSON-RPC. */
static void refuse(struct mcp_reply *x, int status, int code, const struct json *id,
                   const char *why)
{
    struct sb b = sb_in(&x->c->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "jsonrpc", SV("2.0"));
    jw_key(&w, "id");
    if (id)
        jw_json(&w, id);
    else
        jw_null(&w);
    jw_key(&w, "error");
    jw_open(&w, '{');
    jw_kint(&w, "code", code);
    jw_kstr(&w, "message", sv_of(why));
    jw_close(&w, '}');
    jw_close(&w, '}');
    x->c->status = status;
    x->c->type = "application/json";
    x->c->text = sb_sv(&b);
    call_done(x->c);
}

/* ---- the head against the body
 * -------------------------------------------------------------------- */

/* =?base64?…?= stands for what no header can hold. */
static struct sv decoded(struct sv value, struct arena *a)
{
    struct sv start = SV("=?base64?"), end = SV("?="), bytes;

    if (!sv_starts(value, start) || !sv_ends(value, end) || value.n < start.n + end.n)
        return value;
    struct sv text = { value.s + start.n, value.n - start.n - end.n };
    while (text.n && text.s[text.n - 1] == '=')
        text.n--;
    char *url = (char *)(uintptr_t)sv_dup(text, a).s;
    for (size_t i = 0; i < text.n; i++)
        url[i] = (char)(url[i] == '+' ? '-' : url[i] == '/' ? '_' : url[i]);
    return base64url_read((struct sv){ url, text.n }, a, &bytes) ? bytes : value;
}

/* What Mcp-Name mirrors; absent for other methods. */
static struct sv name_in(const struct json *doc)
{
    struct sv          method = json_text(doc, "method");
    const struct json *params = json_find(doc, "params");

    if (sv_is(method, "tools/call") || sv_is(method, "prompts/get"))
        return json_text(params, "name");
    return sv_is(method, "resources/read") ? json_text(params, "uri") : (struct sv){ 0 };
}

/* NULL: they agree. */
static const char *mismatch(const struct mcp_asked *q, const struct json *doc, struct sv revision,
                            struct arena *a)
{
    struct sv name = name_in(doc);

    if (!sv_eq(q->version, revision))
        return "MCP-Protocol-Version and the revision in the body differ";
    if (!sv_eq(q->method, json_text(doc, "method")))
        return "Mcp-Method and the method in the body differ";
    if (name.s && !sv_eq(decoded(q->name, a), name))
        return "Mcp-Name and the name in the body differ";
    return NULL;
}

/* ---- POST
 * ------------------------------------------------------------------------------------------ */

/* Run one message in a session, and keep its answer open when it has subscribed to something. */
static void run_message(struct mcp_reply *x, struct serve_mcp *m, struct sv body)
{
    struct mcp_call *call = mcp_read(m->session, body, take_message, x);

    if (call) {
        bool writes = mcp_writes(call);
        if (writes)
            pthread_mutex_lock(&m->writes);
        mcp_run(call);
        if (writes)
            pthread_mutex_unlock(&m->writes);
    }
    if (x->modern && mcp_is_watching(m->session) && !x->held.n) {
        mcp_session_listen(m, x->c); /* the call is ended there */
        return;
    }
    finish(x);
}

static void run_modern(struct mcp_reply *x, const struct mcp_asked *q, struct sv body)
{
    struct serve_mcp *m = mcp_session_make(x->c, q->agent, q->thread, false);

    x->modern = true;
    run_message(x, m, body);
    mcp_session_drop(m);
}

static void run_handshake(struct mcp_reply *x, const struct mcp_asked *q, struct sv body)
{
    struct serve_mcp *m = mcp_session_make(x->c, q->agent, q->thread, true);

    call_header(x->c, "Mcp-Session-Id", sv_of(m->id));
    run_message(x, m, body);
    mcp_session_drop(m);
}

static void run_in_session(struct mcp_reply *x, const struct mcp_asked *q, struct sv body)
{
    struct serve_mcp *m = mcp_session_find(x->c, q->session);

    if (!m) {
        refuse(x, 404, -32001, NULL, "there is no such session: begin again with initialize");
        return;
    }
    run_message(x, m, body);
    mcp_session_drop(m);
}

static bool is_known_revision(struct sv version)
{
    static const char *const known[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };

    for (size_t i = 0; i < COUNT(known); i++)
        if (sv_is(version, known[i]))
            return true;
    return false;
}

static void run_post(struct crew_job *job)
{
    struct serve_call      *c = (struct serve_call *)(void *)job;
    const struct mcp_asked *q = c->params;
    struct mcp_reply        x = { .c = c, .takes_events = q->takes_events };
    struct sv               body = sb_sv(&c->body);
    struct json             doc;
    struct err              e;

    if (json_parse(body, 0, &c->a, &doc, &e)) {
        refuse(&x, 400, -32700, NULL, e.text);
        return;
    }
    struct sv revision = json_text(json_find(json_find(&doc, "params"), "_meta"), MCP_VERSION_KEY);
    bool      modern = revision.s || sv_is(q->version, MCP_MODERN);
    const char *wrong = modern && revision.s ? mismatch(q, &doc, revision, &c->a) : NULL;
    if (wrong)
        refuse(&x, 400, MCP_HEADER_MISMATCH, json_find(&doc, "id"), wrong);
    else if (modern && !revision.s)
        refuse(&x, 400, -32602, json_find(&doc, "id"), "_meta has no " MCP_VERSION_KEY);
    else if (revision.s)
        run_modern(&x, q, body);
    else if (sv_is(json_text(&doc, "method"), "initialize") && !q->session.s)
        run_handshake(&x, q, body);
    else if (q->version.s && !is_known_revision(q->version))
        refuse(&x, 400, -32600, json_find(&doc, "id"), "a MCP-Protocol-Version that is not known");
    else if (!q->session.s)
        refuse(&x, 400, -32600, json_find(&doc, "id"),
               "Mcp-Session-Id is missing: begin with initialize, or say the revision in _meta");
    else
        run_in_session(&x, q, body);
}

/* ---- GET and DELETE
 * ---------------------------------------------------------------------------------- */

static void run_get(struct crew_job *job)
{
    struct serve_call      *c = (struct serve_call *)(void *)job;
    const struct mcp_asked *q = c->params;
    struct mcp_reply        x = { .c = c };
    struct serve_mcp       *m = q->session.s ? mcp_session_find(c, q->session) : NULL;

    if (!q->takes_events) {
        refuse(&x, 406, -32600, NULL, "GET opens a stream: Accept must name text/event-stream");
    } else if (!m) {
        refuse(&x, q->session.s ? 404 : 405, -32001, NULL,
               "a stream belongs to a session of `initialize`");
    } else {
        mcp_session_listen(m, c);
    }
    if (m)
        mcp_session_drop(m);
}

static void run_delete(struct crew_job *job)
{
    struct serve_call      *c = (struct serve_call *)(void *)job;
    const struct mcp_asked *q = c->params;
    struct mcp_reply        x = { .c = c };
    struct serve_mcp       *m = q->session.s ? mcp_session_find(c, q->session) : NULL;

    if (!m) {
        refuse(&x, q->session.s ? 404 : 405, -32001, NULL, "there is no such session");
        return;
    }
    mcp_session_end(m);
    mcp_session_drop(m);
    c->status = 200;
    c->type = "application/json";
    c->text = SV("");
    call_done(c);
}

/* ---- the route
 * ---------------------------------------------------------------------------------------- */

static struct sv kept(struct sv field, struct arena *a)
{
    return field.s ? sv_dup(sv_trim(field), a) : field;
}

/* ?agent=A&thread=T, as options of `heddle mcp`. */
static bool read_query(struct serve_call *c, struct mcp_asked *q, struct serve_refusal *why)
{
    struct sv  rest = c->head.query, name, value;
    struct err e;
    bool       more = true;

    for (;;) {
        if (head_query_next(&rest, &c->a, &name, &value, &more, &e))
            return guard_refuse(why, 400, ST_INVALID_SYNTAX, "query", "%s", e.text);
        if (!more)
            return true;
        if (sv_is(name, "agent"))
            q->agent = value;
        else if (sv_is(name, "thread"))
            q->thread = value;
        else
            return guard_refuse(why, 400, ST_INVALID_SYNTAX, "query",
                                "/mcp takes agent and thread alone");
    }
}

bool mcp_begin(struct serve_call *c, struct serve_refusal *why)
{
    struct mcp_asked *q = ARENA_NEW(&c->a, struct mcp_asked, 1);

    *q = (struct mcp_asked){ .session = kept(c->head.mcp_session, &c->a),
                             .version = kept(c->head.mcp_version, &c->a),
                             .method = kept(c->head.mcp_method, &c->a),
                             .name = kept(c->head.mcp_name, &c->a),
                             .takes_events = head_accepts(&c->head, "text/event-stream") };
    c->params = q;
    return read_query(c, q, why);
}

enum MHD_Result mcp_http_answer(struct serve_call *c)
{
    if (sv_is(sv_of(c->method), "POST"))
        return call_run(c, run_post, PACE_STREAM);
    return call_run(c, sv_is(sv_of(c->method), "GET") ? run_get : run_delete, PACE_SHORT);
}
