#include "thread/kind.h"

#include "base/json.h"

static const struct sv names[] = { { 0 },
#define X(id, name) SV_STATIC(name),
                                   KIND_TABLE(X)
#undef X
};

enum kind kind_of(struct sv name)
{
    for (size_t k = 1; k < COUNT(names); k++)
        if (sv_eq(name, names[k]))
            return (enum kind)k;
    return KIND_OTHER;
}

const char *kind_name(enum kind k)
{
    return names[k].s;
}

static bool is_text(struct sv raw)
{
    return raw.n && raw.s[0] == '"';
}

bool kind_is_projected(struct sv payload)
{
    struct sv rest = payload, key, raw, role = { 0 };
    bool      has_call = false, has_name = false;

    while (json_next(&rest, &key, &raw)) {
        if (sv_is(key, "role"))
            role = raw;
        else if (sv_is(key, "tool_call_id"))
            has_call = is_text(raw);
        else if (sv_is(key, "name"))
            has_name = is_text(raw);
    }
    if (sv_is(role, "\"tool\""))
        return has_call && has_name;
    return sv_is(role, "\"user\"") || sv_is(role, "\"assistant\"");
}

enum status kind_check_depth(struct sv payload, struct err *e)
{
    if (json_depth(payload) < JSON_DEPTH_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "the content is nested too deep");
    return err_hint(e, "an entry's payload may be %d levels deep", JSON_DEPTH_MAX - 1);
}

/* The text of a raw JSON string as it stands. Where it counts, what would have to be escaped is
 * refused, so that the text is the string. */
static struct sv unquoted(struct sv raw)
{
    return is_text(raw) ? (struct sv){ raw.s + 1, raw.n - 2 } : (struct sv){ 0 };
}

static struct sv member(struct sv object, const char *name)
{
    struct sv rest = object, key, raw;

    while (json_next(&rest, &key, &raw))
        if (sv_is(key, name))
            return raw;
    return (struct sv){ 0 };
}

static enum status adopt_lane(struct entry *n, struct err *e)
{
    struct sv ref = unquoted(member(n->payload, "context_ref"));

    if (!ref.s)
        return ST_OK;
    if (!ref.n || sv_has(ref, '\\'))
        return err_set(e, ST_INVALID_SYNTAX, "context_ref '" SV_FMT "' is no name of a lane",
                       SV_ARG(ref));
    if (n->lane.s && !sv_eq(n->lane, ref))
        return err_set(e, ST_INVALID_SYNTAX,
                       "lane '" SV_FMT "' and context_ref '" SV_FMT "' differ", SV_ARG(n->lane),
                       SV_ARG(ref));
    n->lane = ref;
    return ST_OK;
}

/* What a fork shares must be said: {"lane":TEXT,"seq":N}. */
static bool has_origin(struct sv op)
{
    struct sv from = member(op, "from");
    int64_t   seq;

    return unquoted(member(from, "lane")).n && sv_to_int(member(from, "seq"), &seq);
}

static enum status prepare_operation(struct entry *n, struct err *e)
{
    struct sv op = member(n->payload, "operation");
    struct sv type = unquoted(member(op, "type")), id = unquoted(member(n->payload, "op_id"));

    if (!id.n || !n->lane.n ||
        !(sv_is(type, "replace") || sv_is(type, "switch") || sv_is(type, "fork"))) {
        err_set(e, ST_INVALID_SYNTAX, "not a context operation");
        return err_hint(e, "its payload needs op_id, context_ref and operation.type: replace, "
                           "switch or fork");
    }
    if (sv_is(type, "replace") && !member(op, "result_context").n)
        return err_set(e, ST_INVALID_SYNTAX, "a replace operation needs a result_context");
    if (sv_is(type, "fork") && !has_origin(op))
        return err_set(e, ST_INVALID_SYNTAX, "a fork operation needs from: {\"lane\",\"seq\"}");
    if (sv_has(id, '\\'))
        return err_set(e, ST_INVALID_SYNTAX,
                       "the op_id of an operation may not hold \", \\ or control characters");
    if (n->op_id.s && !sv_eq(n->op_id, id))
        return err_set(e, ST_INVALID_SYNTAX,
                       "op_id '" SV_FMT "' and that of the operation, '" SV_FMT "', differ",
                       SV_ARG(n->op_id), SV_ARG(id));
    n->op_id = id;
    if (sv_is(type, "replace"))
        n->mark = MARK_ANCHOR;
    return ST_OK;
}

enum status kind_prepare(struct entry *n, struct err *e)
{
    enum kind k = kind_of(n->kind);

    n->mark = MARK_NONE;
    if (sv_has(n->lane, '"')) /* a context_ref could not name it */
        return err_set(e, ST_INVALID_SYNTAX, "the name of a lane may not hold a quote");
    if (k != KIND_AI_MESSAGE && k != KIND_AI_CONTEXT_OPERATION)
        return ST_OK;
    if (adopt_lane(n, e))
        return err_code(e);
    if (k == KIND_AI_CONTEXT_OPERATION)
        return prepare_operation(n, e);
    if (n->lane.n && kind_is_projected(n->payload))
        n->mark = MARK_MESSAGE;
    return ST_OK;
}
