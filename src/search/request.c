/* Makes the request to each service. Tavily takes a JSON object with the key in it; Brave and
 * SearXNG take parameters in the address. Only Tavily can be told domains, so the others get them
 * as the operators people type; the answers are filtered in any case. */
#include "search/search_internal.h"

#include "base/json.h"
#include "base/uri.h"
#include "base/utf8.h"

/* ---- the query ------------------------------------------------------------------------- */

static bool is_domain_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static bool is_domain(struct sv v)
{
    if (!v.n || v.n > 253 || !sv_has(v, '.') || v.s[0] == '.' || v.s[0] == '-' ||
        v.s[v.n - 1] == '.' || sv_find(v, SV("..")) >= 0)
        return false;
    for (size_t i = 0; i < v.n; i++)
        if (!is_domain_char(v.s[i]))
            return false;
    return true;
}

static enum status domains(struct sv list, const char *name, struct arena *a, struct sv *out,
                           size_t *n, struct err *e)
{
    struct sv_cut c = { .tail = list, .found = list.n > 0 };

    while (c.found) {
        c = sv_cut(c.tail, ',');
        struct sv domain = sv_lower(sv_trim(c.head), a);
        if (!domain.n)
            continue;
        if (!is_domain(domain)) {
            err_set(e, ST_INVALID_SYNTAX, "%s: '" SV_FMT "' is not a domain", name,
                    SV_ARG(utf8_first(domain, 60)));
            return err_hint(e, "%s:example.org,example.net", name);
        }
        if (*n == SEARCH_DOMAINS_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "%s: more than %d domains", name,
                           SEARCH_DOMAINS_MAX);
        out[(*n)++] = domain;
    }
    return ST_OK;
}

/* One line: what separates lines, and other control characters, becomes a space. */
static struct sv one_line(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0), valid = sb_in(a, 0);

    sb_add_lossy(&valid, text);
    text = sb_sv(&valid);
    for (size_t i = 0; i < text.n; i++) {
        bool control = (unsigned char)text.s[i] < 0x20 || text.s[i] == 0x7f;
        sb_addc(&b, control ? ' ' : text.s[i]);
    }
    return sv_trim(sb_sv(&b));
}

enum status search_plan(const struct search_query *q, struct arena *a, struct search_plan *out,
                        struct err *e)
{
    *out = (struct search_plan){
        .text = one_line(q->text, a), .deep = q->deep, .news = q->news, .max = q->max
    };
    if (!out->text.n) {
        err_set(e, ST_INVALID_SYNTAX, "the query is empty");
        return err_hint(e, "→ search \"what to look for\"");
    }
    if (utf8_count(out->text) > SEARCH_QUERY_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "the query has more than %d characters", SEARCH_QUERY_MAX);
        return err_hint(e, "a few words find more");
    }
    if (domains(q->include, "include", a, out->include, &out->n_include, e) ||
        domains(q->exclude, "exclude", a, out->exclude, &out->n_exclude, e))
        return err_code(e);
    return ST_OK;
}

/* ---- the address ----------------------------------------------------------------------- */

static bool is_url_char(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\"<>\\^`{|}?#@", c);
}

/* The host of an address without its port, and whether the connection is encrypted. */
static bool split_url(struct sv url, struct sv *host, bool *encrypted)
{
    *encrypted = sv_starts(url, SV("https://"));
    if (!*encrypted && !sv_starts(url, SV("http://")))
        return false;
    for (size_t i = 0; i < url.n; i++)
        if (!is_url_char(url.s[i]))
            return false;
    struct sv rest = sv_cut(sv_skip(url, *encrypted ? 8 : 7), '/').head;
    *host = rest.n && rest.s[0] == '[' ? sv_cut(rest, ']').head : sv_cut(rest, ':').head;
    return host->n > 0;
}

static bool is_this_machine(struct sv host)
{
    if (sv_is(host, "localhost") || sv_is(host, "[::1"))
        return true;
    for (size_t i = 0; i < host.n; i++)
        if (!(host.s[i] >= '0' && host.s[i] <= '9') && host.s[i] != '.')
            return false;
    return sv_starts(host, SV("127."));
}

static enum status check_key(const struct search_service *s, struct err *e)
{
    const char *variable = search_facts[s->kind].key_variable;

    for (size_t i = 0; i < s->key.n; i++)
        if (s->key.s[i] <= ' ' || s->key.s[i] >= 0x7f) {
            err_set(e, ST_INVALID_SYNTAX, "%s holds a character that no key has", variable);
            return err_hint(e, "set it again, without spaces or line breaks");
        }
    return ST_OK;
}

static enum status check_service(const struct search_service *s, struct err *e)
{
    const char *setting = search_facts[s->kind].url_setting;
    struct sv   host;
    bool        encrypted;

