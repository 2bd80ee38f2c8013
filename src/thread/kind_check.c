/* The validators of all kinds. Payloads are walked as they stand: nothing is allocated unless a
 * name holds an escape, so that appending pays for one look at each member. */
#include "thread/kind_check.h"

#include "base/json.h"
#include "base/path.h"

/* ---- values ------------------------------------------------------------------------------ */

static bool is_text(struct sv raw)
{
    return raw.n && raw.s[0] == '"';
}

static bool is_null(struct sv raw)
{
    return !raw.n || raw.s[0] == 'n';
}

static bool is_hash(struct sv raw)
{
    if (!is_text(raw) || raw.n != 64 + 2)
        return false;
    for (size_t i = 1; i <= 64; i++)
        if (!((raw.s[i] >= '0' && raw.s[i] <= '9') || (raw.s[i] >= 'a' && raw.s[i] <= 'f')))
            return false;
    return true;
}

static bool is_word(struct sv raw, const char *words)
{
    struct sv_cut cut = { .tail = sv_of(words), .found = true };

    if (!is_text(raw))
        return false;
    while (cut.found) {
        cut = sv_cut(cut.tail, ' ');
        if (sv_eq(cut.head, (struct sv){ raw.s + 1, raw.n - 2 }))
            return true;
    }
    return false;
}

/* Parts that are names, with one slash between them; a folder may end with one. "" is the folder
 * itself. Escapes need no decoding: none of them is a slash or a dot. */
static bool is_path(struct sv raw)
{
    if (!is_text(raw) || sv_find(raw, SV("\\u0000")) >= 0)
        return false;
    struct sv     path = { raw.s + 1, raw.n - 2 };
    struct sv_cut cut = { .tail = sv_ends(path, SV("/")) ? sv_first(path, path.n - 1) : path,
                          .found = path.n > 0 };
    while (cut.found) {
        cut = sv_cut(cut.tail, '/');
        if (!cut.head.n || sv_is(cut.head, ".") || sv_is(cut.head, ".."))
            return false;
    }
    return true;
}

static bool is_name(struct sv raw)
{
    struct arena scratch = { 0 };
    struct err   ignored;
    struct json  v;
    bool         ok;

    if (!is_text(raw))
        return false;
    if (!sv_has(raw, '\\'))
        return !name_check((struct sv){ raw.s + 1, raw.n - 2 }, "it", &ignored);
    ok = !json_parse(raw, 0, &scratch, &v, &ignored) && !name_check(json_sv(&v), "it", &ignored);
    arena_free(&scratch);
    return ok;
}

static bool is_of_type(struct sv raw, const struct field *f)
{
    int64_t number;

    switch (f->type) {
    case FIELD_ANY: return true;
    case FIELD_TEXT: return is_text(raw);
    case FIELD_NAME: return is_name(raw);
    case FIELD_WORD: return is_word(raw, f->words);
    case FIELD_HASH: return is_hash(raw);
    case FIELD_PATH: return is_path(raw);
    case FIELD_INT: return sv_to_int(raw, &number);
    case FIELD_COUNT: return sv_to_int(raw, &number) && number >= 0;
    case FIELD_BOOL: return raw.s[0] == 't' || raw.s[0] == 'f';
    case FIELD_OBJECT: return raw.s[0] == '{';
    case FIELD_LIST: return raw.s[0] == '[';
    case FIELD_CONTENT: return is_text(raw) || raw.s[0] == '[';
    }
    return false;
}

static enum status wrong(const struct field *f, struct err *e)
{
    static const char *const demands[] = {
        [FIELD_ANY] = "there",
        [FIELD_TEXT] = "text",
        [FIELD_NAME] = ("a name: at most 128 bytes of text, no control character, / or \\, no dot "
                        "in front"),
        [FIELD_WORD] = "one of: ",
        [FIELD_HASH] = "64 lower-case hex digits",
        [FIELD_PATH] = "a relative path without \"..\"",
        [FIELD_INT] = "a whole number",
        [FIELD_COUNT] = "a whole number from 0 on",
        [FIELD_BOOL] = "true or false",
        [FIELD_OBJECT] = "an object",
        [FIELD_LIST] = "a list",
        [FIELD_CONTENT] = "text, a list of parts, or null",
    };

