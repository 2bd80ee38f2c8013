/* Filling a struct of parameters from text or JSON by its table. */
#include "api/param.h"

#include "base/path.h"
#include "base/vec.h"

static void *field_of(const struct param *p, void *into)
{
    return (char *)into + p->offset;
}

const struct param *param_find(const struct param *table, struct sv name)
{
    for (; table && table->type; table++)
        if (sv_is(name, table->name))
            return table;
    return NULL;
}

struct sv param_text(const struct param *table, const void *params, struct sv name)
{
    const struct param *p = param_find(table, name);

    if (!p || (p->type != PARAM_TEXT && p->type != PARAM_NAME))
        return (struct sv){ 0 };
    return *(const struct sv *)(const void *)((const char *)params + p->offset);
}

/* ---- one value ---------------------------------------------------------------------- */

static enum status not_allowed(const struct param *p, struct sv got, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    names = sb_in(&scratch, 0);

    if (p->refusal)
        return err_set(e, ST_USAGE, "%s %s", p->name, p->refusal);
    for (size_t i = 0; p->values[i]; i++)
        sb_addf(&names, "%s%s", !i ? "" : p->values[i + 1] ? ", " : " or ", p->values[i]);
    err_set(e, ST_USAGE, "'" SV_FMT "' is not a value of %s", SV_ARG(got), p->name);
    err_hint(e, "%s is " SV_FMT, p->name, SV_ARG(sb_sv(&names)));
    arena_free(&scratch);
    return err_code(e);
}

static enum status set_enum(const struct param *p, struct sv *field, struct sv text, struct err *e)
{
    for (size_t i = 0; p->values[i]; i++)
        if (sv_is(text, p->values[i])) {
            *field = text;
            return ST_OK;
        }
    return not_allowed(p, text, e);
}

/* Messages call the name of a thread its id. */
static enum status set_name(const struct param *p, struct sv *field, struct sv text, struct err *e)
{
    if (name_check(text, sv_is(sv_of(p->name), "thread") ? "thread id" : p->name, e))
        return err_code(e);
    *field = text;
    return ST_OK;
}

static enum status set_number(const struct param *p, int64_t *field, int64_t n, struct err *e)
{
    if (p->min != p->max && p->max == INT64_MAX && n < p->min)
        return err_set(e, ST_USAGE, "%s takes a number of at least %lld", p->name,
                       (long long)p->min);
    if (p->min != p->max && (n < p->min || n > p->max))
        return err_set(e, ST_USAGE, "%s is from %lld to %lld, not %lld", p->name, (long long)p->min,
                       (long long)p->max, (long long)n);
    *field = n;
    return ST_OK;
}

/* The number is kept as it was written: 0.1 is not what a double makes of it. */
static enum status set_decimal(const struct param *p, struct sv *field, const struct json *v,
                               struct sv text, struct err *e)
{
    double n;

    if (!json_real(v, &n))
        return err_set(e, ST_USAGE, "%s takes a number, not '" SV_FMT "'", p->name, SV_ARG(text));
    if (p->min != p->max && (n < (double)p->min || n > (double)p->max))
        return err_set(e, ST_USAGE, "%s is from %lld to %lld, not " SV_FMT, p->name,
                       (long long)p->min, (long long)p->max, SV_ARG(text));
    *field = (struct sv){ v->s, v->n };
    return ST_OK;
}

static enum status set_decimal_text(const struct param *p, struct sv *field, struct sv text,
                                    struct arena *a, struct err *e)
{
    struct json v;
    struct err  ignored;

    if (json_parse(text, 0, a, &v, &ignored))
        v = (struct json){ .type = JSON_NULL };
    return set_decimal(p, field, &v, text, e);
}

/* The next item of a list: up to a comma that has no backslash before it. */
static struct sv next_item(struct sv *rest, struct arena *a)
{
    struct sb item = sb_in(a, 0);
    size_t    at = 0;

    for (; at < rest->n && rest->s[at] != ','; at++) {
        if (rest->s[at] == '\\' && at + 1 < rest->n && rest->s[at + 1] == ',')
            at++;
        sb_addc(&item, rest->s[at]);
    }
    *rest = sv_skip(*rest, at < rest->n ? at + 1 : at);
    return sb_sv(&item);
}

void param_list_add(struct sv_list *list, struct sv item, struct arena *a)
{
    size_t     n = list->n * sizeof item;
    struct sv *v = arena_grow(a, (struct sv *)(uintptr_t)list->v, n, n + sizeof item);

    v[list->n] = item;
    *list = (struct sv_list){ v, list->n + 1 };
}

static void add_items(struct sv_list *list, struct sv text, struct arena *a)
{
    if (!list->v)
        list->v = ARENA_NEW(a, struct sv, 1);
    while (text.n) {
        struct sv item = sv_trim(next_item(&text, a));
        if (item.n)
            param_list_add(list, item, a);
    }
}

static enum status add_number(const struct param *p, struct number_list *list, int64_t n,
                              struct arena *a, struct err *e)
{
    int64_t *v = ARENA_NEW(a, int64_t, list->n + 1);

