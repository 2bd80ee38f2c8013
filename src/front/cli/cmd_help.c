/* `help`, `completion`, `version`: what the program says about itself. */
#include "command/tools.h"
#include "front/cli/help.h"

struct help_opts {
    bool man, words;
};

static const struct opt help_opts[] = {
    { OPT_FLAG, "man", NULL, "print the manual page (mdoc)", offsetof(struct help_opts, man), 0 },
    { OPT_FLAG, "words", NULL, "list the first words of the commands, one a line",
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
    if (!app->n_args) {
        if (o->man)
            man_overview(&app->out);
        else
            help_overview(&app->out);
        return ST_OK;
    }
    if (o->man && sv_is(app_arg(app, 0), "loom.7")) {
        tools_manual(&app->out);
        return ST_OK;
    }
    if (o->man && man_page(&app->out, app_arg(app, 0)))
        return ST_OK;
    if (app->n_args == 1 && is_family(app_arg(app, 0)) &&
        command_find(app->args, 1, &c, &used, e) != ST_OK) {
        help_family(&app->out, app_arg(app, 0));
        return ST_OK;
    }
    if (command_find(app->args, app->n_args, &c, &used, e))
        return err_code(e);
    help_command(&app->out, c);
    return ST_OK;
}

static enum status run_completion(struct app *app, const void *opts, struct err *e)
{
    (void)opts;
    if (!completion(&app->out, app_arg(app, 0)))
        return err_set(e, ST_USAGE, "no completion for '" SV_FMT "': bash, zsh or fish",
                       SV_ARG(app_arg(app, 0)));
    return ST_OK;
}

static enum status run_version(struct app *app, const void *opts, struct err *e)
{
    (void)opts, (void)e;
    sb_adds(&app->out,
            app->json ? "{\"version\":\"" HEDDLE_VERSION "\"}\n" : "heddle " HEDDLE_VERSION "\n");
    return ST_OK;
}

const struct command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND] [--man]",
    .group = GROUP_START,
    .summary = "Say what the program does, or how one command is used",
    .opts = help_opts,
    .opts_size = sizeof(struct help_opts),
    .max_args = 2,
    .run = run_help,
};

const struct command cmd_completion = {
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .group = GROUP_CARE,
    .summary = "Print the completion script for a shell",
    .details = "  source <(heddle completion bash)",
    .min_args = 1,
    .max_args = 1,
    .run = run_completion,
};

const struct command cmd_version = {
    .name = "version",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Print the version",
    .run = run_version,
};
