#include "payload/secret.h"

#include "base/path.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <string.h>

/* A token is a fixed start and then at least `min` bytes of its alphabet: letters, digits
 * and `more`. The scan looks for three bytes of the start that seldom stand together in
 * text: `a` at `probe`, `b` behind it, and `c` a further `gap` bytes on. */
struct shape {
    const char *start, *what;
    int         min;
    const char *more; /* NULL: a private key, which has a check of its own */
    size_t      probe;
};

/*    a    b   gap  c */
#define PROBES(X)                                                                                  \
    X('-', 'B', 2, 'E')                                                                            \
    X('A', 'K', 3, 'A')                                                                            \
    X('A', 'S', 3, 'A')                                                                            \
    X('A', 'I', 3, 'a')                                                                            \
    X('g', 'h', 3, '_')                                                                            \
    X('h', 'u', 3, '_')                                                                            \
    X('h', 'f', 2, '_')                                                                            \
    X('p', 'a', 3, '-')                                                                            \
    X('x', 'o', 2, 'x')                                                                            \
    X('s', 'k', 2, '-')                                                                            \
    X('k', '_', 3, 'i')                                                                            \
    X('n', 'p', 3, '_')                                                                            \
    X('K', 'e', 3, '=')                                                                            \
    X('S', 'G', 2, '.')

/* clang-format off */
static const struct shape shapes[] = {
    { "-----BEGIN ",   "private key",         0, NULL,  4 },
    { "AKIA",          "AWS access key",     16, "",    0 },
    { "ASIA",          "AWS access key",     16, "",    0 },
    { "AIza",          "Google API key",     35, "-_",  0 },
    { "ghp_",          "GitHub token",       36, "",    0 },
    { "gho_",          "GitHub token",       36, "",    0 },
    { "ghs_",          "GitHub token",       36, "",    0 },
    { "ghu_",          "GitHub token",       36, "",    0 },
    { "ghr_",          "GitHub token",       36, "",    0 },
    { "github_pat_",   "GitHub token",       59, "_",   3 },
    { "glpat-",        "GitLab token",       20, "-_",  2 },
    { "xoxb-",         "Slack token",        20, "-",   0 },
    { "xoxp-",         "Slack token",        20, "-",   0 },
    { "xoxa-",         "Slack token",        20, "-",   0 },
    { "sk-ant-",       "Anthropic API key",  32, "-_",  0 },
    { "sk-proj-",      "OpenAI API key",     32, "-_",  0 },
    { "sk-",           "API key",            40, "",    0 },
    { "sk_live_",      "Stripe key",         20, "",    1 },
    { "rk_live_",      "Stripe key",         20, "",    1 },
    { "npm_",          "npm token",          36, "",    0 },
    { "hf_",           "Hugging Face token", 34, "",    0 },
    { "AccountKey=",   "Azure storage key",  64, "+/=", 7 },
    { "SG.",           "SendGrid key",       60, "._-", 0 },
};
/* clang-format on */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Past line ends and indentation; a line end may be spelled as in a string of JSON. False:
 * there was no line end. */
static bool skip_to_next_line(struct sv *v)
{
    bool ended = false;

    while (v->n) {
        size_t spelled = sv_starts(*v, SV("\\n")) || sv_starts(*v, SV("\\r")) ? 2 : 0;
        if (!spelled && !strchr(" \t\r\n", v->s[0]))
            break;
        ended = ended || spelled || v->s[0] == '\n';
        *v = sv_skip(*v, spelled ? spelled : 1);
    }
    return ended;
}

/* -----BEGIN RSA PRIVATE KEY----- (or PRIVATE KEY BLOCK-----) and then base64: a line of it, so
 * that code which only names the header is not a key. */
static bool is_private_key(struct sv v)
{
    struct sv words = SV("PRIVATE KEY"), block = SV(" BLOCK"), dashes = SV("-----");
    ptrdiff_t at = sv_find(sv_first(sv_cut(v, '\n').head, 80), words);
    size_t    body = 0;

    if (at < 0)
        return false;
    v = sv_skip(v, (size_t)at + words.n);
    if (sv_starts(v, block))
        v = sv_skip(v, block.n);
    if (!sv_starts(v, dashes))
        return false;
    v = sv_skip(v, dashes.n);
    if (!skip_to_next_line(&v))
        return false;
    while (body < v.n && body < 40 && (is_alnum(v.s[body]) || strchr("+/=:-, ", v.s[body])))
        body++;
    return body >= 20;
}

/* A run of one letter or of x is a placeholder in a document, and what ends with EXAMPLE is one
 * that a vendor's manual uses. */
static bool is_real(struct sv v)
{
    unsigned seen = 0, kinds = 0;

    for (size_t i = 0; i < v.n; i++) {
        unsigned bit = 1u << ((unsigned char)v.s[i] & 31);
        kinds += !(seen & bit);
        seen |= bit;
    }
    return kinds >= 6 && !sv_ends(v, SV("EXAMPLE"));
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
    return n >= (size_t)s->min && is_real(sv_first(v, n));
}

/* The shape, if any, whose probe is at text[i]. */
static const struct shape *shape_at(struct sv text, size_t i, size_t *at)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const struct shape *s = &shapes[k];
        if (text.s[i] != s->start[s->probe] || i < s->probe)
            continue;
        *at = i - s->probe;
        if (fits(s, text, *at))
            return s;
    }
    return NULL;
}

