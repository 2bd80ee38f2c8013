/* The prompt of a tree: the line editor with completion of tools and ids, and operations run for a
 * line. */
#include "front/cli/tree_prompt.h"

#include "api/loom/line_input.h"
#include "base/fs.h"
#include "front/cli/interrupt.h"

#include <fcntl.h>
#include <stdio.h>

extern const struct operation op_loom_line, op_loom_position, op_loom_ids, op_loom_tools;

/* ---- operations ----------------------------------------------------------------------- */

/* Run an operation with the parameters `given`, which end with a NULL name. Its document and all it
 * needed live until the line is done. */
enum status tree_prompt_call(struct tree_prompt *p, const struct operation *op,
                             const struct prompt_given *given, struct request *r, struct err *e)
{
    void *params = params_init(op->params, op->params_size, &p->line);

    request_init(r, &p->app->ws, &p->line);
    r->actor = p->app->actor;
    for (; given->param; given++)
        if (given->value.s && param_set(param_find(op->params, sv_of(given->param)), params,
                                        given->value, &p->line, e))
            return err_code(e);
    if (op->cancels)
        r->cancel = interrupt_begin();
    enum status s = operation_run(op, r, params, e);
    if (op->cancels)
        interrupt_end();
    request_end(r);
    return s;
}

/* The document of an operation that only reads; NULL when it failed: the prompt goes on without
 * it. */
const struct json *tree_prompt_look(struct tree_prompt *p, const struct operation *op,
                                    const struct prompt_given *given, struct err *e)
{
    struct json   *doc = ARENA_NEW(&p->line, struct json, 1);
    struct request r;

    if (tree_prompt_call(p, op, given, &r, e) ||
        json_parse(request_document(&r), 0, &p->line, doc, e))
        return NULL;
    return doc;
}

enum status tree_prompt_print(struct tree_prompt *p, const struct operation *op, struct request *r,
                              struct err *e)
{
    command_say_warnings(p->app, r);
    if (command_print_answer(p->app, op, r, e))
        return err_code(e);
    if (r->verdict.code)
        *e = r->verdict;
    return r->verdict.code ? err_code(e) : ST_OK;
}

/* ---- completion ------------------------------------------------------------------------ */

static struct sv tool_name(const struct tree_prompt *p, size_t i)
{
    return json_text(&p->names->items[i], "name");
}

/* A tool behind the slash or arrow at the start of a line; a line without one gets its slash. */
static struct sv complete_tool(struct tree_prompt *p, struct sv before, struct sv start, size_t i)
{
    bool        bare = sv_trim(before).n > 0; /* the arrow stands apart */
    const char *arrow = bare ? "" : sv_starts(start, SV("→")) ? "→" : "/";
    struct sv   word = line_command(start);
    struct err  ignored;

    if (i == 0)
        p->names = json_find(
            tree_prompt_look(p, &op_loom_tools, (struct prompt_given[]){ { 0 } }, &ignored),
            "items");
    for (size_t k = 0; p->names && k < p->names->n; k++)
        if (sv_starts(tool_name(p, k), word) && i-- == 0) {
            struct sb b = sb_in(&p->line, 0);
            sb_addf(&b, "%s" SV_FMT, arrow, SV_ARG(tool_name(p, k)));
            return sb_sv(&b);
        }
    return (struct sv){ 0 };
}

/* The id of a node, also in brackets and behind a key: [a7x2], branch:a7x2. */
static struct sv complete_id(struct tree_prompt *p, struct sv start, size_t i)
{
    size_t     n = start.n;
    struct sb  b = sb_in(&p->line, 0);
    struct err ignored;

    while (n && start.s[n - 1] != ':' && start.s[n - 1] != '[')
        n--;
    if (i == 0) {
        struct prompt_given given[] = { { "thread", p->thread },
                                        { "start", sv_skip(start, n) },
                                        { 0 } };
        p->names = json_find(tree_prompt_look(p, &op_loom_ids, given, &ignored), "items");
    }
    if (!p->names || i >= p->names->n)
        return (struct sv){ 0 };
    sb_addf(&b, SV_FMT SV_FMT "%s", SV_ARG(sv_first(start, n)),
            SV_ARG(json_sv(&p->names->items[i])), n && start.s[n - 1] == '[' ? "]" : "");
    return sb_sv(&b);
}

static struct sv complete(void *ctx, struct sv before, struct sv start, size_t i)
{
    before = sv_trim(before);
    if (!before.n || sv_is(before, "→") || sv_is(before, "/"))
        return complete_tool(ctx, before, start, i);
    return complete_id(ctx, start, i);
}

/* ---- reading --------------------------------------------------------------------------- */

const struct json *tree_prompt_where_is(struct tree_prompt *p, struct sv agent, struct err *e)
{
    struct prompt_given given[] = { { "thread", p->thread }, { "agent", agent }, { 0 } };

    return tree_prompt_look(p, &op_loom_position, given, e);
}

const struct json *tree_prompt_where(struct tree_prompt *p, struct err *e)
{
    return tree_prompt_where_is(p, p->agent, e);
}

