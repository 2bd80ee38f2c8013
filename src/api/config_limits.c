/* The limits of settings, a row each; a setting without a row takes whatever its type allows. The
 * addresses of search services are checked where they are used, together with their keys. */
#include "api/config_limits.h"

#include <string.h>

enum limit_kind { LIMIT_WORDS, LIMIT_RANGE, LIMIT_PROXY, LIMIT_URL, LIMIT_COMMAND, LIMIT_PRICES };

struct limit {
    const char     *name;
    enum limit_kind kind;
    const char     *words; /* with a space between */
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
    { "loom.strategy",          LIMIT_WORDS, "auto summarize truncateMiddle rollingWindow stopAtLimit", 0, 0 },
    { "loom.recent",            LIMIT_RANGE, NULL, 1, 1000 },
    { "compact.at",             LIMIT_RANGE, NULL, 1, 100 },
    { "compact.keep",           LIMIT_RANGE, NULL, 1, 1000000 },
    { "talk.max_rounds",        LIMIT_RANGE, NULL, 1, 1000 },
    { "talk.max_tokens",        LIMIT_RANGE, NULL, 1, 9e15 },
    { "talk.max_cost",          LIMIT_RANGE, NULL, 0, 1000000 },
    { "checkpoint.ttl_ms",      LIMIT_RANGE, NULL, 1, 9e15 },
    { "search.timeout_ms",      LIMIT_RANGE, NULL, 1, DAY_MS },
    { "search.proxy",           LIMIT_PROXY, NULL, 0, 0 },
    { "models.url.*",           LIMIT_URL,   NULL, 0, 0 },
    { "models.key_command.*",   LIMIT_COMMAND, NULL, 0, 0 },
    { "models.prices.*",        LIMIT_PRICES, NULL, 0, 0 },
    { "models.connect_ms",      LIMIT_RANGE, NULL, 1, DAY_MS },
    { "models.first_byte_ms",   LIMIT_RANGE, NULL, 1, DAY_MS },
    { "models.idle_ms",         LIMIT_RANGE, NULL, 1, DAY_MS },
    { "models.proxy",           LIMIT_PROXY, NULL, 0, 0 },
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

/* scheme://host, without spaces and control characters. */
static bool is_address(struct sv v, const char *schemes)
{
    ptrdiff_t at = sv_find(v, SV("://"));

    for (size_t i = 0; i < v.n; i++)
        if ((unsigned char)v.s[i] <= 0x20 || v.s[i] == 0x7f)
            return false;
    return at > 0 && v.n > (size_t)at + 3 && is_word_of(sv_first(v, (size_t)at), schemes);
}

/* A program and its arguments. */
static bool is_command(const struct json *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (!json_is(&v->items[i], JSON_STRING) || sv_has(json_sv(&v->items[i]), 0))
            return false;
    return v->n > 0 && json_sv(&v->items[0]).n > 0;
}

static bool are_prices(const struct json *v)
{
    double n;

    for (size_t i = 0; i < v->n; i++)
        if (!json_real(&v->items[i], &n) || n < 0 || n > 1000000)
            return false;
    return v->n >= 2 && v->n <= 4;
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
        if (!json_real(value, &n) || !(n >= l->from && n <= l->to))
            return refuse_range(l, name, e);
        break;
    case LIMIT_PROXY: /* "" is none */
        if (text.n && !is_address(text, "http https socks4 socks4a socks5 socks5h"))
            return err_set(e, ST_INVALID_SYNTAX,
                           "key '" SV_FMT "' must be an address such as http://proxy.example:3128",
                           SV_ARG(name));
        break;
    case LIMIT_URL:
        if (!is_address(text, "http https"))
            return err_set(e, ST_INVALID_SYNTAX,
                           "key '" SV_FMT "' must be an address such as https://models.example/v1",
                           SV_ARG(name));
        break;
    case LIMIT_COMMAND:
        if (!is_command(value))
            return err_set(e, ST_INVALID_SYNTAX,
                           "key '" SV_FMT "' must be a command such as [\"pass\", \"show\", \"x\"]",
                           SV_ARG(name));
        break;
    case LIMIT_PRICES:
        if (!are_prices(value))
            return err_set(e, ST_INVALID_SYNTAX,
                           "key '" SV_FMT "' must be two to four prices such as [4, 20, 0.4, 5]",
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
