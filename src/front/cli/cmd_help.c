/* `help`, `completion`: help texts, manual pages and completion scripts. */
#include "api/loom/manual.h"
#include "front/cli/complete.h"
#include "front/cli/help.h"

struct help_opts {
    bool man, words, all;
};

static const struct opt help_opts[] = {
    { OPT_FLAG, "man", NULL, "print the manual page (mdoc)", offsetof(struct help_opts, man), 0 },
    { OPT_FLAG, "all", NULL, "list all commands, as without COMMAND",
      offsetof(struct help_opts, all), 0 },
    { OPT_FLAG, "words", NULL, "list the first words of the commands, one per line",
      offsetof(struct help_opts, words), 0 },
    { 0 },
};

static enum status print_words(struct app *app)
{
    struct sv word;

    for (size_t i = 0; (word = help_word(i)).n; i++)
        sb_addf(&app->out, SV_FMT "\n", SV_ARG(word));
    return ST_OK;
}

static bool is_family(struct sv word)
{
    struct sv each;

    for (size_t i = 0; (each = help_word(i)).n; i++)
        if (sv_eq(each, word))
            return true;
    return false;
}

static enum status run_help(struct app *app, const void *opts, struct err *e)
{
    const struct help_opts *o = opts;
    const struct command   *c;
    size_t                  used;

    if (o->words)
        return print_words(app);
    if (o->all || !app->n_args) {
        if (!o->man)
            return help_print(app, NULL, e);
        man_overview(&app->out);
        return ST_OK;
    }
    if (o->man && sv_is(app_arg(app, 0), "loom.7")) {
        loom_manual(&app->out);
        return ST_OK;
    }
    if (o->man && man_page(&app->out, app_arg(app, 0)))
        return ST_OK;
    if (app->n_args == 1 && is_family(app_arg(app, 0)) &&
        command_find(app->args, 1, app->a, &c, &used, e) != ST_OK) {
        help_family(&app->out, app_arg(app, 0));
        return ST_OK;
    }
    if (command_find(app->args, app->n_args, app->a, &c, &used, e))
        return err_code(e);
    return help_print(app, c, e);
}

static enum status run_completion(struct app *app, const void *opts, struct err *e)
{
    (void)opts;
    if (!completion(&app->out, app_arg(app, 0)))
        return err_set(e, ST_USAGE, "no completion for '" SV_FMT "': bash, zsh or fish",
                       SV_ARG(app_arg(app, 0)));
    return ST_OK;
}

const struct command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND | --all] [--man]",
    .group = GROUP_START,
    .summary = "Say what the program does, or how one command is used",
    .opts = help_opts,
    .opts_size = sizeof(struct help_opts),
    .max_args = 2,
    .data = true,
    .text = true,
    .run = run_help,
};

const struct command cmd_completion = {
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .group = GROUP_CARE,
    .summary = "Print the completion script for a shell",
    .details =
        "The scripts complete commands, options and their values, and the names of threads,\n"
        "lanes, agents, nodes and objectives; they ask the program while somebody types.\n\n"
        "  source <(heddle completion bash)",
    .min_args = 1,
    .max_args = 1,
    .data = true,
    .text = true,
    .run = run_completion,
};

static enum status run_complete(struct app *app, const void *opts, struct err *e)
{
    (void)opts, (void)e;
    complete_words(app);
    return ST_OK;
}

const struct command cmd_complete = {
    .name = "_complete",
    .synopsis = "-- WORD...",
    .group = GROUP_DOORS,
    .summary = "What the scripts of `heddle completion` ask",
    .max_args = SIZE_MAX,
    .hidden = true,
    .data = true,
    .text = true,
    .run = run_complete,
};
