/* Sends the output of an operation as one document, lines, server-sent events, or bytes. */
#include "front/http/api_out.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "front/app.h"
#include "front/http/condition.h"

#include <errno.h>

/* A text that is JSON, as the value of a header: ASCII. */
static struct sv ascii_json(struct sv json, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    while (json.n) {
        size_t   n = 1;
        uint32_t cp = (uint32_t)utf8_decode(json, &n);
        if (cp < 0x80)
            sb_addc(&b, (char)cp);
        else if (cp < 0x10000)
            sb_addf(&b, "\\u%04x", cp);
        else
            sb_addf(&b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
                    0xdc00 + ((cp - 0x10000) & 0x3ff));
        json = sv_skip(json, n ? n : 1);
    }
    return sb_sv(&b);
}

static void put_warning(struct jw *w, const struct warning *x)
{
    jw_open(w, '{');
    if (x->code.s)
        jw_kstr(w, "code", x->code);
    if (x->in_doc)
        jw_kbool(w, "in_document", true);
    jw_klossy(w, "message", x->message);
    if (x->thread.s)
        jw_kstr(w, "thread", x->thread);
    jw_close(w, '}');
}

/* One line of FORM_LINES, {"NAME":json}, or one server-sent event. */
static enum status send_named(struct serve_call *c, const char *name, struct sv json, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    if (c->form == FORM_EVENTS)
        sb_addf(&b, "event: %s\ndata: ", name);
    else
        sb_addf(&b, "{\"%s\":", name);
    sb_add(&b, json);
    sb_adds(&b, c->form == FORM_EVENTS ? "\n\n" : "}\n");
    int failed = call_write(c, sb_sv(&b));
    arena_free(&scratch);
    if (!failed)
        return ST_OK;
    err_set(e, ST_IO, "nobody reads the answer any more");
    return err_reason(e, "reader_gone");
}

static void begin_stream(struct serve_call *c)
{
    static const char *const types[] = {
        [FORM_LINES] = "application/x-ndjson",
        [FORM_EVENTS] = "text/event-stream",
        [FORM_BYTES] = "text/plain; charset=utf-8",
    };

    if (c->streaming)
        return;
    if (c->form == FORM_DOCUMENT)
        c->form = FORM_LINES;
    c->status = 200;
    c->type = types[c->form];
    if (c->op->streams & (STREAM_OUT | STREAM_BULK))
        call_gather(c);
}

/* An event of the operation: a line as it is. */
enum status api_out_event(void *ctx, struct sv document, struct err *e)
{
    struct serve_call *c = ctx;

    begin_stream(c);
    if (c->form == FORM_EVENTS)
        return send_named(c, "event", document, e);
    if (c->form == FORM_BYTES)
        return ST_OK; /* a caller that asked for bytes gets only bytes */
    if (!call_write(c, document) && !call_write(c, SV("\n")))
        return ST_OK;
    err_set(e, ST_IO, "nobody reads the answer any more");
    return err_reason(e, "reader_gone");
}

/* Bytes that the operation writes. */
int api_out_bytes(void *ctx, struct sv bytes)
{
    struct serve_call *c = ctx;
    struct arena       scratch = { 0 };
    struct sb          b = sb_in(&scratch, 0);
    struct err         e;

    begin_stream(c);
    if (c->form == FORM_BYTES)
        return call_write(c, bytes);
    bool text = utf8_invalid(bytes) < 0;
    if (text) {
        sb_add_json_string(&b, bytes);
    } else {
        sb_addc(&b, '"');
        sb_add_base64url(&b, bytes);
        sb_addc(&b, '"');
    }
    enum status s = send_named(c, text ? "out" : "out_base64url", sb_sv(&b), &e);
    arena_free(&scratch);
    return s ? EPIPE : 0;
}

/* Send warnings and the exit status beside the document: after the stream, or in headers. */
static void tell_beside(struct serve_call *c, const struct request *r, bool streams)
{
    struct sb  all = sb_in(&c->a, 0), b;
    struct jw  list = jw_in(&all, 0), w;
    struct err ignored;

    jw_open(&list, '[');
    for (size_t i = 0; i < r->warnings.n; i++) {
        if (r->warnings.v[i].in_doc && !c->prints)
            continue;
        b = sb_in(&c->a, 0);
        w = jw_in(&b, 0);
        put_warning(&w, &r->warnings.v[i]);
        if (streams && c->form != FORM_BYTES)
            (void)!send_named(c, "warning", sb_sv(&b), &ignored);
        else if (all.n + b.n < 4096)
            jw_raw(&list, sb_sv(&b));
    }
    jw_close(&list, ']');
    if (!streams && all.n > 2)
        call_header(c, "Heddle-Warnings", ascii_json(sb_sv(&all), &c->a));
    if (!r->verdict.code)
        return;
    b = sb_in(&c->a, 0);
    w = jw_in(&b, 0);
    app_error_json(&w, &r->verdict, (struct sv){ 0 });
    if (streams && c->form != FORM_BYTES)
        (void)!send_named(c, "verdict", sb_sv(&b), &ignored);
    else if (!streams)
        call_header(c, "Heddle-Verdict", ascii_json(sb_sv(&b), &c->a));
}

static void end_stream(struct serve_call *c, struct request *r, enum status s, const struct err *e)
{
    struct sb  b = sb_in(&c->a, 0);
    struct jw  w = jw_in(&b, 0);
    struct err ignored;

    if (c->form == FORM_BYTES) {
        c->out.cut = s != ST_OK;
    } else if (s) {
        app_error_json(&w, e, r->error_details);
        (void)!send_named(c, "error", sb_sv(&b), &ignored);
    } else if (c->form == FORM_EVENTS) {
        (void)!send_named(c, "done", request_document(r), &ignored);
    } else {
        sb_add(&b, request_document(r));
        sb_addc(&b, '\n');
        (void)call_write(c, sb_sv(&b));
    }
}

static void end_document(struct serve_call *c, struct request *r, enum status s,
                         const struct err *e)
{
    struct sb b = sb_in(&c->a, 0);

    c->status = s ? condition_status(c, e) : 200;
    c->type = "application/json";
    if (s) {
        c->text = call_error_text(c, e, r->error_details);
        if (status_exit(s) != 1)
            call_header(c, "Heddle-Exit", SV("2")); /* the code alone does not show it */
        return;
    }
    sb_add(&b, request_document(r));
    sb_addc(&b, '\n');
    c->text = sb_sv(&b);
}

/* Events were sent, or the caller wants all of it as events. */
void api_out_end(struct serve_call *c, struct request *r, enum status s, const struct err *e)
{
    bool streams = c->streaming || (c->form == FORM_EVENTS && !s);

    if (s && c->form == FORM_BYTES && call_take_back(c))
        streams = false;
    if (c->status == 304) {
        c->type = "application/json";
        c->text = SV("");
        call_done(c);
        return;
    }
    if (streams)
        begin_stream(c);
    tell_beside(c, r, streams && !(c->form == FORM_BYTES && c->gathers));
    if (streams)
        end_stream(c, r, s, e);
    else
        end_document(c, r, s, e);
    call_done(c);
}