/* The place where the next text goes, which is not always where the one who types is. Without a
 * terminal it is not looked up for every line. */
static const char *prompt_text(struct tree_prompt *p)
{
    struct sb  b = sb_in(&p->line, 0);
    struct err ignored;

    p->shown = (struct sv){ 0 };
    if (p->settled && !line_has_person())
        return "";
    const struct json *doc = tree_prompt_where(p, &ignored);
    p->verbatim = sv_is(json_text(doc, "mode"), "buffer");
    p->settled = json_text(doc, "position").n > 0;
    if (!line_has_person())
        return "";
    struct sv here = p->at;
    if (!here.n)
        here = p->partner.n ? json_text(tree_prompt_where_is(p, p->partner, &ignored), "end")
                            : json_text(doc, "position");
    p->shown = here;
    if (p->label.n)
        sb_addf(&b, SV_FMT " ", SV_ARG(p->label));
    if (here.n)
        sb_addf(&b, "[" SV_FMT "] ", SV_ARG(here));
    sb_adds(&b, "› ");
    return sb_sv(&b).s;
}

/* Adds a line to the input; true when it goes on in the next one. A thought does until ←, a command
 * while a quotation is open, a text after a backslash, and when it was pasted. */
static bool take_line(enum line_input kind, struct sb *b, struct sv line)
{
    if (kind == LINE_THOUGHT && sv_is(sv_trim(line), "←"))
        return false;
    bool slash = kind == LINE_TEXT && sv_ends(line, SV("\\"));
    sb_add(b, slash ? sv_first(line, line.n - 1) : line);
    switch (kind) {
    case LINE_THOUGHT: return true;
    case LINE_COMMAND: return line_is_open(sb_sv(b));
    default: return slash || line_is_pasted();
    }
}

/* Everything up to the end of a command, a thought or a text; nothing after Ctrl-C. */
enum status tree_prompt_read(struct tree_prompt *p, struct sv *out, bool *more, struct err *e)
{
    struct sb       b = sb_in(&p->line, 0);
    struct sv       line;
    enum line_input kind = LINE_TEXT;
    bool            first = true, again = true;

    for (const char *prompt = prompt_text(p); again; prompt = "… ") {
        if (line_read(&p->edit, prompt, &p->line, &line, more, e))
            return err_code(e);
        if (p->edit.interrupted)
            b.n = 0;
        if (!*more || p->edit.interrupted)
            break;
        kind = first ? line_input_of(line) : kind;
        again = take_line(kind, &b, line);
        if (again)
            sb_addc(&b, first && kind == LINE_THOUGHT ? ' ' : '\n');
        first = false;
    }
    *out = sv_trim(sb_sv(&b));
    if (kind == LINE_TEXT && p->verbatim && out->n)
        *out = sb_sv(&b);
    *more = *more || out->n;
    return ST_OK;
}

/* ---- lines that do something ------------------------------------------------------------- */

/* A switch may have led into another thread. */
static enum status follow(struct tree_prompt *p, struct request *r, struct err *e)
{
    struct json doc;

    if (json_parse(request_document(r), 0, &p->line, &doc, e))
        return err_code(e);
    struct sv now = json_text(&doc, "thread");
    if (!sv_eq(now, p->thread)) {
        p->thread = sv_dup(now, p->app->a);
        p->settled = false;
    }
    return ST_OK;
}

enum status tree_prompt_act(struct tree_prompt *p, struct sv input, struct err *e)
{
    struct prompt_given given[] = {
        { "thread", p->thread }, { "line", input }, { "agent", p->agent }, { 0 }
    };
    struct request r;

    if (tree_prompt_call(p, &op_loom_line, given, &r, e)) {
        if (line_input_of(input) != LINE_TEXT)
            return err_code(e);
        app_fail(p->app, e); /* shown to the person; the prompt goes on */
        return ST_OK;
    }
    if (follow(p, &r, e) || tree_prompt_print(p, &op_loom_line, &r, e))
        return err_code(e);
    return sb_flush(&p->app->out, e);
}

/* libedit opens the history by name, and the file with that name may be swapped: it gets a name
 * that stands for the file opened here. */
void tree_prompt_open(struct tree_prompt *p, const char *history)
{
    struct err why;

    p->edit = (struct line_edit){ .complete = complete, .ctx = p };
    p->history = -1;
    if (!line_has_person())
        return;
    app_note(p->app, "what you type is said; a line that starts with / is a command: /help lists "
                     "them, /quit or Ctrl-D ends");
    if (fs_open_own(p->app->ws.root_fd, sv_of(history), O_RDWR, &p->history, &why)) {
        warn("no history is kept: %s", why.text);
        return;
    }
    snprintf(p->history_name, sizeof p->history_name, "/proc/self/fd/%d", p->history);
    p->edit.history = p->history_name;
}

void tree_prompt_next(struct tree_prompt *p)
{
    p->names = NULL;
    arena_free(&p->line);
}

void tree_prompt_close(struct tree_prompt *p)
{
    fd_undo(&p->history);
    tree_prompt_next(p);
}
