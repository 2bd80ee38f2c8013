/* The JSON reader: strict and loss-free. */
#include "base/json_internal.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS_AT_HAND = 16 };

/* An array or object that is being read. */
struct level {
    char      bracket;
    int       depth;
    struct sv key; /* of the member that is being read */
    VEC(struct json) items;
    VEC(struct json_member) members;
};

struct parser {
    struct sv       text;
    size_t          at;
    struct level   *levels; /* the outermost first */
    size_t          n, cap;
    enum json_flags flags;
    struct arena   *a;
    struct err     *e;
};

static enum status bad(struct parser *p, const char *what)
{
    size_t line = 1, column = 1;

    for (size_t i = 0; i < p->at && i < p->text.n; i++) {
        column = p->text.s[i] == '\n' ? 1 : column + 1;
        line += p->text.s[i] == '\n';
    }
    if (p->flags & JSON_ONE_LINE)
        return err_set(p->e, ST_INVALID_SYNTAX, "JSON: %s at column %zu", what, column);
    return err_set(p->e, ST_INVALID_SYNTAX, "JSON: %s at line %zu, column %zu", what, line, column);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.n) {
        char c = p->text.s[p->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            break;
        p->at++;
    }
}

static bool accept(struct parser *p, char c)
{
    if (p->at >= p->text.n || p->text.s[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool literal(struct parser *p, struct sv word)
{
    if (!sv_starts(sv_skip(p->text, p->at), word))
        return false;
    p->at += word.n;
    return true;
}

static bool hex4(struct parser *p, uint32_t *out)
{
    *out = 0;
    if (p->text.n - p->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = p->text.s[p->at++];
        int  d = c >= '0' && c <= '9'   ? c - '0'
                 : c >= 'a' && c <= 'f' ? c - 'a' + 10
                 : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                        : -1;
        if (d < 0)
            return false;
        *out = *out << 4 | (uint32_t)d;
    }
    return true;
}

/* The part of a string after a backslash. */
static enum status unescape(struct parser *p, struct sb *b)
{
    static const char simple[0x80] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                       ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };
    char              c = p->at < p->text.n ? p->text.s[p->at++] : '\0';
    uint32_t          cp, low;

    if ((unsigned char)c < sizeof simple && simple[(unsigned char)c]) {
        sb_putc(b, simple[(unsigned char)c]);
        return ST_OK;
    }
    if (c != 'u' || !hex4(p, &cp))
        return bad(p, "bad escape in a string");
    if (cp >= 0xd800 && cp < 0xdc00 && sv_starts(sv_skip(p->text, p->at), SV("\\u"))) {
        size_t here = p->at;
        p->at += 2;
        if (!hex4(p, &low))
            return bad(p, "bad escape in a string");
        if (low >= 0xdc00 && low < 0xe000)
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = here; /* a lone surrogate: the next escape is a character of its own */
    }
    sb_add_utf8(b, cp);
    return ST_OK;
}

/* How many bytes come before a quote, a backslash, a control character, or the end. */
static size_t plain_run(const char *s, size_t n)
{
    size_t i = 0;

    while (n - i >= 8) {
        uint64_t special = json_special_bytes(s + i);
        if (!special) {
            i += 8;
            continue;
        }
        i += (size_t)__builtin_ctzll(special) / 8;
        if ((unsigned char)s[i] != 0xed)
            return i;
        i++;
    }
    while (i < n && s[i] != '"' && s[i] != '\\' && (unsigned char)s[i] >= 0x20)
        i++;
    return i;
}

/* Room for a string that begins at `start` and has escapes: decoded it is no longer than it is. */
static struct sb decoded_in(struct parser *p, size_t start)
{
    size_t n = json_string_length(sv_skip(p->text, start - 1));

    return sb_on(arena_grow(p->a, NULL, 0, n), n, p->a);
}

/* After the opening quote. */
static enum status parse_string(struct parser *p, struct sv *out)
{
    size_t    start = p->at;
    struct sb b = { 0 };
    bool      copied = false;

    for (;;) {
        struct sv plain = { p->text.s + p->at, plain_run(p->text.s + p->at, p->text.n - p->at) };
        p->at += plain.n;
        if (p->at >= p->text.n)
            return bad(p, "a string without its closing quote");
        char c = p->text.s[p->at++];
        if (c == '"' && !copied) {
            *out = (struct sv){ p->text.s + start, p->at - 1 - start };
            return ST_OK;
        }
        if (!copied)
            b = decoded_in(p, start);
        copied = true;
        if (plain.n)
            sb_put(&b, plain);
        if (c == '"') {
            *out = sb_sv(&b);
            return ST_OK;
        }
        if (c != '\\')
            return p->at--, bad(p, "a control character in a string");
        if (unescape(p, &b))
            return p->e->code;
    }
}

static size_t run_of_digits(struct parser *p)
{
    size_t from = p->at;

    while (p->at < p->text.n && p->text.s[p->at] >= '0' && p->text.s[p->at] <= '9')
        p->at++;
    return p->at - from;
}

static enum status parse_number(struct parser *p, struct json *out)
{
    size_t start = p->at;

    accept(p, '-');
    size_t first = p->at, whole = run_of_digits(p);
    if (!whole || (whole > 1 && p->text.s[first] == '0'))
        return bad(p, "not a value");
    if (accept(p, '.') && !run_of_digits(p))
        return bad(p, "a number without digits after its point");
    if (accept(p, 'e') || accept(p, 'E')) {
        if (!accept(p, '-'))
            accept(p, '+');
        if (!run_of_digits(p))
            return bad(p, "a number without digits in its exponent");
    }
    *out = (struct json){ JSON_NUMBER, p->at - start, { p->text.s + start } };
    return ST_OK;
}

/* Sorted, the members of a valid object have rising keys; equal neighbours are a
 * duplicate. With JSON_KEEP_ORDER a sorted copy is looked at. */
static enum status check_members(struct parser *p, struct json *v)
{
    struct json look = *v;

    if (json_is_sorted(v))
        return ST_OK;
    if (p->flags & JSON_KEEP_ORDER) {
        look.members = ARENA_NEW(p->a, struct json_member, v->n);
        memcpy(look.members, v->members, v->n * sizeof *look.members);
    }
    qsort(look.members, look.n, sizeof *look.members, json_by_key);
    return json_is_sorted(&look) ? ST_OK : bad(p, "a key stands twice in the object that ends");
}

/* Arrays and objects that have been opened and not closed. They are kept in an array and not on the
 * call stack: a text may be nested deeper than a small stack allows. */
static enum status open_level(struct parser *p, char bracket)
{
    struct level *up = p->n ? &p->levels[p->n - 1] : NULL;
    bool          deep = p->flags & JSON_DEEP;
    int           most = deep ? JSON_DEPTH_DEEP : JSON_DEPTH_MAX;
    bool          is_child = deep && p->n && up->bracket == '{' && sv_is(up->key, "children");
    int           depth = is_child || !p->n ? 1 : up->depth + 1;

    if (depth > JSON_DEPTH_MAX || (int)p->n >= most)
        return err_set(p->e, ST_LIMIT_EXCEEDED, "JSON is nested deeper than %d",
                       depth > JSON_DEPTH_MAX ? (int)JSON_DEPTH_MAX : most);
    if (p->n == p->cap) {
        struct level *more = ARENA_NEW(p->a, struct level, p->cap * 2);
        memcpy(more, p->levels, p->n * sizeof *more);
        p->levels = more;
        p->cap *= 2;
    }
    p->levels[p->n++] = (struct level){ .bracket = bracket, .depth = depth };
    return ST_OK;
}

static enum status close_level(struct parser *p, struct json *out)
{
    struct level *l = &p->levels[--p->n];

    if (l->bracket == '[') {
        *out = (struct json){ JSON_ARRAY, l->items.n, { .items = l->items.v } };
        return ST_OK;
    }
    *out = (struct json){ JSON_OBJECT, l->members.n, { .members = l->members.v } };
    return check_members(p, out);
}

static char closing(char bracket)
{
    return bracket == '[' ? ']' : '}';
}

/* Reads what precedes the next value of the level: the key in an object, nothing in an array. */
static enum status parse_key(struct parser *p)
{
    struct level *l = &p->levels[p->n - 1];

    if (l->bracket == '[')
        return ST_OK;
    skip_space(p);
    if (!accept(p, '"'))
        return bad(p, "expected a key in quotes");
    if (parse_string(p, &l->key))
        return p->e->code;
    skip_space(p);
    return accept(p, ':') ? ST_OK : bad(p, "expected :");
}

static enum status parse_scalar(struct parser *p, struct json *out)
{
    *out = (struct json){ 0 };
    if (accept(p, '"')) {
        struct sv text = { 0 };
        if (parse_string(p, &text))
            return p->e->code;
        *out = json_of(text);
        return ST_OK;
    }
    if (literal(p, SV("null")))
        return ST_OK;
    if (literal(p, SV("true")))
        return out->type = JSON_TRUE, ST_OK;
    if (literal(p, SV("false")))
        return out->type = JSON_FALSE, ST_OK;
    return parse_number(p, out);
}

/* A value is read: put it where it belongs, and close what ends with it. *more: another one follows
 * in the same level. */
static enum status take_value(struct parser *p, struct json *v, bool *more)
{
    for (*more = false; p->n && !*more;) {
        struct level *l = &p->levels[p->n - 1];
        if (l->bracket == '[')
            *vec_push(&l->items, p->a) = *v;
        else
            *vec_push(&l->members, p->a) = (struct json_member){ l->key, *v };
        skip_space(p);
        *more = accept(p, ',');
        if (*more)
            return parse_key(p);
        if (!accept(p, closing(l->bracket)))
            return bad(p, l->bracket == '[' ? "expected , or ]" : "expected , or }");
        if (close_level(p, v))
            return p->e->code;
    }
    return ST_OK;
}

static enum status parse_value(struct parser *p, struct json *out)
{
    bool more = true;

    while (more) {
        skip_space(p);
        char bracket = accept(p, '{') ? '{' : '[';
        if (bracket == '{' || accept(p, '[')) {
            if (open_level(p, bracket))
                return p->e->code;
            skip_space(p);
            if (!accept(p, closing(bracket))) {
                if (parse_key(p))
                    return p->e->code;
                continue;
            }
            if (close_level(p, out))
                return p->e->code;
        } else if (parse_scalar(p, out)) {
            return p->e->code;
        }
        if (take_value(p, out, &more))
            return p->e->code;
    }
    return ST_OK;
}

enum status json_parse(struct sv text, enum json_flags flags, struct arena *a, struct json *out,
                       struct err *e)
{
    struct level  at_hand[LEVELS_AT_HAND];
    struct parser p = {
        .text = text, .levels = at_hand, .cap = LEVELS_AT_HAND, .flags = flags, .a = a, .e = e
    };
    struct json value;
    ptrdiff_t   invalid = utf8_invalid(text);

    if (invalid >= 0) {
        p.at = (size_t)invalid;
        return bad(&p, "invalid UTF-8");
    }
    if (parse_value(&p, &value))
        return err_code(e);
    skip_space(&p);
    if (p.at != text.n)
        return bad(&p, "more text after the value");
    *out = value;
    return ST_OK;
}
