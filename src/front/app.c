#include "front/app.h"

#include "api/owner.h"
#include "api/trust.h"
#include "api/user_file.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
    app->ws.store_url = sv_of(getenv("HEDDLE_STORE"));
    app->ws.note = note;
    app->ws.note_ctx = app;
    app->out = sb_to_fd(1, a);
    app->actor = sv_of(getenv("HEDDLE_ACTOR"));
    if (!app->actor.n)
        app->actor = SV("user");
}

static bool is_workspace(struct app *app, struct sv dir)
{
    app->ws.has_heddle = access(sv_cstr(path_join(dir, SV(".heddle"), app->a), app->a), F_OK) == 0;
    for (size_t i = 0; workspace_marks[i]; i++)
        if (access(sv_cstr(path_join(dir, sv_of(workspace_marks[i]), app->a), app->a), F_OK) == 0)
            return true;
    return false;
}

enum status app_find_place(struct app *app, const char *start, struct err *e)
{
    char absolute[PATH_MAX];

    if (!realpath(start ? start : ".", absolute))
        return err_errno(e, "%s", start ? start : "the current directory");
    struct sv here = sv_dup(sv_of(absolute), app->a), dir = here;
    app->ws.start = here;
    while (!(app->ws.is_workspace = is_workspace(app, dir)) && dir.n > 1) {
        dir = path_dir(dir);
        if (!dir.n)
            dir = SV("/");
    }
    app->ws.root = app->ws.is_workspace ? dir : here;
    app->root_named = start && sv_eq(app->ws.root, here);
    app->ws.root_fd = open(sv_cstr(app->ws.root, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return app->ws.root_fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(app->ws.root)) : ST_OK;
}

/* The user's file; JSON_NULL when there is none. */
static enum status read_user_settings(struct app *app, struct json *out, struct err *e)
{
    struct sv text;

    *out = (struct json){ 0 };
    if (user_file_read(USER_CONFIG, app->a, &text, e))
        return err_code(e);
    return text.s ? config_read(utf8_skip_bom(text), CONFIG_OF_USER,
                                user_file_path(USER_CONFIG, app->a), app->a, out, e)
                  : ST_OK;
}

enum status app_workspace_settings(struct app *app, struct sv *text, struct json *out,
                                   struct err *e)
{
    enum status s = fs_read(app->ws.root_fd, APP_CONFIG, 1 << 20, app->a, text, e);

    *out = (struct json){ 0 };
    if (s == ST_NOT_FOUND) {
        *text = (struct sv){ 0 };
        return ST_OK;
    }
    return s ? s
             : config_read(utf8_skip_bom(*text), CONFIG_OF_WORKSPACE, APP_CONFIG, app->a, out, e);
}

enum status app_read_settings(struct app *app, struct err *e)
{
    struct json user, workspace;
    struct sv   text;

    if (read_user_settings(app, &user, e) ||
        (app->ws.is_workspace && !app->root_named &&
         owner_check(app->ws.root_fd, app->ws.root, json_find(&user, "safe_workspaces"), app->a,
                     e)) ||
        app_workspace_settings(app, &text, &workspace, e))
        return err_code(e);
    config_join(&app->ws.config, &user, &workspace, false, app->a);
    if (!app->ws.config.trusted && trust_has(app->ws.root, text, app->a))
        config_join(&app->ws.config, &user, &workspace, true, app->a);
    return ST_OK;
}

enum status app_find_root(struct app *app, const char *start, struct err *e)
{
    return app_find_place(app, start, e) ? err_code(e) : app_read_settings(app, e);
}

enum status app_open_log(struct app *app, enum store_mode mode, struct err *e)
{
    struct store *store;

    if (workspace_take(&app->ws, mode, &store, e))
        return err_code(e);
    app->log = log_of(store, workspace_views);
    return ST_OK;
}

struct sv app_arg(const struct app *app, size_t i)
{
    return i < app->n_args ? sv_of(app->args[i]) : SV("");
}

enum status app_text(struct app *app, struct sv arg, struct sv *out, struct err *e)
{
    if (!sv_is(arg, "-")) {
        *out = arg;
        return ST_OK;
    }
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

void app_error_json(struct jw *w, const struct err *e)
{
    jw_open(w, '{');
    error_members(w, e);
    jw_close(w, '}');
}

void app_fail(struct app *app, const struct err *e)
{
    struct sb text = sb_in(app->a, 0);

    if (app->json) {
        struct jw w = jw_in(&text, 0);
        jw_open(&w, '{');
        jw_kbool(&w, "success", false);
        jw_key(&w, "error");
        jw_open(&w, '{');
        error_members(&w, e);
        if (app->error_details.s) {
            jw_key(&w, "details");
            jw_raw(&w, app->error_details);
        }
        jw_close(&w, '}');
        jw_close(&w, '}');
        sb_addc(&text, '\n');
        sb_add(&app->out, sb_sv(&text));
        return;
    }
    sb_addf(&text, "✗ %s: ", status_word(e->code));
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
    struct sb text = sb_in(app->a, 0), line = sb_in(app->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&text, fmt, ap);
    va_end(ap);
    sb_adds(&line, "! ");
    sb_add_plain_line(&line, sb_sv(&text));
    sb_addc(&line, '\n');
    fputs(sb_sv(&line).s, stderr);
}

struct term app_term(struct app *app)
{
    struct term    t = { .out = &app->out, .a = app->a };
    struct winsize size;
    const char    *no_colour = getenv("NO_COLOR");

    if (!isatty(app->out.fd))
        return t;
    t.colour = !(no_colour && no_colour[0]);
    if (ioctl(app->out.fd, TIOCGWINSZ, &size) == 0)
        t.width = size.ws_col;
    return t;
}

void app_release(struct app *app)
{
    store_close(app->log.store);
    workspace_close(&app->ws);
}