/* Sixteen places at a time: does a probe start at any? Nearly every block answers no, and
 * that is all that is done for it. Reads 19 bytes. */
enum { BLOCK = 16, BLOCK_READS = 19 };
typedef unsigned char block __attribute__((vector_size(BLOCK)));

static block load(const char *s)
{
    block b;

    memcpy(&b, s, sizeof b);
    return b;
}

static block all(char c)
{
    unsigned char u = (unsigned char)c;

    return (block){ u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u };
}

static bool block_may_hold(const char *s)
{
    block    at0 = load(s), at1 = load(s + 1), at2 = load(s + 2), at3 = load(s + 3), hit = { 0 };
    uint64_t half[2];

#define X(a, b, gap, c)                                                                            \
    hit |= (block)((at0 == all(a)) & (at1 == all(b)) & (((gap) == 2 ? at2 : at3) == all(c)));
    PROBES(X)
#undef X
    memcpy(half, &hit, sizeof half);
    return half[0] | half[1];
}

/* Where the first block starts, from text[i] on, that may hold a probe or is too near the end. */
static size_t skip_plain(struct sv text, size_t i)
{
    while (i + BLOCK_READS <= text.n && !block_may_hold(text.s + i))
        i += BLOCK;
    return i;
}

#if defined(__x86_64__)
/* The same, twice as wide. */
__attribute__((target("avx2"))) static size_t skip_avx2(struct sv text, size_t i)
{
    for (; i + 2 * BLOCK + 3 <= text.n; i += 2 * BLOCK) {
        const char *s = text.s + i;
        __m256i     at0 = _mm256_loadu_si256((const void *)s);
        __m256i     at1 = _mm256_loadu_si256((const void *)(s + 1));
        __m256i     at2 = _mm256_loadu_si256((const void *)(s + 2));
        __m256i     at3 = _mm256_loadu_si256((const void *)(s + 3));
        __m256i     hit = _mm256_setzero_si256();
#define IS(at, c) _mm256_cmpeq_epi8(at, _mm256_set1_epi8(c))
#define X(a, b, gap, c)                                                                            \
    hit = _mm256_or_si256(hit, _mm256_and_si256(_mm256_and_si256(IS(at0, a), IS(at1, b)),          \
                                                IS((gap) == 2 ? at2 : at3, c)));
        PROBES(X)
#undef X
#undef IS
        if (!_mm256_testz_si256(hit, hit))
            return i;
    }
    return skip_plain(text, i);
}
#endif

static size_t skip(struct sv text, size_t i)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return skip_avx2(text, i);
#endif
    return skip_plain(text, i);
}

const char *secret_find(struct sv text, size_t *at)
{
    for (size_t i = 0; i < text.n;) {
        i = skip(text, i);
        size_t end = i + 2 * BLOCK < text.n ? i + 2 * BLOCK : text.n;
        for (; i < end; i++) {
            const struct shape *s = shape_at(text, i, at);
            if (s)
                return s->what;
        }
    }
    return NULL;
}

/* Is the file of a kind whose values are secrets (.env, .env.local; not .env.example)? */
static bool is_env_file(struct sv path)
{
    static const char *const harmless[] = { ".example", ".sample", ".template", ".dist",
                                            ".defaults" };
    struct sv                name = path_base(path);

    if (!sv_is(name, ".env") && !sv_starts(name, SV(".env.")) && !sv_ends(name, SV(".env")))
        return false;
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (sv_ends(name, sv_of(harmless[i])))
            return false;
    return true;
}

/* NAME=value with a value. Comments do not count. */
static bool is_setting(struct sv line)
{
    struct sv_cut pair = sv_cut(sv_trim(line), '=');
    struct sv     value = sv_trim(pair.tail);

    return pair.found && pair.head.n && pair.head.s[0] != '#' && value.n && !sv_is(value, "\"\"") &&
           !sv_is(value, "''");
}

/* The first setting in an environment file. */
static bool env_value(struct sv text, size_t *at)
{
    for (struct sv rest = text; rest.n;) {
        struct sv_cut c = sv_cut(rest, '\n');
        *at = (size_t)(rest.s - text.s);
        if (is_setting(c.head))
            return true;
        rest = c.tail;
    }
    return false;
}

/* The first setting in what a diff shows of environment files. */
static bool env_value_in_diff(struct sv text, size_t *at)
{
    struct sv to = SV("+++ "), from = SV("--- ");
    bool      in_env = false;

    for (struct sv rest = text; rest.n;) {
        struct sv_cut c = sv_cut(rest, '\n');
        *at = (size_t)(rest.s - text.s);
        if (sv_starts(c.head, SV("diff ")))
            in_env = false;
        else if (sv_starts(c.head, to) || sv_starts(c.head, from))
            in_env = in_env || is_env_file(sv_trim(sv_skip(c.head, to.n)));
        else if (in_env && c.head.n && strchr("+- ", c.head.s[0]) && is_setting(sv_skip(c.head, 1)))
            return true;
        rest = c.tail;
    }
    return false;
}

static bool is_diff(struct sv path)
{
    return sv_is(path, "git:diff") || sv_ends(path, SV(".diff")) || sv_ends(path, SV(".patch"));
}

const char *secret_find_in_file(struct sv path, struct sv text, size_t *at)
{
    if (is_env_file(path) && env_value(text, at))
        return "value in an environment file";
    if (is_diff(path) && env_value_in_diff(text, at))
        return "value in an environment file";
    return secret_find(text, at);
}
