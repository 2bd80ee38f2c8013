/* JSON Schema from the tables of parameters and fields. */
#include "api/schema.h"

#include "base/path.h"
#include "loom/agent.h"

static const char dialect[] = "https://json-schema.org/draft/2020-12/schema";

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
    [PARAM_ENUM] = "string", [PARAM_NUMBER] = "integer", [PARAM_DECIMAL] = "number", [PARAM_LIST] = "array",
    [PARAM_NUMBERS] = "array",
};
/* clang-format on */

static void put_default_list(struct jw *w, const struct param *p)
{
    struct arena   scratch = { 0 };
    struct sv_list list = { 0 };
    struct param   alone = *p;
    struct err     ignored;

    alone.offset = 0;
    jw_open(w, '[');
    if (param_set(&alone, &list, sv_of(p->fallback), &scratch, &ignored) == ST_OK)
        for (size_t i = 0; i < list.n; i++)
            jw_str(w, list.v[i]);
    jw_close(w, ']');
    arena_free(&scratch);
}

static void put_default(struct jw *w, const struct param *p)
{
    if (!p->fallback)
        return;
    jw_key(w, "default");
    if (p->type == PARAM_LIST)
        put_default_list(w, p);
    else if (p->type == PARAM_NUMBER || p->type == PARAM_DECIMAL || p->type == PARAM_FLAG ||
             p->type == PARAM_JSON)
        jw_raw(w, sv_of(p->fallback));
    else
        jw_str(w, sv_of(p->fallback));
}

static void put_range(struct jw *w, const struct param *p)
{
    if (p->min == p->max)
        return;
    jw_kint(w, "minimum", p->min);
    if (p->max != INT64_MAX)
        jw_kint(w, "maximum", p->max);
}

/* What name_check() and params_check() ask for. A limit in bytes is one in characters too. */
static void put_limits(struct jw *w, const struct param *p)
{
    if (p->type == PARAM_NAME) {
        jw_kint(w, "minLength", 1);
        jw_kint(w, "maxLength", NAME_MAX_BYTES);
        jw_kstr(w, "pattern",
                SV("^[^./\\\\\\u0000-\\u001f\\u007f-\\u009f]"
                   "[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]*$"));
    }
    if (p->type == PARAM_TEXT && p->required && !p->blank)
        jw_kstr(w, "pattern", SV("\\S"));
    if (p->type == PARAM_LIST && p->required)
        jw_kint(w, "minItems", 1);
    if (p->type == PARAM_NUMBER || p->type == PARAM_DECIMAL)
        put_range(w, p);
}

void schema_param(struct jw *w, const struct param *p)
{
    jw_open(w, '{');
    if (p->type != PARAM_JSON)
        jw_kstr(w, "type", sv_of(param_types[p->type]));
    put_text(w, "description", p->help);
    if (p->type == PARAM_ENUM)
        put_values(w, p->values);
    if (p->type == PARAM_LIST) {
        jw_key(w, "items");
        jw_open(w, '{');
        jw_kstr(w, "type", SV("string"));
        if (p->values)
            put_values(w, p->values);
        jw_close(w, '}');
    }
    if (p->type == PARAM_NUMBERS) {
        jw_key(w, "items");
        jw_open(w, '{');
        jw_kstr(w, "type", SV("integer"));
        put_range(w, p);
        jw_close(w, '}');
    }
    put_limits(w, p);
    put_default(w, p);
    jw_close(w, '}');
}

static bool is_hidden(const struct schema_choice *c, const struct param *p)
{
    bool hidden = false;

    for (size_t i = 0; c->hidden && c->hidden[i]; i++)
        hidden = hidden || sv_is(sv_of(p->name), c->hidden[i]);
    return hidden;
}

static void put_required_params(struct jw *w, const struct param *table,
                                const struct schema_choice *c)
{
    jw_key(w, "required");
    jw_open(w, '[');
    for (; table && table->type; table++)
        if (table->required && !is_hidden(c, table) && !sv_is(sv_of(table->name), c->optional))
            jw_str(w, sv_of(table->name));
    jw_close(w, ']');
}

