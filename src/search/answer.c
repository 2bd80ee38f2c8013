/* Reads the answer of a service. Nothing in it is trusted: results without a web address are
 * dropped, domains are taken only from the address, and dates that cannot be parsed are left
 * out. */
#include "search/search_internal.h"

#include "base/json.h"
#include "base/utf8.h"

/* ---- addresses -------------------------------------------------------------------------- */

static bool is_host_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
           c >= 0x80;
}

enum { URL_MAX = 2000 };

/* The host of an http address in lower case, without www.; absent when it has none, or one that
 * hides behind a user's name. */
static struct sv domain_of(struct sv url, struct arena *a)
{
    size_t    scheme = sv_starts(url, SV("https://")) ? 8 : sv_starts(url, SV("http://")) ? 7 : 0;
    struct sb b = sb_in(a, 0);
    size_t    i;

    if (url.n > URL_MAX || utf8_invalid(url) >= 0)
        return (struct sv){ 0 };
    for (i = 0; i < url.n; i++)
        if ((unsigned char)url.s[i] <= ' ' || url.s[i] == 0x7f)
            return (struct sv){ 0 };
    for (i = scheme; scheme && i < url.n && !strchr("/?#:", url.s[i]); i++) {
        char c = byte_lower(url.s[i]);
        if (!is_host_char((unsigned char)c))
            return (struct sv){ 0 };
        sb_addc(&b, c);
    }
    struct sv host = sb_sv(&b);
    if (!host.n || sv_has(sv_cut(sv_skip(url, i), '/').head, '@')) /* host:x@elsewhere */
        return (struct sv){ 0 };
    return sv_starts(host, SV("www.")) && host.n > 4 ? sv_skip(host, 4) : host;
}

/* example.org, and what is below it. */
static bool is_below(struct sv domain, struct sv top)
{
    if (sv_starts(top, SV("www.")))
        top = sv_skip(top, 4);
    return sv_ends(domain, top) && (domain.n == top.n || domain.s[domain.n - top.n - 1] == '.');
}

static bool is_wanted(const struct search_plan *p, struct sv domain)
{
    bool wanted = p->n_include == 0;

    for (size_t i = 0; i < p->n_include; i++)
        wanted = wanted || is_below(domain, p->include[i]);
    for (size_t i = 0; i < p->n_exclude; i++)
        wanted = wanted && !is_below(domain, p->exclude[i]);
    return wanted;
}

/* ---- dates ------------------------------------------------------------------------------ */

static bool is_digits(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.s[i] < '0' || v.s[i] > '9')
            return false;
    return v.n > 0;
}

static bool is_iso_date(struct sv v)
{
    int64_t month = 0, day = 0;

    return v.n == 10 && v.s[4] == '-' && v.s[7] == '-' && is_digits(sv_first(v, 4)) &&
           sv_to_int(sv_first(sv_skip(v, 5), 2), &month) && sv_to_int(sv_skip(v, 8), &day) &&
           month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* 2026-11-15T21:36:00, or Sun, 15 Nov 2026 21:36:00 GMT; anything else is not a date. */
static struct sv date_of(struct sv v, struct arena *a)
{
    struct sv months = SV("JanFebMarAprMayJunJulAugSepOctNovDec");
    struct sb b = sb_in(a, 0);

    if (is_iso_date(sv_first(v, 10)))
        return sv_first(v, 10);
    struct sv_cut day = sv_cut(sv_trim(sv_cut(v, ',').tail), ' ');
    struct sv_cut month = sv_cut(day.tail, ' ');
    struct sv     year = sv_cut(month.tail, ' ').head;
    ptrdiff_t     at = month.head.n == 3 ? sv_find(months, month.head) : -1;
    if (at < 0 || at % 3 || !is_digits(day.head) || day.head.n > 2 || !is_digits(year))
        return (struct sv){ 0 };
    sb_addf(&b, SV_FMT "-%02d-%s" SV_FMT, SV_ARG(year), (int)(at / 3) + 1,
            day.head.n == 1 ? "0" : "", SV_ARG(day.head));
    return is_iso_date(sb_sv(&b)) ? sb_sv(&b) : (struct sv){ 0 };
}

/* ---- HTML ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct { struct sv html; const char *text; } marks[] = {
    { SV_STATIC("<strong>"), "" }, { SV_STATIC("</strong>"), "" },
    { SV_STATIC("&amp;"), "&" },   { SV_STATIC("&lt;"), "<" },    { SV_STATIC("&gt;"), ">" },
    { SV_STATIC("&quot;"), "\"" }, { SV_STATIC("&#x27;"), "'" },  { SV_STATIC("&#39;"), "'" },
    { SV_STATIC("&apos;"), "'" },  { SV_STATIC("&#x2F;"), "/" },  { SV_STATIC("&nbsp;"), " " },
};
/* clang-format on */

/* Brave writes its texts as HTML: emphasis, and the characters that HTML cannot hold. */
static struct sv plain(struct sv html, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!sv_has(html, '&') && !sv_has(html, '<'))
        return html;
    while (html.n) {
        size_t i = 0;
        while (i < COUNT(marks) && !sv_starts(html, marks[i].html))
            i++;
        if (i < COUNT(marks))
            sb_adds(&b, marks[i].text);
        else
            sb_addc(&b, html.s[0]);
        html = sv_skip(html, i < COUNT(marks) ? marks[i].html.n : 1);
    }
    return sb_sv(&b);
}