    return err_set(e, ST_INVALID_SYNTAX, SV_FMT " must be %s%s", SV_ARG(f->name), demands[f->type],
                   f->type == FIELD_WORD ? f->words : "");
}

static enum status check_value(struct sv raw, const struct field *f, bool erased, struct err *e);

static enum status check_items(struct sv list, const struct field *item, bool erased, struct err *e)
{
    struct sv rest = list, raw;

    for (size_t i = 0; json_next_item(&rest, &raw); i++)
        if (is_null(raw) ? item->required : check_value(raw, item, erased, e) != ST_OK)
            return is_null(raw) ? wrong(item, e) : err_in(e, "%zu", i);
    return ST_OK;
}

static enum status check_value(struct sv raw, const struct field *f, bool erased, struct err *e)
{
    if (!is_of_type(raw, f))
        return wrong(f, e);
    if (!f->of)
        return ST_OK;
    if (f->type == FIELD_OBJECT ? fields_check(raw, f->of, erased, e)
                                : check_items(raw, f->of, erased, e))
        return err_in(e, SV_FMT, SV_ARG(f->name));
    return ST_OK;
}

enum status fields_check(struct sv object, const struct field *fields, bool erased, struct err *e)
{
    struct sv rest = object, key, raw;
    uint64_t  seen = 0;

    while (json_next(&rest, &key, &raw))
        for (size_t i = 0; fields[i].name.s; i++) {
            if (!sv_eq(key, fields[i].name))
                continue;
            if (is_null(raw))
                break;
            if (check_value(raw, &fields[i], erased, e))
                return err_code(e);
            seen |= (uint64_t)1 << i;
            break;
        }
    for (size_t i = 0; fields[i].name.s; i++)
        if (fields[i].required && !(seen >> i & 1) && !(erased && !fields[i].kept))
            return wrong(&fields[i], e);
    return ST_OK;
}

/* ---- messages, operations, runs ------------------------------------------------------------ */

/* clang-format off */
#define F(text, ...) { .name = SV_STATIC(text), .type = __VA_ARGS__ }
#define END { .name = { NULL, 0 } }
/* clang-format on */

static const struct field a_text = F("item", FIELD_TEXT, .required = true);

/* clang-format off */
static const struct field function_fields[] = {
    F("name", FIELD_TEXT, .kept = true),
    END,
};
static const struct field call_fields[] = {
    F("id",       FIELD_TEXT, .kept = true),
    F("name",     FIELD_TEXT, .kept = true),
    F("function", FIELD_OBJECT, .kept = true, .of = function_fields),
    END,
};
static const struct field a_call = F("item", FIELD_OBJECT, .required = true, .of = call_fields);

static const struct field node_fields[] = {
    F("as",          FIELD_TEXT, .kept = true),
    F("asked_by",    FIELD_TEXT, .kept = true),
    F("author",      FIELD_TEXT, .kept = true),
    F("edited_from", FIELD_TEXT, .kept = true),
    F("id",          FIELD_TEXT, .kept = true),
    F("local_id",    FIELD_TEXT, .kept = true),
    F("parent",      FIELD_TEXT, .kept = true),
    F("response",    FIELD_TEXT, .kept = true),
    F("version",     FIELD_BOOL, .kept = true),
    F("via",         FIELD_TEXT, .kept = true),
    END,
};
static const struct field message_fields[] = {
    F("role",         FIELD_WORD, .kept = true, .required = true, .words = "user assistant tool"),
    F("agent",        FIELD_NAME, .kept = true),
    F("context_ref",  FIELD_TEXT, .kept = true),
    F("name",         FIELD_TEXT, .kept = true),
    F("node",         FIELD_OBJECT, .kept = true, .of = node_fields),
    F("request_id",   FIELD_TEXT, .kept = true),
    F("run_id",       FIELD_TEXT, .kept = true),
    F("thinking",     FIELD_TEXT),
    F("tool_call_id", FIELD_TEXT, .kept = true),
    F("tool_calls",   FIELD_LIST, .kept = true, .of = &a_call),
    F("usage",        FIELD_OBJECT, .kept = true),
    END,
};

