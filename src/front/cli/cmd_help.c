/* `help`, `completion`, `version`: what the program says about itself. */
#include "base/map.h"
#include "command/tools.h"
#include "front/cli/help.h"
#include "share/share.h"

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

/* A shell expands the words it is given to complete: only names that mean nothing to it. */
static bool is_plain_name(struct sv name)
{
    bool plain = name.n && name.s[0] != '.' && name.s[0] != '-';

    for (size_t i = 0; i < name.n; i++) {
        char c = byte_lower(name.s[i]);
        plain = plain && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || c == '.' || (unsigned char)c >= 0x80);
    }
    return plain;
}

static void put_name(struct map *names, struct sv id, struct arena *a)
{
    if (is_plain_name(id))
        map_put(names, sv_dup(id, a), names);
}

static enum status put_spawned(void *ctx, const struct share_thread *t, struct err *e)
{
    struct map *names = ctx;

    (void)e;
    put_name(names, t->id, names->a);
    return ST_OK;
}

/* The threads there are, spawned or with a log. Nothing is written, and where there is no
 * workspace there are none. */
static void print_threads(struct app *app)
{
    struct map           names = map_in(app->a);
    struct store_thread *list;
    struct share         s;
    size_t               n;
    struct err           ignored;

    if (app_find_root(app, NULL, &ignored) || app_open_log(app, STORE_READ, &ignored) ||
        log_begin(&app->log, SHARE_GLOBAL, STORE_READ, &ignored))
        return;
    share_init(&s, &app->log, app->ws.root_fd, app->actor, app->a);
    if (store_threads(app->log.store, app->a, &list, &n, &ignored) == ST_OK)
        for (size_t i = 0; i < n; i++)
            put_name(&names, list[i].id, app->a);
    if (share_threads(&s, put_spawned, &names, &ignored) == ST_OK)
        for (size_t i = 0; i < names.n; i++)
            sb_addf(&app->out, SV_FMT "\n", SV_ARG(names.items[i].key));
    log_abort(&app->log);
}

static enum status run_completion(struct app *app, const void *opts, struct err *e)
{
    (void)opts;
    if (sv_is(app_arg(app, 0), "threads")) {
        print_threads(app);
        return ST_OK;
    }
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
    .data = true,
    .run = run_help,
};

const struct command cmd_completion = {
    .name = "completion",
    .synopsis = "bash|zsh|fish",
    .group = GROUP_CARE,
    .summary = "Print the completion script for a shell",
    .details = "The scripts complete commands, options and the names of threads, which\n"
               "`heddle completion threads` prints.\n\n"
               "  source <(heddle completion bash)",
    .min_args = 1,
    .max_args = 1,
    .data = true,
    .run = run_completion,
};

const struct command cmd_version = {
    .name = "version",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Print the version",
    .run = run_version,
};
