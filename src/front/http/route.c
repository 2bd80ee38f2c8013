/* The table of paths, and the small answers. */
#include "front/http/route.h"

#include "api/openapi.h"
#include "base/clock.h"
#include "front/http/mcp.h"
#include "front/http/metrics.h"
#include "front/http/who.h"

#include <unistd.h>

/* ---- sessions ----------------------------------------------------------------------------- */

/* The secret that the page has drawn; empty when it has not. */
static enum status given_secret(struct serve_call *c, const struct json *doc, struct sv *given,
                                struct err *e)
{
    struct sv raw;

    *given = json_text(doc, "secret");
    if (!given->n || (base64url_read(*given, &c->a, &raw) && raw.n == HASH_SIZE))
        return ST_OK;
    return err_set(e, ST_INVALID_SYNTAX, "a secret is %d bytes in base64url", HASH_SIZE);
}

/* {"k":"…"} of the link, for a cookie and the page's secret, which the page may have drawn. */
static enum MHD_Result enter(struct serve_call *c)
{
    char                 cookie[SESSION_SECRET + 1], secret[SESSION_SECRET + 1];
    struct serve_refusal why;
    struct json          doc;
    struct err           e;
    struct sv            given;
    struct sb            set = sb_in(&c->a, 0), text = sb_in(&c->a, 0);
    struct jw            w = jw_in(&text, 0);

    if (json_parse(sb_sv(&c->body), 0, &c->a, &doc, &e))
        return call_fail(c, &e);
    if (given_secret(c, &doc, &given, &e))
        return call_fail(c, &e);
    if (!session_enter(&c->s->sessions, json_text(&doc, "k"), given, cookie, secret)) {
        bool may = session_may_err(&c->s->sessions);
        guard_refuse(&why, may ? 401 : 429, ST_PERMISSION_DENIED, "link",
                     "the link was used, is too old, or was never made");
        err_hint(&why.e, "`heddle open` makes a new one");
        return call_refuse(c, &why);
    }
    sb_add(&set, who_cookie_name(c));
    sb_addf(&set, "=%s; HttpOnly; SameSite=Strict; Path=/api%s", cookie,
            c->door->names.tls ? "; Secure" : "");
    call_header(c, "Set-Cookie", sb_sv(&set));
    jw_open(&w, '{');
    jw_kstr(&w, "actor", c->s->actor);
    jw_kstr(&w, "secret", sv_of(secret));
    jw_close(&w, '}');
    sb_addc(&text, '\n');
    return call_answer(c, 200, "application/json", sb_sv(&text));
}

static enum MHD_Result make_link(struct serve_call *c)
{
    char                 key[SESSION_SECRET + 1];
    struct sb            url = sb_in(&c->a, 0), text = sb_in(&c->a, 0);
    struct jw            w = jw_in(&text, 0);
    struct serve_refusal why;

    if (!server_url(c->s).n) {
        guard_refuse(&why, 404, ST_NOT_FOUND, "address",
                     "the server listens on no address that a browser reaches");
        return call_refuse(c, &why);
    }
    session_link(&c->s->sessions, key);
    sb_add(&url, server_url(c->s));
    sb_addf(&url, "/#k=%s", key);
    jw_open(&w, '{');
    jw_kstr(&w, "url", sb_sv(&url));
    jw_close(&w, '}');
    sb_addc(&text, '\n');
    return call_answer(c, 200, "application/json", sb_sv(&text));
}

/* ---- health ------------------------------------------------------------------------------- */

static enum MHD_Result say_healthy(struct serve_call *c)
{
    return call_answer(c, 200, "text/plain; charset=utf-8", SV("ok\n"));
}

/* Could a missing log be created? Not when its directory was removed. */
static bool can_make(struct workspace *ws)
{
    bool       there = true;
    struct err ignored;

    return !ws->has_heddle || (!fs_exists(ws->root_fd, SV(".heddle"), &there, &ignored) && there);
}

/* Ready when the log can be read or does not exist yet. */
static void look_ready(struct crew_job *job)
{
    struct serve_call *c = (struct serve_call *)(void *)job;
    struct store      *store = NULL;
    struct err         e;
    enum status        s = workspace_take(c->s->ws, STORE_READ, &store, &e);

    if (store)
        workspace_give(c->s->ws, store, STORE_READ);
    bool ready = (!s || (s == ST_NOT_FOUND && can_make(c->s->ws))) && !atomic_load(&c->s->stopping);
    c->status = ready ? 200 : 503;
    c->type = "text/plain; charset=utf-8";
    c->text = ready ? SV("ready\n") : SV("not ready\n");
    call_done(c);
}

