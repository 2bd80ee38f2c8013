#include "front/app.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/utf8.h"
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

static bool is_workspace(struct sv dir, bool *has_heddle, struct arena *a)
{
    static const char *const marks[] = { ".heddle", ".leslie", ".teddy" };

    *has_heddle = access(sv_cstr(path_join(dir, SV(".heddle"), a), a), F_OK) == 0;
    for (size_t i = 0; i < COUNT(marks); i++)
        if (access(sv_cstr(path_join(dir, sv_of(marks[i]), a), a), F_OK) == 0)
            return true;
    return false;
}

enum status app_find_root(struct app *app, const char *start, struct err *e)
{
    char absolute[PATH_MAX];

    if (!realpath(start ? start : ".", absolute))
        return err_errno(e, "%s", start ? start : "the current folder");
    struct sv here = sv_dup(sv_of(absolute), app->a), dir = here;
    app->start = here;
    while (!is_workspace(dir, &app->has_heddle, app->a) && dir.n > 1) {
        dir = path_dir(dir);
        if (!dir.n)
            dir = SV("/");
    }
    app->root = is_workspace(dir, &app->has_heddle, app->a) ? dir : here;
    app->root_fd = open(sv_cstr(app->root, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (app->root_fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(app->root));

    struct sv   text;
    enum status s = fs_read(app->root_fd, SV(".heddle/config.json"), 1 << 20, app->a, &text, e);
    if (s == ST_NOT_FOUND)
        return ST_OK;
    return s ? s : config_read(utf8_skip_bom(text), app->a, &app->config, e);
}

/* Every view of every room. */
const struct view *const app_views[] = { &thread_view, &share_view, &loom_view, &agents_view,
                                         NULL };

/* The file named by the config, below the workspace: a config comes with a checkout, and
 * must not lead the log elsewhere, neither by its text nor through a link. *dir is the directory
 * that was checked; -1: it is missing. */
static enum status local_store(struct app *app, struct sv path, struct sv *url, int *dir,
                               struct err *e)
{
    struct sv inside;

    if (path_normal(path, app->a, &inside, e))
        return err_in(e, "\"store\" in .heddle/config.json");
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

enum status app_open_log(struct app *app, enum store_mode mode, struct err *e)
{
    struct store_options o = { .create = mode == STORE_WRITE, .read_only = mode == STORE_READ };
    struct sv            url = sv_of(getenv("HEDDLE_STORE")), name;
    struct store        *store;
    UNDO(fd_undo) int    dir = -1;

    if (mode == STORE_WRITE && !app->has_heddle && fs_mkdirs(app->root_fd, SV(".heddle"), e))
        return err_code(e);
    if (!url.n) {
        name = config_text(&app->config, "store");
        if (local_store(app, name.n ? name : SV(".heddle/heddle.db"), &url, &dir, e))
            return err_code(e);
        o.at_dir = dir >= 0;
        o.dir = dir;
    }
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

void app_release(struct app *app)
{
    store_close(app->log.store);
    if (app->root_fd >= 0)
        close(app->root_fd);
}
