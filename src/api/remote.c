/* Runs an operation on the server of the workspace, over its socket. */
#include "api/remote.h"

#include "api/serve_client.h"
#include "base/hash.h"
#include "base/uri.h"
#include "model/sse.h"

#include <string.h>

/* ---- which ---------------------------------------------------------------------------------- */

/* Would the operation ask a person to confirm? It would unless `yes` is given. */
static bool would_ask(const struct operation *op, const void *params)
{
    const struct param *yes = param_find(op->params, SV("yes"));

    return yes && !*(const bool *)((const char *)params + yes->offset);
}

bool remote_can(const struct operation *op, const void *params)
{
    return op->access != ACCESS_SHELL && op->group != GROUP_PAYLOAD && op->needs >= NEEDS_ROOT &&
           !op->here && !would_ask(op, params);
}

/* ---- the answer as events ---------------------------------------------------------------------
 */

struct remote {
    struct request *r;
    struct sse      events;
    bool            done, failed; /* the document is there; the error is in *e */
    struct err      error;
};

static void add_warning(struct request *r, const struct json *x)
{
    *vec_push(&r->warnings, r->a) =
        (struct warning){ .code = json_text(x, "code"),
                          .message = json_text(x, "message"),
                          .thread = json_text(x, "thread"),
                          .in_doc = json_truth(json_find(x, "in_document")) };
}

static enum status take_out(struct request *r, struct sv bytes, struct err *e)
{
    struct sb *out;

    if (request_out(r, &out, e))
        return err_code(e);
    if (out)
        sb_add(out, bytes);
    if (!out || !out->failed)
        return ST_OK;
    err_set(e, ST_IO, "nobody reads the output any more");
    return err_reason(e, "reader_gone");
}

static void set_document(struct request *r, struct sv text)
{
    r->doc_text.n = 0;
    sb_add(&r->doc_text, text);
}

/* The object of an error, as the server writes it, in an envelope as serve_reply_error() reads it.
 */
static void read_error(struct request *r, struct sv object, struct sv *details, struct err *e)
{
    struct sb b = sb_in(r->a, 0);

    sb_adds(&b, "{\"error\":");
    sb_add(&b, object);
    sb_addc(&b, '}');
    (void)!serve_reply_error(sb_sv(&b), r->a, details, e);
}

static enum status take_text(struct remote *x, struct sv data, bool base64, struct err *e)
{
    struct json v;
    struct sv   bytes;

    if (json_parse(data, 0, x->r->a, &v, e))
        return err_in(e, "the server's answer");
    bytes = json_sv(&v);
    if (base64 && !base64url_read(bytes, x->r->a, &bytes))
        return err_set(e, ST_IO, "the server's answer cannot be read");
    return take_out(x->r, bytes, e);
}

static enum status take_event(void *ctx, const struct sse_event *ev, struct err *e)
{
    struct remote *x = ctx;
    struct sv      details;
    struct json    doc;

    if (sv_is(ev->name, "event"))
        return x->r->event ? x->r->event(x->r->event_ctx, ev->data, e) : ST_OK;
    if (sv_is(ev->name, "out") || sv_is(ev->name, "out_base64url"))
        return take_text(x, ev->data, !sv_is(ev->name, "out"), e);
    if (sv_is(ev->name, "warning") && !json_parse(sv_dup(ev->data, x->r->a), 0, x->r->a, &doc, e))
        add_warning(x->r, &doc);
    if (sv_is(ev->name, "verdict"))
        read_error(x->r, ev->data, &details, &x->r->verdict);
    if (sv_is(ev->name, "done")) {
        set_document(x->r, ev->data);
        x->done = true;
    }
    if (sv_is(ev->name, "error")) {
        read_error(x->r, ev->data, &x->r->error_details, &x->error);
        x->failed = true;
    }
    return ST_OK;
}

static enum status take_piece(void *ctx, struct sv bytes, struct err *e)
{
    struct remote *x = ctx;

    return sse_feed(&x->events, bytes, take_event, x, e);
}

/* ---- the answer as a document
 * -------------------------------------------------------------------- */

static void read_beside(struct request *r, const struct serve_reply *reply)
{
    struct sv   text = serve_reply_field(reply, "Heddle-Warnings"), details;
    struct json list;
    struct err  ignored;

    if (text.n && !json_parse(text, 0, r->a, &list, &ignored))
        for (size_t i = 0; json_is(&list, JSON_ARRAY) && i < list.n; i++)
            add_warning(r, &list.items[i]);
    text = serve_reply_field(reply, "Heddle-Verdict");
    if (text.n)
        read_error(r, text, &details, &r->verdict);
}

/* The error as it was there; a misuse of a parameter has its own exit status. */
static enum status fail_as_there(struct request *r, const struct serve_reply *reply, struct err *e)
{
    (void)!serve_reply_error(reply->body, r->a, &r->error_details, e);
    if (e->code == ST_INVALID_SYNTAX && sv_is(serve_reply_field(reply, "Heddle-Exit"), "2"))
        e->code = ST_USAGE;
    return err_code(e);
}

/* ---- asking -------------------------------------------------------------------------------------
 */

/* Parameters in the query, where the body has lines. */
static void add_query(struct sb *b, const struct operation *op, const void *params, struct arena *a)
{
    struct sb text = sb_in(a, 0);
    struct jw w = jw_in(&text, 0);

    params_write(op->params, params, &w);
    sb_adds(b, "?params=");
    sb_add_uri(b, sb_sv(&text), NULL);
}

static enum status ask(const struct operation *op, struct remote *x, const void *params,
                       struct serve_reply *reply, struct err *e)
{
    struct request   *r = x->r;
    struct sb         target = sb_in(r->a, 0), body = sb_in(r->a, 0);
    struct jw         w = jw_in(&body, 0);
    struct serve_file f;
    struct serve_ask  q = { .method = "POST", .actor = r->actor };

    if (serve_file_find(r->ws, r->a, &f, e))
        return err_code(e);
    sb_addf(&target, "/api/%s", op->name);
    q.streams = (op->streams & STREAM_IN) && r->in && r->in->fd >= 0;
    if (q.streams) {
        add_query(&target, op, params, r->a);
        q.body_fd = r->in->fd;
        q.type = SV("application/x-ndjson");
    } else {
        params_write(op->params, params, &w);
        q.body = sb_sv(&body);
    }
    q.target = sb_sv(&target);
    q.accept = op->streams ? SV("text/event-stream") : SV("application/json");
    q.piece = op->streams ? take_piece : NULL;
    q.piece_ctx = x;
    return serve_client_ask(&f, &q, r->a, reply, e);
}

enum status remote_run(const struct operation *op, struct request *r, const void *params,
                       struct err *e)
{
    struct remote      x = { .r = r, .events = sse_in(r->a, REQUEST_LINE_MAX * 2) };
    struct serve_reply reply;

    r->op = op;
    if (params_check(op->params, params, e) || ask(op, &x, params, &reply, e))
        return err_code(e);
    if (reply.status != 200)
        return fail_as_there(r, &reply, e);
    if (!op->streams) {
        set_document(r, sv_trim(reply.body));
        read_beside(r, &reply);
        return ST_OK;
    }
    if (x.failed) {
        *e = x.error;
        return err_code(e);
    }
    if (x.done)
        return ST_OK;
    err_set(e, ST_IO, "the server's answer broke off");
    return err_reason(e, "server_gone");
}
