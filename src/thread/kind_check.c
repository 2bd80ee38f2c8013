/* The validators of all kinds. They read the canonical text directly and allocate nothing unless a
 * name holds an escape, so that appending costs one pass over the members. */
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

/* Parts that are names, with one slash between them; a directory may end with one. "" is the
 * directory itself. Escapes need no decoding: none of them is a slash or a dot. */
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

static bool is_of_type(struct sv raw, const struct member *f)
{
    int64_t number;

    switch (f->type) {
    case MEMBER_ANY: return true;
    case MEMBER_TEXT: return is_text(raw);
    case MEMBER_NAME: return is_name(raw);
    case MEMBER_WORD: return is_word(raw, f->words);
    case MEMBER_HASH: return is_hash(raw);
    case MEMBER_PATH: return is_path(raw);
    case MEMBER_INT: return sv_to_int(raw, &number);
    case MEMBER_COUNT: return sv_to_int(raw, &number) && number >= 0;
    case MEMBER_BOOL: return raw.s[0] == 't' || raw.s[0] == 'f';
    case MEMBER_OBJECT: return raw.s[0] == '{';
    case MEMBER_LIST: return raw.s[0] == '[';
    case MEMBER_CONTENT: return is_text(raw) || raw.s[0] == '[';
    }
    return false;
}

bool member_has_shape(struct sv raw, const struct member *f)
{
    switch (f->type) {
    case MEMBER_ANY: return true;
    case MEMBER_OBJECT: return raw.s[0] == '{';
    case MEMBER_LIST: return raw.s[0] == '[';
    case MEMBER_CONTENT: return is_text(raw) || raw.s[0] == '[';
    case MEMBER_BOOL: return raw.s[0] == 't' || raw.s[0] == 'f';
    case MEMBER_INT:
    case MEMBER_COUNT: return raw.s[0] == '-' || (raw.s[0] >= '0' && raw.s[0] <= '9');
    default: return is_text(raw);
    }
}

static enum status wrong(const struct member *f, struct err *e)
{
    static const char *const demands[] = {
        [MEMBER_ANY] = "there",
        [MEMBER_TEXT] = "text",
        [MEMBER_NAME] = ("a name: at most 128 bytes of text, no control character, / or \\, no dot "
                         "in front"),
        [MEMBER_WORD] = "one of: ",
        [MEMBER_HASH] = "64 lower-case hex digits",
        [MEMBER_PATH] = "a relative path without \"..\"",
        [MEMBER_INT] = "a whole number",
        [MEMBER_COUNT] = "a whole number from 0 on",
        [MEMBER_BOOL] = "true or false",
        [MEMBER_OBJECT] = "an object",
        [MEMBER_LIST] = "a list",
        [MEMBER_CONTENT] = "text, a list of parts, or null",
    };

    return err_set(e, ST_INVALID_SYNTAX, SV_FMT " must be %s%s", SV_ARG(f->name), demands[f->type],
                   f->type == MEMBER_WORD ? f->words : "");
}

static enum status check_value(struct sv raw, const struct member *f, bool erased, struct err *e);

static enum status check_items(struct sv list, const struct member *item, bool erased,
                               struct err *e)
{
    struct sv rest = list, raw;

    for (size_t i = 0; json_next_item(&rest, &raw); i++)
        if (is_null(raw) ? item->required : check_value(raw, item, erased, e) != ST_OK)
            return is_null(raw) ? wrong(item, e) : err_in(e, "%zu", i);
    return ST_OK;
}

static enum status check_value(struct sv raw, const struct member *f, bool erased, struct err *e)
{
    if (!is_of_type(raw, f))
        return wrong(f, e);
    if (!f->of)
        return ST_OK;
    if (f->type == MEMBER_OBJECT ? members_check(raw, f->of, erased, e)
                                 : check_items(raw, f->of, erased, e))
        return err_in(e, SV_FMT, SV_ARG(f->name));
    return ST_OK;
}

