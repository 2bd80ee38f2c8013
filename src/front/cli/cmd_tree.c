/* `tree`, `tree set`, `tree close`, `tree attest`, `tree skeleton`, `tree nodes`: the thread as a
 * tree. */
#include "front/cli/command.h"

extern const struct operation op_tree_show, op_tree_set, op_tree_close, op_tree_attest,
    op_tree_skeleton, op_tree_nodes;

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };
static const struct cli_word show_words[] = {
    { "thread", WORD_PLAIN },
    { "form", WORD_HIDDEN },
    { 0 },
};

/* A person reads the drawing, a program the nodes. */
static enum status choose_form(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)r;
    return command_set(&op_tree_show, params, "form", app->json ? SV("nodes") : SV("text"), app->a,
                       e);
}

const struct command cmd_tree = {
    .name = "tree",
    .synopsis = "T [--from ID] [--depth N] [--agent A] [--summary]",
    .op = &op_tree_show,
    .words = show_words,
    .prepare = choose_form,
};

const struct command cmd_tree_set = {
    .name = "tree set",
    .synopsis = "T [--title TEXT] [--description TEXT] [--mode dialogue|buffer]",
    .op = &op_tree_set,
    .words = words,
};

const struct command cmd_tree_close = {
    .name = "tree close",
    .synopsis = "T",
    .op = &op_tree_close,
    .words = words,
};

const struct command cmd_tree_attest = {
    .name = "tree attest",
    .synopsis = "T [--node ID]",
    .op = &op_tree_attest,
    .words = words,
};

const struct command cmd_tree_nodes = {
    .name = "tree nodes",
    .op = &op_tree_nodes,
    .words = words,
};

/* Under --json the columns are part of the document. */
static enum status no_bytes(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)params;
    (void)e;
    if (app->json)
        r->out = NULL;
    return ST_OK;
}

const struct command cmd_tree_skeleton = {
    .name = "tree skeleton",
    .op = &op_tree_skeleton,
    .words = words,
    .data = true,
    .prepare = no_bytes,
};
