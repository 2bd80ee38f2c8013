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
static const char *const path_keys[] = { "file_path", "filePath", "notebook_path", "path", "absolute_path", "target_file", "destination", "source", "old_path", "new_path", "directory",
    "file", "filename", "uri", "paths", "files" };
static const char *const shell_keys[] = { "command", "cmd" };
static const char *const shell_dir_keys[] = { "workdir", "dir_path", "directory", "cwd" };
static const char *const patch_keys[] = { "patchText", "input", "patch", "command" };
/* A line for a shell with one of these words may hold a patch. */
static const char *const patch_words[] = { "apply_patch", "git apply", "git am", "patch -" };
/* An unknown tool whose name contains one of these words is taken to write the files that its arguments name. */
static const char *const writing_words[] = { "write", "edit", "create", "delete", "remove", "move", "rename", "append", "patch", "replace", "insert", "save" };
/* With one of these words it removes or moves a directory with everything below it. */
static const char *const removing_words[] = { "delete", "remove", "move", "rename" };
static const char *const patch_lines[] = { "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- " };
/* clang-format on */

/* ---- tools --------------------------------------------------------------------------------- */

static bool has_one_of(struct sv name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_find(name, sv_of(words[i])) >= 0)
            return true;
    return false;
}

/* *known: it is in the table. An unknown tool may write further files. */
static enum tool_kind kind_of(struct sv name, struct arena *a, bool *known)
{
    struct sv small = sv_lower(name, a);

    *known = true;
    for (size_t i = 0; i < COUNT(tools); i++)
        if (sv_is(small, tools[i].name))
            return tools[i].kind;
    *known = false;
    return has_one_of(small, writing_words, COUNT(writing_words)) ? TOOL_WRITES : TOOL_UNKNOWN;
}

struct path_list {
    VEC(struct sv) list;
};

/* A path, or an address file:///PATH. */
static void add_path(struct path_list *out, struct sv path, struct arena *a)
{
    struct sv scheme = SV("file://");

    if (path.n)
        *vec_push(&out->list, a) = sv_starts(path, scheme) ? sv_skip(path, scheme.n) : path;
}

/* Each member is a path or a list of them. */
static void add_paths(struct path_list *out, const struct json *input, struct arena *a)
{
    for (size_t i = 0; i < COUNT(path_keys); i++) {
        const struct json *v = json_find(input, path_keys[i]);
        add_path(out, json_text(input, path_keys[i]), a);
        for (size_t k = 0; json_is(v, JSON_ARRAY) && k < v->n; k++)
            if (v->items[k].type == JSON_STRING)
                add_path(out, json_sv(&v->items[k]), a);
    }
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

/* The line of a shell tool, with a `cd` in front when the tool is given a directory. */
static struct sv shell_line(const struct json *input, struct arena *a)
{
    struct sv line = { 0 }, dir = { 0 };
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < COUNT(shell_keys) && !line.n; i++)
        line = line_of(json_find(input, shell_keys[i]), a);
    for (size_t i = 0; i < COUNT(shell_dir_keys) && !dir.n; i++)
        dir = json_text(input, shell_dir_keys[i]);
    if (!line.n || !dir.n)
        return line;
    sb_adds(&b, "cd ");
    sb_add_shell(&b, dir);
    sb_addf(&b, "\n" SV_FMT, SV_ARG(line));
    return sb_sv(&b);
}

/* The files that a patch names. In a/NAME and b/NAME, as git writes them, the first part is not
 * part of the name: both are taken. */
static void add_patched(struct path_list *out, struct sv patch, struct arena *a)
{
    for (struct sv_cut c = { .tail = patch, .found = true }; c.found;) {
        c = sv_cut(c.tail, '\n');
        for (size_t i = 0; i < COUNT(patch_lines); i++) {
            struct sv mark = sv_of(patch_lines[i]);
            if (!sv_starts(c.head, mark))
                continue;
            struct sv name = sv_trim(sv_cut(sv_skip(c.head, mark.n), '\t').head);
            add_path(out, name, a);
            if (sv_starts(name, SV("a/")) || sv_starts(name, SV("b/")))
                add_path(out, sv_skip(name, 2), a);
        }
    }
}

static void read_tool(struct hook_seen *x, const struct json *input, struct arena *a)
{
    bool             known;
    enum tool_kind   kind = kind_of(x->tool, a, &known);
    struct path_list paths = { 0 };

    x->runs = kind == TOOL_SHELL || !known;
    x->whole = kind == TOOL_WRITES &&
               has_one_of(sv_lower(x->tool, a), removing_words, COUNT(removing_words));
    if (kind == TOOL_WRITES)
        add_paths(&paths, input, a);
    if (kind == TOOL_SHELL)
        x->command = shell_line(input, a);
    if (has_one_of(x->command, patch_words, COUNT(patch_words)))
        add_patched(&paths, x->command, a);
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
