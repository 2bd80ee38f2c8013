/* Events: Claude Code, Codex and Gemini CLI have their own names and members; the plugins for
 * opencode and pi, which are heddle's, speak as Claude Code does. */
#include "front/hook/event.h"

#include "base/vec.h"

/* clang-format off */
/* Events of all programs in one table: no two programs use one name for different events. Events
 * that are not listed are ignored. */
static const struct {
    const char *name, *event;
} events[] = {
    { "SessionStart",       "start" },
    { "UserPromptSubmit",   "prompt" },
    { "BeforeAgent",        "prompt" },      /* Gemini CLI */
    { "PreToolUse",         "tool_before" },
    { "BeforeTool",         "tool_before" }, /* Gemini CLI */
    { "PostToolUse",        "tool_after" },
    { "PostToolUseFailure", "tool_after" },
    { "AfterTool",          "tool_after" },  /* Gemini CLI */
    { "PreCompact",         "compact" },
    { "PreCompress",        "compact" },     /* Gemini CLI, before every request: it may compact, or not */
    { "PostCompact",        "compact" },
    { "Stop",               "stop" },
    { "StopFailure",        "stop" },
    { "SubagentStop",       "stop" },
    { "AfterAgent",         "stop" },        /* Gemini CLI */
    { "SessionEnd",         "end" },
};

/* What a tool does to files. Names are compared without case. */
enum tool_kind { TOOL_UNKNOWN, TOOL_READS, TOOL_WRITES, TOOL_SHELL, TOOL_PATCH };
static const struct {
    const char    *name;
    enum tool_kind kind;
} tools[] = {
    { "edit", TOOL_WRITES }, { "write", TOOL_WRITES }, { "multiedit", TOOL_WRITES }, { "notebookedit", TOOL_WRITES },
    { "write_file", TOOL_WRITES }, { "replace", TOOL_WRITES }, { "edit_file", TOOL_WRITES }, { "create_file", TOOL_WRITES },
    { "bash", TOOL_SHELL }, { "shell", TOOL_SHELL }, { "exec_command", TOOL_SHELL }, { "local_shell", TOOL_SHELL }, { "run_shell_command", TOOL_SHELL },
    { "apply_patch", TOOL_PATCH }, { "patch", TOOL_PATCH },
    { "read", TOOL_READS }, { "grep", TOOL_READS }, { "glob", TOOL_READS }, { "ls", TOOL_READS }, { "list", TOOL_READS }, { "find", TOOL_READS },
    { "webfetch", TOOL_READS }, { "websearch", TOOL_READS }, { "todowrite", TOOL_READS }, { "todoread", TOOL_READS }, { "toolsearch", TOOL_READS },
    { "read_file", TOOL_READS }, { "read_many_files", TOOL_READS }, { "list_directory", TOOL_READS }, { "search_file_content", TOOL_READS },
    { "google_web_search", TOOL_READS }, { "web_fetch", TOOL_READS }, { "update_plan", TOOL_READS }, { "view_image", TOOL_READS },
};
static const char *const path_keys[] = { "file_path", "filePath", "notebook_path", "path", "absolute_path", "target_file", "destination", "source", "old_path", "new_path", "directory" };
static const char *const shell_keys[] = { "command", "cmd" };
static const char *const patch_keys[] = { "patchText", "input", "patch", "command" };
/* A tool of an unknown MCP server whose name contains one of these words is taken to write the
 * files that its arguments name. */
static const char *const writing_words[] = { "write", "edit", "create", "delete", "remove", "move", "rename", "append", "patch", "replace" };
/* With one of these words it removes or moves a directory with everything below it. */
static const char *const removing_words[] = { "delete", "remove", "move", "rename" };
static const char *const patch_lines[] = { "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- " };
/* clang-format on */

/* ---- tools --------------------------------------------------------------------------------- */

static bool is_mcp(struct sv name)
{
    return sv_starts(name, SV("mcp__")) || sv_starts(name, SV("mcp_"));
}

static bool has_one_of(struct sv name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_find(name, sv_of(words[i])) >= 0)
            return true;
    return false;
}

static enum tool_kind kind_of(struct sv name, struct arena *a)
{
    struct sv small = sv_lower(name, a);