enum status members_check(struct sv object, const struct member *fields, bool erased, struct err *e)
{
    struct sv rest = object, key, raw;
    uint64_t  seen = 0;

    while (json_next(&rest, &key, &raw))
        for (size_t i = 0; fields[i].name.s; i++) {
            if (!sv_eq(key, fields[i].name))
                continue;
            if (is_null(raw) && !(erased && !fields[i].kept))
                break;
            if (!is_null(raw) && check_value(raw, &fields[i], erased, e))
                return err_code(e);
            seen |= (uint64_t)1 << i;
            break;
        }
    for (size_t i = 0; fields[i].name.s; i++)
        if (fields[i].required && !(seen >> i & 1))
            return wrong(&fields[i], e);
    return ST_OK;
}

/* ---- messages, operations, runs ------------------------------------------------------------ */

/* clang-format off */
#define F(text, ...) { .name = SV_STATIC(text), .type = __VA_ARGS__ }
#define END { .name = { NULL, 0 } }
/* clang-format on */

static const struct member a_text = F("item", MEMBER_TEXT, .required = true);

/* clang-format off */
static const struct member function_fields[] = {
    F("name", MEMBER_TEXT, .kept = true),
    END,
};
static const struct member call_fields[] = {
    F("id",       MEMBER_TEXT, .kept = true),
    F("name",     MEMBER_TEXT, .kept = true),
    F("function", MEMBER_OBJECT, .kept = true, .of = function_fields),
    END,
};
static const struct member a_call = F("item", MEMBER_OBJECT, .required = true, .of = call_fields);

static const struct member node_fields[] = {
    F("as",          MEMBER_TEXT, .kept = true),
    F("asked_by",    MEMBER_TEXT, .kept = true),
    F("author",      MEMBER_TEXT, .kept = true),
    F("edited_from", MEMBER_TEXT, .kept = true),
    F("id",          MEMBER_TEXT, .kept = true),
    F("local_id",    MEMBER_TEXT, .kept = true),
    F("parent",      MEMBER_TEXT, .kept = true),
    F("response",    MEMBER_TEXT), /* a hash of the raw answer, which may be erased */
    F("version",     MEMBER_BOOL, .kept = true),
    F("via",         MEMBER_TEXT, .kept = true),
    END,
};
static const struct member message_fields[] = {
    F("role",         MEMBER_WORD, .kept = true, .required = true, .words = "user assistant tool"),
    F("agent",        MEMBER_NAME, .kept = true),
    F("context_ref",  MEMBER_TEXT, .kept = true),
    F("name",         MEMBER_TEXT, .kept = true),
    F("node",         MEMBER_OBJECT, .kept = true, .of = node_fields),
    F("request_id",   MEMBER_TEXT, .kept = true),
    F("run_id",       MEMBER_TEXT, .kept = true),
    F("thinking",     MEMBER_TEXT),
    F("tool_call_id", MEMBER_TEXT, .kept = true),
    F("tool_calls",   MEMBER_LIST, .kept = true, .of = &a_call),
    F("usage",        MEMBER_OBJECT, .kept = true),
    END,
};

