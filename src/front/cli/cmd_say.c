/* `say` and `do`: a message, or a model's whole output, into the tree. */
#include "front/cli/command.h"

extern const struct operation op_loom_say, op_loom_do;

static const struct cli_word say_words[] = {
    { "thread", WORD_PLAIN },
    { "text", WORD_STDIN },
    { 0 },
};
static const struct cli_word do_words[] = {
    { "thread", WORD_PLAIN },
    { "lines", WORD_HIDDEN },
    { 0 },
};

static enum status read_lines(struct app *app, struct request *r, void *params, struct err *e)
{
    struct sv text;

    (void)r;
    if (app_text(app, SV("-"), &text, e))
        return err_code(e);
    return command_set(&op_loom_do, params, "lines", text, app->a, e);
}

const struct command cmd_say = {
    .name = "say",
    .synopsis = "T [--agent A] [--at NODE] TEXT|-",
    .op = &op_loom_say,
    .words = say_words,
};

const struct command cmd_do = {
    .name = "do",
    .synopsis = "T --agent A [--at NODE]",
    .op = &op_loom_do,
    .words = do_words,
    .data = true,
    .prepare = read_lines,
};