/* What a schema of parameters says besides its dialect. */
static void put_params(struct jw *w, const struct operation *op, const struct schema_choice *c)
{
    jw_kstr(w, "type", SV("object"));
    jw_key(w, "properties");
    jw_open(w, '{');
    for (const struct param *p = op->params; p && p->type; p++)
        if (!is_hidden(c, p)) {
            jw_key(w, p->name);
            schema_param(w, p);
        }
    jw_close(w, '}');
    put_required_params(w, op->params, c);
    jw_kbool(w, "additionalProperties", false);
}

void schema_params(struct jw *w, const struct operation *op)
{
    static const struct schema_choice all;

    jw_open(w, '{');
    jw_kstr(w, "$schema", sv_of(dialect));
    put_params(w, op, &all);
    jw_close(w, '}');
}

void schema_params_chosen(struct jw *w, const struct operation *op, const struct schema_choice *c)
{
    jw_open(w, '{');
    put_params(w, op, c);
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

static void put_document(struct jw *w, const struct field *table)
{
    jw_open(w, '{');
    jw_kstr(w, "$schema", sv_of(dialect));
    jw_kstr(w, "type", SV("object"));
    put_members(w, table, false);
    jw_close(w, '}');
}

void schema_answer(struct jw *w, const struct operation *op)
{
    put_document(w, op->answer);
}

void schema_event_bare(struct jw *w, const struct operation *op)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("object"));
    put_members(w, op->event, false);
    jw_close(w, '}');
}

void schema_answer_bare(struct jw *w, const struct operation *op)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("object"));
    put_members(w, op->answer, false);
    jw_close(w, '}');
}

/* ---- failures ----------------------------------------------------------------------- */

/* {"oneOf":[{"const":"NOT_FOUND","description":"…"}, …]} */
static void put_codes(struct jw *w)
{
    jw_open(w, '{');
    jw_key(w, "oneOf");
    jw_open(w, '[');
    for (enum status s = ST_OK + 1; s <= STATUS_LAST; s++) {
        if (s == ST_USAGE) /* the word of ST_INVALID_SYNTAX, with another exit status */
            continue;
        jw_open(w, '{');
        jw_kstr(w, "const", sv_of(status_word(s)));
        jw_kstr(w, "description", sv_of(status_meaning(s)));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static void open_object(struct jw *w)
{
    jw_kstr(w, "type", SV("object"));
    jw_key(w, "properties");
    jw_open(w, '{');
}

static void close_object(struct jw *w, struct sv required)
{
    jw_close(w, '}');
    jw_key(w, "required");
    jw_raw(w, required);
    jw_kbool(w, "additionalProperties", false);
    jw_close(w, '}');
}

void schema_error(struct jw *w)
{
    static const struct field rest[] = {
        { "message", FIELD_TEXT, .help = "what happened, for a person" },
        { "hint", FIELD_TEXT, .help = "what to do about it" },
        { "reason", FIELD_TEXT, .help = "what happened, for a program" },
        { "details", FIELD_ANY, .help = "what else the operation knows of it" },
        { 0 },
    };

    jw_open(w, '{');
    jw_kstr(w, "$schema", sv_of(dialect));
    open_object(w);
    jw_key(w, "error");
    jw_open(w, '{');
    open_object(w);
    jw_key(w, "code");
    put_codes(w);
    for (const struct field *f = rest; f->type; f++)
        put_field(w, f);
    close_object(w, SV("[\"code\",\"message\"]"));
    close_object(w, SV("[\"error\"]"));
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

static void put_streams(struct jw *w, const struct operation *op)
{
    static const struct {
        enum op_stream is;
        const char    *name;
    } names[] = { { STREAM_IN, "in" }, { STREAM_OUT, "out" }, { STREAM_EVENTS, "events" } };

    jw_key(w, "streams");
    jw_open(w, '[');
    for (size_t i = 0; i < COUNT(names); i++)
        if (op->streams & names[i].is)
            jw_str(w, sv_of(names[i].name));
    jw_close(w, ']');
}

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
        jw_kstr(w, "permission", sv_of(permission_name((enum permission)op->permission)));
    put_streams(w, op);
    jw_key(w, "params");
    schema_params(w, op);
    jw_key(w, "answer");
    schema_answer(w, op);
    if (op->event) {
        jw_key(w, "event");
        put_document(w, op->event);
    }
    jw_close(w, '}');
}
