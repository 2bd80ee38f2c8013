/* Checking a document against the table of its fields, and writing one in their order. */
#include "api/field.h"

#include "base/clock.h"

static enum status check_value(const struct field *f, const struct json *v, struct err *e);

static enum status wrong(const struct field *f, const char *want, struct err *e)
{
    return err_set(e, ST_CORRUPT, "%s must be %s", f->name, want);
}

static const struct field *field_named(const struct field *table, struct sv name)
{
    for (; table->type; table++)
        if (sv_is(name, table->name))
            return table;
    return NULL;
}

static enum status check_members(const struct field *table, bool open, const struct json *v,
                                 struct err *e)
{
    if (v->type != JSON_OBJECT)
        return err_set(e, ST_CORRUPT, "an object is expected");
    for (size_t i = 0; i < v->n; i++) {
        const struct field *f = field_named(table, v->members[i].key);
        if (!f && !open)
            return err_set(e, ST_CORRUPT, "member '" SV_FMT "' is not in the schema",
                           SV_ARG(v->members[i].key));
        if (f && check_value(f, &v->members[i].value, e))
            return err_code(e);
    }
    for (const struct field *f = table; f->type; f++)
        if (!f->optional && !json_find(v, f->name))
            return err_set(e, ST_CORRUPT, "member '%s' is missing", f->name);
    return ST_OK;
}

static enum status check_items(const struct field *f, const struct json *v, struct err *e)
{
    struct field item = { f->name, f->item ? f->item : FIELD_TEXT, .values = f->values };

    if (v->type != JSON_ARRAY)
        return wrong(f, "a list", e);
    for (size_t i = 0; i < v->n; i++)
        if (f->of ? check_members(f->of, f->open, &v->items[i], e)
                  : check_value(&item, &v->items[i], e))
            return err_in(e, "%s[%zu]", f->name, i);
    return ST_OK;
}

static bool is_one_of(const char *const *values, struct sv text)
{
    for (; *values; values++)
        if (sv_is(text, *values))
            return true;
    return false;
}

static bool is_time(const struct json *v)
{
    int64_t ms;

    return v->type == JSON_STRING && clock_parse_iso(json_sv(v), &ms);
}

static enum status check_value(const struct field *f, const struct json *v, struct err *e)
{
    int64_t n;

    if (v->type == JSON_NULL)
        return f->nullable || f->type == FIELD_ANY ? ST_OK
                                                   : wrong(f, "something else than null", e);
    switch (f->type) {
    case FIELD_TEXT: return v->type == JSON_STRING ? ST_OK : wrong(f, "a string", e);
    case FIELD_NUMBER: return json_int(v, &n) ? ST_OK : wrong(f, "an integer", e);
    case FIELD_REAL: return v->type == JSON_NUMBER ? ST_OK : wrong(f, "a number", e);
    case FIELD_FLAG:
        return v->type == JSON_TRUE || v->type == JSON_FALSE ? ST_OK : wrong(f, "a boolean", e);
    case FIELD_TIME: return is_time(v) ? ST_OK : wrong(f, "a time", e);
    case FIELD_ENUM:
        return v->type == JSON_STRING && is_one_of(f->values, json_sv(v))
                   ? ST_OK
                   : wrong(f, "one of its values", e);
    case FIELD_OBJECT:
        if (v->type != JSON_OBJECT)
            return wrong(f, "an object", e);
        return f->of && check_members(f->of, f->open, v, e) ? err_in(e, "%s", f->name) : ST_OK;
    case FIELD_LIST: return check_items(f, v, e);
    case FIELD_ANY:
    case FIELD_END: break;
    }
    return ST_OK;
}

enum status fields_check(const struct field *table, const struct json *doc, struct err *e)
{
    return check_members(table, false, doc, e);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_value(const struct field *f, const struct json *v, struct jw *w)
{
    bool each = f && f->of && v->type == JSON_ARRAY;

    if (f && f->of && v->type == JSON_OBJECT)
        fields_write(f->of, v, w);
    else if (!each)
        jw_json(w, v);
    if (!each)
        return;
    jw_open(w, '[');
    for (size_t i = 0; i < v->n; i++)
        if (v->items[i].type == JSON_OBJECT)
            fields_write(f->of, &v->items[i], w);
        else
            jw_json(w, &v->items[i]);
    jw_close(w, ']');
}

void fields_write(const struct field *table, const struct json *doc, struct jw *w)
{
    jw_open(w, '{');
    for (const struct field *f = table; f && f->type; f++) {
        const struct json *v = json_find(doc, f->name);
        if (!v)
            continue;
        jw_key(w, f->name);
        write_value(f, v, w);
    }
    for (size_t i = 0; i < doc->n; i++)
        if (!field_named(table, doc->members[i].key)) {
            jw_key_sv(w, doc->members[i].key);
            jw_json(w, &doc->members[i].value);
        }
    jw_close(w, '}');
}
