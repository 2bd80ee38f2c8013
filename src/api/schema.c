/* JSON Schema from the tables of parameters and fields. */
#include "api/schema.h"

static void put_values(struct jw *w, const char *const *values)
{
    jw_key(w, "enum");
    jw_open(w, '[');
    for (; *values; values++)
        jw_str(w, sv_of(*values));
    jw_close(w, ']');
}

static void put_text(struct jw *w, const char *key, const char *text)
{
    if (text)
        jw_kstr(w, key, sv_of(text));
}

/* ---- parameters --------------------------------------------------------------------- */

/* clang-format off */
static const char *const param_types[] = {
    [PARAM_FLAG] = "boolean", [PARAM_TEXT] = "string", [PARAM_NAME] = "string",
    [PARAM_ENUM] = "string", [PARAM_NUMBER] = "integer", [PARAM_LIST] = "array",
};
/* clang-format on */

static void put_default(struct jw *w, const struct param *p)
{
    if (!p->fallback)
        return;
    jw_key(w, "default");
    if (p->type == PARAM_NUMBER || p->type == PARAM_FLAG || p->type == PARAM_JSON)
        jw_raw(w, sv_of(p->fallback));
    else
        jw_str(w, sv_of(p->fallback));
}

static void put_param(struct jw *w, const struct param *p)
{
    jw_key(w, p->name);
    jw_open(w, '{');
    if (p->type != PARAM_JSON)
        jw_kstr(w, "type", sv_of(param_types[p->type]));
    put_text(w, "description", p->help);
    if (p->type == PARAM_ENUM)
        put_values(w, p->values);
    if (p->type == PARAM_LIST) {
        jw_key(w, "items");
        jw_raw(w, SV("{\"type\":\"string\"}"));
    }
    if (p->type == PARAM_NUMBER && p->min != p->max) {
        jw_kint(w, "minimum", p->min);
        jw_kint(w, "maximum", p->max);
    }
    put_default(w, p);
    jw_close(w, '}');
}

static void put_required_params(struct jw *w, const struct param *table)
{
    jw_key(w, "required");
    jw_open(w, '[');
    for (; table && table->type; table++)
        if (table->required)
            jw_str(w, sv_of(table->name));
    jw_close(w, ']');
}

void schema_params(struct jw *w, const struct operation *op)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("object"));
    jw_key(w, "properties");
    jw_open(w, '{');
    for (const struct param *p = op->params; p && p->type; p++)
        put_param(w, p);
    jw_close(w, '}');
    put_required_params(w, op->params);
    jw_kbool(w, "additionalProperties", false);
    jw_close(w, '}');
}

/* ---- answers ------------------------------------------------------------------------ */

static void put_members(struct jw *w, const struct field *table, bool open);

/* clang-format off */
static const char *const field_types[] = {
    [FIELD_TEXT] = "string", [FIELD_NUMBER] = "integer", [FIELD_REAL] = "number",
    [FIELD_FLAG] = "boolean", [FIELD_TIME] = "string", [FIELD_ENUM] = "string",
    [FIELD_OBJECT] = "object", [FIELD_LIST] = "array",
};
/* clang-format on */

static void put_type(struct jw *w, const struct field *f)
{
    if (f->type == FIELD_ANY)
        return;
    jw_key(w, "type");
    if (!f->nullable) {
        jw_str(w, sv_of(field_types[f->type]));
        return;
    }
    jw_open(w, '[');
    jw_str(w, sv_of(field_types[f->type]));
    jw_str(w, SV("null"));
    jw_close(w, ']');
}

static void put_items(struct jw *w, const struct field *f)
{
    jw_key(w, "items");
    jw_open(w, '{');
    if (f->of)
        jw_kstr(w, "type", SV("object"));
    if (f->of)
        put_members(w, f->of, f->open);
    else if (f->item != FIELD_ANY)
        jw_kstr(w, "type", sv_of(field_types[f->item ? f->item : FIELD_TEXT]));
    jw_close(w, '}');
}

/* An enum that may be null lists null among its values. */
static void put_field_values(struct jw *w, const struct field *f)
{
    jw_key(w, "enum");
    jw_open(w, '[');
    for (const char *const *v = f->values; *v; v++)
        jw_str(w, sv_of(*v));
    if (f->nullable)
        jw_null(w);
    jw_close(w, ']');
}

static void put_field(struct jw *w, const struct field *f)
{
    jw_key(w, f->name);
    jw_open(w, '{');
    put_type(w, f);
    put_text(w, "description", f->help);
    if (f->type == FIELD_TIME)
        jw_kstr(w, "format", SV("date-time"));
    if (f->type == FIELD_ENUM)
        put_field_values(w, f);
    if (f->type == FIELD_LIST)
        put_items(w, f);
    if (f->type == FIELD_OBJECT && f->of)
        put_members(w, f->of, f->open);
    jw_close(w, '}');
}

/* What a schema says of an object besides its type. */
static void put_members(struct jw *w, const struct field *table, bool open)
{
    jw_key(w, "properties");
    jw_open(w, '{');
    for (const struct field *f = table; f->type; f++)
        put_field(w, f);
    jw_close(w, '}');
    jw_key(w, "required");
    jw_open(w, '[');
    for (const struct field *f = table; f->type; f++)
        if (!f->optional)
            jw_str(w, sv_of(f->name));
    jw_close(w, ']');
    jw_kbool(w, "additionalProperties", open);
}

void schema_answer(struct jw *w, const struct operation *op)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("object"));
    put_members(w, op->answer, false);
    jw_close(w, '}');
}

/* ---- a whole row -------------------------------------------------------------------- */

/* clang-format off */
static const char *const needs_names[] = {
    [NEEDS_NOTHING] = "nothing", [NEEDS_PLACE] = "place", [NEEDS_ROOT] = "workspace", [NEEDS_LOG] = "read",
    [NEEDS_WRITE] = "write",
};
static const char *const repeat_names[] = {
    [REPEAT_READS] = "reads", [REPEAT_KEY] = "key", [REPEAT_SAME] = "same", [REPEAT_NEVER] = "never",
};
/* clang-format on */

void schema_operation(struct jw *w, const struct operation *op)
{
    jw_open(w, '{');
    jw_kstr(w, "name", sv_of(op->name));
    jw_kstr(w, "summary", sv_of(op->summary));
    jw_kstr(w, "group", sv_of(op_group_title(op->group)));
    jw_kstr(w, "needs", sv_of(needs_names[op->needs]));
    jw_kstr(w, "repeat", sv_of(repeat_names[op->repeat]));
    if (op->repeat == REPEAT_KEY)
        jw_kstr(w, "repeat_key", sv_of(op->repeat_key));
    if (op->permission)
        jw_kstr(w, "permission", sv_of(op->permission));
    jw_key(w, "params");
    schema_params(w, op);
    jw_key(w, "answer");
    schema_answer(w, op);
    jw_close(w, '}');
}
