/* What all doors that are reached by a command line share: one run of the program, arguments and
 * files, notes, errors. */
#include "front/app.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/failure.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/process.h"
#include "base/rand.h"
#include "base/utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void note(void *ctx, struct sv text)
{
    app_note(ctx, SV_FMT, SV_ARG(text));
}

void app_init(struct app *app, struct arena *a)
{
    *app = (struct app){ .a = a, .program = SV("heddle") };
    workspace_init(&app->ws);
    app->ws.variables = environ;
    app->ws.program = SV("/proc/self/exe");
    app->ws.note = note;
    app->ws.note_ctx = app;
    app->ws.warn = warn_text;
    app->out = sb_to_fd(1, a);
    app->actor = sv_of(getenv("HEDDLE_ACTOR"));
    if (!app->actor.n)
        app->actor = SV("user");
}

struct sv app_arg(const struct app *app, size_t i)
{
    return i < app->n_args ? sv_of(app->args[i]) : SV("");
}

void app_say_waiting(const struct app *app)
{
    if (isatty(STDIN_FILENO))
        app_note(app, "reading from the terminal; Ctrl-D ends it");
}

enum status app_text(struct app *app, struct sv arg, struct sv *out, struct err *e)
{
    if (!sv_is(arg, "-")) {
        *out = arg;
        return ST_OK;
    }
    app_say_waiting(app);
    if (fs_read_fd(0, 0, app->a, out, e))
        return err_in(e, "stdin");
    return ST_OK;
}

