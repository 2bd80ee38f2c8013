#include "payload/secret.h"

#include "base/path.h"

#include <string.h>

/* A token is a fixed start and then at least `min` bytes of its alphabet. The second byte
 * pair of `start` given in `pair` is what the fast scan looks for. */
struct shape {
    const char *start;
    const char *what;
    char        pair[3]; /* two neighbouring bytes of `start` that are rare in text */
    int         pair_at;
    int         min;
    const char *more; /* bytes allowed beside letters and digits */
};

/* clang-format off */
static const struct shape shapes[] = {
    { "-----BEGIN ",   "private key",            "-B", 4,  0, NULL },
    { "AKIA",          "AWS access key",         "KI", 1, 16, "" },
    { "ASIA",          "AWS access key",         "SI", 1, 16, "" },
    { "AIza",          "Google API key",         "Iz", 1, 35, "-_" },
    { "ghp_",          "GitHub token",           "p_", 2, 36, "" },
    { "gho_",          "GitHub token",           "o_", 2, 36, "" },
    { "ghs_",          "GitHub token",           "s_", 2, 36, "" },
    { "ghu_",          "GitHub token",           "u_", 2, 36, "" },
    { "ghr_",          "GitHub token",           "r_", 2, 36, "" },
    { "github_pat_",   "GitHub token",           "t_", 9, 59, "_" },
    { "glpat-",        "GitLab token",           "t-", 4, 20, "-_" },
    { "xoxb-",         "Slack token",            "xo", 0, 20, "-" },
    { "xoxp-",         "Slack token",            "xo", 0, 20, "-" },
    { "xoxa-",         "Slack token",            "xo", 0, 20, "-" },
    { "sk-ant-",       "Anthropic API key",      "k-", 1, 32, "-_" },
    { "sk-proj-",      "OpenAI API key",         "k-", 1, 32, "-_" },
    { "sk-",           "API key",                "k-", 1, 40, "" },
    { "sk_live_",      "Stripe key",             "k_", 1, 20, "" },
    { "rk_live_",      "Stripe key",             "k_", 1, 20, "" },
    { "npm_",          "npm token",              "m_", 2, 36, "" },
    { "AccountKey=",   "Azure storage key",      "y=", 9, 64, "+/=" },
    { "SG.",           "SendGrid key",           "SG", 0, 60, "._-" },
};
/* clang-format on */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* -----BEGIN RSA PRIVATE KEY----- and then base64: a line of it, so that code which only
 * names the header is not a key. */
static bool is_private_key(struct sv v)
{
    struct sv_cut line = sv_cut(v, '\n');
    struct sv     head = sv_first(line.head, 80);
    size_t        body = 0;

    if (sv_find(head, SV("PRIVATE KEY-----")) < 0)
        return false;
    while (body < line.tail.n && body < 40 &&
           (is_alnum(line.tail.s[body]) || strchr("+/=:-, ", line.tail.s[body])))
        body++;
    return body >= 20;
}

/* A run of one letter or of x is a placeholder in a document. */
static bool is_varied(struct sv v)
{
    unsigned seen = 0, kinds = 0;

    for (size_t i = 0; i < v.n; i++) {
        unsigned bit = 1u << ((unsigned char)v.s[i] & 31);
        kinds += !(seen & bit);
        seen |= bit;
    }
    return kinds >= 6;
}

static bool fits(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = sv_skip(text, at), start = sv_of(s->start);
    size_t    n = 0;

    if (!sv_starts(v, start) || (at && (is_alnum(text.s[at - 1]) || text.s[at - 1] == '_')))
        return false;
    if (!s->more)
        return is_private_key(v);
    v = sv_skip(v, start.n);
    while (n < v.n && (is_alnum(v.s[n]) || (v.s[n] && strchr(s->more, v.s[n]))))
        n++;
    return n >= (size_t)s->min && is_varied(sv_first(v, n));
}

/* The shape, if any, one of whose pairs stands at text[i]. */
static const struct shape *shape_at(struct sv text, size_t i, size_t *at)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const struct shape *s = &shapes[k];
        if (text.s[i] != s->pair[0] || text.s[i + 1] != s->pair[1] || i < (size_t)s->pair_at)
            continue;
        *at = i - (size_t)s->pair_at;
        if (fits(s, text, *at))
            return s;
    }
    return NULL;
}

/* Sixteen bytes at a time: is any of these second bytes there with its first byte in
 * front? Nearly every block answers no, and that is all that is done for it. */
typedef unsigned char block __attribute__((vector_size(16)));

static block all(char c)
{
    unsigned char u = (unsigned char)c;

    return (block){ u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u };
}

static bool block_may_hold(const char *s)
{
    block    first, second;
    uint64_t half[2];

    memcpy(&first, s, sizeof first);
    memcpy(&second, s + 1, sizeof second);
    block hit = (block)((second == all('_')) &
                        ((first == all('p')) | (first == all('o')) | (first == all('s')) |
                         (first == all('u')) | (first == all('r')) | (first == all('t')) |
                         (first == all('k')) | (first == all('m'))));
    hit |= (block)((second == all('-')) & ((first == all('k')) | (first == all('t'))));
    hit |= (block)((second == all('I')) & ((first == all('K')) | (first == all('S'))));
    hit |= (block)((first == all('-')) & (second == all('B')));
    hit |= (block)((first == all('I')) & (second == all('z')));
    hit |= (block)((first == all('x')) & (second == all('o')));
    hit |= (block)((first == all('y')) & (second == all('=')));
    hit |= (block)((first == all('S')) & (second == all('G')));
    memcpy(half, &hit, sizeof half);
    return half[0] | half[1];
}

const char *secret_find(struct sv text, size_t *at)
{
    for (size_t i = 0; i + 1 < text.n;) {
        size_t end = i + 16 < text.n ? i + 16 : text.n - 1;
        if (i + 17 <= text.n && !block_may_hold(text.s + i)) {
            i += 16;
            continue;
        }
        for (; i < end; i++) {
            const struct shape *s = shape_at(text, i, at);
            if (s)
                return s->what;
        }
    }
    return NULL;
}

bool secret_is_env_file(struct sv path)
{
    static const char *const harmless[] = { ".example", ".sample", ".template", ".dist", ".defaults" };
    struct sv                name = path_base(path);

    if (!sv_is(name, ".env") && !sv_starts(name, SV(".env.")) && !sv_ends(name, SV(".env")))
        return false;
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (sv_ends(name, sv_of(harmless[i])))
            return false;
    return true;
}

/* NAME=value with a value: the first such line. Comments do not count. */
static bool env_value(struct sv text, size_t *at)
{
    struct sv rest = text;

    while (rest.n) {
        struct sv_cut c = sv_cut(rest, '\n');
        struct sv     line = sv_trim(c.head);
        struct sv_cut pair = sv_cut(line, '=');
        struct sv     value = sv_trim(pair.tail);
        *at = (size_t)(rest.s - text.s);
        if (line.n && line.s[0] != '#' && pair.found && value.n && !sv_is(value, "\"\"") &&
            !sv_is(value, "''"))
            return true;
        rest = c.tail;
    }
    return false;
}

const char *secret_find_in_file(struct sv path, struct sv text, size_t *at)
{
    if (secret_is_env_file(path) && env_value(text, at))
        return "value in an environment file";
    return secret_find(text, at);
}