/* A message of a snapshot may have any role: it is what some model was shown. */
static const struct member snapshot_message_fields[] = {
    F("role",    MEMBER_TEXT, .required = true),
    F("content", MEMBER_CONTENT),
    END,
};
static const struct member a_snapshot_message = F("item", MEMBER_OBJECT, .required = true, .of = snapshot_message_fields);
static const struct member snapshot_fields[] = {
    F("entries",       MEMBER_LIST, .of = &a_snapshot_message),
    F("id",            MEMBER_TEXT),
    F("messages",      MEMBER_LIST, .of = &a_snapshot_message),
    F("system_prompt", MEMBER_TEXT),
    END,
};
static const struct member origin_fields[] = {
    F("lane", MEMBER_TEXT, .kept = true, .required = true),
    F("seq",  MEMBER_INT, .kept = true,  .required = true),
    END,
};
static const struct member meta_fields[] = {
    F("rebase", MEMBER_BOOL, .kept = true),
    END,
};
static const struct member operation_fields[] = {
    F("type",           MEMBER_WORD, .kept = true, .required = true, .words = "replace switch fork"),
    F("base_seq",       MEMBER_INT, .kept = true),
    F("from",           MEMBER_OBJECT, .kept = true, .of = origin_fields),
    F("meta",           MEMBER_OBJECT, .kept = true, .of = meta_fields),
    F("reason",         MEMBER_WORD, .kept = true, .words = "manual restore compaction system"),
    F("result_context", MEMBER_OBJECT, .of = snapshot_fields),
    F("switch",         MEMBER_BOOL, .kept = true),
    END,
};
static const struct member context_operation_fields[] = {
    F("op_id",       MEMBER_TEXT, .kept = true, .required = true),
    F("context_ref", MEMBER_TEXT, .kept = true),
    F("operation",   MEMBER_OBJECT, .kept = true, .required = true, .of = operation_fields),
    F("agent",       MEMBER_NAME, .kept = true),
    END,
};

static const struct member run_config_fields[] = {
    F("max_iterations", MEMBER_INT, .kept = true),
    END,
};
static const struct member run_started_fields[] = {
    F("agent",         MEMBER_NAME, .kept = true),
    F("allowed_tools", MEMBER_LIST, .kept = true),
    F("config",        MEMBER_OBJECT, .kept = true, .of = run_config_fields),
    F("request_id",    MEMBER_TEXT, .kept = true, .required = true),
    F("run_id",        MEMBER_TEXT, .kept = true, .required = true),
    END,
};
static const struct member run_input_fields[] = {
    F("agent",      MEMBER_NAME, .kept = true),
    F("content",    MEMBER_TEXT, .required = true),
    F("input_id",   MEMBER_TEXT, .kept = true, .required = true),
    F("kind",       MEMBER_TEXT, .kept = true),
    F("refs",       MEMBER_OBJECT),
    F("request_id", MEMBER_TEXT, .kept = true),
    F("run_id",     MEMBER_TEXT, .kept = true, .required = true),
    F("source",     MEMBER_TEXT, .kept = true),
    END,
};
static const struct member run_checkpoint_fields[] = {
    F("agent",  MEMBER_NAME, .kept = true),
    F("run_id", MEMBER_TEXT, .kept = true, .required = true),
    F("token",  MEMBER_TEXT, .required = true),
    END,
};
static const struct member dropped_op_fields[] = {
    F("op_id",  MEMBER_TEXT, .kept = true),
    F("reason", MEMBER_TEXT, .kept = true),
    F("seq",    MEMBER_COUNT, .kept = true),
    END,
};
static const struct member run_finished_fields[] = {
    F("agent",         MEMBER_NAME, .kept = true),
    F("cancel_reason", MEMBER_TEXT),
    F("dropped_input", MEMBER_LIST, .kept = true, .of = &a_text),
    F("dropped_op",    MEMBER_OBJECT, .kept = true, .of = dropped_op_fields),
    F("outcome",       MEMBER_WORD, .kept = true, .required = true, .words = "completed failed cancelled"),
    F("reason",        MEMBER_TEXT),
    F("request_id",    MEMBER_TEXT, .kept = true),
    F("run_id",        MEMBER_TEXT, .kept = true, .required = true),
    F("usage",         MEMBER_OBJECT, .kept = true),
    F("usage_total",   MEMBER_OBJECT, .kept = true),
    END,
};

/* ---- the loom ------------------------------------------------------------------------------ */

