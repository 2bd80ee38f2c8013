/* `loom`: a tree at a prompt. The prompt, the line editor and completion are the shell's; what a
 * line does is the operation loom.line. */
#include "front/cli/tree_prompt.h"

extern const struct operation op_loom_block;

struct loom_opts {
    struct sv agent, show;
};

static const struct opt opts_table[] = {
    { OPT_TEXT, "agent", "A", "as whom (default: you)", offsetof(struct loom_opts, agent), 0 },
    { OPT_TEXT, "show", "WHAT",
      "print one block of what a loom-aware model is shown, and end: addendum, memory or context",
      offsetof(struct loom_opts, show), 0 },
    { 0 },
};

static enum status converse(struct tree_prompt *p, struct err *e)
{
    bool      more = true;
    struct sv input;

    tree_prompt_open(p, ".heddle/loom_history");
    while (more) {
        if (tree_prompt_read(p, &input, &more, e))
            return err_code(e);
        if (sv_is(input, "/quit") || sv_is(input, "/exit"))
            return ST_OK;
        if (more && input.n && tree_prompt_act(p, input, e))
            return err_code(e);
        tree_prompt_next(p);
    }
    if (line_has_person())
        sb_addc(&p->app->out, '\n'); /* Ctrl-D leaves the cursor behind the prompt */
    return ST_OK;
}

/* An error names the option as a person typed it. */
static enum status check_block(struct tree_prompt *p, struct sv block, struct err *e)
{
    void        *unused = params_init(op_loom_block.params, op_loom_block.params_size, &p->line);
    struct param x = *param_find(op_loom_block.params, SV("block"));

    x.name = "--show";
    return param_set(&x, unused, block, &p->line, e);
}

static enum status show(struct tree_prompt *p, struct sv block, struct err *e)
{
    struct prompt_given given[] = {
        { "thread", p->thread }, { "agent", p->agent }, { "block", block }, { 0 }
    };
    struct request r;

    if (check_block(p, block, e) || tree_prompt_call(p, &op_loom_block, given, &r, e))
        return err_code(e);
    return tree_prompt_print(p, &op_loom_block, &r, e);
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct loom_opts *o = opts;
    struct tree_prompt      p = {
             .app = app, .thread = app_arg(app, 0), .agent = o->agent, .history = -1
    };
    enum status s = ST_OK;

    if (!app->ws.has_heddle && workspace_make(&app->ws, SV(".heddle"), e))
        return err_code(e);
    if (o->show.s)
        s = show(&p, o->show, e);
    else if (!tree_prompt_where(
                 &p, e)) /* an unknown thread or agent is reported before the first line */
        s = err_code(e);
    else
        s = converse(&p, e);
    tree_prompt_close(&p);
    return s;
}

const struct command cmd_loom = {
    .name = "loom",
    .synopsis = "T [--agent A] [--show addendum|memory|context]",
    .group = GROUP_LOOM,
    .summary = "Walk and write a tree at a prompt",
    .details =
        "A line that starts with → or / is a command (see heddle-loom(7)); any other line is "
        "said, and becomes a node. Tab completes commands and ids. The input goes on in the "
        "next line while a quotation is open, after a backslash, when more was pasted, and after "
        "/think until ← stands alone in a line. Ctrl-C discards the input, Ctrl-D or /quit "
        "ends.\n\n"
        "  $ heddle loom design\n"
        "  [a7x2] › /tree\n"
        "  [a7x2] › What if we used one table?",
    .opts = opts_table,
    .opts_size = sizeof(struct loom_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run,
};