/* A message of a snapshot may have any role: it is what some model was shown. */
static const struct field snapshot_message_fields[] = {
    F("role",    FIELD_TEXT, .required = true),
    F("content", FIELD_CONTENT),
    END,
};
static const struct field a_snapshot_message = F("item", FIELD_OBJECT, .required = true, .of = snapshot_message_fields);
static const struct field snapshot_fields[] = {
    F("entries",       FIELD_LIST, .of = &a_snapshot_message),
    F("id",            FIELD_TEXT),
    F("messages",      FIELD_LIST, .of = &a_snapshot_message),
    F("system_prompt", FIELD_TEXT),
    END,
};
static const struct field origin_fields[] = {
    F("lane", FIELD_TEXT, .kept = true, .required = true),
    F("seq",  FIELD_INT, .kept = true,  .required = true),
    END,
};
static const struct field meta_fields[] = {
    F("rebase", FIELD_BOOL, .kept = true),
    END,
};
static const struct field operation_fields[] = {
    F("type",           FIELD_WORD, .kept = true, .required = true, .words = "replace switch fork"),
    F("base_seq",       FIELD_INT, .kept = true),
    F("from",           FIELD_OBJECT, .kept = true, .of = origin_fields),
    F("meta",           FIELD_OBJECT, .kept = true, .of = meta_fields),
    F("reason",         FIELD_WORD, .kept = true, .words = "manual restore compaction system"),
    F("result_context", FIELD_OBJECT, .of = snapshot_fields),
    F("switch",         FIELD_BOOL, .kept = true),
    END,
};
static const struct field context_operation_fields[] = {
    F("op_id",       FIELD_TEXT, .kept = true, .required = true),
    F("context_ref", FIELD_TEXT, .kept = true),
    F("operation",   FIELD_OBJECT, .kept = true, .required = true, .of = operation_fields),
    F("agent",       FIELD_NAME, .kept = true),
    END,
};

static const struct field run_config_fields[] = {
    F("max_iterations", FIELD_INT, .kept = true),
    END,
};
static const struct field run_started_fields[] = {
    F("agent",         FIELD_NAME, .kept = true),
    F("allowed_tools", FIELD_LIST, .kept = true),
    F("config",        FIELD_OBJECT, .kept = true, .of = run_config_fields),
    F("request_id",    FIELD_TEXT, .kept = true, .required = true),
    F("run_id",        FIELD_TEXT, .kept = true, .required = true),
    END,
};
static const struct field run_input_fields[] = {
    F("agent",      FIELD_NAME, .kept = true),
    F("content",    FIELD_TEXT, .required = true),
    F("input_id",   FIELD_TEXT, .kept = true, .required = true),
    F("kind",       FIELD_TEXT, .kept = true),
    F("refs",       FIELD_OBJECT),
    F("request_id", FIELD_TEXT, .kept = true),
    F("run_id",     FIELD_TEXT, .kept = true, .required = true),
    F("source",     FIELD_TEXT, .kept = true),
    END,
};
static const struct field run_checkpoint_fields[] = {
    F("agent",  FIELD_NAME, .kept = true),
    F("run_id", FIELD_TEXT, .kept = true, .required = true),
    F("token",  FIELD_TEXT, .required = true),
    END,
};
static const struct field dropped_op_fields[] = {
    F("op_id",  FIELD_TEXT, .kept = true),
    F("reason", FIELD_TEXT, .kept = true),
    F("seq",    FIELD_COUNT, .kept = true),
    END,
};
static const struct field run_finished_fields[] = {
    F("agent",         FIELD_NAME, .kept = true),
    F("cancel_reason", FIELD_TEXT),
    F("dropped_input", FIELD_LIST, .kept = true, .of = &a_text),
    F("dropped_op",    FIELD_OBJECT, .kept = true, .of = dropped_op_fields),
    F("outcome",       FIELD_WORD, .kept = true, .required = true, .words = "completed failed cancelled"),
    F("reason",        FIELD_TEXT),
    F("request_id",    FIELD_TEXT, .kept = true),
    F("run_id",        FIELD_TEXT, .kept = true, .required = true),
    F("usage",         FIELD_OBJECT, .kept = true),
    F("usage_total",   FIELD_OBJECT, .kept = true),
    END,
};