    for (size_t i = 0; i < list->n; i++)
        v[i] = list->v[i];
    if (set_number(p, &v[list->n], n, e))
        return err_code(e);
    *list = (struct number_list){ v, list->n + 1 };
    return ST_OK;
}

static enum status not_a_number(const struct param *p, struct sv text, struct err *e)
{
    return err_set(e, ST_USAGE, "%s takes a whole number, not '" SV_FMT "'", p->name, SV_ARG(text));
}

/* Numbers with commas between them. */
static enum status add_numbers(const struct param *p, struct number_list *list, struct sv text,
                               struct arena *a, struct err *e)
{
    struct sv_cut cut = { .tail = text, .found = true };
    int64_t       n;

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        if (!sv_to_int(cut.head, &n))
            return not_a_number(p, cut.head, e);
        if (add_number(p, list, n, a, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status param_set(const struct param *p, void *into, struct sv text, struct arena *a,
                      struct err *e)
{
    void   *field = field_of(p, into);
    int64_t n;

    switch (p->type) {
    case PARAM_FLAG: *(bool *)field = !sv_is(text, "false"); return ST_OK;
    case PARAM_TEXT: *(struct sv *)field = text; return ST_OK;
    case PARAM_NAME: return set_name(p, field, text, e);
    case PARAM_ENUM: return set_enum(p, field, text, e);
    case PARAM_NUMBER:
        return sv_to_int(text, &n) ? set_number(p, field, n, e) : not_a_number(p, text, e);
    case PARAM_DECIMAL: return set_decimal_text(p, field, text, a, e);
    case PARAM_LIST:
        if (p->whole)
            param_list_add(field, text, a);
        else
            add_items(field, text, a);
        return ST_OK;
    case PARAM_NUMBERS: return add_numbers(p, field, text, a, e);
    case PARAM_JSON: {
        struct json *v = ARENA_NEW(a, struct json, 1);
        if (json_parse(text, 0, a, v, e))
            return err_in(e, "%s", p->name);
        *(const struct json **)field = v;
        return ST_OK;
    }
    case PARAM_END: break;
    }
    return ST_OK;
}

/* ---- from JSON ---------------------------------------------------------------------- */

static enum status wrong_type(const struct param *p, const char *want, struct err *e)
{
    return err_set(e, ST_USAGE, "%s must be %s", p->name, want);
}

static enum status read_list(const struct param *p, struct sv_list *list, const struct json *v,
                             struct arena *a, struct err *e)
{
    if (v->type != JSON_ARRAY)
        return wrong_type(p, "a list of strings", e);
    struct sv *items = ARENA_NEW(a, struct sv, v->n + 1);
    for (size_t i = 0; i < v->n; i++) {
        if (v->items[i].type != JSON_STRING)
            return wrong_type(p, "a list of strings", e);
        items[i] = json_sv(&v->items[i]);
    }
    *list = (struct sv_list){ items, v->n };
    return ST_OK;
}

static enum status read_numbers(const struct param *p, struct number_list *list,
                                const struct json *v, struct arena *a, struct err *e)
{
    int64_t *items = ARENA_NEW(a, int64_t, v->type == JSON_ARRAY ? v->n + 1 : 1), n;

    if (v->type != JSON_ARRAY)
        return wrong_type(p, "a list of whole numbers", e);
    for (size_t i = 0; i < v->n; i++) {
        if (!json_int(&v->items[i], &n))
            return wrong_type(p, "a list of whole numbers", e);
        if (set_number(p, &items[i], n, e))
            return err_code(e);
    }
    *list = (struct number_list){ items, v->n };
    return ST_OK;
}

static enum status read_one(const struct param *p, const struct json *v, void *into,
                            struct arena *a, struct err *e)
{
    void   *field = field_of(p, into);
    int64_t n;

    switch (p->type) {
    case PARAM_FLAG:
        if (v->type != JSON_TRUE && v->type != JSON_FALSE)
            return wrong_type(p, "true or false", e);
        *(bool *)field = v->type == JSON_TRUE;
        return ST_OK;
    case PARAM_NUMBER:
        if (!json_int(v, &n))
            return wrong_type(p, "a whole number", e);
        return set_number(p, field, n, e);
    case PARAM_DECIMAL: return set_decimal(p, field, v, json_canonical(v, a), e);
    case PARAM_LIST: return read_list(p, field, v, a, e);
    case PARAM_NUMBERS: return read_numbers(p, field, v, a, e);
    case PARAM_JSON: *(const struct json **)field = v; return ST_OK;
    case PARAM_TEXT:
    case PARAM_NAME:
    case PARAM_ENUM:
        if (v->type != JSON_STRING)
            return wrong_type(p, "a string", e);
        return param_set(p, into, json_sv(v), a, e);
    case PARAM_END: break;
    }
    return ST_OK;
}

enum status params_unknown(const struct param *table, struct sv key, struct err *e)
{
    const char *nearest = NULL;
    size_t      best = 3;

    err_set(e, ST_USAGE, "there is no parameter '" SV_FMT "'", SV_ARG(key));
    for (; table && table->type; table++) {
        size_t d = sv_distance(key, sv_of(table->name));
        if (d < best) {
            best = d;
            nearest = table->name;
        }
    }
    return nearest ? err_hint(e, "did you mean %s?", nearest) : err_code(e);
}

enum status params_read(const struct param *table, const struct json *doc, void *into,
                        struct arena *a, struct err *e)
{
    if (doc->type != JSON_OBJECT)
        return err_set(e, ST_USAGE, "parameters are the members of an object");
    for (size_t i = 0; i < doc->n; i++) {
        const struct json_member *m = &doc->members[i];
        const struct param       *p = param_find(table, m->key);
        if (!p)
            return params_unknown(table, m->key, e);
        if (m->value.type != JSON_NULL && read_one(p, &m->value, into, a, e))
            return err_code(e);
    }
    return params_check(table, into, e);
}

/* ---- to JSON ------------------------------------------------------------------------ */

static void write_list(struct jw *w, const struct sv_list *list)
{
    jw_open(w, '[');
    for (size_t i = 0; i < list->n; i++)
        jw_str(w, list->v[i]);
    jw_close(w, ']');
}

static void write_numbers(struct jw *w, const struct number_list *list)
{
    jw_open(w, '[');
    for (size_t i = 0; i < list->n; i++)
        jw_int(w, list->v[i]);
    jw_close(w, ']');
}

static bool is_absent(const struct param *p, const void *field)
{
    switch (p->type) {
    case PARAM_TEXT:
    case PARAM_NAME:
    case PARAM_ENUM:
    case PARAM_DECIMAL: return !((const struct sv *)field)->s;
    case PARAM_NUMBER: return *(const int64_t *)field == PARAM_UNSET;
    case PARAM_LIST: return !((const struct sv_list *)field)->v;
    case PARAM_NUMBERS: return !((const struct number_list *)field)->v;
    case PARAM_JSON: return !*(const struct json *const *)field;
    case PARAM_FLAG:
    case PARAM_END: break;
    }
    return false;
}

static void write_one(struct jw *w, const struct param *p, const void *field)
{
    jw_key(w, p->name);
    switch (p->type) {
    case PARAM_TEXT:
    case PARAM_NAME:
    case PARAM_ENUM: jw_str(w, *(const struct sv *)field); break;
    case PARAM_NUMBER: jw_int(w, *(const int64_t *)field); break;
    case PARAM_DECIMAL: jw_raw(w, *(const struct sv *)field); break;
    case PARAM_LIST: write_list(w, field); break;
    case PARAM_NUMBERS: write_numbers(w, field); break;
    case PARAM_JSON: jw_json(w, *(const struct json *const *)field); break;
    case PARAM_FLAG: jw_bool(w, *(const bool *)field); break;
    case PARAM_END: break;
    }
}

void params_write(const struct param *table, const void *from, struct jw *w)
{
    jw_open(w, '{');
    for (; table && table->type; table++) {
        const void *field = (const char *)from + table->offset;
        if (!is_absent(table, field))
            write_one(w, table, field);
    }
    jw_close(w, '}');
}

/* ---- all of them -------------------------------------------------------------------- */

static void set_default(const struct param *p, void *into, struct arena *a)
{
    struct err ignored;

    if (p->type == PARAM_NUMBER)
        *(int64_t *)field_of(p, into) = PARAM_UNSET;
    /* A default that its own row refuses is a defect of the table, which unit/api_table finds. */
    if (p->fallback && param_set(p, into, sv_of(p->fallback), a, &ignored))
        return;
}

void *params_init(const struct param *table, size_t size, struct arena *a)
{
    void *into = arena_alloc(a, 1, size ? size : 1, _Alignof(max_align_t));

    for (; table && table->type; table++)
        set_default(table, into, a);
    return into;
}

bool param_is_given(const struct param *p, const void *from)
{
    const void *field = (const char *)from + p->offset;

    switch (p->type) {
    case PARAM_TEXT:
    case PARAM_NAME:
    case PARAM_ENUM:
        return p->blank ? ((const struct sv *)field)->s != NULL
                        : sv_trim(*(const struct sv *)field).n > 0;
    case PARAM_NUMBER: return *(const int64_t *)field != PARAM_UNSET;
    case PARAM_DECIMAL: return ((const struct sv *)field)->s != NULL;
    case PARAM_LIST: return ((const struct sv_list *)field)->n > 0;
    case PARAM_NUMBERS: return ((const struct number_list *)field)->n > 0;
    case PARAM_JSON: return *(const struct json *const *)field != NULL;
    case PARAM_FLAG:
    case PARAM_END: break;
    }
    return true;
}

enum status params_check(const struct param *table, const void *from, struct err *e)
{
    for (; table && table->type; table++)
        if (table->required && !param_is_given(table, from)) {
            err_set(e, ST_USAGE, "%s is missing", table->name);
            return err_reason(e, "missing_parameter");
        }
    return ST_OK;
}
