/* Reading the head of a request, and refusing what could be read in two ways. */
#include "front/http/head.h"

#include "base/uri.h"
#include "base/utf8.h"

void head_begin(struct serve_head *h, struct sv method, struct sv target, struct sv version)
{
    *h = (struct serve_head){ .method = method, .target = target, .version = version };
    struct sv_cut cut = sv_cut(target, '?');

    h->path = cut.head;
    h->query = cut.found ? cut.tail : SV("");
    if (!sv_starts(target, SV("/")))
        h->fault = "the target of the request is not a path";
    for (size_t i = 0; i < target.n && !h->fault; i++)
        if (target.s[i] <= ' ' || target.s[i] >= 0x7f || target.s[i] == '#')
            h->fault = "the target of the request holds a byte that must be percent-encoded";
}

/* A character of RFC 9110's token. */
static bool is_token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct sv name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_token_byte(name.s[i]))
            return false;
    return name.n > 0;
}

static bool is_clean(struct sv value)
{
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.s[i] < ' ' && value.s[i] != '\t') || value.s[i] == 0x7f)
            return false;
    return true;
}

/* Equal, whatever the case of ASCII letters; `low` has small ones only. */
static bool is_name(struct sv name, const char *low)
{
    size_t n = strlen(low);

    if (name.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (byte_lower(name.s[i]) != low[i])
            return false;
    return true;
}

static void keep(struct serve_head *h, struct sv *member, struct sv value)
{
    if (member->s && !h->fault)
        h->fault = "a header field that must stand alone is there twice";
    *member = value.s ? value : SV("");
}

void head_field(struct serve_head *h, struct sv name, struct sv value)
{
    h->fields++;
    if (!is_token(name) && !h->fault)
        h->fault = "the name of a header field holds a byte that does not belong there";
    if (!is_clean(value) && !h->fault)
        h->fault = "a header field holds a control character";
#define X(member, field)                                                                           \
    if (is_name(name, field))                                                                      \
        keep(h, &h->member, value);
    HEAD_TABLE(X)
#undef X
}

static void odd_line(struct serve_head *h)
{
    if (!h->fault)
        h->fault =
            "a line of the head is folded, ends without CR LF, or holds a NUL or spaces where "
            "none belong";
}

void head_line(struct serve_head *h, const char **from, struct sv first, struct sv last)
{
    const char *between = first.s + first.n;
    bool        whole = first.s == *from && last.s > between;

    for (const char *p = between + 1; whole && p < last.s; p++)
        whole = *p == ' ' || *p == '\t';
    *from = last.s + last.n + 2;
    if ((*from)[-1] && (*from)[-1] != '\n') /* the LF, which may be a NUL by now */
        whole = false;
    if (!whole)
        odd_line(h);
}

void head_method(struct serve_head *h, struct sv method, const char *target)
{
    if (method.s + method.n + 1 != target)
        odd_line(h);
}

void head_end(struct serve_head *h, const char *from, const char *end)
{
    if (from + 2 != end)
        odd_line(h);
}

static bool is_number(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.s[i] < '0' || v.s[i] > '9')
            return false;
    return v.n > 0 && v.n < 19;
}

const char *head_fault(struct serve_head *h)
{
    if (h->fault)
        return h->fault;
    if (!sv_is(h->version, "HTTP/1.1") && !sv_is(h->version, "HTTP/1.0"))
        h->fault = "a version of HTTP that is neither 1.1 nor 1.0"; /* its rules are unknown */
    else if (h->length.s && h->coding.s)
        h->fault = "both Content-Length and Transfer-Encoding";
    else if (h->length.s && !is_number(h->length))
        h->fault = "Content-Length is not a number";
    else if (h->coding.s && !is_name(h->coding, "chunked"))
        h->fault = "a Transfer-Encoding other than chunked";
    else if (h->coding.s && !sv_is(h->version, "HTTP/1.1"))
        h->fault = "a Transfer-Encoding in HTTP/1.0";
    else if (sv_is(h->version, "HTTP/1.1") && !h->host.s)
        h->fault = "Host is missing";
    else if (h->upgrade.s)
        h->fault = "Upgrade is not offered";
    return h->fault;
}

bool head_has_body(const struct serve_head *h)
{
    return h->coding.s || (h->length.n && !sv_is(h->length, "0"));
}

/* ---- values of fields ------------------------------------------------------------------- */

bool head_is_type(struct sv type, const char *want)
{
    return is_name(sv_trim(sv_cut(type, ';').head), want);
}

/* Has an item of Accept the weight zero? */
static bool is_unwanted(struct sv item)
{
    struct sv_cut cut = sv_cut(item, ';');

    while (cut.found) {
        cut = sv_cut(cut.tail, ';');
        struct sv q = sv_trim(cut.head);
        if (sv_is(q, "q=0") || sv_is(q, "q=0.0") || sv_is(q, "q=0.00") || sv_is(q, "q=0.000"))
            return true;
    }
    return false;
}

bool head_accepts(const struct serve_head *h, const char *want)
{
    struct sv_cut cut = { .tail = h->accept, .found = true };

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        if (head_is_type(cut.head, want) && !is_unwanted(cut.head))
            return true;
    }
    return false;
}

struct sv head_cookie(const struct serve_head *h, struct sv name)
{
    struct sv_cut cut = { .tail = h->cookie, .found = true };
    struct sv     found = { 0 };

    while (cut.found) {
        cut = sv_cut(cut.tail, ';');
        struct sv_cut one = sv_cut(sv_trim(cut.head), '=');
        if (!one.found || !sv_eq(one.head, name))
            continue;
        if (found.s)
            return (struct sv){ 0 };
        found = one.tail;
    }
    return found;
}

/* ---- what is percent-encoded ------------------------------------------------------------ */

enum status head_decode(struct sv text, bool plus, struct arena *a, struct sv *out, struct err *e)
{
    struct sb spaced = sb_in(a, 0);

    for (size_t i = 0; i < text.n; i++)
        sb_addc(&spaced, text.s[i] == '+' && plus ? ' ' : text.s[i]);
    if (uri_read(sb_sv(&spaced), a, out) && utf8_invalid(*out) < 0)
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX,
            "the address holds a %% without two hexadecimal digits, a NUL, or "
            "bytes that are not UTF-8");
    return err_hint(e, "encode it as UTF-8, then percent-encode it");
}

enum status head_query_next(struct sv *rest, struct arena *a, struct sv *name, struct sv *value,
                            bool *more, struct err *e)
{
    struct sv_cut item = { 0 };

    *more = false;
    while (rest->n && !item.head.n) {
        item = sv_cut(*rest, '&');
        *rest = item.found ? item.tail : SV("");
    }
    if (!item.head.n)
        return ST_OK;
    struct sv_cut cut = sv_cut(item.head, '=');
    if (head_decode(cut.head, true, a, name, e) ||
        head_decode(cut.found ? cut.tail : SV(""), true, a, value, e))
        return err_code(e);
    *more = true;
    return ST_OK;
}
