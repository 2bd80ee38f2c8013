/* Looking for many texts at once, in plain bytes and in whatever they were packed into. */
#include "thread/needle.h"

#include "base/hash.h"
#include "thread/needle_table.h"
#include "thread/token.h"

struct needles needles_in(struct arena *a)
{
    return (struct needles){ .texts = map_in(a), .table = needle_table_new(a) };
}

bool needles_add(struct needles *set, struct sv text)
{
    text = sv_trim(text);
    if (text.n < NEEDLE_MIN)
        return false;
    map_put(&set->texts, text, set->table);
    return true;
}

void needles_add_text(struct needles *set, struct sv text)
{
    struct sv_cut cut = { .tail = text, .found = sv_has(sv_trim(text), '\n') };

    needles_add(set, text);
    while (cut.found) {
        cut = sv_cut(cut.tail, '\n');
        if (sv_trim(cut.head).n >= NEEDLE_LINE_MIN)
            needles_add(set, cut.head);
    }
}

bool needles_find(const struct needles *set, struct sv bytes)
{
    return set->texts.n && bytes.n >= NEEDLE_MIN && needle_table_find(set->table, set, bytes);
}

/* ---- what texts are packed into ----------------------------------------------------------- */

static bool in_text(const struct needles *set, struct sv text, struct arena *a, int left);

static bool in_value(const struct needles *set, const struct json *v, struct arena *a, int left)
{
    if (v->type == JSON_STRING)
        return in_text(set, json_sv(v), a, left);
    if (v->type == JSON_ARRAY)
        for (size_t i = 0; i < v->n; i++)
            if (in_value(set, &v->items[i], a, left))
                return true;
    if (v->type == JSON_OBJECT)
        for (size_t i = 0; i < v->n; i++)
            if (in_text(set, v->members[i].key, a, 0) ||
                in_value(set, &v->members[i].value, a, left))
                return true;
    return false;
}

static bool in_json_text(const struct needles *set, struct sv text, struct arena *a, int left)
{
    struct json v;
    struct err  ignored;

    text = sv_trim(text);
    if (!text.n || (text.s[0] != '{' && text.s[0] != '[') ||
        json_parse(text, JSON_DEEP, a, &v, &ignored))
        return false;
    return in_value(set, &v, a, left - 1);
}

static bool in_token(const struct needles *set, struct sv text, struct arena *a, int left)
{
    struct sv bytes;

    if (!sv_starts(text, SV(TOKEN_PREFIX)))
        return false;
    struct sv head = sv_cut(sv_skip(text, sizeof TOKEN_PREFIX - 1), '.').head;
    return base64url_read(head, a, &bytes) && in_text(set, bytes, a, left - 1);
}

static bool is_base64(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '+' || c == '/';
}

/* Bytes as text: of either alphabet, with or without padding, in one line or several, or behind
 * "data:TYPE;base64,". Most strings have a space near their beginning and are rejected there. */
static bool in_base64(const struct needles *set, struct sv text, struct arena *a, int left)
{
    struct sb b;
    struct sv bytes;
    int64_t   mark = sv_starts(text, SV("data:")) ? sv_find(text, SV(";base64,")) : -1;

    if (mark >= 0)
        text = sv_skip(text, (size_t)mark + sizeof ";base64," - 1);
    for (size_t i = 0; i < text.n; i++)
        if (!is_base64(text.s[i]) && text.s[i] != '=' && text.s[i] != '\n' && text.s[i] != '\r')
            return false;
    b = sb_in(a, text.n);
    for (size_t i = 0; i < text.n; i++)
        if (is_base64(text.s[i]))
            sb_addc(&b, (char)(text.s[i] == '+' ? '-' : text.s[i] == '/' ? '_' : text.s[i]));
    return base64url_read(sb_sv(&b), a, &bytes) && in_text(set, bytes, a, left - 1);
}

/* JSON Lines, and the lines of a stream of events. */
static bool in_lines(const struct needles *set, struct sv text, struct arena *a, int left)
{
    struct sv_cut cut = { .tail = text, .found = sv_has(text, '\n') };

    while (cut.found) {
        cut = sv_cut(cut.tail, '\n');
        struct sv line = sv_starts(cut.head, SV("data:")) ? sv_skip(cut.head, 5) : cut.head;
        if (in_json_text(set, line, a, left))
            return true;
    }
    return false;
}

static bool in_text(const struct needles *set, struct sv text, struct arena *a, int left)
{
    if (needles_find(set, text))
        return true;
    if (left <= 0 || text.n < NEEDLE_MIN)
        return false;
    struct arena_mark m = arena_mark(a);
    bool              found = in_json_text(set, text, a, left) || in_token(set, text, a, left) ||
                 in_base64(set, text, a, left) || in_lines(set, text, a, left);
    arena_reset(a, m);
    return found;
}

bool needles_in_json(const struct needles *set, struct sv text)
{
    struct arena scratch = { 0 };

    if (!set->texts.n)
        return false;
    ARENA_NEW(&scratch, char, 1); /* keeps one block allocated across resets */
    bool found = in_text(set, text, &scratch, NEEDLE_UNPACK_MAX);
    arena_free(&scratch);
    return found;
}
