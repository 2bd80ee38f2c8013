/* Looking for many texts at once, in plain bytes and in whatever they were packed into. */
#include "thread/needle.h"

#include "base/hash.h"
#include "thread/token.h"

#include <string.h>

enum { SLOTS_MIN = 64 };

struct needle {
    struct needle *next;
    struct sv      text;
};

struct needles needles_in(struct arena *a)
{
    return (struct needles){ .a = a };
}

static size_t slot_of(const struct needles *set, const char *s)
{
    uint64_t head;

    memcpy(&head, s, sizeof head);
    return (size_t)((head * 0x9e3779b97f4a7c15u) >> 20) & (set->slot_count - 1);
}

static void grow(struct needles *set)
{
    struct needle **old = set->slots;
    size_t          count = set->slot_count;

    set->slot_count = count ? count * 4 : SLOTS_MIN;
    set->slots = ARENA_NEW(set->a, struct needle *, set->slot_count);
    for (size_t i = 0; i < count; i++)
        for (struct needle *n = old[i], *next; n; n = next) {
            struct needle **at = &set->slots[slot_of(set, n->text.s)];
            next = n->next;
            n->next = *at;
            *at = n;
        }
}

bool needles_add(struct needles *set, struct sv text)
{
    text = sv_trim(text);
    if (text.n < NEEDLE_MIN)
        return false;
    if (set->n * 2 >= set->slot_count)
        grow(set);
    struct needle **at = &set->slots[slot_of(set, text.s)];
    for (struct needle *n = *at; n; n = n->next)
        if (sv_eq(n->text, text))
            return true;
    struct needle *n = ARENA_NEW(set->a, struct needle, 1);
    *n = (struct needle){ *at, sv_dup(text, set->a) };
    *at = n;
    set->n++;
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
    if (!set->n)
        return false;
    for (size_t i = 0; i + NEEDLE_MIN <= bytes.n; i++)
        for (const struct needle *n = set->slots[slot_of(set, bytes.s + i)]; n; n = n->next)
            if (n->text.n <= bytes.n - i && memcmp(n->text.s, bytes.s + i, n->text.n) == 0)
                return true;
    return false;
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

    if (!set->n)
        return false;
    ARENA_NEW(&scratch, char, 1); /* keeps one block allocated across resets */
    bool found = in_text(set, text, &scratch, NEEDLE_UNPACK_MAX);
    arena_free(&scratch);
    return found;
}
