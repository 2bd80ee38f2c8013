/* A workspace's directory and its pool of open stores. */
#include "api/workspace.h"

#include "api/workspace_id.h"
#include "api/workspace_keep.h"
#include "base/env.h"
#include "base/failure.h"
#include "base/fs.h"
#include "base/path.h"
#include "harness/harness.h"
#include "loom/agent.h"
#include "share/share.h"
#include "thread/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOVED SV(".heddle/moved")
enum { MOVED_MAX = 8192 };

const struct view *const workspace_views[] = { &thread_view, &share_view,   &loom_view,
                                               &agents_view, &harness_view, NULL };

void workspace_init(struct workspace *ws)
{
    *ws = (struct workspace){ .root_fd = -1, .project_fd = -1 };
    pthread_mutex_init(&ws->lock, NULL);
}

void workspace_close_idle(struct workspace *ws)
{
    pthread_mutex_lock(&ws->lock);
    for (size_t i = 0; i < WORKSPACE_STORES; i++) {
        store_close(ws->idle[i].store);
        ws->idle[i].store = NULL;
    }
    pthread_mutex_unlock(&ws->lock);
}

void workspace_close(struct workspace *ws)
{
    workspace_close_idle(ws);
    for (size_t i = 0; i < WORKSPACE_SECRETS; i++) {
        if (ws->secrets[i].value)
            explicit_bzero(ws->secrets[i].value, strlen(ws->secrets[i].value));
        free(ws->secrets[i].value);
        free(ws->secrets[i].name);
    }
    if (ws->root_fd >= 0)
        close(ws->root_fd);
    if (ws->project.n)
        close(ws->project_fd);
    pthread_mutex_destroy(&ws->lock);
}

struct sv workspace_variable(const struct workspace *ws, const char *name)
{
    return env_find(ws->variables, name);
}

struct sv workspace_project(const struct workspace *ws)
{
    return ws->project.n ? ws->project : ws->root;
}

int workspace_project_fd(const struct workspace *ws)
{
    return ws->project.n ? ws->project_fd : ws->root_fd;
}

enum status workspace_check_place(const struct workspace *ws, struct err *e)
{
    if (ws->trouble.code)
        *e = ws->trouble;
    return ws->trouble.code;
}

void workspace_note(const struct workspace *ws, const char *fmt, ...)
{
    struct arena scratch = { 0 };
    struct sb    text = sb_in(&scratch, 0);
    va_list      ap;

    if (!ws->note)
        return;
    va_start(ap, fmt);
    sb_addvf(&text, fmt, ap);
    va_end(ap);
    ws->note(ws->note_ctx, sb_sv(&text));
    arena_free(&scratch);
}

/* What heddle creates in a clone must not show up in its `git status`. */
static enum status ignore_all(struct workspace *ws, struct err *e)
{
    struct sv path = SV(".heddle/.gitignore");
    bool      there;

    if (fs_exists(ws->root_fd, path, &there, e))
        return err_code(e);
    return there ? ST_OK : fs_write(ws->root_fd, path, WORKSPACE_IGNORED, 0644, e);
}

static enum status make_locked(struct workspace *ws, struct sv mark, struct err *e)
{
    bool own = sv_is(mark, ".heddle"), here = !own && ws->project.n;

    if (own && workspace_check_place(ws, e))
        return err_code(e);
    if (fs_mkdirs(own ? ws->root_fd : workspace_project_fd(ws), mark, e) ||
        (own && ignore_all(ws, e)))
        return err_code(e);
    if (here) /* .teddy in a checkout does not make its repository a workspace */
        return ST_OK;
    if (!ws->is_workspace)
        workspace_note(ws, "made a workspace in " SV_FMT, SV_ARG(ws->root));
    ws->is_workspace = true;
    ws->has_heddle = ws->has_heddle || own;
    return ST_OK;
}

enum status workspace_make(struct workspace *ws, struct sv mark, struct err *e)
{
    pthread_mutex_lock(&ws->lock);
    enum status s = make_locked(ws, mark, e);
    pthread_mutex_unlock(&ws->lock);
    return s;
}