enum status app_file(struct app *app, struct sv path, size_t max, struct sv *out, struct err *e)
{
    UNDO(fd_undo) int fd = open(sv_cstr(path, app->a), O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    if (fs_read_fd(fd, max, app->a, out, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    return ST_OK;
}

/* An error may quote what was not UTF-8, or be cut inside a character. */
static void kstr_lossy(struct jw *w, const char *key, const char *text)
{
    struct arena scratch = { 0 };
    struct sb    clean = sb_in(&scratch, 0);

    sb_add_lossy(&clean, sv_of(text));
    jw_kstr(w, key, sb_sv(&clean));
    arena_free(&scratch);
}

static void error_members(struct jw *w, const struct err *e)
{
    jw_kstr(w, "code", sv_of(status_word(e->code)));
    kstr_lossy(w, "message", e->text);
    if (e->hint[0])
        kstr_lossy(w, "hint", e->hint);
    if (e->reason[0])
        jw_kstr(w, "reason", sv_of(e->reason));
}

void app_error_json(struct jw *w, const struct err *e, struct sv details)
{
    jw_open(w, '{');
    error_members(w, e);
    if (details.s) {
        jw_key(w, "details");
        jw_raw(w, details);
    }
    jw_close(w, '}');
}

/* --color, then NO_COLOR (no-color.org), then CLICOLOR_FORCE (bixense.com/clicolors), then whether
 * the descriptor is a terminal that knows colours. */
static bool wants_colour(const struct app *app, int fd)
{
    struct sv force = workspace_variable(&app->ws, "CLICOLOR_FORCE");
    struct sv kind = workspace_variable(&app->ws, "TERM");

    if (app->json)
        return false;
    if (app->colour.n && !sv_is(app->colour, "auto"))
        return sv_is(app->colour, "always");
    if (workspace_variable(&app->ws, "NO_COLOR").n)
        return false;
    if (force.n && !sv_is(force, "0"))
        return true;
    return isatty(fd) && kind.n && !sv_is(kind, "dumb");
}

/* A terminal for text that is collected in `b` and will go to stderr. */
static struct term error_term(const struct app *app, struct sb *b, struct arena *a)
{
    *b = sb_in(a, 0);
    return (struct term){ .out = b, .a = a, .colour = wants_colour(app, STDERR_FILENO) };
}

void app_fail(struct app *app, const struct err *e)
{
    struct sb text = sb_in(app->a, 0);

    if (app->json) {
        struct jw w = jw_in(&text, 0);
        jw_open(&w, '{');
        jw_key(&w, "error");
        app_error_json(&w, e, app->error_details);
        jw_close(&w, '}');
        sb_addc(&text, '\n');
        if (app->answered)
            fputs(sb_sv(&text).s, stderr);
        else
            sb_add(&app->out, sb_sv(&text));
        return;
    }
    struct term t = error_term(app, &text, app->a);
    term_styled(&t, STYLE_BAD, SV("✗"));
    sb_addc(&text, ' ');
    term_styled(&t, STYLE_BAD, sv_of(status_word(e->code)));
    sb_adds(&text, ": ");
    sb_add_plain(&text, sv_of(e->text));
    sb_addc(&text, '\n');
    if (e->hint[0]) {
        sb_adds(&text, "  hint: ");
        sb_add_plain(&text, sv_of(e->hint));
        sb_addc(&text, '\n');
    }
    fputs(sb_sv(&text).s, stderr);
}

void app_note(const struct app *app, const char *fmt, ...)
{
    struct arena scratch = { 0 }; /* app->a belongs to the thread that runs the command */
    struct sb    text = sb_in(&scratch, 0), line;
    va_list      ap;

    va_start(ap, fmt);
    sb_addvf(&text, fmt, ap);
    va_end(ap);
    struct term t = error_term(app, &line, &scratch);
    term_styled(&t, STYLE_NOTE, SV("!"));
    sb_addc(&line, ' ');
    sb_add_plain_line(&line, sb_sv(&text));
    sb_addc(&line, '\n');
    fputs(sb_sv(&line).s, stderr);
    arena_free(&scratch);
}

bool app_ask(struct app *app, struct sv question)
{
    struct sb text = sb_in(app->a, 0);
    char      answer[16] = "";

    sb_add_plain_line(&text, question);
    sb_adds(&text, " [y/N] ");
    fputs(sb_sv(&text).s, stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

struct term app_term(struct app *app)
{
    struct term    t = { .out = &app->out, .a = app->a };
    struct winsize size;

    t.colour = wants_colour(app, app->out.fd);
    if (t.colour && app->out.show == SB_PLAIN)
        app->out.show = SB_STYLED;
    if (ioctl(app->out.fd, TIOCGWINSZ, &size) == 0) /* fails where there is no terminal */
        t.width = size.ws_col;
    return t;
}

void app_release(struct app *app)
{
    workspace_close(&app->ws);
}

/* ---- one run of the program ------------------------------------------------------------- */

/* A reader that closed the pipe needs no message. */
static bool reader_is_gone(const struct err *e)
{
    return strcmp(e->reason, "reader_gone") == 0;
}

/* Passes clock, seed and environment to the rooms below, once. A HEDDLE_NOW that is not a time is
 * reported when the command runs. */
static void hand_in(void)
{
    struct err later;

    failure_handle(warn_and_exit);
    rand_seed(env_find(environ, "HEDDLE_SEED"));
    (void)!clock_set(env_find(environ, "HEDDLE_NOW"), &later);
    if (process_has_keys(environ))
        process_hide();
}

int app_main(int argc, char **argv, const struct app_door *door, const struct app_services *others)
{
    struct arena a = { 0 };
    struct app   app;
    struct err   e = { 0 }, late = { 0 };

    hand_in();
    signal(SIGPIPE, SIG_IGN); /* write() returns EPIPE instead of ending the process */
    app_init(&app, &a);
    app.services = others;
    app.program = path_base(sv_of(argc > 0 ? argv[0] : "heddle"));
    enum status s = door->run(&app, argv + 1, argc > 0 ? (size_t)argc - 1 : 0, &e);
    if (s && !reader_is_gone(&e))
        door->fail(&app, &e);
    if (sb_flush(&app.out, &late) && !s) {
        s = late.code;
        app.json = false;
        /* The command took effect, although the exit status is that of a failure: the message says
         * so. */
        err_in(&late, "the command was done, but its answer could not be printed");
        if (!reader_is_gone(&late))
            app_fail(&app, &late);
    }
    app_release(&app);
    arena_free(&a);
    return door->exit_status(s);
}
