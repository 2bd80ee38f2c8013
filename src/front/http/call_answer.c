/* Answers: their headers, texts and errors. */
#include "front/app.h"
#include "front/http/cache.h"
#include "front/http/metrics.h"
#include "front/http/watch.h"

/* clang-format off */
static const struct {
    const char *name, *value;
} always[] = {
    { "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "X-Frame-Options", "DENY" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
};
/* clang-format on */

void call_header(struct serve_call *c, const char *name, struct sv value)
{
    *vec_push(&c->headers, &c->a) = (struct serve_field){ name, sv_cstr(value, &c->a) };
}

const char *call_has_header(const struct serve_call *c, const char *name)
{
    for (size_t i = 0; i < c->headers.n; i++)
        if (strcmp(c->headers.v[i].name, name) == 0)
            return c->headers.v[i].value;
    return NULL;
}

/* No further request is taken from the connection: because the server ends, or because of how the
 * body came. libmicrohttpd reads chunks more leniently than others do (a line feed alone ends a
 * line), so another program may see the end of the body elsewhere, and a request behind it. */
bool call_is_last(const struct serve_call *c)
{
    return c->chunked || atomic_load(&c->s->stopping);
}

static void add_headers(struct serve_call *c, struct MHD_Response *r)
{
    const struct mhd *lib = &c->s->mhd;

    for (size_t i = 0; i < COUNT(always); i++)
        lib->add_response_header(r, always[i].name, always[i].value);
    if (!call_has_header(c, "Cache-Control"))
        lib->add_response_header(r, "Cache-Control", "no-store");
    lib->add_response_header(r, "Content-Type", c->type);
    for (size_t i = 0; i < c->headers.n; i++)
        lib->add_response_header(r, c->headers.v[i].name, c->headers.v[i].value);
    if (call_is_last(c) && !call_has_header(c, "Connection"))
        lib->add_response_header(r, "Connection", "close");
}

static enum MHD_Result hand_in(struct serve_call *c, struct MHD_Response *r)
{
    pthread_mutex_lock(&c->lock);
    c->queued = true;
    pthread_mutex_unlock(&c->lock);
    return c->s->mhd.queue_response(c->conn, (unsigned)c->status, r);
}

/* Headers, then the response itself, which libmicrohttpd frees when it was sent, unless it is kept.
 */
static enum MHD_Result queue(struct serve_call *c, struct MHD_Response *r, bool keep)
{
    if (!r)
        return MHD_NO;
    add_headers(c, r);
    enum MHD_Result done = hand_in(c, r);
    if (keep)
        cache_keep(c, r);
    else
        c->s->mhd.destroy_response(r);
    return done;
}

static void begin_answer(struct serve_call *c, size_t bytes)
{
    c->sent = (int64_t)bytes;
    watch_set(c->watched, WATCH_ANSWER);
    watch_moved(c->watched, bytes);
}

enum MHD_Result call_queue(struct serve_call *c)
{
    bool keep = cache_wants(c);

    begin_answer(c, c->text.n);
    return queue(c,
                 c->s->mhd.create_response_from_buffer(c->text.n, (void *)(uintptr_t)c->text.s,
                                                       keep ? MHD_RESPMEM_MUST_COPY
                                                            : MHD_RESPMEM_PERSISTENT),
                 keep);
}

enum MHD_Result call_queue_kept(struct serve_call *c, struct MHD_Response *r, size_t bytes)
{
    c->status = 200;
    begin_answer(c, bytes);
    return hand_in(c, r);
}

enum MHD_Result call_answer(struct serve_call *c, int status, const char *type, struct sv text)
{
    c->status = status;
    c->type = type;
    c->text = text;
    return call_queue(c);
}

struct sv call_error_text(struct serve_call *c, const struct err *e, struct sv details)
{
    struct sb b = sb_in(&c->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "error");
    app_error_json(&w, e, details);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return sb_sv(&b);
}

enum MHD_Result call_refuse(struct serve_call *c, const struct serve_refusal *why)
{
    c->refused = true;
    metrics_refused(c->s->metrics, why->e.reason);
    if (why->status == 401)
        call_header(c, "WWW-Authenticate", SV("Bearer"));
    if (why->status == 405)
        call_header(c, "Allow", SV("GET, HEAD, POST"));
    if (why->status == 429 || why->status == 503)
        call_header(c, "Retry-After", SV("1"));
    if (why->status == 400 || why->status == 413 || why->status == 421)
        call_header(c, "Connection", SV("close")); /* further bytes cannot be trusted */
    return call_answer(c, why->status, "application/json",
                       call_error_text(c, &why->e, (struct sv){ 0 }));
}

enum MHD_Result call_fail(struct serve_call *c, const struct err *e)
{
    return call_answer(c, status_http(e->code), "application/json",
                       call_error_text(c, e, (struct sv){ 0 }));
}

enum MHD_Result call_stream(struct serve_call *c, size_t block, MHD_ContentReaderCallback read)
{
    return queue(c, c->s->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, block, read, c, NULL),
                 false);
}