    for (size_t i = 0; i < COUNT(tools); i++)
        if (sv_is(small, tools[i].name))
            return tools[i].kind;
    return is_mcp(small) && has_one_of(small, writing_words, COUNT(writing_words)) ? TOOL_WRITES
                                                                                   : TOOL_UNKNOWN;
}

struct path_list {
    VEC(struct sv) list;
};

static void add_texts(struct path_list *out, const struct json *input, const char *const *keys,
                      size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (json_text(input, keys[i]).n)
            *vec_push(&out->list, a) = json_text(input, keys[i]);
}

/* A command given as a list of words is joined to one line, each word quoted for a shell. */
static struct sv line_of(const struct json *v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n; i++) {
        sb_adds(&b, i ? " " : "");
        sb_add_shell(&b, json_sv(&v->items[i]));
    }
    return json_is(v, JSON_ARRAY) ? sb_sv(&b) : json_sv(v);
}

static void add_patched(struct path_list *out, struct sv patch, struct arena *a)
{
    for (struct sv_cut c = { .tail = patch, .found = true }; c.found;) {
        c = sv_cut(c.tail, '\n');
        for (size_t i = 0; i < COUNT(patch_lines); i++) {
            struct sv mark = sv_of(patch_lines[i]);
            if (sv_starts(c.head, mark))
                *vec_push(&out->list, a) = sv_trim(sv_cut(sv_skip(c.head, mark.n), '\t').head);
        }
    }
}

static void read_tool(struct hook_seen *x, const struct json *input, struct arena *a)
{
    enum tool_kind   kind = kind_of(x->tool, a);
    struct path_list paths = { 0 };

    x->runs = kind == TOOL_SHELL || kind == TOOL_UNKNOWN || is_mcp(x->tool);
    x->whole = kind == TOOL_WRITES &&
               has_one_of(sv_lower(x->tool, a), removing_words, COUNT(removing_words));
    if (kind == TOOL_WRITES)
        add_texts(&paths, input, path_keys, COUNT(path_keys), a);
    for (size_t i = 0; kind == TOOL_SHELL && i < COUNT(shell_keys) && !x->command.n; i++)
        x->command = line_of(json_find(input, shell_keys[i]), a);
    for (size_t i = 0; kind == TOOL_PATCH && i < COUNT(patch_keys); i++)
        add_patched(&paths, json_text(input, patch_keys[i]), a);
    x->paths = (struct sv_list){ paths.list.v, paths.list.n };
}

/* ---- events -------------------------------------------------------------------------------- */

static struct sv first_of(const struct json *doc, const char *a, const char *b)
{
    return json_text(doc, a).n ? json_text(doc, a) : json_text(doc, b);
}

enum status hook_event_read(const char *harness, const struct json *doc, struct arena *a,
                            struct hook_seen *out, struct err *e)
{
    const struct json *idle = json_find(doc, "seconds_since_last_response");

    *out = (struct hook_seen){ .harness = harness, .doc = doc, .idle = -1 };
    if (!json_is(doc, JSON_OBJECT))
        return err_set(e, ST_INVALID_SYNTAX, "an event is an object");
    out->name = json_text(doc, "hook_event_name");
    out->session = json_text(doc, "session_id");
    if (!out->name.n || !out->session.n)
        return err_set(e, ST_INVALID_SYNTAX, "an event has hook_event_name and session_id");
    for (size_t i = 0; i < COUNT(events); i++)
        if (sv_is(out->name, events[i].name))
            out->event = events[i].event;
    out->source = json_text(doc, "source");
    out->parent = first_of(doc, "parent_id", "parent_session_id");
    out->cwd = json_text(doc, "cwd");
    out->transcript = json_text(doc, "transcript_path");
    out->tool = json_text(doc, "tool_name");
    out->call = first_of(doc, "tool_use_id", "tool_call_id");
    if (idle && !json_int(idle, &out->idle))
        out->idle = -1;
    out->prompted = json_truth(json_find(doc, "prompted"));
    if (out->tool.n)
        read_tool(out, json_find(doc, "tool_input"), a);
    return ST_OK;
}
