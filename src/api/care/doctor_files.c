/* Checks of `heddle doctor` that look at files only: who may read them, and what was left behind.
 */
#include "api/care/doctor.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/scratch.h"

#include <errno.h>
#include <sys/stat.h>

enum { TREE_DEPTH = 32, STALE_SECONDS = 3600 };

#define TEMP_PREFIX SV(".heddle-tmp-")

/* One file or directory below the workspace. */
struct visited {
    struct sv    path; /* relative to the workspace */
    enum fs_kind kind;
};
typedef enum status (*visit_fn)(struct doctor *d, const struct visited *v, struct err *e);

/* Everything below `path`, which may be missing, links not followed. */
static enum status visit_below(struct doctor *d, struct sv path, int depth, visit_fn fn,
                               struct err *e)
{
    struct fs_item *items;
    size_t          n;
    enum status     s = fs_list(d->r->ws->root_fd, path, d->r->a, &items, &n, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    for (size_t i = 0; i < n; i++) {
        struct visited v = { path_join(path, items[i].name, d->r->a), items[i].kind };
        if (fn(d, &v, e))
            return err_code(e);
        if (v.kind == FS_DIR && depth < TREE_DEPTH && visit_below(d, v.path, depth + 1, fn, e))
            return err_code(e);
    }
    return ST_OK;
}

/* A file or directory itself, links not followed. *there is false when it is gone or is neither;
 * any other failure is an error, because a file that could not be examined may be faulty. */
static enum status look(struct doctor *d, const struct visited *v, struct stat *st, bool *there,
                        struct err *e)
{
    *there = v->kind == FS_FILE || v->kind == FS_DIR;
    if (!*there)
        return ST_OK;
    UNDO(fd_undo)
    int fd = fs_open_below(d->r->ws->root_fd, sv_cstr(v->path, d->r->a),
                           O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *there = false;
        return ST_OK;
    }
    if (fd < 0 || fstat(fd, st) != 0)
        return err_errno(e, "look at " SV_FMT, SV_ARG(v->path));
    *there = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
    return ST_OK;
}

/* ---- modes -------------------------------------------------------------------------------- */

/* Settings and the ignore file come from version control, which sets their modes. Objects are
 * content that is in .leslie/ too; the directory above keeps others out. */
static bool may_be_read(struct sv path)
{
    return sv_is(path, ".heddle/config.json") || sv_is(path, ".heddle/.gitignore") ||
           sv_starts(path, SV(".heddle/objects"));
}

static enum status open_to_others(struct doctor *d, const struct visited *v, bool *is_open,
                                  struct err *e)
{
    struct stat st;
    bool        there;

    if (look(d, v, &st, &there, e))
        return err_code(e);
    *is_open = there && (st.st_mode & 077) && !may_be_read(v->path);
    return ST_OK;
}

static enum status tell_mode(struct doctor *d, const struct visited *v, struct err *e)
{
    bool is_open;

    if (open_to_others(d, v, &is_open, e))
        return err_code(e);
    if (is_open)
        doctor_find(d, ST_PERMISSION_DENIED, "`heddle doctor --fix` makes it private",
                    "others may read or write " SV_FMT, SV_ARG(v->path));
    return ST_OK;
}

static enum status tighten(struct doctor *d, const struct visited *v, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    bool              is_open;

    if (open_to_others(d, v, &is_open, e))
        return err_code(e);
    if (!is_open)
        return ST_OK;
    fd = fs_open_below(d->r->ws->root_fd, sv_cstr(v->path, d->r->a),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || fchmod(fd, st.st_mode & 07700) != 0)
        return err_errno(e, "chmod " SV_FMT, SV_ARG(v->path));
    return ST_OK;
}

static const struct visited heddle_dir = { SV_STATIC(".heddle"), FS_DIR };

static enum status each_private(struct doctor *d, visit_fn fn, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(d->r->ws->root_fd, heddle_dir.path, &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    return fn(d, &heddle_dir, e) ? err_code(e) : visit_below(d, heddle_dir.path, 0, fn, e);
}

enum status doctor_check_modes(struct doctor *d, struct err *e)
{
    return each_private(d, tell_mode, e);
}

enum status doctor_fix_modes(struct doctor *d, struct err *e)
{
    return each_private(d, tighten, e);
}

/* ---- temporary files ----------------------------------------------------------------------- */

/* Written to within the last hour: its process may still be running, unless scratch_is_left() shows
 * that it has ended. */
static enum status is_stale(struct doctor *d, const struct visited *v, bool *stale, struct err *e)
{
    struct stat st;
    bool        there;

    *stale = false;
    if (v->kind != FS_FILE || !sv_starts(path_base(v->path), TEMP_PREFIX))
        return ST_OK;
    if (scratch_is_left(d->r->ws->root_fd, v->path, stale, e))
        return err_code(e);
    if (*stale)
        return ST_OK;
    if (look(d, v, &st, &there, e))
        return err_code(e);
    *stale = there && clock_system_ms() / 1000 - st.st_mtime > STALE_SECONDS;
    return ST_OK;
}

static enum status tell_leftover(struct doctor *d, const struct visited *v, struct err *e)
{
    bool stale;

    if (is_stale(d, v, &stale, e))
        return err_code(e);
    if (stale)
        doctor_find(d, ST_IO, "`heddle doctor --fix` removes it",
                    SV_FMT " was left behind by a command that was killed", SV_ARG(v->path));
    return ST_OK;
}

static enum status remove_leftover(struct doctor *d, const struct visited *v, struct err *e)
{
    bool stale;

    if (is_stale(d, v, &stale, e))
        return err_code(e);
    return stale ? fs_remove(d->r->ws->root_fd, v->path, e) : ST_OK;
}

static enum status each_place(struct doctor *d, visit_fn fn, struct err *e)
{
    static const struct sv places[] = { SV_STATIC(".heddle"), SV_STATIC(".leslie"),
                                        SV_STATIC(".teddy") };

    for (size_t i = 0; i < COUNT(places); i++)
        if (visit_below(d, places[i], 0, fn, e))
            return err_code(e);
    return ST_OK;
}

enum status doctor_check_leftovers(struct doctor *d, struct err *e)
{
    return each_place(d, tell_leftover, e);
}

enum status doctor_fix_leftovers(struct doctor *d, struct err *e)
{
    return each_place(d, remove_leftover, e);
}

/* ---- copies of older databases --------------------------------------------------------------- */

/* A migration leaves heddle.db.vN.bak, a restore heddle.db.before-restore-TIME.bak. They hold what
 * the log held then, so they are named; whether to keep them is for their owner to decide. */
static enum status note_copy(struct doctor *d, const struct visited *v, struct err *e)
{
    (void)e;
    if (v->kind == FS_FILE && sv_ends(v->path, SV(".bak")))
        doctor_note(d,
                    SV_FMT " is a copy made before a %s; remove it once you do not need to go back",
                    SV_ARG(v->path),
                    sv_find(v->path, SV(".before-restore-")) > 0 ? "restore" : "migration");
    return ST_OK;
}

enum status doctor_check_copies(struct doctor *d, struct err *e)
{
    return visit_below(d, heddle_dir.path, 0, note_copy, e);
}
