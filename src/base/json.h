/* JSON in and out.
 *
 * Reading is strict (RFC 8259, valid UTF-8, no duplicate keys, a depth limit) and
 * loss-free: numbers keep their text, so 1.0, 1e3 and 20-digit integers survive, and
 * an escaped lone surrogate is kept (as three bytes, which writing escapes again).
 *
 * Writing has one canonical form: keys sorted by their bytes, no spaces, only the
 * escapes JSON demands. Values read and written again are equal bytes for equal input.
 *
 *     struct json doc;
 *     if (json_parse(text, 0, &a, &doc, e)) return err_in(e, "config.json");
 *     struct sv name = json_text(&doc, "name");     absent: .s == NULL
 *
 * Parsed strings without escapes point into the text, which must outlive them. */
#ifndef HEDDLE_JSON_H
#define HEDDLE_JSON_H

#include "base/sb.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER, /* text: the literal as written */
    JSON_STRING, /* text: the bytes */
    JSON_ARRAY,  /* items[0..n) */
    JSON_OBJECT, /* members[0..n), sorted by key unless read with JSON_KEEP_ORDER */
};

struct json_member;
struct json {
    enum json_type type;
    size_t         n;
    union {
        const char         *s; /* n bytes */
        struct json        *items;
        struct json_member *members;
    };
};
struct json_member {
    struct sv   key;
    struct json value;
};

enum { JSON_DEPTH_MAX = 128, JSON_DEPTH_DEEP = 4000 };
enum json_flags {
    JSON_KEEP_ORDER = 1,
    JSON_ONE_LINE = 2, /* the text is a line of something: errors name the column alone */
    JSON_DEEP = 4,     /* for files in which turns are nested: the depth limit starts again inside a
                        * "children" member, up to JSON_DEPTH_DEEP levels in all */
};

/* One value that fills all of `text`. ST_INVALID_SYNTAX with line and column, or
 * ST_LIMIT_EXCEEDED when nested deeper than JSON_DEPTH_MAX. */
enum status json_parse(struct sv text, enum json_flags flags, struct arena *a, struct json *out,
                       struct err *e) MUST_USE;

/* NULL when `v` is NULL, not an object, or has no such key: lookups chain. */
const struct json *json_find(const struct json *v, const char *key);
const struct json *json_find_sv(const struct json *v, struct sv key);

/* NULL is of no type. Inline, so that static analyzers see that it checks for NULL. */
static inline bool json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}

struct sv json_sv(const struct json *v);                      /* a string's bytes, else absent */
struct sv json_text(const struct json *v, const char *key);   /* json_sv(json_find(...)) */
bool      json_int(const struct json *v, int64_t *out);       /* an integer literal in range */
bool      json_real(const struct json *v, double *out);       /* any number a double can hold */
int64_t   json_number(const struct json *v, const char *key); /* an integer member, else 0 */
bool      json_truth(const struct json *v);                   /* the literal true */
bool      json_holds(const struct json *v, struct sv text);   /* it is a string in v, or v itself */
bool      json_eq(const struct json *a, const struct json *b); /* read with the same flags */

/* Making values. */
struct json json_of(struct sv text);
struct json json_of_int(int64_t n, struct arena *a);

/* Canonical text of a value (sorts members that are not sorted yet). */
void      json_write(struct sb *b, const struct json *v);
struct sv json_canonical(const struct json *v, struct arena *a);
void      sb_add_json_string(struct sb *b, struct sv text);

/* A shallow walk over the members of an object that is known to be canonical, such as
 * a stored payload: no allocation, values stay raw text, keys stay escaped.
 *
 *     struct sv rest = payload, key, raw;
 *     while (json_next(&rest, &key, &raw)) ...                                       */
bool json_next(struct sv *rest, struct sv *key, struct sv *raw);

/* The same for the items of a list that is known to be canonical. */
bool json_next_item(struct sv *rest, struct sv *raw);

/* Is a text that jw_*() wrote without spaces canonical: valid UTF-8, and the members of every
 * object in order? Nothing is allocated. Also false where only a parser could decide: keys with
 * escapes, deep nesting. */
bool json_is_canonical(struct sv text);

/* How deep a text that is known to be JSON is nested; 0 for a scalar. */
size_t json_depth(struct sv text);

/* Writing piece by piece, in the order given; `indent` 0 is compact, 2 is what
 * JSON.stringify(x, null, 2) prints.
 *
 *     struct jw w = jw_in(&b, 0);
 *     jw_open(&w, '{'); jw_key(&w, "rev"); jw_int(&w, 7); jw_close(&w, '}');          */
struct jw {
    struct sb *b;
    int        indent, depth;
    bool       comma, after_key;
};
struct jw jw_in(struct sb *b, int indent);
void      jw_open(struct jw *w, char bracket);
void      jw_close(struct jw *w, char bracket);
void      jw_key(struct jw *w, const char *key);
void      jw_key_sv(struct jw *w, struct sv key);
void      jw_str(struct jw *w, struct sv v); /* absent: null */
void      jw_int(struct jw *w, int64_t n);
void      jw_bool(struct jw *w, bool v);
void      jw_null(struct jw *w);
void      jw_raw(struct jw *w, struct sv json);        /* text that already is JSON */
void      jw_json(struct jw *w, const struct json *v); /* in v's own member order */

/* The members of an object that are none of the n `known`, as the text of an object; absent when
 * there are none. */
struct sv json_others(const struct json *v, const char *const *known, size_t n, struct arena *a);

/* "key": value in one call. */
void jw_kstr(struct jw *w, const char *key, struct sv v);
void jw_klossy(struct jw *w, const char *key, struct sv v); /* bytes that are not UTF-8: U+FFFD */
void jw_kint(struct jw *w, const char *key, int64_t n);
void jw_kbool(struct jw *w, const char *key, bool v);

#endif
