/* Asking search services one after the other until one answers. */
#include "search/search_internal.h"

#include "base/clock.h"
#include "http/http.h"

#include <stdio.h>

const struct search_facts search_facts[SEARCH_KINDS] = {
#define X(kind, name, url, key, setting) [kind] = { name, url, key, setting },
    SEARCH_TABLE(X)
#undef X
};

/* Why a service gave no results. */
struct search_failure {
    const char *code;
    char        text[160]; /* "tavily answered HTTP 429" */
};

/* clang-format off */
static const struct { const char *code, *advice; } advices[] = {
    { "authenticationFailed", "ask a person to check the key of the search service" },
    { "rateLimited",          "wait a little and try again" },
    { "quotaExceeded",        "the plan of the search service is used up; a person can extend it" },
    { "invalidQuery",         "search for something simpler" },
    { "serviceUnavailable",   "try again later" },
    { "timeout",              "try again, or search for something simpler" },
    { "unknown",              "a person can check the address of the search service" },
};
/* clang-format on */

static const char *advice_of(const char *code)
{
    for (size_t i = 0; i < COUNT(advices); i++)
        if (strcmp(advices[i].code, code) == 0)
            return advices[i].advice;
    return "try again later";
}

static void fail(struct search_failure *f, const struct search_service *s, const char *code,
                 const char *what)
{
    f->code = code;
    snprintf(f->text, sizeof f->text, "%s %s", search_facts[s->kind].name, what);
}

/* Errors of http_send() contain no address and no header, so they can be shown. */
static void fail_to_reach(struct search_failure *f, const struct search_service *s,
                          const struct err *e)
{
    if (strcmp(e->reason, "timeout") == 0)
        fail(f, s, "timeout", "did not answer in time");
    else if (e->code == ST_LIMIT_EXCEEDED)
        fail(f, s, "unknown", "answered with more than 4 MiB");
    else if (strcmp(e->reason, "library") == 0)
        fail(f, s, "serviceUnavailable", "cannot be asked: libcurl is not installed");
    else
        fail(f, s, "serviceUnavailable", "cannot be reached");
}

static void fail_by_status(struct search_failure *f, const struct search_service *s,
                           const struct http_response *r, struct arena *a)
{
    char what[80];

    snprintf(what, sizeof what, "answered HTTP %d%s", r->status,
             r->status >= 300 && r->status < 400             ? ", and redirects are not followed"
             : s->kind == SEARCH_SEARXNG && r->status == 403 ? "; its settings must allow JSON"
                                                             : "");
    fail(f, s, search_code(s->kind, r->status, r->body, a), what);
}

/* True when there are results, perhaps none; else *f says why not. */
static bool ask(const struct search_config *c, const struct search_service *s,
                const struct search_request *q, const struct search_plan *p, struct arena *a,
                struct search_answer *out, struct search_failure *f)
{
    struct http_request  request = { .url = q->url,
                                     .headers = q->headers,
                                     .n_headers = q->n_headers,
                                     .body = q->body,
                                     .proxy = c->proxy,
                                     .max_bytes = SEARCH_ANSWER_MAX,
                                     .timeout_ms = c->timeout_ms ? c->timeout_ms : SEARCH_TIMEOUT_MS,
                                     .allow_private = true }; /* a person named the address */
    struct http_response answer;
    struct err           e;

    if (http_send(&request, a, &answer, &e)) {
        fail_to_reach(f, s, &e);
        return false;
    }
    if (answer.status != 200) {
        fail_by_status(f, s, &answer, a);
        return false;
    }
    if (search_read(s->kind, p, answer.body, a, out, &e)) {
        fail(f, s, "unknown", "answered something that is not a list of results");
        return false;
    }
    return true;
}

/* "rateLimited: tavily answered HTTP 429; timeout: brave did not answer in time" */
static enum status tell(const struct search_failure *f, size_t n, struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);
    bool      quota = strcmp(f[0].code, "quotaExceeded") == 0;

    for (size_t i = 0; i < n; i++)
        sb_addf(&b, "%s%s: %s", i ? "; " : "", f[i].code, f[i].text);
    err_set(e, quota ? ST_LIMIT_EXCEEDED : ST_MODEL_ERROR, SV_FMT, SV_ARG(sb_sv(&b)));
    err_reason(e, f[0].code);
    return err_hint(e, "%s", advice_of(f[0].code));
}

/* Plain http is allowed only to this machine; through a proxy, another machine would read the
 * key. */
static enum status check_route(const struct search_config *c, const struct search_service *s,
                               struct err *e)
{
    if (!c->proxy.n || !s->key.n || sv_starts(s->url, SV("https://")))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "%s would send the key unencrypted to search.proxy",
            search_facts[s->kind].url_setting);
    return err_hint(e, "use https, or no proxy");
}

enum status search_web(const struct search_config *c, const struct search_query *q, struct arena *a,
                       struct search_answer *out, struct err *e)
{
    struct search_failure failures[SEARCH_KINDS];
    struct search_plan    plan;
    struct search_request request;
    size_t                n = 0;

    if (search_plan(q, a, &plan, e))
        return err_code(e);
    for (size_t i = 0; i < c->n && n < SEARCH_KINDS; i++) {
        int64_t from = clock_now_ms();
        if (search_request(&c->services[i], &plan, a, &request, e) ||
            check_route(c, &c->services[i], e))
            return err_code(e); /* an error in the settings is reported */
        if (c->before)
            c->before(c->before_ctx, sv_of(search_facts[c->services[i].kind].name));
        if (ask(c, &c->services[i], &request, &plan, a, out, &failures[n])) {
            int64_t ms = clock_now_ms() - from;
            out->ms = ms > 0 ? ms : 0;
            return ST_OK;
        }
        n++;
    }
    if (n)
        return tell(failures, n, a, e);
    return err_set(e, ST_PERMISSION_DENIED, "no search service is configured");
}