/* ---- the loom ------------------------------------------------------------------------------ */

static const struct field target_fields[] = {
    F("doc",     FIELD_TEXT, .kept = true),
    F("node",    FIELD_TEXT, .kept = true),
    F("section", FIELD_TEXT, .kept = true),
    F("title",   FIELD_TEXT),
    F("tree",    FIELD_TEXT, .kept = true),
    F("type",    FIELD_TEXT, .kept = true),
    END,
};
static const struct field annotation_fields[] = {
    F("agent", FIELD_TEXT, .kept = true),
    F("kind",  FIELD_TEXT, .kept = true),
    F("node",  FIELD_TEXT, .kept = true, .required = true),
    F("text",  FIELD_TEXT, .required = true),
    END,
};
static const struct field link_fields[] = {
    F("agent",    FIELD_TEXT, .kept = true),
    F("incoming", FIELD_BOOL, .kept = true),
    F("node",     FIELD_TEXT, .kept = true,   .required = true),
    F("note",     FIELD_TEXT),
    F("target",   FIELD_OBJECT, .kept = true, .required = true, .of = target_fields),
    END,
};
static const struct field mark_fields[] = {
    F("agent",      FIELD_TEXT, .kept = true),
    F("annotation", FIELD_INT, .kept = true),
    F("kept",       FIELD_OBJECT),
    F("kept_file",  FIELD_OBJECT),
    F("label",      FIELD_TEXT),
    F("link",       FIELD_INT, .kept = true),
    F("mark",       FIELD_TEXT, .kept = true, .required = true),
    F("mode",       FIELD_TEXT, .kept = true),
    F("node",       FIELD_TEXT, .kept = true),
    F("target",     FIELD_OBJECT, .kept = true, .of = target_fields),
    F("title",      FIELD_TEXT),
    F("until",      FIELD_INT, .kept = true),
    END,
};
static const struct field memory_fields[] = {
    F("agent",    FIELD_TEXT, .kept = true),
    F("estimate", FIELD_BOOL, .kept = true),
    F("label",    FIELD_TEXT, .kept = true),
    F("op",       FIELD_TEXT, .kept = true, .required = true),
    F("target",   FIELD_OBJECT, .kept = true, .of = target_fields),
    F("text",     FIELD_TEXT),
    F("tokens",   FIELD_COUNT, .kept = true),
    END,
};
static const struct field action_doc_fields[] = {
    F("hash", FIELD_TEXT),
    F("path", FIELD_TEXT, .kept = true),
    END,
};
static const struct field a_node = F("node", FIELD_TEXT, .kept = true, .required = true);
static const struct field undo_fields[] = {
    F("after",      FIELD_TEXT),
    F("annotation", FIELD_INT, .kept = true),
    F("at",         FIELD_COUNT, .kept = true),
    F("back",       FIELD_TEXT, .kept = true),
    F("before",     FIELD_TEXT),
    F("do",         FIELD_TEXT, .kept = true, .required = true),
    F("doc",        FIELD_TEXT, .kept = true),
    F("inserted",   FIELD_COUNT, .kept = true),
    F("label",      FIELD_TEXT),
    F("link",       FIELD_INT, .kept = true),
    F("node",       FIELD_TEXT, .kept = true),
    F("nodes",      FIELD_LIST, .kept = true, .of = &a_node),
    F("note",       FIELD_TEXT),
    F("path",       FIELD_TEXT, .kept = true),
    F("removed",    FIELD_TEXT),
    F("target",     FIELD_OBJECT, .kept = true, .of = target_fields),
    F("text",       FIELD_TEXT),
    END,
};
static const struct field a_shown = F("item", FIELD_OBJECT, .required = true, .of = target_fields);
static const struct field action_fields[] = {
    F("agent",      FIELD_TEXT, .kept = true),
    F("code",       FIELD_TEXT, .kept = true),
    F("doc",        FIELD_OBJECT, .kept = true, .of = action_doc_fields),
    F("kind",       FIELD_TEXT, .kept = true),
    F("line",       FIELD_TEXT),
    F("object",     FIELD_TEXT),
    F("outcome",    FIELD_TEXT, .kept = true),
    F("passes",     FIELD_INT, .kept = true),
    F("referenced", FIELD_BOOL, .kept = true),
    F("result",     FIELD_TEXT),
    F("results",    FIELD_INT, .kept = true),
    F("shows",      FIELD_LIST, .kept = true, .of = &a_shown),
    F("undo",       FIELD_OBJECT, .kept = true, .of = undo_fields),
    F("undoes",     FIELD_INT, .kept = true),
    F("verb",       FIELD_TEXT, .kept = true),
    END,
};
static const struct field summary_fields[] = {
    F("model",       FIELD_TEXT, .kept = true),
    F("provisional", FIELD_BOOL, .kept = true),
    F("target",      FIELD_OBJECT, .kept = true, .required = true, .of = target_fields),
    F("text",        FIELD_TEXT,   .required = true),
    END,
};
static const struct field response_fields[] = {
    F("answered_at",       FIELD_INT, .kept = true),
    F("asked_at",          FIELD_INT, .kept = true),
    F("body",              FIELD_TEXT),
    F("completion_tokens", FIELD_INT, .kept = true),
    F("finish",            FIELD_TEXT, .kept = true),
    F("hash",              FIELD_HASH),
    F("headers",           FIELD_TEXT),
    F("interruption",      FIELD_TEXT),
    F("model",             FIELD_TEXT, .kept = true),
    F("prompt_tokens",     FIELD_INT, .kept = true),
    F("provider",          FIELD_TEXT, .kept = true),
    F("request_id",        FIELD_TEXT, .kept = true),
    END,
};
static const struct field document_fields[] = {
    F("after",    FIELD_TEXT),
    F("agent",    FIELD_TEXT, .kept = true),
    F("at",       FIELD_COUNT, .kept = true),
    F("before",   FIELD_TEXT),
    F("doc",      FIELD_TEXT, .kept = true),
    F("inserted", FIELD_COUNT, .kept = true),
    F("path",     FIELD_TEXT, .kept = true),
    F("removed",  FIELD_TEXT),
    END,
};

