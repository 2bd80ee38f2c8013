/* The checks in front of every request. */
#include "front/http/guard.h"

#include <stdarg.h>
#include <stdio.h>

bool guard_refuse(struct serve_refusal *out, int status, enum status code, const char *reason,
                  const char *fmt, ...)
{
    va_list ap;

    *out = (struct serve_refusal){ .status = status, .e = { .code = code } };
    va_start(ap, fmt);
    vsnprintf(out->e.text, sizeof out->e.text, fmt, ap);
    va_end(ap);
    err_reason(&out->e, reason);
    return false;
}

/* The host of "host" or "host:port", brackets included; *port is absent when there is none. False
 * when something else stands behind the brackets. */
static bool split_authority(struct sv authority, struct sv *host, struct sv *port)
{
    bool          bracket = sv_starts(authority, SV("["));
    struct sv_cut cut = sv_cut(authority, bracket ? ']' : ':');
    struct sv     rest = cut.found ? cut.tail : (struct sv){ 0 };

    *host = bracket ? sv_first(authority, cut.head.n + cut.found) : cut.head;
    *port = rest;
    if (!bracket || !rest.n)
        return true;
    *port = sv_skip(rest, 1);
    return rest.s[0] == ':';
}

/* Is it one that --allow-host has named? A page on another port of the same machine is not. */
static bool is_allowed(const struct serve_names *n, struct sv allowed, struct sv host, int64_t port)
{
    struct sv name, digits;
    int64_t   only;

    if (!split_authority(allowed, &name, &digits) || !sv_eq(name, host))
        return false;
    if (digits.n)
        return sv_to_int(digits, &only) && only == port;
    return port == n->port || port == 80 || port == 443;
}

static bool is_named(const struct serve_names *n, struct sv authority, int64_t usual_port)
{
    const struct sv own[] = { SV("127.0.0.1"), SV("localhost"), SV("[::1]"), n->own };
    struct sv       host, port;
    int64_t         number = usual_port;

    if (!split_authority(authority, &host, &port) || !host.n ||
        (port.n && !sv_to_int(port, &number)))
        return false;
    for (size_t i = 0; i < COUNT(own); i++)
        if (sv_eq(own[i], host) && number == n->port)
            return true;
    for (size_t i = 0; i < n->allowed.n; i++)
        if (is_allowed(n, n->allowed.v[i], host, number))
            return true;
    return false;
}

static bool is_own_origin(const struct serve_names *n, struct sv origin)
{
    if (sv_starts(origin, SV("http://")))
        return is_named(n, sv_skip(origin, sizeof "http://" - 1), 80);
    return sv_starts(origin, SV("https://")) &&
           is_named(n, sv_skip(origin, sizeof "https://" - 1), 443);
}

static bool pass_names(const struct serve_names *n, const struct serve_head *h,
                       struct serve_refusal *out)
{
    if (n->is_local)
        return true;
    if (!is_named(n, h->host, n->tls ? 443 : 80)) {
        guard_refuse(out, 421, ST_PERMISSION_DENIED, "host",
                     "this server is not known under the name that was asked for");
        err_hint(&out->e, "ask for 127.0.0.1 or localhost with the server's port; `heddle serve "
                          "--allow-host NAME` adds a name");
        return false;
    }
    if (h->origin.s && !is_own_origin(n, h->origin))
        return guard_refuse(out, 403, ST_PERMISSION_DENIED, "origin",
                            "a page of another origin may not ask");
    if ((sv_starts(h->path, SV("/api")) || sv_is(h->path, "/mcp")) && h->fetch_site.s &&
        !sv_is(h->fetch_site, "same-origin") && !sv_is(h->fetch_site, "none"))
        return guard_refuse(out, 403, ST_PERMISSION_DENIED, "site",
                            "a page of another site may not ask");
    return true;
}

static bool is_body_type(struct sv type)
{
    static const char *const types[] = { "application/json", "application/x-ndjson",
                                         "application/jsonl", "application/octet-stream" };

    for (size_t i = 0; i < COUNT(types); i++)
        if (head_is_type(type, types[i]))
            return true;
    return false;
}

bool guard_pass(const struct serve_names *n, struct serve_head *h, struct serve_refusal *out)
{
    bool reads = sv_is(h->method, "GET") || sv_is(h->method, "HEAD");

    if (head_fault(h))
        return guard_refuse(out, 400, ST_INVALID_SYNTAX, "framing", "%s", h->fault);
    if (!pass_names(n, h, out))
        return false;
    if (sv_is(h->method, "DELETE") && sv_is(h->path, "/mcp"))
        reads = true; /* it ends a session, and has no body */
    if (!reads && !sv_is(h->method, "POST"))
        return guard_refuse(out, 405, ST_INVALID_SYNTAX, "method",
                            "only GET, HEAD and POST are answered");
    if (reads && head_has_body(h))
        return guard_refuse(out, 400, ST_INVALID_SYNTAX, "framing", "only a POST has a body");
    if (!reads && !is_body_type(h->type)) {
        guard_refuse(out, 415, ST_INVALID_SYNTAX, "type", "a POST must be application/json");
        err_hint(&out->e, "lines of an operation that reads lines are application/x-ndjson");
        return false;
    }
    return true;
}
