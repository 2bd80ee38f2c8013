/* The shallow walk: members and items of canonical JSON text, without reading it as a whole. */
#include "base/json_internal.h"
#include "base/utf8.h"

#include <string.h>

size_t json_string_length(struct sv v)
{
    size_t i = 1;

    for (;;) {
        const char *quote = memchr(v.s + i, '"', v.n - i);
        if (!quote)
            return v.n;
        size_t at = (size_t)(quote - v.s), slashes = 0;
        while (v.s[at - 1 - slashes] == '\\')
            slashes++;
        i = at + 1;
        if (slashes % 2 == 0)
            return i;
    }
}

static size_t value_length(struct sv v)
{
    size_t i = 0;
    int    depth = 0;

    if (v.n && v.s[0] == '"')
        return json_string_length(v);
    while (i < v.n) {
        char c = v.s[i];
        if (c == '"') {
            i += json_string_length((struct sv){ v.s + i, v.n - i });
            if (!depth)
                return i;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']') {
            if (!depth)
                return i; /* closes what the literal is in */
            if (!--depth)
                return i + 1;
        }
        if (c == ',' && !depth)
            return i;
        i++;
    }
    return i;
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
    struct sv v = *rest;

    if (v.n && (v.s[0] == '{' || v.s[0] == ','))
        v = (struct sv){ v.s + 1, v.n - 1 };
    if (!v.n || v.s[0] != '"')
        return false;
    size_t k = json_string_length(v);
    if (k < 2 || k >= v.n || v.s[k] != ':')
        return false; /* not canonical: stop, because a length computed from it could be wrong */
    *key = (struct sv){ v.s + 1, k - 2 };
    v = (struct sv){ v.s + k + 1, v.n - k - 1 };
    size_t n = value_length(v);
    *raw = (struct sv){ v.s, n };
    *rest = (struct sv){ v.s + n, v.n - n };
    return true;
}

bool json_next_item(struct sv *rest, struct sv *raw)
{
    struct sv v = *rest;

    if (!v.n || (v.s[0] != '[' && v.s[0] != ','))
        return false;
    v = sv_skip(v, 1);
    *raw = sv_first(v, value_length(v));
    *rest = sv_skip(v, raw->n);
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