/* ---- threads that share, and agents --------------------------------------------------------- */

static const struct field file_fields[] = {
    F("after",  FIELD_TEXT),
    F("before", FIELD_TEXT),
    F("hash",   FIELD_HASH),
    F("name",   FIELD_TEXT, .kept = true),
    F("path",   FIELD_PATH, .kept = true),
    F("place",  FIELD_PATH, .kept = true),
    F("size",   FIELD_COUNT, .kept = true),
    F("source", FIELD_PATH, .kept = true),
    END,
};
static const struct field a_file = F("item", FIELD_OBJECT, .required = true, .of = file_fields);
static const struct field a_path = F("item", FIELD_PATH, .required = true);
static const struct field a_hash = F("item", FIELD_HASH, .required = true);
static const struct field a_seq = F("item", FIELD_COUNT, .required = true);
static const struct field inherited_fields[] = {
    F("files", FIELD_LIST, .kept = true, .of = &a_file),
    END,
};
static const struct field thread_operation_fields[] = {
    F("operation",   FIELD_TEXT, .kept = true, .required = true),
    F("action",      FIELD_TEXT, .kept = true),
    F("binding",     FIELD_TEXT, .kept = true),
    F("content",     FIELD_TEXT),
    F("created",     FIELD_INT, .kept = true),
    F("executor",    FIELD_TEXT, .kept = true),
    F("files",       FIELD_LIST, .kept = true, .of = &a_file),
    F("from",        FIELD_TEXT, .kept = true),
    F("gone",        FIELD_LIST, .kept = true, .of = &a_path),
    F("gone_hashes", FIELD_LIST, .of = &a_hash),
    F("hash",        FIELD_HASH),
    F("id",          FIELD_TEXT, .kept = true),
    F("inherited",   FIELD_OBJECT, .kept = true, .of = inherited_fields),
    F("injections",  FIELD_LIST, .kept = true, .of = &a_seq),
    F("intent",      FIELD_TEXT),
    F("kind",        FIELD_TEXT, .kept = true),
    F("max_tokens",  FIELD_INT, .kept = true),
    F("mode",        FIELD_TEXT, .kept = true),
    F("model",       FIELD_TEXT, .kept = true),
    F("name",        FIELD_TEXT, .kept = true),
    F("objective",   FIELD_TEXT, .kept = true),
    F("operator",    FIELD_TEXT, .kept = true),
    F("parent_id",   FIELD_TEXT, .kept = true),
    F("permissions", FIELD_LIST, .kept = true, .of = &a_text),
    F("reason",      FIELD_TEXT),
    F("ref_id",      FIELD_TEXT, .kept = true),
    F("session_id",  FIELD_TEXT, .kept = true),
    F("status",      FIELD_TEXT, .kept = true),
    F("system_prompt", FIELD_TEXT),
    F("target",      FIELD_TEXT, .kept = true),
    F("thread_id",   FIELD_TEXT, .kept = true),
    F("title",       FIELD_TEXT),
    F("to",          FIELD_TEXT, .kept = true),
    F("type",        FIELD_TEXT, .kept = true),
    F("updated",     FIELD_INT, .kept = true),
    END,
};
/* clang-format on */

