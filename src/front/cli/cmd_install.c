/* `install`, `uninstall`: heddle in the settings of a coding agent. */
#include "front/cli/command.h"

extern const struct operation op_harness_install;

static const struct cli_word words[] = { { "harness", WORD_PLAIN }, { 0 } };

/* `uninstall` is `install --remove`. */
static enum status set_remove(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)r;
    return command_set(&op_harness_install, params, "--remove", SV("true"), app->a, e);
}

static const struct cli_word uninstall_words[] = {
    { "harness", WORD_PLAIN },
    { "remove", WORD_HIDDEN },
    { "thread", WORD_HIDDEN },
    { "agent", WORD_HIDDEN },
    { 0 },
};

const struct command cmd_install = { .name = "install", .op = &op_harness_install, .words = words };

const struct command cmd_uninstall = {
    .name = "uninstall",
    .summary = "Take heddle out of the settings of a coding agent",
    .details =
        "Removes what `heddle install` has put there, and restores what it replaced. Everything\n"
        "else in the files stays as it is, to the byte; twice is the same as once.\n"
        "\n"
        "  heddle uninstall claude-code --dry-run",
    .op = &op_harness_install,
    .words = uninstall_words,
    .prepare = set_remove,
};
