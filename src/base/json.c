/* JSON values: looking things up in one, comparing, and making one of a text or a number. */
#include "base/json.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

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

bool json_real(const struct json *v, double *out)
{
    char text[64];

    if (!json_is(v, JSON_NUMBER) || v->n >= sizeof text)
        return false;
    memcpy(text, v->s, v->n);
    text[v->n] = 0;
    *out = strtod(text, NULL);
    return *out <= DBL_MAX && *out >= -DBL_MAX;
}

int64_t json_number(const struct json *v, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(v, key), &n) ? n : 0;
}

bool json_truth(const struct json *v)
{
    return json_is(v, JSON_TRUE);
}

bool json_holds(const struct json *v, struct sv text)
{
    bool holds = json_is(v, JSON_STRING) && sv_eq(json_sv(v), text);

    for (size_t i = 0; !holds && json_is(v, JSON_ARRAY) && i < v->n; i++)
        holds = json_holds(&v->items[i], text);
    for (size_t i = 0; !holds && json_is(v, JSON_OBJECT) && i < v->n; i++)
        holds = json_holds(&v->members[i].value, text);
    return holds;
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