    if (!split_url(s->url, &host, &encrypted)) {
        err_set(e, ST_INVALID_SYNTAX, "%s is not the address of a service", setting);
        return err_hint(e, "it is https://host, perhaps with a port and a path");
    }
    if (s->key.n && !encrypted && !is_this_machine(host)) {
        err_set(e, ST_PERMISSION_DENIED, "%s would send the key unencrypted", setting);
        return err_hint(e, "use https; plain http is for a service on this machine");
    }
    return check_key(s, e);
}

/* ---- parameters ------------------------------------------------------------------------ */

/* words (site:a OR site:b) -site:c */
static struct sv with_operators(const struct search_plan *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, p->text);
    for (size_t i = 0; i < p->n_include; i++)
        sb_addf(&b, "%ssite:" SV_FMT,
                i                  ? " OR "
                : p->n_include > 1 ? " ("
                                   : " ",
                SV_ARG(p->include[i]));
    if (p->n_include > 1)
        sb_addc(&b, ')');
    for (size_t i = 0; i < p->n_exclude; i++)
        sb_addf(&b, " -site:" SV_FMT, SV_ARG(p->exclude[i]));
    return sb_sv(&b);
}

static struct sb begin_url(const struct search_service *s, const char *path, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv base = s->url;

    while (base.n && base.s[base.n - 1] == '/')
        base.n--;
    sb_add(&b, base);
    sb_adds(&b, path);
    return b;
}

/* ---- the services ---------------------------------------------------------------------- */

static void add_list(struct jw *w, const char *key, const struct sv *list, size_t n)
{
    if (!n)
        return;
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, list[i]);
    jw_close(w, ']');
}

static void ask_tavily(const struct search_service *s, const struct search_plan *p, struct arena *a,
                       struct search_request *out)
{
    struct sb url = begin_url(s, "/search", a), body = sb_in(a, 0);
    struct jw w = jw_in(&body, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "api_key", s->key);
    jw_kstr(&w, "query", p->text);
    jw_kstr(&w, "search_depth", p->deep ? SV("advanced") : SV("basic"));
    jw_kstr(&w, "topic", p->news ? SV("news") : SV("general"));
    jw_kint(&w, "max_results", (int64_t)p->max);
    jw_kbool(&w, "include_answer", false);
    jw_kbool(&w, "include_raw_content", p->deep);
    add_list(&w, "include_domains", p->include, p->n_include);
    add_list(&w, "exclude_domains", p->exclude, p->n_exclude);
    jw_close(&w, '}');
    out->url = sb_sv(&url);
    out->body = sb_sv(&body);
    out->headers[out->n_headers++] = SV("Content-Type: application/json");
}

/* More results are requested than needed, because the filter drops some. */
enum { BRAVE_COUNT_MAX = 20 };

static void ask_brave(const struct search_service *s, const struct search_plan *p, struct arena *a,
                      struct search_request *out)
{
    struct sb url = begin_url(s, p->news ? "/res/v1/news/search" : "/res/v1/web/search", a);
    struct sb token = sb_in(a, 0);

    sb_adds(&url, "?q=");
    sb_add_uri(&url, with_operators(p, a), NULL);
    sb_addf(&url, "&count=%zu", p->n_include + p->n_exclude ? (size_t)BRAVE_COUNT_MAX : p->max);
    sb_adds(&url, p->news ? "" : "&text_decorations=false");
    out->url = sb_sv(&url);
    out->headers[out->n_headers++] = SV("Accept: application/json");
    sb_addf(&token, "X-Subscription-Token: " SV_FMT, SV_ARG(s->key));
    out->headers[out->n_headers++] = sb_sv(&token);
}

static void ask_searxng(const struct search_service *s, const struct search_plan *p,
                        struct arena *a, struct search_request *out)
{
    struct sb url = begin_url(s, "/search?q=", a);

    sb_add_uri(&url, with_operators(p, a), NULL);
    sb_adds(&url, "&format=json");
    sb_adds(&url, p->news ? "&categories=news" : "&categories=general");
    out->url = sb_sv(&url);
    out->headers[out->n_headers++] = SV("Accept: application/json");
}

enum status search_request(const struct search_service *s, const struct search_plan *p,
                           struct arena *a, struct search_request *out, struct err *e)
{
    *out = (struct search_request){ 0 };
    if (check_service(s, e))
        return err_code(e);
    switch (s->kind) {
    case SEARCH_TAVILY: ask_tavily(s, p, a, out); return ST_OK;
    case SEARCH_BRAVE: ask_brave(s, p, a, out); return ST_OK;
    case SEARCH_SEARXNG: ask_searxng(s, p, a, out); return ST_OK;
    case SEARCH_KINDS: break;
    }
    return err_set(e, ST_INVALID_SYNTAX, "there is no search service of kind %d", (int)s->kind);
}