void workspace_made(struct workspace *ws)
{
    pthread_mutex_lock(&ws->lock);
    ws->is_workspace = ws->has_heddle = true;
    pthread_mutex_unlock(&ws->lock);
}

/* ---- the log -------------------------------------------------------------------------- */

/* The file named by a setting, below the workspace: the settings come with a checkout, and must not
 * lead the log elsewhere, neither by their text nor through a link. *dir is the directory
 * that was checked; -1: it is missing. */
static enum status local_store(struct workspace *ws, struct sv path, struct arena *a,
                               struct sv *url, int *dir, struct err *e)
{
    struct sv    inside;
    enum fs_kind kind;

    if (path_normal(path, a, &inside, e))
        return err_in(e, "the setting \"store\"");
    struct sv parent = path_dir(inside);
    if (fs_open(ws->root_fd, parent.n ? parent : SV("."), O_PATH | O_DIRECTORY, dir, e) ==
        ST_PERMISSION_DENIED)
        return err_code(e); /* the store returns the error for a missing directory */
    if (fs_kind(ws->root_fd, inside, &kind, e))
        return err_code(e);
    if (kind == FS_LINK)
        return fs_refuse_link(inside, e);
    *url = path_join(ws->root, inside, a);
    return ST_OK;
}

/* Is it on a server, which has the logs of many workspaces? */
static bool is_elsewhere(struct sv url)
{
    return sv_find(url, SV("://")) > 0;
}

/* What the user's settings say of this workspace alone: `heddle store switch` puts it there. */
static struct sv switched_store(struct workspace *ws, struct arena *a)
{
    const struct json *all = json_find(&ws->config.user, "stores");
    struct sv          id;
    struct err         ignored;

    if (!all || ws->root_fd < 0 || workspace_id(ws, false, a, &id, &ignored) || !id.s)
        return (struct sv){ 0 };
    return json_text(all, sv_cstr(id, a));
}

/* A checkout must not lead the log to a server that somebody else chose. */
static enum status refuse_server(struct sv name, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED,
            "the setting \"store\" in .heddle/config.json names a server: '" SV_FMT "'",
            SV_ARG(name));
    return err_hint(e,
                    "only HEDDLE_STORE and your own settings can: `heddle config set --user store "
                    "URL`");
}

enum status workspace_store_url(struct workspace *ws, struct arena *a, struct sv *url, int *dir,
                                struct err *e)
{
    enum config_source from;
    struct sv          name;

    *url = ws->store_url;
    if (!url->n)
        *url = switched_store(ws, a);
    if (url->n)
        return ST_OK;
    name = json_sv(config_value(&ws->config, SV("store"), &from));
    if (from == CONFIG_FROM_USER && (sv_starts(name, SV("/")) || is_elsewhere(name))) {
        *url = name;
        return ST_OK;
    }
    if (is_elsewhere(name))
        return refuse_server(name, e);
    return local_store(ws, name.n ? name : SV(".heddle/heddle.db"), a, url, dir, e);
}

struct workspace_moved workspace_moved(const struct workspace *ws, struct arena *a)
{
    struct workspace_moved m = { 0 };
    struct sv              text;
    struct err             ignored;

    if (ws->root_fd < 0 || fs_read(ws->root_fd, MOVED, MOVED_MAX, a, &text, &ignored))
        return m;
    struct sv_cut id = sv_cut(sv_cut(text, '\n').head, ' ');
    m.id = id.head;
    m.to = id.tail;
    return m;
}

enum status workspace_set_moved(struct workspace *ws, const struct workspace_moved *m,
                                struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);

    if (!m->to.n)
        return unlinkat(ws->root_fd, MOVED.s, 0) == 0 || errno == ENOENT
                   ? ST_OK
                   : err_errno(e, "remove .heddle/moved");
    sb_add(&b, m->id);
    sb_addc(&b, ' ');
    sb_add(&b, m->to);
    sb_addc(&b, '\n');
    return fs_write(ws->root_fd, MOVED, sb_sv(&b), 0600, e);
}