static const struct member target_fields[] = {
    F("doc",     MEMBER_TEXT, .kept = true),
    F("node",    MEMBER_TEXT, .kept = true),
    F("section", MEMBER_TEXT, .kept = true),
    F("title",   MEMBER_TEXT),
    F("tree",    MEMBER_TEXT, .kept = true),
    F("type",    MEMBER_TEXT, .kept = true),
    END,
};
static const struct member annotation_fields[] = {
    F("agent", MEMBER_TEXT, .kept = true),
    F("kind",  MEMBER_TEXT, .kept = true),
    F("node",  MEMBER_TEXT, .kept = true, .required = true),
    F("text",  MEMBER_TEXT, .required = true),
    END,
};
static const struct member link_fields[] = {
    F("agent",    MEMBER_TEXT, .kept = true),
    F("incoming", MEMBER_BOOL, .kept = true),
    F("node",     MEMBER_TEXT, .kept = true,   .required = true),
    F("note",     MEMBER_TEXT),
    F("target",   MEMBER_OBJECT, .kept = true, .required = true, .of = target_fields),
    END,
};
static const struct member mark_fields[] = {
    F("agent",      MEMBER_TEXT, .kept = true),
    F("annotation", MEMBER_INT, .kept = true),
    F("description", MEMBER_TEXT),
    F("kept",       MEMBER_OBJECT),
    F("kept_file",  MEMBER_OBJECT),
    F("label",      MEMBER_TEXT),
    F("link",       MEMBER_INT, .kept = true),
    F("mark",       MEMBER_TEXT, .kept = true, .required = true),
    F("mode",       MEMBER_TEXT, .kept = true),
    F("node",       MEMBER_TEXT, .kept = true),
    F("target",     MEMBER_OBJECT, .kept = true, .of = target_fields),
    F("title",      MEMBER_TEXT),
    F("until",      MEMBER_INT, .kept = true),
    END,
};
static const struct member a_named = F("item", MEMBER_COUNT);
static const struct member memory_fields[] = {
    F("agent",    MEMBER_TEXT, .kept = true),
    F("estimate", MEMBER_BOOL, .kept = true),
    F("label",    MEMBER_TEXT, .kept = true),
    F("named",    MEMBER_LIST, .of = &a_named),
    F("op",       MEMBER_TEXT, .kept = true, .required = true),
    F("target",   MEMBER_OBJECT, .kept = true, .of = target_fields),
    F("text",     MEMBER_TEXT),
    F("tokens",   MEMBER_COUNT, .kept = true),
    END,
};
static const struct member action_doc_fields[] = {
    F("hash", MEMBER_TEXT),
    F("path", MEMBER_TEXT, .kept = true),
    END,
};
static const struct member a_node = F("node", MEMBER_TEXT, .kept = true, .required = true);
static const struct member undo_fields[] = {
    F("after",      MEMBER_TEXT),
    F("annotation", MEMBER_INT, .kept = true),
    F("at",         MEMBER_COUNT, .kept = true),
    F("back",       MEMBER_TEXT, .kept = true),
    F("before",     MEMBER_TEXT),
    F("do",         MEMBER_TEXT, .kept = true, .required = true),
    F("doc",        MEMBER_TEXT, .kept = true),
    F("inserted",   MEMBER_COUNT, .kept = true),
    F("label",      MEMBER_TEXT),
    F("link",       MEMBER_INT, .kept = true),
    F("node",       MEMBER_TEXT, .kept = true),
    F("nodes",      MEMBER_LIST, .kept = true, .of = &a_node),
    F("note",       MEMBER_TEXT),
    F("path",       MEMBER_TEXT, .kept = true),
    F("removed",    MEMBER_TEXT),
    F("target",     MEMBER_OBJECT, .kept = true, .of = target_fields),
    F("text",       MEMBER_TEXT),
    END,
};
static const struct member a_shown = F("item", MEMBER_OBJECT, .required = true, .of = target_fields);
static const struct member action_fields[] = {
    F("agent",      MEMBER_TEXT, .kept = true),
    F("code",       MEMBER_TEXT, .kept = true),
    F("doc",        MEMBER_OBJECT, .kept = true, .of = action_doc_fields),
    F("kind",       MEMBER_TEXT, .kept = true),
    F("line",       MEMBER_TEXT),
    F("object",     MEMBER_TEXT),
    F("outcome",    MEMBER_TEXT, .kept = true),
    F("passes",     MEMBER_INT, .kept = true),
    F("referenced", MEMBER_BOOL, .kept = true),
    F("result",     MEMBER_TEXT),
    F("results",    MEMBER_INT, .kept = true),
    F("shows",      MEMBER_LIST, .kept = true, .of = &a_shown),
    F("undo",       MEMBER_OBJECT, .kept = true, .of = undo_fields),
    F("undoes",     MEMBER_INT, .kept = true),
    F("verb",       MEMBER_TEXT, .kept = true),
    END,
};
static const struct member summary_fields[] = {
    F("covers",      MEMBER_COUNT, .kept = true),
    F("model",       MEMBER_TEXT, .kept = true),
    F("of",          MEMBER_TEXT),
    F("provisional", MEMBER_BOOL, .kept = true),
    F("target",      MEMBER_OBJECT, .kept = true, .required = true, .of = target_fields),
    F("text",        MEMBER_TEXT,   .required = true),
    F("usage",       MEMBER_OBJECT),
    END,
};
static const struct member request_fields[] = {
    F("agent",     MEMBER_NAME),
    F("at",        MEMBER_INT),
    F("budget",    MEMBER_COUNT),
    F("hash",      MEMBER_HASH),
    F("iteration", MEMBER_COUNT, .required = true),
    F("model",     MEMBER_TEXT),
    F("now",       MEMBER_INT),
    F("request_id", MEMBER_TEXT),
    F("reserve",   MEMBER_COUNT),
    F("run_id",    MEMBER_TEXT, .required = true),
    END,
};
static const struct member response_fields[] = {
    F("answered_at",       MEMBER_INT, .kept = true),
    F("asked_at",          MEMBER_INT, .kept = true),
    F("body",              MEMBER_TEXT),
    F("completion_tokens", MEMBER_INT, .kept = true),
    F("finish",            MEMBER_TEXT, .kept = true),
    F("hash",              MEMBER_HASH),
    F("headers",           MEMBER_TEXT),
    F("interruption",      MEMBER_TEXT),
    F("model",             MEMBER_TEXT, .kept = true),
    F("prompt_tokens",     MEMBER_INT, .kept = true),
    F("provider",          MEMBER_TEXT, .kept = true),
    F("request_id",        MEMBER_TEXT, .kept = true),
    END,
};
static const struct member document_fields[] = {
    F("after",    MEMBER_TEXT),
    F("agent",    MEMBER_TEXT, .kept = true),
    F("at",       MEMBER_COUNT, .kept = true),
    F("before",   MEMBER_TEXT),
    F("doc",      MEMBER_TEXT, .kept = true),
    F("inserted", MEMBER_COUNT, .kept = true),
    F("path",     MEMBER_TEXT, .kept = true),
    F("removed",  MEMBER_TEXT),
    END,
};

