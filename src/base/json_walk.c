/* The shallow walk: members and items of canonical JSON text, without reading it as a whole. */
#include "base/json_internal.h"
#include "base/utf8.h"

#include <string.h>

/* The end of a string that does not end near its beginning, or not at all. */
static __attribute__((noinline)) const char *string_end_far(const char *s, const char *end)
{
    for (const char *at = s + 1;;) {
        const char *quote = memchr(at, '"', (size_t)(end - at)), *slash = quote;
        if (!quote)
            return end;
        while (slash[-1] == '\\')
            slash--;
        at = quote + 1;
        if ((quote - slash) % 2 == 0)
            return at;
    }
}

/* The end of the string whose quote s is. Keys and words mostly end within eight bytes. */
static inline const char *string_end(const char *s, const char *end)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t       w = 0;

    if (end - s > 8)
        memcpy(&w, s + 1, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    w ^= ones * '"';
    w = (w - ones) & ~w & ones << 7; /* the lowest bit that is set: the first quote */
    const char *quote = s + 1 + (w ? __builtin_ctzll(w) / 8 : 0);
    return w && quote[-1] != '\\' ? quote + 1 : string_end_far(s, end);
}

size_t json_string_length(struct sv v)
{
    return (size_t)(string_end(v.s, v.s + v.n) - v.s);
}

/* The end of a value that is not a string. */
static const char *literal_end(const char *s, const char *end)
{
    int depth = 0;

    while (s < end) {
        char c = *s;
        if (c == '"') {
            s = string_end(s, end);
            if (!depth)
                return s;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']') {
            if (!depth)
                return s; /* closes what the literal is in */
            if (!--depth)
                return s + 1;
        }
        if (c == ',' && !depth)
            return s;
        s++;
    }
    return s;
}

static inline const char *value_end(const char *s, const char *end)
{
    return s < end && *s == '"' ? string_end(s, end) : literal_end(s, end);
}

size_t json_depth(struct sv text)
{
    size_t depth = 0, most = 0;
    bool   in_string = false;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];
        if (in_string) {
            i += c == '\\'; /* an escaped quote does not end the string */
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            most = ++depth > most ? depth : most;
        } else if (depth && (c == ']' || c == '}')) {
            depth--;
        }
    }
    return most;
}

bool json_next(struct sv *rest, struct sv *key, struct sv *raw)
{
    if (!rest->n)
        return false;
    const char *s = rest->s, *end = s + rest->n;
    if (*s == '{' || *s == ',')
        s++;
    if (s == end || *s != '"')
        return false;
    const char *k = string_end(s, end);
    if (k - s < 2 || k == end || *k != ':')
        return false; /* not canonical: stop, because a length computed from it could be wrong */
    const char *v = k + 1, *to = value_end(v, end);
    *key = (struct sv){ s + 1, (size_t)(k - s - 2) };
    *raw = (struct sv){ v, (size_t)(to - v) };
    *rest = (struct sv){ to, (size_t)(end - to) };
    return true;
}

bool json_next_item(struct sv *rest, struct sv *raw)
{
    if (!rest->n || (rest->s[0] != '[' && rest->s[0] != ','))
        return false;
    const char *s = rest->s + 1, *end = rest->s + rest->n, *to = value_end(s, end);
    *raw = (struct sv){ s, (size_t)(to - s) };
    *rest = (struct sv){ to, (size_t)(end - to) };
    return raw->n > 0;
}

static bool text_is_sorted(struct sv text, int depth)
{
    struct sv rest = text, key, raw, before = { 0 };

    if (!depth || !text.n)
        return false;
    if (text.s[0] == '[') {
        while (json_next_item(&rest, &raw))
            if (!text_is_sorted(raw, depth - 1))
                return false;
        return sv_is(rest, "]") || sv_is(rest, "[]");
    }
    if (text.s[0] != '{')
        return true;
    while (json_next(&rest, &key, &raw)) {
        if (sv_has(key, '\\') || (before.s && sv_cmp(before, key) >= 0) ||
            !text_is_sorted(raw, depth - 1))
            return false;
        before = key;
    }
    return sv_is(rest, "}") || sv_is(rest, "{}");
}

bool json_is_canonical(struct sv text)
{
    return utf8_invalid(text) < 0 && text_is_sorted(text, 16);
}