/* ---- what a table cannot say ------------------------------------------------------------------
 */

static struct sv member(struct sv object, const char *name)
{
    struct sv rest = object, key, raw;

    while (json_next(&rest, &key, &raw))
        if (sv_is(key, name))
            return is_null(raw) ? (struct sv){ 0 } : raw;
    return (struct sv){ 0 };
}

static bool has_text(struct sv object, const char *name)
{
    struct sv raw = member(object, name);

    return is_text(raw) && raw.n > 2;
}

static enum status check_message(const struct entry *n, struct err *e)
{
    if (!sv_is(member(n->payload, "role"), "\"tool\"") || has_text(n->payload, "tool_call_id"))
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "a message of role tool needs tool_call_id: the call it answers");
    return err_hint(e, "take it from \"id\" of the assistant's tool_calls");
}

static enum status check_held(const struct entry *n, struct err *e)
{
    if (!sv_is(member(n->payload, "role"), "\"tool\""))
        return err_set(e, ST_INVALID_SYNTAX, "role must be tool");
    return check_message(n, e);
}

static enum status check_operation(const struct entry *n, struct err *e)
{
    struct sv op = member(n->payload, "operation"), type = member(op, "type");
    struct sv snapshot = member(op, "result_context");

    if (!has_text(n->payload, "op_id"))
        return err_set(e, ST_INVALID_SYNTAX, "op_id must be text");
    if (member(n->payload, "op_id").n > ENTRY_ID_MAX + 2) /* and its quotes */
        return err_set(e, ST_INVALID_SYNTAX, "op_id is longer than %d bytes", ENTRY_ID_MAX);
    if (sv_is(type, "\"fork\"") && !has_text(member(op, "from"), "lane"))
        return err_set(e, ST_INVALID_SYNTAX, "a fork operation needs from: {\"lane\",\"seq\"}");
    if (!sv_is(type, "\"replace\""))
        return ST_OK;
    if (n->erased)
        return ST_OK;
    if (!snapshot.n)
        return err_set(e, ST_INVALID_SYNTAX, "a replace operation needs a result_context");
    bool has_entries = member(snapshot, "entries").n, has_messages = member(snapshot, "messages").n;
    if (has_entries == has_messages)
        return err_set(e, ST_INVALID_SYNTAX,
                       "result_context needs one list of messages or entries");
    if (has_entries && !has_text(snapshot, "id"))
        return err_set(e, ST_INVALID_SYNTAX, "result_context with entries needs an id");
    return ST_OK;
}

