/* A workspace's directory and its pool of open stores. */
#include "api/workspace.h"

#include "base/fs.h"
#include "base/path.h"
#include "loom/agent.h"
#include "share/share.h"
#include "thread/lane.h"

#include <sys/stat.h>
#include <unistd.h>

const struct view *const workspace_views[] = { &thread_view, &share_view, &loom_view, &agents_view,
                                               NULL };

void workspace_init(struct workspace *ws)
{
    *ws = (struct workspace){ .root_fd = -1 };
    pthread_mutex_init(&ws->lock, NULL);
}

void workspace_close(struct workspace *ws)
{
    for (size_t i = 0; i < WORKSPACE_STORES; i++)
        store_close(ws->idle[i].store);
    if (ws->root_fd >= 0)
        close(ws->root_fd);
    pthread_mutex_destroy(&ws->lock);
}

/* What is made beside the work of a clone must not show up in its `git status`. */
static enum status ignore_all(struct workspace *ws, struct err *e)
{
    struct sv path = SV(".heddle/.gitignore");
    bool      there;

    if (fs_exists(ws->root_fd, path, &there, e))
        return err_code(e);
    return there ? ST_OK : fs_write(ws->root_fd, path, SV("*\n!config.json\n"), 0644, e);
}

static enum status make_locked(struct workspace *ws, struct sv mark, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    text = sb_in(&scratch, 0);

    if (fs_mkdirs(ws->root_fd, mark, e) || (sv_is(mark, ".heddle") && ignore_all(ws, e)))
        return err_code(e);
    sb_addf(&text, "made a workspace in " SV_FMT, SV_ARG(ws->root));
    if (!ws->is_workspace && ws->note)
        ws->note(ws->note_ctx, sb_sv(&text));
    arena_free(&scratch);
    ws->is_workspace = true;
    ws->has_heddle = ws->has_heddle || sv_is(mark, ".heddle");
    return ST_OK;
}

enum status workspace_make(struct workspace *ws, struct sv mark, struct err *e)
{
    pthread_mutex_lock(&ws->lock);
    enum status s = make_locked(ws, mark, e);
    pthread_mutex_unlock(&ws->lock);
    return s;
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
        return err_code(e); /* that it is missing is for the store to say */
    if (fs_kind(ws->root_fd, inside, &kind, e))
        return err_code(e);
    if (kind == FS_LINK)
        return fs_refuse_link(inside, e);
    *url = path_join(ws->root, inside, a);
    return ST_OK;
}

/* What the door names, then the user's file, may be a store anywhere. */
static enum status find_store(struct workspace *ws, struct arena *a, struct sv *url, int *dir,
                              struct err *e)
{
    enum config_source from;
    struct sv          name;

    *url = ws->store_url;
    if (url->n)
        return ST_OK;
    name = json_sv(config_value(&ws->config, SV("store"), &from));
    if (from == CONFIG_FROM_USER && (sv_starts(name, SV("/")) || sv_find(name, SV("://")) > 0)) {
        *url = name;
        return ST_OK;
    }
    return local_store(ws, name.n ? name : SV(".heddle/heddle.db"), a, url, dir, e);
}

/* A checkout brings .heddle with modes that others can read by. Where the log is about to be made,
 * the directory becomes its owner's alone. */
static enum status make_private(struct workspace *ws, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    bool              has_log;

    if (fs_exists(ws->root_fd, SV(".heddle/heddle.db"), &has_log, e))
        return err_code(e);
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

static enum status open_store(struct workspace *ws, enum store_mode mode, struct arena *a,
                              struct store **out, struct err *e)
{
    struct store_options o = { .create = mode == STORE_WRITE, .read_only = mode == STORE_READ };
    UNDO(fd_undo) int    dir = -1;
    struct sv            url;

    if ((mode == STORE_WRITE && !ws->has_heddle && make_locked(ws, SV(".heddle"), e)) ||
        (mode == STORE_WRITE && make_private(ws, e)) || find_store(ws, a, &url, &dir, e))
        return err_code(e);
    o.at_dir = dir >= 0;
    o.dir = dir;
    return store_open(url, &o, out, e);
}

/* An idle store that was opened for this; NULL: there is none. */
static struct store *find_idle(struct workspace *ws, enum store_mode mode)
{
    for (size_t i = 0; i < WORKSPACE_STORES; i++)
        if (ws->idle[i].store && ws->idle[i].read_only == (mode == STORE_READ)) {
            struct store *found = ws->idle[i].store;
            ws->idle[i].store = NULL;
            return found;
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