/* ---- threads that share, and agents --------------------------------------------------------- */

static const struct member file_fields[] = {
    F("after",  MEMBER_TEXT),
    F("before", MEMBER_TEXT),
    F("hash",   MEMBER_HASH),
    F("name",   MEMBER_TEXT, .kept = true),
    F("path",   MEMBER_PATH, .kept = true),
    F("place",  MEMBER_PATH, .kept = true),
    F("size",   MEMBER_COUNT, .kept = true),
    F("source", MEMBER_PATH, .kept = true),
    END,
};
static const struct member a_file = F("item", MEMBER_OBJECT, .required = true, .of = file_fields);
static const struct member a_path = F("item", MEMBER_PATH, .required = true);
static const struct member a_hash = F("item", MEMBER_HASH, .required = true);
static const struct member a_seq = F("item", MEMBER_COUNT, .required = true);
static const struct member inherited_fields[] = {
    F("files", MEMBER_LIST, .kept = true, .of = &a_file),
    END,
};
static const struct member thread_operation_fields[] = {
    F("operation",   MEMBER_TEXT, .kept = true, .required = true),
    F("action",      MEMBER_TEXT, .kept = true),
    F("binding",     MEMBER_TEXT, .kept = true),
    F("content",     MEMBER_TEXT),
    F("created",     MEMBER_INT, .kept = true),
    F("executor",    MEMBER_TEXT, .kept = true),
    F("files",       MEMBER_LIST, .kept = true, .of = &a_file),
    F("from",        MEMBER_TEXT, .kept = true),
    F("gone",        MEMBER_LIST, .kept = true, .of = &a_path),
    F("gone_hashes", MEMBER_LIST, .of = &a_hash),
    F("hash",        MEMBER_HASH),
    F("id",          MEMBER_TEXT, .kept = true),
    F("inherited",   MEMBER_OBJECT, .kept = true, .of = inherited_fields),
    F("injections",  MEMBER_LIST, .kept = true, .of = &a_seq),
    F("intent",      MEMBER_TEXT),
    F("kind",        MEMBER_TEXT, .kept = true),
    F("max_tokens",  MEMBER_INT, .kept = true),
    F("mode",        MEMBER_TEXT, .kept = true),
    F("model",       MEMBER_TEXT, .kept = true),
    F("name",        MEMBER_TEXT, .kept = true),
    F("objective",   MEMBER_TEXT, .kept = true),
    F("operator",    MEMBER_TEXT, .kept = true),
    F("parent_id",   MEMBER_TEXT, .kept = true),
    F("permissions", MEMBER_LIST, .kept = true, .of = &a_text),
    F("reason",      MEMBER_TEXT),
    F("ref_id",      MEMBER_TEXT, .kept = true),
    F("session_id",  MEMBER_TEXT, .kept = true),
    F("status",      MEMBER_TEXT, .kept = true),
    F("system_prompt", MEMBER_TEXT),
    F("target",      MEMBER_TEXT, .kept = true),
    F("thread_id",   MEMBER_TEXT, .kept = true),
    F("title",       MEMBER_TEXT),
    F("to",          MEMBER_TEXT, .kept = true),
    F("type",        MEMBER_TEXT, .kept = true),
    F("updated",     MEMBER_INT, .kept = true),
    END,
};