/* ---- results ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct answer_shape {
    const char *text, *page, *date; /* names of members; page: the whole of it, or NULL */
    bool        html;
} shapes[SEARCH_KINDS] = {
    [SEARCH_TAVILY]  = { "content",     "raw_content", "published_date", false },
    [SEARCH_BRAVE]   = { "description", NULL,          "page_age",       true  },
    [SEARCH_SEARXNG] = { "content",     NULL,          "publishedDate",  false },
};
/* clang-format on */

static bool read_result(enum search_kind kind, const struct search_plan *p, const struct json *v,
                        struct arena *a, struct search_result *out)
{
    const struct answer_shape *s = &shapes[kind];
    struct sv                  page = p->deep && s->page ? json_text(v, s->page) : (struct sv){ 0 };
    struct sv                  text = page.n ? page : json_text(v, s->text);

    *out = (struct search_result){ .url = json_text(v, "url"), .title = json_text(v, "title") };
    out->domain = domain_of(out->url, a);
    if (!out->domain.n || !is_wanted(p, out->domain))
        return false;
    if (s->html) {
        out->title = plain(out->title, a);
        text = plain(text, a);
    }
    if (!sv_trim(out->title).n)
        out->title = out->domain;
    text = sv_trim(text);
    out->text = utf8_first(text, SEARCH_TEXT_MAX);
    out->left_out = utf8_count(sv_skip(text, out->text.n));
    out->published = date_of(json_text(v, s->date), a);
    return true;
}

/* Where the results stand. Brave leaves out the part of an answer that is empty. */
static const struct json *list_of(enum search_kind kind, const struct search_plan *p,
                                  const struct json *doc, bool *empty)
{
    const struct json *list = json_find(doc, "results");

    *empty = false;
    if (kind == SEARCH_BRAVE && !p->news) {
        list = json_find(json_find(doc, "web"), "results");
        *empty = !json_find(doc, "web") && json_is(json_find(doc, "query"), JSON_OBJECT);
    }
    return list;
}

enum status search_read(enum search_kind kind, const struct search_plan *p, struct sv body,
                        struct arena *a, struct search_answer *out, struct err *e)
{
    struct json doc;
    bool        empty;

    if (json_parse(utf8_skip_bom(body), 0, a, &doc, e))
        return err_set(e, ST_INVALID_SYNTAX, "the answer is not JSON");
    const struct json *list = list_of(kind, p, &doc, &empty);
    if (!empty && !json_is(list, JSON_ARRAY))
        return err_set(e, ST_INVALID_SYNTAX, "the answer holds no list of results");
    *out = (struct search_answer){ 0 };
    for (size_t i = 0; !empty && i < list->n && out->n < p->max; i++)
        out->n += read_result(kind, p, &list->items[i], a, &out->results[out->n]);
    return ST_OK;
}

/* ---- failures --------------------------------------------------------------------------- */

/* clang-format off */
static const struct { int status; const char *code; } codes[] = {
    { 400, "invalidQuery" },         { 422, "invalidQuery" },
    { 401, "authenticationFailed" }, { 403, "authenticationFailed" },
    { 402, "quotaExceeded" },        { 432, "quotaExceeded" },        { 433, "quotaExceeded" },
    { 408, "timeout" },              { 504, "timeout" },
    { 429, "rateLimited" },
};

/* Brave's HTTP status is ambiguous, and a word in the answer decides: an unknown key is a 422 like
 * a bad query, an exhausted monthly quota a 429 like too many requests. */
static const struct { const char *word, *code; } brave_codes[] = {
    { "SUBSCRIPTION_TOKEN_INVALID", "authenticationFailed" },
    { "SUBSCRIPTION_TOKEN_MISSING", "authenticationFailed" },
    { "SUBSCRIPTION_NOT_FOUND",     "authenticationFailed" },
    { "QUOTA_LIMITED",              "quotaExceeded" },
    { "RATE_LIMITED",               "rateLimited" },
};
/* clang-format on */

static const char *brave_code(struct sv body, struct arena *a)
{
    struct json doc;
    struct err  ignored;

    if (json_parse(body, 0, a, &doc, &ignored))
        return NULL;
    struct sv word = json_text(json_find(&doc, "error"), "code");
    for (size_t i = 0; i < COUNT(brave_codes); i++)
        if (sv_is(word, brave_codes[i].word))
            return brave_codes[i].code;
    return NULL;
}

const char *search_code(enum search_kind kind, int status, struct sv body, struct arena *a)
{
    const char *code = kind == SEARCH_BRAVE ? brave_code(body, a) : NULL;

    if (code)
        return code;
    if (kind == SEARCH_SEARXNG && status == 403)
        return "serviceUnavailable"; /* it has no keys: JSON is switched off there */
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i].status == status)
            return codes[i].code;
    return status >= 500 ? "serviceUnavailable" : "unknown";
}
