/* The names of the kinds, and filling in what the store needs before an entry is appended. */
#include "thread/kind_check.h"

#include "base/json.h"
#include "base/path.h"

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

bool kind_is_known(struct sv name)
{
    static const char *const kept[] = { "note",      "turn",       "lost_entry",
                                        "signal_in", "signal_out", "instruction_start",
                                        "error",     "checkpoint", "instruction_end" };

    for (size_t i = 0; i < COUNT(kept); i++)
        if (sv_is(name, kept[i]))
            return true;
    return kind_of(name) != KIND_OTHER;
}

const char *kind_near(struct sv name)
{
    const char *best = NULL;
    size_t      least = 3; /* at most two typing errors */

    for (size_t k = 1; k < COUNT(names); k++) {
        size_t d = sv_distance(name, names[k]);
        if (d < least) {
            least = d;
            best = names[k].s;
        }
    }
    return best;
}

static bool is_text(struct sv raw)
{
    return raw.n && raw.s[0] == '"';
}

enum status kind_check_depth(struct sv payload, struct err *e)
{
    if (json_depth(payload) < JSON_DEPTH_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "the content is nested too deep");
    return err_hint(e, "an entry's payload may be %d levels deep", JSON_DEPTH_MAX - 1);
}

/* The text of a raw JSON string as it stands. Names that would need escapes are refused, so that
 * the raw text is the value. */
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
    if (name_check(ref, "context_ref", e)) /* it becomes the lane, which is a name */
        return err_code(e);
    if (n->lane.s && !sv_eq(n->lane, ref))
        return err_set(e, ST_INVALID_SYNTAX,
                       "lane '" SV_FMT "' and context_ref '" SV_FMT "' differ", SV_ARG(n->lane),
                       SV_ARG(ref));
    n->lane = ref;
    return ST_OK;
}

/* The op_id of an operation is the entry's. */
static enum status adopt_op_id(struct entry *n, struct err *e)
{
    struct sv id = unquoted(member(n->payload, "op_id"));

    if (!n->lane.n)
        return err_set(e, ST_INVALID_SYNTAX, "a context operation needs a context_ref");
    if (sv_has(id, '\\'))
        return err_set(e, ST_INVALID_SYNTAX,
                       "the op_id of an operation may not hold \", \\ or control characters");
    if (n->op_id.s && !sv_eq(n->op_id, id))
        return err_set(e, ST_INVALID_SYNTAX,
                       "op_id '" SV_FMT "' and that of the operation, '" SV_FMT "', differ",
                       SV_ARG(n->op_id), SV_ARG(id));
    n->op_id = id;
    return ST_OK;
}

static enum entry_mark mark_of(enum kind k, const struct entry *n)
{
    if (k == KIND_AI_MESSAGE)
        return n->lane.n ? MARK_MESSAGE : MARK_NONE;
    bool replaces = sv_is(member(member(n->payload, "operation"), "type"), "\"replace\"");
    return replaces ? MARK_ANCHOR : MARK_NONE;
}

static enum status prepare(struct entry *n, struct err *e)
{
    enum kind k = kind_of(n->kind);

    if (sv_has(n->lane, '"')) /* a context_ref could not name it */
        return err_set(e, ST_INVALID_SYNTAX, "the name of a lane may not hold a quote");
    if (kind_check(n, e))
        return err_code(e);
    if (k != KIND_AI_MESSAGE && k != KIND_AI_CONTEXT_OPERATION)
        return ST_OK;
    if (adopt_lane(n, e) || (k == KIND_AI_CONTEXT_OPERATION && adopt_op_id(n, e)))
        return err_code(e);
    n->mark = mark_of(k, n);
    return ST_OK;
}

enum status kind_prepare(struct entry *n, struct err *e)
{
    struct entry given = *n;

    n->mark = MARK_NONE;
    if (prepare(n, e) == ST_OK)
        return ST_OK;
    *n = given;
    n->mark = MARK_NONE;
    return err_code(e);
}

bool kind_is_sound(const struct entry *n)
{
    struct entry again = *n;
    struct err   ignored;

    return kind_prepare(&again, &ignored) == ST_OK;
}
