#include "front/app.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/utf8.h"
#include "front/owner.h"
#include "front/trust.h"
#include "front/user_file.h"
#include "loom/agent.h"
#include "share/share.h"
#include "thread/lane.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void app_init(struct app *app, struct arena *a)
{
    *app = (struct app){ .a = a, .program = SV("heddle"), .root_fd = -1 };
    app->out = sb_to_fd(1, a);
    app->actor = sv_of(getenv("HEDDLE_ACTOR"));
    if (!app->actor.n)
        app->actor = SV("user");
}

static bool is_workspace(struct app *app, struct sv dir)
{
    app->has_heddle = access(sv_cstr(path_join(dir, SV(".heddle"), app->a), app->a), F_OK) == 0;
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
    app->start = here;
    while (!(app->is_workspace = is_workspace(app, dir)) && dir.n > 1) {
        dir = path_dir(dir);
        if (!dir.n)
            dir = SV("/");
    }
    app->root = app->is_workspace ? dir : here;
    app->root_named = start && sv_eq(app->root, here);
    app->root_fd = open(sv_cstr(app->root, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return app->root_fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(app->root)) : ST_OK;
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
    enum status s = fs_read(app->root_fd, APP_CONFIG, 1 << 20, app->a, text, e);

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
        (app->is_workspace && !app->root_named &&
         owner_check(app->root_fd, app->root, json_find(&user, "safe_workspaces"), app->a, e)) ||
        app_workspace_settings(app, &text, &workspace, e))
        return err_code(e);
    config_join(&app->config, &user, &workspace, false, app->a);
    if (!app->config.trusted && trust_has(app->root, text, app->a))
        config_join(&app->config, &user, &workspace, true, app->a);
    return ST_OK;
}

enum status app_find_root(struct app *app, const char *start, struct err *e)
{
    return app_find_place(app, start, e) ? err_code(e) : app_read_settings(app, e);
}

/* Every view of every room. */
const struct view *const app_views[] = { &thread_view, &share_view, &loom_view, &agents_view,
                                         NULL };

/* The file named by a setting, below the workspace: the settings come with a checkout, and must not
 * lead the log elsewhere, neither by their text nor through a link. *dir is the directory
 * that was checked; -1: it is missing. */
static enum status local_store(struct app *app, struct sv path, struct sv *url, int *dir,
                               struct err *e)
{
    struct sv inside;

    if (path_normal(path, app->a, &inside, e))
        return err_in(e, "the setting \"store\"");
    struct sv parent = path_dir(inside);
    if (fs_open(app->root_fd, parent.n ? parent : SV("."), O_PATH | O_DIRECTORY, dir, e) ==
        ST_PERMISSION_DENIED)
        return err_code(e); /* that it is missing is for the store to say */
    enum fs_kind kind;
    if (fs_kind(app->root_fd, inside, &kind, e))
        return err_code(e);
    if (kind == FS_LINK)
        return err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' is a link", SV_ARG(inside));
    *url = path_join(app->root, inside, app->a);
    return ST_OK;
}

/* The environment, then the user's file, may name a store anywhere. */
static enum status store_url(struct app *app, struct sv *url, int *dir, struct err *e)
{
    enum config_source from;
    struct sv          name;

    *url = sv_of(getenv("HEDDLE_STORE"));
    if (url->n)
        return ST_OK;
    name = json_sv(config_value(&app->config, SV("store"), &from));
    if (from == CONFIG_FROM_USER && (sv_starts(name, SV("/")) || sv_find(name, SV("://")) > 0)) {
        *url = name;
        return ST_OK;
    }
    return local_store(app, name.n ? name : SV(".heddle/heddle.db"), url, dir, e);
}

/* What is made beside the work of a clone must not show up in its `git status`. */
static enum status ignore_all(struct app *app, struct err *e)
{
    struct sv path = SV(".heddle/.gitignore");
    bool      there;

    if (fs_exists(app->root_fd, path, &there, e))
        return err_code(e);
    return there ? ST_OK : fs_write(app->root_fd, path, SV("*\n!config.json\n"), 0644, e);
}

enum status app_make(struct app *app, struct sv mark, struct err *e)
{
    if (fs_mkdirs(app->root_fd, mark, e) || (sv_is(mark, ".heddle") && ignore_all(app, e)))
        return err_code(e);
    if (!app->is_workspace)
        app_note(app, "made a workspace in " SV_FMT, SV_ARG(app->root));
    app->is_workspace = true;
    app->has_heddle = app->has_heddle || sv_is(mark, ".heddle");
    return ST_OK;
}

enum status app_open_log(struct app *app, enum store_mode mode, struct err *e)
{
    struct store_options o = { .create = mode == STORE_WRITE, .read_only = mode == STORE_READ };
    struct sv            url;
    struct store        *store;
    UNDO(fd_undo) int    dir = -1;

    if ((mode == STORE_WRITE && !app->has_heddle && app_make(app, SV(".heddle"), e)) ||
        store_url(app, &url, &dir, e))
        return err_code(e);
    o.at_dir = dir >= 0;
    o.dir = dir;
    if (store_open(url, &o, &store, e))
        return err_code(e);
    app->log = log_of(store, app_views);
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

void app_release(struct app *app)
{
    store_close(app->log.store);
    if (app->root_fd >= 0)
        close(app->root_fd);
}
