#include "front/cli/cli.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/process.h"
#include "front/cli/help.h"
#include "front/leslie/leslie.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The program's other names have words of their own for some commands. */
static const struct {
    const char *program, *word;
    char        command[16];
} other_words[] = {
    { "teddy", "context", "payload" },
};

static char *own_word(const struct app *app, char *word)
{
    static char found[sizeof other_words[0].command];

    for (size_t i = 0; i < COUNT(other_words); i++)
        if (sv_is(app->program, other_words[i].program) &&
            sv_is(sv_of(word), other_words[i].word)) {
            memcpy(found, other_words[i].command, sizeof found);
            return found;
        }
    return word;
}

/* Find what the command needs, then run it. */
static enum status prepare_and_run(struct app *app, const struct command *c,
                                   const struct cli_globals *g, const void *opts, struct err *e)
{
    if (g->as.n)
        app->actor = g->as;
    if (name_check(app->actor, "actor", e) || clock_check(e))
        return err_code(e);
    if (c->needs >= NEEDS_PLACE &&
        app_find_place(app, g->root.n ? sv_cstr(g->root, app->a) : NULL, e))
        return err_code(e);
    if (c->needs >= NEEDS_ROOT && app_read_settings(app, e))
        return err_code(e);
    if (c->needs >= NEEDS_LOG &&
        app_open_log(app, c->needs == NEEDS_WRITE ? STORE_WRITE : STORE_READ, e))
        return err_code(e);
    app->log.wanted = c->view;
    app->command = c;
    return c->run(app, opts, e);
}

/* `heddle log --help`, `heddle --help log`: is help wanted for a word that is no whole command? */
static bool asks_for_help(char **words, size_t first, size_t n)
{
    bool asked = false;

    for (size_t i = 0; i < n && i <= first + 1; i++)
        asked = asked || sv_is(sv_of(words[i]), "--help") || sv_is(sv_of(words[i]), "-h");
    return asked;
}

/* options, command, rest → command, options, rest */
static void put_command_first(char **words, size_t options, size_t command)
{
    for (size_t i = 0; i < command; i++) {
        char *word = words[options + i];
        memmove(words + i + 1, words + i, options * sizeof *words);
        words[i] = word;
    }
}

enum status cli_run(struct app *app, char **words, size_t n, struct err *e)
{
    const struct command *c;
    struct cli_globals    g = { 0 };
    void                 *opts;
    size_t                used, first = command_options_before(words, n);
    char                  version_word[] = "version";

    if (first == n) { /* no command at all: --help, or nothing */
        help_overview(&app->out);
        return ST_OK;
    }
    if (sv_is(sv_of(words[first]), "--version"))
        words[first] = version_word;
    words[first] = own_word(app, words[first]);
    for (size_t i = 0; i < n; i++) /* known early, so that usage errors are JSON too */
        app->json = app->json || sv_is(sv_of(words[i]), "--json");
    if (command_find(words + first, n - first, &c, &used, e))
        return asks_for_help(words, first, n) && help_family(&app->out, sv_of(words[first]))
                   ? ST_OK
                   : err_code(e);
    put_command_first(words, first, used);
    if (command_parse(app, c, words + used, n - used, &g, &opts, e))
        return err_code(e);
    app->json = g.json;
    if (!c->data && !app->json && !sv_is(app->program, "leslie"))
        app->out.show = SB_PLAIN;
    if (g.help) {
        help_command(&app->out, c);
        return ST_OK;
    }
    return prepare_and_run(app, c, &g, opts, e);
}

/* A reader that has had enough knows it. */
static bool reader_is_gone(const struct err *e)
{
    return strcmp(e->reason, "reader_gone") == 0;
}

int cli_main(int argc, char **argv)
{
    struct arena a = { 0 };
    struct app   app;
    struct err   e = { 0 }, late = { 0 };

    if (process_has_keys())
        process_hide();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), not the end */
    app_init(&app, &a);
    commands_load(&a);
    app.program = path_base(sv_of(argc > 0 ? argv[0] : "heddle"));
    bool        leslie = sv_is(app.program, "leslie");
    size_t      n = argc > 0 ? (size_t)argc - 1 : 0;
    enum status s = leslie ? leslie_run(&app, argv + 1, n, &e) : cli_run(&app, argv + 1, n, &e);
    if (s && leslie)
        leslie_fail(&app, &e);
    else if (s && !reader_is_gone(&e))
        app_fail(&app, &e);
    if (sb_flush(&app.out, &late) && !s) {
        s = late.code;
        app.json = false;
        /* Without this the exit status would say that nothing happened. */
        err_in(&late, "the command was done, but its answer could not be printed");
        if (!reader_is_gone(&late))
            app_fail(&app, &late);
    }
    app_release(&app);
    arena_free(&a);
    return leslie && s ? 1 : status_exit(s);
}
