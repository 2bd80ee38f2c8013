/* Comparing, cutting and searching borrowed bytes. */
#include "base/sv.h"

struct sv sv_of(const char *cstr)
{
    return (struct sv){ cstr, cstr ? strlen(cstr) : 0 };
}

int sv_cmp(struct sv a, struct sv b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int    c = n ? memcmp(a.s, b.s, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool sv_starts(struct sv v, struct sv prefix)
{
    return v.n >= prefix.n && sv_eq(sv_first(v, prefix.n), prefix);
}

bool sv_ends(struct sv v, struct sv suffix)
{
    return v.n >= suffix.n && sv_eq(sv_skip(v, v.n - suffix.n), suffix);
}

struct sv sv_skip(struct sv v, size_t n)
{
    if (n > v.n)
        n = v.n;
    return (struct sv){ n ? v.s + n : v.s, v.n - n };
}

struct sv sv_first(struct sv v, size_t n)
{
    return (struct sv){ v.s, n < v.n ? n : v.n };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct sv sv_trim(struct sv v)
{
    while (v.n && is_blank(v.s[0]))
        v = sv_skip(v, 1);
    while (v.n && is_blank(v.s[v.n - 1]))
        v.n--;
    return v;
}

struct sv_cut sv_cut(struct sv v, char byte)
{
    const char *at = v.n ? memchr(v.s, byte, v.n) : NULL;

    if (!at)
        return (struct sv_cut){ .head = v };
    size_t n = (size_t)(at - v.s);
    return (struct sv_cut){ sv_first(v, n), sv_skip(v, n + 1), true };
}

struct sv_cut sv_cut_last(struct sv v, char byte)
{
    const char *at = v.n ? memrchr(v.s, byte, v.n) : NULL;

    if (!at)
        return (struct sv_cut){ .head = v };
    size_t n = (size_t)(at - v.s);
    return (struct sv_cut){ sv_first(v, n), sv_skip(v, n + 1), true };
}

ptrdiff_t sv_find(struct sv v, struct sv needle)
{
    if (!needle.n)
        return 0;
    const char *at = v.n ? memmem(v.s, v.n, needle.s, needle.n) : NULL;
    return at ? at - v.s : -1;
}

bool sv_has(struct sv v, char byte)
{
    return v.n && memchr(v.s, byte, v.n);
}

struct sv sv_dup(struct sv v, struct arena *a)
{
    char *p = ARENA_NEW(a, char, v.n + 1);

    if (v.n)
        memcpy(p, v.s, v.n);
    return (struct sv){ p, v.n };
}

const char *sv_cstr(struct sv v, struct arena *a)
{
    return sv_dup(v, a).s;
}

struct sv sv_lower(struct sv v, struct arena *a)
{
    char *p = ARENA_NEW(a, char, v.n + 1);

    for (size_t i = 0; i < v.n; i++)
        p[i] = byte_lower(v.s[i]);
    return (struct sv){ p, v.n };
}

bool sv_to_int(struct sv v, int64_t *out)
{
    bool    minus = v.n && v.s[0] == '-';
    int64_t n = 0;

    if (minus)
        v = sv_skip(v, 1);
    if (!v.n)
        return false;
    for (size_t i = 0; i < v.n; i++) {
        int digit = v.s[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, digit, &n)) /* downwards: INT64_MIN fits */
            return false;
    }
    if (!minus && __builtin_sub_overflow(0, n, &n))
        return false;
    *out = n;
    return true;
}

size_t sv_distance(struct sv a, struct sv b)
{
    enum { MOST = 64 };
    size_t rows[3][MOST]; /* this one, the one before it, and the one before that */

    if (a.n >= MOST || b.n >= MOST)
        return 99;
    for (size_t j = 0; j <= b.n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = rows[i % 3], *last = rows[(i - 1) % 3], *older = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t change = last[j - 1] + (a.s[i - 1] != b.s[j - 1]);
            size_t step = (last[j] < now[j - 1] ? last[j] : now[j - 1]) + 1;
            now[j] = change < step ? change : step;
            bool swapped = i > 1 && j > 1 && a.s[i - 1] == b.s[j - 2] && a.s[i - 2] == b.s[j - 1];
            if (swapped && older[j - 2] + 1 < now[j])
                now[j] = older[j - 2] + 1;
        }
    }
    return rows[a.n % 3][b.n];
}
