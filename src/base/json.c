#include "base/json.h"

#include "base/utf8.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------- */

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
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char              c = p->at < p->text.n ? p->text.s[p->at++] : '\0';
    const char       *simple = c ? strchr(from, c) : NULL;
    uint32_t          cp, low;

    if (simple) {
        sb_addc(b, to[simple - from]);
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
            p->at = here; /* a lone half: the next escape stands for itself */
    }
    sb_add_utf8(b, cp);
    return ST_OK;
}

/* Do the eight bytes at s all stand for themselves in a JSON string? False also for 0xed, with
 * which a half of a surrogate pair begins. Adding the same to each byte of a word and
 * looking at the high bits finds a zero byte, or one below 0x20, in a few instructions. */
static inline bool eight_are_plain(const char *s)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    uint64_t       w, quote, slash, half;

    memcpy(&w, s, 8);
    quote = w ^ ones * '"';
    slash = w ^ ones * '\\';
    half = w ^ ones * 0xed;
    return !((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
              ((half - ones) & ~half)) &
             high);
}

/* After the opening quote. */
static enum status parse_string(struct parser *p, struct sv *out)
{
    size_t    start = p->at;
    struct sb b = { 0 };
    bool      copied = false;

    for (;;) {
        size_t run = p->at;
        while (p->at < p->text.n && p->text.s[p->at] != '"' && p->text.s[p->at] != '\\' &&
               (unsigned char)p->text.s[p->at] >= 0x20)
            p->at += p->text.n - p->at >= 8 && eight_are_plain(p->text.s + p->at) ? 8 : 1;
        struct sv plain = { p->text.s + run, p->at - run };
        if (p->at >= p->text.n)
            return bad(p, "a string without its closing quote");
        char c = p->text.s[p->at++];
        if (c == '"' && !copied) {
            *out = (struct sv){ p->text.s + start, p->at - 1 - start };
            return ST_OK;
        }
        if (!copied)
            b = sb_in(p->a, 0);
        copied = true;
        sb_add(&b, plain);
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

static int by_key(const void *a, const void *b)
{
    return sv_cmp(((const struct json_member *)a)->key, ((const struct json_member *)b)->key);
}

static bool is_sorted(const struct json *v)
{
    for (size_t i = 1; i < v->n; i++)
        if (sv_cmp(v->members[i - 1].key, v->members[i].key) >= 0)
            return false;
    return true;
}

/* Sorted, the members of a valid object have rising keys; equal neighbours are a
 * duplicate. With JSON_KEEP_ORDER a sorted copy is looked at. */
static enum status check_members(struct parser *p, struct json *v)
{
    struct json look = *v;

    if (is_sorted(v))
        return ST_OK;
    if (p->flags & JSON_KEEP_ORDER) {
        look.members = ARENA_NEW(p->a, struct json_member, v->n);
        memcpy(look.members, v->members, v->n * sizeof *look.members);
    }
    qsort(look.members, look.n, sizeof *look.members, by_key);
    return is_sorted(&look) ? ST_OK : bad(p, "a key stands twice in the object that ends");
}

/* Arrays and objects that have been opened and not closed. They are kept in a list, not in calls of
 * calls: a text may be nested deeper than a small stack allows. */
static enum status open_level(struct parser *p, char bracket)
{
    struct level *up = p->n ? &p->levels[p->n - 1] : NULL;
    bool          deep = p->flags & JSON_DEEP;
    int           most = deep ? JSON_DEPTH_DEEP : JSON_DEPTH_MAX;
    bool          is_child = deep && up && up->bracket == '{' && sv_is(up->key, "children");
    int           depth = is_child || !up ? 1 : up->depth + 1;

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

/* What stands in front of the next value of the level: nothing, or a key. */
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
        struct sv text;
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

/* ---- looking ---------------------------------------------------------------- */

const struct json *json_find_sv(const struct json *v, struct sv key)
{
    if (!json_is(v, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < v->n; i++)
        if (sv_eq(v->members[i].key, key))
            return &v->members[i].value;
    return NULL;
}

const struct json *json_find(const struct json *v, const char *key)
{
    return json_find_sv(v, sv_of(key));
}

struct sv json_sv(const struct json *v)
{
    return json_is(v, JSON_STRING) ? (struct sv){ v->s ? v->s : "", v->n } : (struct sv){ 0 };
}

struct sv json_text(const struct json *v, const char *key)
{
    return json_sv(json_find(v, key));
}

bool json_int(const struct json *v, int64_t *out)
{
    return json_is(v, JSON_NUMBER) && sv_to_int((struct sv){ v->s, v->n }, out);
}

bool json_truth(const struct json *v)
{
    return json_is(v, JSON_TRUE);
}

bool json_eq(const struct json *a, const struct json *b)
{
    if (a->type != b->type || a->n != b->n)
        return false;
    if (a->type == JSON_STRING || a->type == JSON_NUMBER)
        return sv_eq((struct sv){ a->s, a->n }, (struct sv){ b->s, b->n });
    for (size_t i = 0; i < a->n; i++) {
        bool same = a->type == JSON_ARRAY ? json_eq(&a->items[i], &b->items[i])
                                          : sv_eq(a->members[i].key, b->members[i].key) &&
                                                json_eq(&a->members[i].value, &b->members[i].value);
        if (!same)
            return false;
    }
    return true;
}

struct json json_of(struct sv text)
{
    return (struct json){ JSON_STRING, text.n, { text.s } };
}

struct json json_of_int(int64_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_int(&b, n);
    struct sv text = sb_sv(&b);
    return (struct json){ JSON_NUMBER, text.n, { text.s } };
}

/* ---- the shallow walk --------------------------------------------------------- */

/* The length of the quoted string at the start of v, quotes included. */
static size_t string_length(struct sv v)
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

    while (i < v.n) {
        char c = v.s[i];
        if (c == '"') {
            i += string_length(sv_skip(v, i));
            if (!depth)
                return i;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']') {
            if (!depth)
                return i; /* the end of what surrounds a bare literal */
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
            i += c == '\\'; /* whatever is escaped, it does not end the string */
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
        v = sv_skip(v, 1);
    if (!v.n || v.s[0] != '"')
        return false;
    size_t k = string_length(v);
    if (k < 2 || k >= v.n || v.s[k] != ':')
        return false; /* not canonical after all; better the end than a wild length */
    *key = (struct sv){ v.s + 1, k - 2 };
    v = sv_skip(v, k + 1);
    *raw = sv_first(v, value_length(v));
    *rest = sv_skip(v, raw->n);
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

/* ---- writing ------------------------------------------------------------------ */

/* Half of a surrogate pair at the start of v, kept as three bytes by the parser. */
static bool is_half(struct sv v)
{
    const unsigned char *p = (const unsigned char *)v.s;

    return v.n >= 3 && p[0] == 0xed && (p[1] & 0xe0) == 0xa0 && (p[2] & 0xc0) == 0x80;
}

void sb_add_json_string(struct sb *b, struct sv v)
{
    size_t from = 0;

    sb_addc(b, '"');
    for (size_t i = 0; i < v.n; i++) {
        while (v.n - i > 8 && eight_are_plain(v.s + i))
            i += 8;
        unsigned char c = (unsigned char)v.s[i];
        bool          half = c == 0xed && is_half(sv_skip(v, i));
        if (c >= 0x20 && c != '"' && c != '\\' && !half)
            continue;
        sb_add(b, (struct sv){ v.s + from, i - from });
        const char *short_form = c && !half ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;
        if (half) {
            sb_addf(b, "\\u%04x",
                    0xd000u | (unsigned)(v.s[i + 1] & 0x3f) << 6 | (unsigned)(v.s[i + 2] & 0x3f));
            i += 2;
        } else if (short_form) {
            char two[2] = { '\\', short_form[1] };
            sb_add(b, (struct sv){ two, 2 });
        } else {
            sb_addf(b, "\\u%04x", c);
        }
        from = i + 1;
    }
    sb_add(b, sv_skip(v, from));
    sb_addc(b, '"');
}

static void write_sorted(struct sb *b, const struct json *v);

static void write_items(struct sb *b, const struct json *v)
{
    sb_addc(b, '[');
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            sb_addc(b, ',');
        write_sorted(b, &v->items[i]);
    }
    sb_addc(b, ']');
}

static void write_members(struct sb *b, const struct json *v)
{
    struct arena        scratch = { 0 };
    struct json_member *m = v->members;

    if (!is_sorted(v)) {
        m = ARENA_NEW(&scratch, struct json_member, v->n);
        memcpy(m, v->members, v->n * sizeof *m);
        qsort(m, v->n, sizeof *m, by_key);
    }
    sb_addc(b, '{');
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            sb_addc(b, ',');
        sb_add_json_string(b, m[i].key);
        sb_addc(b, ':');
        write_sorted(b, &m[i].value);
    }
    sb_addc(b, '}');
    arena_free(&scratch);
}

static void write_sorted(struct sb *b, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL: sb_adds(b, "null"); break;
    case JSON_FALSE: sb_adds(b, "false"); break;
    case JSON_TRUE: sb_adds(b, "true"); break;
    case JSON_NUMBER: sb_add(b, (struct sv){ v->s, v->n }); break;
    case JSON_STRING: sb_add_json_string(b, json_sv(v)); break;
    case JSON_ARRAY: write_items(b, v); break;
    case JSON_OBJECT: write_members(b, v); break;
    }
}

void json_write(struct sb *b, const struct json *v)
{
    write_sorted(b, v);
}

struct sv json_canonical(const struct json *v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    json_write(&b, v);
    return sb_sv(&b);
}

struct jw jw_in(struct sb *b, int indent)
{
    return (struct jw){ .b = b, .indent = indent };
}

static void newline(struct jw *w)
{
    if (w->indent) {
        sb_addc(w->b, '\n');
        sb_pad(w->b, ' ', (size_t)w->indent * (size_t)w->depth);
    }
}

/* Comma and line break before a value or key. */
static void lead(struct jw *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->comma)
        sb_addc(w->b, ',');
    if (w->depth)
        newline(w);
}

void jw_open(struct jw *w, char bracket)
{
    lead(w);
    sb_addc(w->b, bracket);
    w->depth++;
    w->comma = false;
}

void jw_close(struct jw *w, char bracket)
{
    w->depth--;
    if (w->comma)
        newline(w);
    sb_addc(w->b, bracket);
    w->comma = true;
}

void jw_key_sv(struct jw *w, struct sv key)
{
    lead(w);
    sb_add_json_string(w->b, key);
    sb_adds(w->b, w->indent ? ": " : ":");
    w->after_key = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_sv(w, sv_of(key));
}

void jw_raw(struct jw *w, struct sv json)
{
    lead(w);
    sb_add(w->b, json);
    w->comma = true;
}

void jw_str(struct jw *w, struct sv v)
{
    if (!v.s) {
        jw_null(w);
        return;
    }
    lead(w);
    sb_add_json_string(w->b, v);
    w->comma = true;
}

void jw_int(struct jw *w, int64_t n)
{
    lead(w);
    sb_add_int(w->b, n);
    w->comma = true;
}

void jw_bool(struct jw *w, bool v)
{
    jw_raw(w, v ? SV("true") : SV("false"));
}

void jw_null(struct jw *w)
{
    jw_raw(w, SV("null"));
}

void jw_json(struct jw *w, const struct json *v)
{
    switch (v->type) {
    case JSON_ARRAY:
        jw_open(w, '[');
        for (size_t i = 0; i < v->n; i++)
            jw_json(w, &v->items[i]);
        jw_close(w, ']');
        break;
    case JSON_OBJECT:
        jw_open(w, '{');
        for (size_t i = 0; i < v->n; i++) {
            jw_key_sv(w, v->members[i].key);
            jw_json(w, &v->members[i].value);
        }
        jw_close(w, '}');
        break;
    case JSON_STRING: jw_str(w, json_sv(v)); break;
    default:
        lead(w);
        write_sorted(w->b, v);
        w->comma = true;
    }
}

struct sv json_others(const struct json *v, const char *const *known, size_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);
    bool      any = false;

    jw_open(&w, '{');
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++) {
        bool has = false;
        for (size_t k = 0; k < n && !has; k++)
            has = sv_is(v->members[i].key, known[k]);
        if (has)
            continue;
        any = true;
        jw_key_sv(&w, v->members[i].key);
        jw_json(&w, &v->members[i].value);
    }
    jw_close(&w, '}');
    return any ? sb_sv(&b) : (struct sv){ 0 };
}

void jw_kstr(struct jw *w, const char *key, struct sv v)
{
    jw_key(w, key);
    jw_str(w, v);
}

void jw_kint(struct jw *w, const char *key, int64_t n)
{
    jw_key(w, key);
    jw_int(w, n);
}

void jw_kbool(struct jw *w, const char *key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}
