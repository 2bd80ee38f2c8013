/* The limits of settings, a row each; a setting without a row takes whatever its type allows. The
 * addresses of search services are checked where they are used, together with their keys. */
#include "api/config_limits.h"

#include <stdlib.h>
#include <string.h>

enum limit_kind { LIMIT_WORDS, LIMIT_RANGE, LIMIT_PROXY };

struct limit {
    const char     *name;
    enum limit_kind kind;
    const char     *words; /* with a blank between */
    double          from, to;
};

/* A day is more than any page, service or packing takes. */
enum { DAY_MS = 86400000 };

/* clang-format off */
static const struct limit limits[] = {
    { "tokens.encoding",        LIMIT_WORDS, "o200k_base cl100k_base", 0, 0 },
    { "tokens.factor.*",        LIMIT_RANGE, NULL, 0.1, 10 },
    { "run.max_iterations",     LIMIT_RANGE, NULL, 1, 1000000 },
    { "loom.result_tokens",     LIMIT_RANGE, NULL, 1, 1000000000 },
    { "loom.budget",            LIMIT_RANGE, NULL, 1, 1000000000 },
    { "checkpoint.ttl_ms",      LIMIT_RANGE, NULL, 1, 9e15 },
    { "search.timeout_ms",      LIMIT_RANGE, NULL, 1, DAY_MS },
    { "search.proxy",           LIMIT_PROXY, NULL, 0, 0 },
    { "payload.url_timeout_ms", LIMIT_RANGE, NULL, 1, DAY_MS },
    { "payload.url_total_ms",   LIMIT_RANGE, NULL, 1, DAY_MS },
    { "payload.url_max_bytes",  LIMIT_RANGE, NULL, 1, 1 << 30 },
    { "payload.url_ttl_ms",     LIMIT_RANGE, NULL, 0, 9e15 },
    { "payload.proxy",          LIMIT_PROXY, NULL, 0, 0 },
};
/* clang-format on */

static bool is_word_of(struct sv v, const char *words)
{
    for (struct sv rest = sv_of(words); rest.n;) {
        struct sv_cut c = sv_cut(rest, ' ');
        if (sv_eq(c.head, v))
            return true;
        rest = c.tail;
    }
    return false;
}

/* scheme://host, without blanks and control characters. */
static bool is_address(struct sv v, const char *schemes)
{
    ptrdiff_t at = sv_find(v, SV("://"));

    for (size_t i = 0; i < v.n; i++)
        if ((unsigned char)v.s[i] <= 0x20 || v.s[i] == 0x7f)
            return false;
    return at > 0 && v.n > (size_t)at + 3 && is_word_of(sv_first(v, (size_t)at), schemes);
}

static bool number_of(const struct json *v, double *out)
{
    char   text[64];
    size_t n = v->n;

    if (!json_is(v, JSON_NUMBER) || n >= sizeof text)
        return false;
    memcpy(text, v->s, n);
    text[n] = 0;
    *out = strtod(text, NULL);
    return true;
}

static enum status refuse_range(const struct limit *l, struct sv name, struct err *e)
{
    return err_set(e, ST_INVALID_SYNTAX, "key '" SV_FMT "' must be from %.10g to %.16g",
                   SV_ARG(name), l->from, l->to);
}

static enum status check(const struct limit *l, struct sv name, const struct json *value,
                         struct err *e)
{
    struct sv text = json_sv(value);
    double    n;

    switch (l->kind) {
    case LIMIT_WORDS:
        if (!is_word_of(text, l->words))
            return err_set(e, ST_INVALID_SYNTAX, "key '" SV_FMT "' must be one of: %s",
                           SV_ARG(name), l->words);
        break;
    case LIMIT_RANGE:
        if (!number_of(value, &n) || !(n >= l->from && n <= l->to))
            return refuse_range(l, name, e);
        break;
    case LIMIT_PROXY: /* "" is none */
        if (text.n && !is_address(text, "http https socks4 socks4a socks5 socks5h"))
            return err_set(e, ST_INVALID_SYNTAX,
                           "key '" SV_FMT "' must be an address such as http://proxy.example:3128",
                           SV_ARG(name));
        break;
    }
    return ST_OK;
}

enum status config_check_value(const char *row, struct sv name, const struct json *value,
                               struct err *e)
{
    for (size_t i = 0; i < COUNT(limits); i++)
        if (strcmp(limits[i].name, row) == 0)
            return check(&limits[i], name, value, e);
    return ST_OK;
}
