/* The shell's door: from the words of a command line to a command and back to an exit status. */
#include "front/cli/cli.h"

#include "api/workspace_open.h"
#include "base/clock.h"
#include "base/path.h"
#include "front/cli/help.h"

#include <string.h>

/* Under its other names the program has other words for some commands. */
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

/* Set actor and clock, and open the workspace as far as the command needs it. */
static enum status prepare(struct app *app, const struct command *c, const struct cli_globals *g,
                           struct err *e)
{
    if (g->as.n)
        app->actor = g->as;
    if (name_check(app->actor, "actor", e) ||
        clock_set(workspace_variable(&app->ws, "HEDDLE_NOW"), e))
        return err_code(e);
    app->dir = g->root.n ? sv_cstr(g->root, app->a) : NULL;
    app->ws.only_here = c->op && c->op->here;
    app->ws.is_seen = c->is_called;
    if (workspace_open(&app->ws, app->dir, c->needs, app->a, e))
        return err_code(e);
    app->command = c;
    return ST_OK;
}

/* `heddle log --help`, `heddle --help log`: is help wanted for a word that is not a whole
 * command? */
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

static enum status check_colour(struct sv when, struct err *e)
{
    if (!when.s || sv_is(when, "auto") || sv_is(when, "always") || sv_is(when, "never"))
        return ST_OK;
    return err_set(e, ST_USAGE, "--color is auto, always or never, not '" SV_FMT "'", SV_ARG(when));
}

/* What the program says about itself is text; with --json it is the document {"text":…}. */
static enum status say(struct app *app,
                       enum status (*about)(struct app *, const void *, struct err *),
                       const void *what, struct err *e)
{
    struct sb out = app->out;

    if (!app->json)
        return about(app, what, e);
    app->out = sb_in(app->a, 0);
    enum status s = about(app, what, e);
    struct sv   text = sb_sv(&app->out);
    app->out = out;
    if (s)
        return s;
    struct jw w = jw_in(&app->out, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "text", text);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status say_help(struct app *app, const void *command, struct err *e)
{
    return help_print(app, command, e);
}

static enum status say_family(struct app *app, const void *word, struct err *e)
{
    /* The error, if any, is that of command_find(). */
    return help_family(&app->out, sv_of(word)) ? ST_OK : err_code(e);
}

/* One command, its words parsed. */
static enum status run_parsed(struct app *app, const struct command *c, struct cli_globals *g,
                              const void *opts, struct err *e)
{
    app->json = g->json;
    app->colour = g->color;
    app->via_server = g->via_server;
    if (check_colour(g->color, e))
        return err_code(e);
    if (!c->data && !app->json)
        app->out.show = SB_PLAIN;
    if (g->help)
        return say(app, say_help, c, e);
    if (prepare(app, c, g, e))
        return err_code(e);
    return c->text ? say(app, c->run, opts, e) : c->run(app, opts, e);
}

/* --help, or other options without a command: they are checked, and help is printed. */
static enum status only_options(struct app *app, char **words, size_t n, struct err *e)
{
    char                  word[] = "help", *help = word;
    const struct command *c;
    struct cli_globals    g = { 0 };
    void                 *opts;
    size_t                used;

    if (command_find(&help, 1, app->a, &c, &used, e) ||
        command_parse(app, c, words, n, &g, &opts, e) || check_colour(g.color, e))
        return err_code(e);
    return say(app, say_help, NULL, e);
}

/* One command: find it, parse its words, run it. */
static enum status cli_run(struct app *app, char **words, size_t n, struct err *e)
{
    const struct command *c;
    struct cli_globals    g = { 0 };
    void                 *opts;
    size_t                used, first = command_options_before(words, n);
    char                  version_word[] = "version";

    if (!n) {
        help_goals(&app->out);
        return ST_OK;
    }
    for (size_t i = 0; i < n; i++) /* known early, so that usage errors are JSON too */
        app->json = app->json || sv_is(sv_of(words[i]), "--json");
    if (first == n)
        return only_options(app, words, n, e);
    if (sv_is(sv_of(words[first]), "--version"))
        words[first] = version_word;
    words[first] = own_word(app, words[first]);
    if (command_find(words + first, n - first, app->a, &c, &used, e))
        return asks_for_help(words, first, n) ? say(app, say_family, words[first], e) : err_code(e);
    put_command_first(words, first, used);
    if (command_parse(app, c, words + used, n - used, &g, &opts, e))
        return err_code(e);
    return run_parsed(app, c, &g, opts, e);
}

const struct app_door cli_door = { cli_run, app_fail, status_exit };
