/* The JSON writer: the canonical form of a value, and text that is written member by member. */
#include "base/json_internal.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Half of a surrogate pair at the start of v, kept as three bytes by the parser. */
static bool is_half(struct sv v)
{
    const unsigned char *p = (const unsigned char *)v.s;

    return v.n >= 3 && p[0] == 0xed && (p[1] & 0xe0) == 0xa0 && (p[2] & 0xc0) == 0x80;
}

/* How many bytes at the start of v can be copied unchanged. */
static size_t safe_run(const char *s, size_t n)
{
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        uint64_t special = json_special_bytes(s + i);
        if (special)
            return i + (size_t)__builtin_ctzll(special) / 8;
    }
    if (n >= 8 && !json_special_bytes(s + n - 8)) /* with some that were looked at already */
        return n;
    if (n >= 4 && n < 8) {
        uint32_t low, high;
        memcpy(&low, s, 4);
        memcpy(&high, s + n - 4, 4);
        if (!json_special_in(low | (uint64_t)high << 32)) /* in which order does not matter */
            return n;
    }
    while (i < n && s[i] != '"' && s[i] != '\\' && (unsigned char)s[i] >= 0x20 &&
           (unsigned char)s[i] != 0xed)
        i++;
    return i;
}

/* A quote, a backslash or a control character. */
static void add_escape(struct sb *b, unsigned char c)
{
    static const char short_forms[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'
    };
    char two[2] = { '\\', (char)c };

    if (c < 0x20)
        two[1] = short_forms[c];
    if (two[1])
        sb_put(b, (struct sv){ two, 2 });
    else
        sb_addf(b, "\\u%04x", c);
}

void sb_add_json_string(struct sb *b, struct sv v)
{
    size_t run = safe_run(v.s, v.n);

    if (run == v.n && sb_fits(b, v.n + 2)) { /* as nearly all names are */
        char *to = b->s + b->n;
        *to++ = '"';
        *sb_write_short(to, v) = '"';
        b->n += v.n + 2;
        return;
    }
    sb_putc(b, '"');
    for (size_t i = 0; i < v.n; run = safe_run(v.s + i, v.n - i)) {
        if (run)
            sb_put(b, (struct sv){ v.s + i, run });
        i += run;
        if (i == v.n)
            break;
        unsigned char c = (unsigned char)v.s[i];
        if (c != 0xed) {
            add_escape(b, c);
            i++;
        } else if (is_half(sv_skip(v, i))) {
            sb_addf(b, "\\u%04x",
                    0xd000u | (unsigned)(v.s[i + 1] & 0x3f) << 6 | (unsigned)(v.s[i + 2] & 0x3f));
            i += 3;
        } else {
            sb_putc(b, v.s[i++]);
        }
    }
    sb_putc(b, '"');
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

    if (!json_is_sorted(v)) {
        m = ARENA_NEW(&scratch, struct json_member, v->n);
        memcpy(m, v->members, v->n * sizeof *m);
        qsort(m, v->n, sizeof *m, json_by_key);
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
        sb_putc(w->b, ',');
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
    sb_putc(w->b, ':');
    if (w->indent)
        sb_putc(w->b, ' ');
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

void jw_klossy(struct jw *w, const char *key, struct sv v)
{
    struct arena scratch = { 0 };
    struct sb    clean = sb_in(&scratch, 0);

    if (utf8_invalid(v) < 0) {
        jw_kstr(w, key, v);
        return;
    }
    sb_add_lossy(&clean, v);
    jw_kstr(w, key, sb_sv(&clean));
    arena_free(&scratch);
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