/* A checkout creates .heddle readable for others. Before the log is made, the directory becomes
 * accessible only to its owner. */
static enum status make_private(struct workspace *ws, bool *is_new, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    bool              has_log;

    if (fs_exists(ws->root_fd, SV(".heddle/heddle.db"), &has_log, e))
        return err_code(e);
    *is_new = !has_log;
    if (has_log)
        return ST_OK;
    if (fs_open(ws->root_fd, SV(".heddle"), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat .heddle");
    if ((st.st_mode & 077) && st.st_uid == geteuid() && fchmod(fd, st.st_mode & 07700) != 0)
        return err_errno(e, "chmod .heddle");
    return ST_OK;
}

/* Where git may not be kept from .heddle, the log is used all the same: the user is told when it is
 * made, and doctor tells everybody. */
static void keep_from_git(struct workspace *ws, bool is_new, struct arena *a)
{
    struct err  e = { 0 };
    enum status s = workspace_keep(ws, a, &e);

    if (is_new && (s || workspace_is_kept(ws, a, &e)))
        workspace_note(ws, "%s; %s", e.text, e.hint);
}

/* A workspace is held open by its directory. When that was renamed, or another one was put in its
 * place, a server would go on writing to a log that is not at its path any more. */
static enum status check_root(struct workspace *ws, struct arena *a, struct err *e)
{
    struct stat held, there;

    if (fstat(ws->root_fd, &held) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(ws->root));
    if (stat(sv_cstr(ws->root, a), &there) == 0 && held.st_ino == there.st_ino &&
        held.st_dev == there.st_dev)
        return ST_OK;
    err_set(e, ST_IO, SV_FMT " was moved or replaced while it was in use", SV_ARG(ws->root));
    err_reason(e, "replaced");
    return err_hint(e, "start again where it is now");
}

/* A log is not begun again where the user's settings name one: its disk may be missing. */
static enum status refuse_lost(struct workspace *ws, struct sv url, struct arena *a, struct err *e)
{
    struct sv  id = { 0 };
    struct err ignored;

    if (workspace_id(ws, false, a, &id, &ignored))
        id = SV("ID");
    err_set(e, ST_NOT_FOUND,
            "there is no log at " SV_FMT ", which your settings name for this workspace",
            SV_ARG(store_url_bare(url, a)));
    err_reason(e, WORKSPACE_LOST);
    struct sb key = sb_in(a, 0), word = sb_in(a, 0);
    sb_addf(&key, "stores." SV_FMT, SV_ARG(id));
    sb_add_shell(&word, sb_sv(&key));
    struct sv place = sb_sv(&word);
    return err_hint(e,
                    "is a disk or a server missing? `heddle restore-backup` puts a backup there, "
                    "`heddle store copy` another store; `heddle config unset --user %.*s` forgets "
                    "the place",
                    SV_ARG(place));
}

/* Nor at the usual place, once the log was moved and the file that it left was removed: others,
 * whose settings name nothing, would begin a second one. */
static enum status check_not_moved(const struct workspace *ws, struct sv url, struct arena *a,
                                   struct err *e)
{
    struct workspace_moved m = workspace_moved(ws, a);

    if (!m.to.n || sv_eq(m.to, url) || access(sv_cstr(url, a), F_OK) == 0)
        return ST_OK;
    err_set(e, ST_CONFLICT, "the log was moved to " SV_FMT ", and the file that it left is gone",
            SV_ARG(m.to));
    err_reason(e, STORE_MOVED);
    return err_hint(e,
                    "`heddle store switch " SH_FMT
                    "` uses it there; without .heddle/moved a new log begins here",
                    SV_ARG(m.to));
}

static enum status open_store(struct workspace *ws, enum store_mode mode, struct arena *a,
                              struct store **out, struct err *e)
{
    struct store_options o = { .create = mode == STORE_WRITE, .read_only = mode == STORE_READ };
    UNDO(fd_undo) int    dir = -1;
    struct sv            url;
    bool                 is_new = false;

    if (workspace_check_place(ws, e) || check_root(ws, a, e) ||
        (mode == STORE_WRITE && !ws->has_heddle && make_locked(ws, SV(".heddle"), e)) ||
        (mode == STORE_WRITE && make_private(ws, &is_new, e)) ||
        workspace_store_url(ws, a, &url, &dir, e))
        return err_code(e);
    if (mode == STORE_WRITE)
        keep_from_git(ws, is_new && !is_elsewhere(url), a);
    if (is_elsewhere(url) && workspace_id(ws, mode == STORE_WRITE, a, &o.workspace, e))
        return err_code(e);
    if (is_elsewhere(url) && !o.workspace.s)
        o.workspace = SV(""); /* the workspace has no id yet, and so no log */
    if (dir >= 0 && check_not_moved(ws, url, a, e))
        return err_code(e);
    bool is_switched = !ws->store_url.n && switched_store(ws, a).n;
    o.create = o.create && !is_switched;
    o.at_dir = dir >= 0;
    o.dir = dir;
    enum status s = store_open(url, &o, out, e);
    return s == ST_NOT_FOUND && is_switched ? refuse_lost(ws, url, a, e) : s;
}

/* An idle store that was opened in this mode; NULL: there is none. A store whose file was removed
 * or replaced meanwhile is closed, because what is written to it would be lost. */
static struct store *find_idle(struct workspace *ws, enum store_mode mode)
{
    for (size_t i = 0; i < WORKSPACE_STORES; i++)
        if (ws->idle[i].store && ws->idle[i].read_only == (mode == STORE_READ)) {
            struct store *found = ws->idle[i].store;
            ws->idle[i].store = NULL;
            if (store_in_place(found))
                return found;
            store_close(found);
        }
    return NULL;
}

enum status workspace_take(struct workspace *ws, enum store_mode mode, struct store **out,
                           struct err *e)
{
    struct arena scratch = { 0 };
    enum status  s = ST_OK;

    pthread_mutex_lock(&ws->lock);
    *out = find_idle(ws, mode);
    if (!*out)
        s = open_store(ws, mode, &scratch, out, e);
    pthread_mutex_unlock(&ws->lock);
    arena_free(&scratch);
    return s;
}

void workspace_give(struct workspace *ws, struct store *store, enum store_mode mode)
{
    size_t i = 0;

    store_abort(store);
    pthread_mutex_lock(&ws->lock);
    while (i < WORKSPACE_STORES && ws->idle[i].store)
        i++;
    if (i < WORKSPACE_STORES) {
        ws->idle[i].store = store;
        ws->idle[i].read_only = mode == STORE_READ;
        store = NULL;
    }
    pthread_mutex_unlock(&ws->lock);
    store_close(store);
}

/* ---- secrets ----------------------------------------------------------------------------------
 */

bool workspace_secret_find(struct workspace *ws, struct sv name, struct arena *a, struct sv *out)
{
    bool found = false;

    pthread_mutex_lock(&ws->lock);
    for (size_t i = 0; i < WORKSPACE_SECRETS && !found; i++)
        if (ws->secrets[i].name && sv_is(name, ws->secrets[i].name)) {
            *out = sv_dup(sv_of(ws->secrets[i].value), a);
            found = true;
        }
    pthread_mutex_unlock(&ws->lock);
    return found;
}

void workspace_secret_put(struct workspace *ws, struct sv name, struct sv value)
{
    size_t i = 0;

    pthread_mutex_lock(&ws->lock);
    while (i < WORKSPACE_SECRETS && ws->secrets[i].name)
        i++;
    if (i < WORKSPACE_SECRETS) {
        ws->secrets[i].name = strndup(name.s, name.n);
        ws->secrets[i].value = strndup(value.s, value.n);
        if (!ws->secrets[i].name || !ws->secrets[i].value)
            failure_memory(value.n);
    }
    pthread_mutex_unlock(&ws->lock);
}