/* ---- sessions of other programs -------------------------------------------------------------- */

static const struct member harness_session_fields[] = {
    F("harness", MEMBER_TEXT, .required = true),
    F("lane",    MEMBER_NAME, .required = true),
    F("session", MEMBER_NAME, .required = true),
    F("thread",  MEMBER_NAME, .required = true),
    END,
};
static const struct member harness_position_fields[] = {
    F("harness", MEMBER_TEXT, .required = true),
    F("part",    MEMBER_TEXT),
    F("session", MEMBER_NAME, .required = true),
    F("state",   MEMBER_OBJECT, .required = true),
    END,
};
static const struct member harness_record_fields[] = {
    F("harness", MEMBER_OBJECT, .required = true),
    END,
};

/* ---- the log about itself -------------------------------------------------------------------- */

static const struct member place_fields[] = {
    F("seq",    MEMBER_COUNT, .kept = true, .required = true),
    F("thread", MEMBER_TEXT,  .kept = true, .required = true),
    END,
};
static const struct member a_place = F("item", MEMBER_OBJECT, .required = true, .of = place_fields);
static const struct member erasure_fields[] = {
    F("chains", MEMBER_LIST, .of = &a_hash),
    F("files",  MEMBER_LIST, .kept = true, .of = &a_path),
    F("left",   MEMBER_LIST, .kept = true, .of = &a_place),
    F("objects", MEMBER_LIST, .of = &a_hash), /* hashes of what was erased: they are erased too */
    F("reason", MEMBER_TEXT, .kept = true, .required = true),
    F("seqs",   MEMBER_LIST, .kept = true, .required = true, .of = &a_seq),
    END,
};
static const struct member deletion_fields[] = {
    F("chain",  MEMBER_HASH,  .kept = true),
    F("files",  MEMBER_LIST,  .kept = true, .of = &a_path),
    F("reason", MEMBER_TEXT,  .kept = true, .required = true),
    F("rev",    MEMBER_COUNT, .kept = true),
    F("thread", MEMBER_TEXT,  .kept = true, .required = true),
    END,
};
static const struct member erasure_done_fields[] = {
    F("erasure", MEMBER_COUNT, .kept = true, .required = true),
    END,
};
static const struct member rechain_fields[] = {
    F("chain", MEMBER_HASH,  .kept = true, .required = true),
    F("rev",   MEMBER_COUNT, .kept = true, .required = true),
    END,
};
static const struct member head_fields[] = {
    F("chain",  MEMBER_HASH,  .kept = true, .required = true),
    F("rev",    MEMBER_COUNT, .kept = true, .required = true),
    F("thread", MEMBER_TEXT,  .kept = true, .required = true),
    END,
};
static const struct member a_head = F("item", MEMBER_OBJECT, .required = true, .of = head_fields);
static const struct member anchor_fields[] = {
    F("heads", MEMBER_LIST, .kept = true, .required = true, .of = &a_head),
    F("root",  MEMBER_HASH, .kept = true, .required = true),
    END,
};
/* No member is kept: request and answer hold text of the caller and of others. */
static const struct member operation_done_fields[] = {
    F("answer",    MEMBER_OBJECT),
    F("operation", MEMBER_TEXT, .required = true),
    F("request",   MEMBER_ANY,  .required = true),
    F("verdict",   MEMBER_OBJECT),
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

static bool has_key(struct sv object, const char *name)
{
    struct sv rest = object, key, raw;

    while (json_next(&rest, &key, &raw))
        if (sv_is(key, name))
            return true;
    return false;
}

static bool has_text(struct sv object, const char *name)
{
    struct sv raw = member(object, name);

    return is_text(raw) && raw.n > 2;
}

static enum status check_message(const struct entry *n, struct err *e)
{
    /* Looking for the text of the member is much cheaper than walking to it, and mostly enough. */
    if (sv_find(n->payload, SV("\"role\":\"tool\"")) < 0 ||
        !sv_is(member(n->payload, "role"), "\"tool\"") || has_text(n->payload, "tool_call_id"))
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
    if (n->erased && has_key(op, "result_context"))
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

/* Its payload is that of the later operation, and names its lane. */
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
    const struct member *fields;
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
    [KIND_MODEL_REQUEST]        = { request_fields,           NULL },
    [KIND_MODEL_RESPONSE]       = { response_fields,          NULL },
    [KIND_DOCUMENT_WRITE]       = { document_fields,          NULL },
    [KIND_THREAD_OPERATION]     = { thread_operation_fields,  NULL },
    [KIND_ERASURE]              = { erasure_fields,           NULL },
    [KIND_ERASURE_DONE]         = { erasure_done_fields,      NULL },
    [KIND_RECHAIN]              = { rechain_fields,           NULL },
    [KIND_ANCHOR]               = { anchor_fields,            NULL },
    [KIND_THREAD_DELETION]      = { deletion_fields,          NULL },
    [KIND_HARNESS_SESSION]      = { harness_session_fields,   NULL },
    [KIND_HARNESS_POSITION]     = { harness_position_fields,  NULL },
    [KIND_HARNESS_RECORD]       = { harness_record_fields,    NULL },
    [KIND_OPERATION_DONE]       = { operation_done_fields,    NULL },
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

const struct member *kind_fields(enum kind k)
{
    return (size_t)k < COUNT(rules) ? rules[k].fields : NULL;
}

enum status kind_check(const struct entry *n, struct err *e)
{
    enum kind k = kind_of(n->kind);

    if (!kind_fields(k))
        return ST_OK;
    if (members_check(n->payload, rules[k].fields, n->erased, e)) {
        err_in(e, "%s", k == KIND_AI_CONTEXT_OPERATION ? "not a context operation" : kind_name(k));
        return hint_for(k, n, e);
    }
    return rules[k].more && rules[k].more(n, e) ? err_in(e, "%s", kind_name(k)) : ST_OK;
}