static enum MHD_Result say_ready(struct serve_call *c)
{
    return call_run(c, look_ready, PACE_SHORT);
}

static bool may_read(struct serve_call *c, struct serve_refusal *why)
{
    if (c->caller.permissions & TOKEN_read)
        return true;
    return guard_refuse(why, 403, ST_PERMISSION_DENIED, "permission",
                        "this needs the permission read");
}

static enum MHD_Result say_metrics(struct serve_call *c)
{
    struct sb b = sb_in(&c->a, 0);

    metrics_text(c->s, &b);
    return call_answer(c, 200, "text/plain; version=0.0.4; charset=utf-8", sb_sv(&b));
}

static enum MHD_Result say_status(struct serve_call *c)
{
    struct sb b = sb_in(&c->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    metrics_json(c->s, &w);
    jw_kint(&w, "pid", getpid());
    jw_klossy(&w, "root", c->s->ws->root);
    jw_ktime(&w, "since", c->s->since_ms);
    jw_kstr(&w, "url", server_url(c->s));
    jw_kstr(&w, "version", SV(HEDDLE_VERSION));
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return call_answer(c, 200, "application/json", sb_sv(&b));
}

static enum MHD_Result say_openapi(struct serve_call *c)
{
    struct sb b = sb_in(&c->a, 0);
    struct jw w = jw_in(&b, 0);

    openapi_write(&w);
    sb_addc(&b, '\n');
    return call_answer(c, 200, "application/json", sb_sv(&b));
}

/* The answer first: the server ends once no answer is left to be sent. */
static enum MHD_Result stop(struct serve_call *c)
{
    call_header(c, "Connection", SV("close"));
    enum MHD_Result done = call_answer(c, 200, "application/json", SV("{\"stopping\":true}\n"));
    server_stop(c->s);
    return done;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct serve_route routes[] = {
    { "/healthz",      false, "GET",  WHO_ANYBODY, NULL,      say_healthy },
    { "/readyz",       false, "GET",  WHO_ANYBODY, NULL,      say_ready },
    { "/metrics",      false, "GET",  WHO_KNOWN,   may_read,  say_metrics },
    { "/api/status",   false, "GET",  WHO_KNOWN,   may_read,  say_status },
    { "/api/openapi.json", false, "GET", WHO_ANYBODY, NULL,   say_openapi },
    { "/api/stop",     false, "POST", WHO_SHELL,   NULL,      stop },
    { "/api/session",  false, "POST", WHO_ANYBODY, NULL,      enter },
    { "/api/link",     false, "POST", WHO_SHELL,   NULL,      make_link },
    { "/api/events",   false, "GET",  WHO_KNOWN,   NULL,      events_answer },
    { "/mcp",          false, NULL,   WHO_KNOWN,   mcp_begin, mcp_http_answer },
    { "/api/",         true,  NULL,   WHO_KNOWN,   api_begin, api_answer },
    { "/",             true,  "GET",  WHO_ANYBODY, NULL,      page_answer },
};
/* clang-format on */

static bool is_path(const struct serve_route *r, struct sv path)
{
    return r->below ? sv_starts(path, sv_of(r->path)) : sv_is(path, r->path);
}

/* HEAD is answered as GET is, without a body. */
static bool is_method(const struct serve_route *r, struct sv method)
{
    return !r->method || sv_is(method, r->method) ||
           (sv_is(sv_of(r->method), "GET") && sv_is(method, "HEAD"));
}

const struct serve_route *route_find(const struct serve_head *h, struct serve_refusal *why)
{
    for (size_t i = 0; i < COUNT(routes); i++) {
        if (!is_path(&routes[i], h->path))
            continue;
        if (is_method(&routes[i], h->method))
            return &routes[i];
        guard_refuse(why, 405, ST_INVALID_SYNTAX, "method", "this path is asked with %s",
                     routes[i].method);
        return NULL;
    }
    guard_refuse(why, 404, ST_NOT_FOUND, "path", "there is nothing at this path");
    return NULL;
}