/* Its payload is what the operation will have, and names its lane. */
static enum status check_deferred(const struct entry *n, struct err *e)
{
    if (!has_text(n->payload, "context_ref"))
        return err_set(e, ST_INVALID_SYNTAX, "context_ref must be text");
    return check_operation(n, e);
}

static enum status check_in_lane(const struct entry *n, struct err *e)
{
    return n->lane.n ? ST_OK : err_set(e, ST_INVALID_SYNTAX, "it must stand in a lane");
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* clang-format off */
static const struct {
    const struct field *fields;
    enum status       (*more)(const struct entry *, struct err *); /* NULL: the fields say it all */
} rules[] = {
    [KIND_AI_MESSAGE]           = { message_fields,           check_message },
    [KIND_AI_CONTEXT_OPERATION] = { context_operation_fields, check_operation },
    [KIND_CONTEXT_OP_DEFERRED]  = { context_operation_fields, check_deferred },
    [KIND_RUN_STARTED]          = { run_started_fields,       check_in_lane },
    [KIND_RUN_INPUT]            = { run_input_fields,         NULL },
    [KIND_RUN_TOOL_HELD]        = { message_fields,           check_held },
    [KIND_RUN_CHECKPOINT]       = { run_checkpoint_fields,    NULL },
    [KIND_RUN_FINISHED]         = { run_finished_fields,      NULL },
    [KIND_LOOM_ANNOTATION]      = { annotation_fields,        NULL },
    [KIND_LOOM_LINK]            = { link_fields,              NULL },
    [KIND_LOOM_MARK]            = { mark_fields,              NULL },
    [KIND_MEMORY_OPERATION]     = { memory_fields,            NULL },
    [KIND_TOOL_ACTION]          = { action_fields,            NULL },
    [KIND_SUMMARY]              = { summary_fields,           NULL },
    [KIND_MODEL_RESPONSE]       = { response_fields,          NULL },
    [KIND_DOCUMENT_WRITE]       = { document_fields,          NULL },
    [KIND_THREAD_OPERATION]     = { thread_operation_fields,  NULL },
};
/* clang-format on */

static enum status hint_for(enum kind k, const struct entry *n, struct err *e)
{
    struct sv role = member(n->payload, "role");

    if (k == KIND_AI_MESSAGE && !is_word(role, "user assistant tool"))
        return err_hint(e, "a system prompt belongs to a context operation: `heddle op replace` "
                           "with \"system_prompt\"");
    if (k == KIND_AI_CONTEXT_OPERATION)
        return err_hint(e, "its payload needs op_id, context_ref and operation.type: replace, "
                           "switch or fork");
    return err_code(e);
}

const struct field *kind_fields(enum kind k)
{
    return (size_t)k < COUNT(rules) ? rules[k].fields : NULL;
}

enum status kind_check(const struct entry *n, struct err *e)
{
    enum kind k = kind_of(n->kind);

    if (!kind_fields(k))
        return ST_OK;
    if (fields_check(n->payload, rules[k].fields, n->erased, e)) {
        err_in(e, "%s", k == KIND_AI_CONTEXT_OPERATION ? "not a context operation" : kind_name(k));
        return hint_for(k, n, e);
    }
    return rules[k].more && rules[k].more(n, e) ? err_in(e, "%s", kind_name(k)) : ST_OK;
}
