/* The directory .heddle/.git and the line in info/exclude. */
#include "api/workspace_keep.h"

#include "api/user_file.h"
#include "base/fs.h"
#include "base/path.h"
#include "project/gitindex.h"
#include "project/gitrepo.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXCLUDE_BYTES_MAX = 1 << 20 };

static const struct sv guard_head = SV_STATIC(".heddle/.git/HEAD");

/* The checkout in which the workspace is; false: none. */
static bool find_checkout(const struct workspace *ws, struct arena *a, struct gitplace *g)
{
    bool known =
        ws->git.found && !gitplace_is_linked(&ws->git) && gitplace_is_below(ws->root, ws->git.top);
    bool       outside = !ws->git.found && gitplace_is_below(ws->start, ws->root);
    struct err ignored;

    if (outside || (!known && gitplace_find(ws->root, ws->variables, a, g, &ignored)))
        return false;
    if (known)
        *g = ws->git;
    return g->found && g->top.n;
}

/* .heddle as a path below the top of the checkout. */
static struct sv below_top(const struct workspace *ws, const struct gitplace *g, struct arena *a)
{
    struct sv rest = sv_skip(ws->root, g->top.n);

    while (rest.n && rest.s[0] == '/')
        rest = sv_skip(rest, 1);
    return path_join(rest, SV(".heddle"), a);
}

/* The line that excludes exactly this directory. */
static struct sv exclude_line(struct sv path, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, '/');
    for (size_t i = 0; i < path.n; i++) {
        if (strchr("*?[\\", path.s[i]))
            sb_addc(&b, '\\');
        sb_addc(&b, path.s[i]);
    }
    sb_addc(&b, '/');
    return sb_sv(&b);
}

static bool has_line(struct sv text, struct sv line)
{
    for (struct sv_cut c = { .tail = text, .found = true }; c.found;) {
        c = sv_cut(c.tail, '\n');
        if (sv_eq(sv_trim(c.head), line) || sv_is(sv_trim(c.head), ".heddle/"))
            return true;
    }
    return false;
}

/* ---- info/exclude --------------------------------------------------------------------------- */

static struct sv exclude_file(const struct gitplace *g, struct arena *a)
{
    return path_join(g->common, SV("info/exclude"), a);
}

/* It may be behind a link, as git reads it. Absent: it cannot be read. */
static struct sv read_exclude(const struct gitplace *g, struct arena *a)
{
    struct err ignored;
    struct sv  text = { 0 };
    UNDO(fd_undo)
    int fd = open(sv_cstr(exclude_file(g, a), a), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fs_read_fd(fd, EXCLUDE_BYTES_MAX, a, &text, &ignored))
        return (struct sv){ 0 };
    return text;
}

static enum status not_excluded(const struct gitplace *g, struct sv line, const char *why,
                                struct arena *a, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "git could delete the log (git clean -fdx): " SV_FMT " %s",
            SV_ARG(exclude_file(g, a)), why);
    err_reason(e, "not_kept");
    return err_hint(e, "put the line " SV_FMT " into it, then run `heddle doctor --fix`",
                    SV_ARG(line));
}

/* Appends the line to the file. Both it and its directory have to be the user's own. */
static enum status add_line(const struct workspace *ws, const struct gitplace *g, struct sv line,
                            struct arena *a, struct err *e)
{
    UNDO(fd_undo) int common = open(sv_cstr(g->common, a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    UNDO(fd_undo) int info = -1, held = -1, fd = -1;
    struct stat       st;
    struct sv         text;
    struct sb         add = sb_in(a, 0);

    if (common < 0 || (mkdirat(common, "info", 0777) != 0 && errno != EEXIST) ||
        (info = openat(common, "info", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0 ||
        fstat(info, &st) != 0 || !user_is(ws, st.st_uid) || fs_lock_dir(info, SV("."), &held, e))
        return not_excluded(g, line, "is not in a directory of yours", a, e);
    fd = openat(info, "exclude", O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                0666);
    if (fd < 0)
        return not_excluded(
            g, line, errno == ELOOP ? "is a link, which is left as it is" : "cannot be written", a,
            e);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !user_is(ws, st.st_uid) || st.st_nlink != 1)
        return not_excluded(g, line, "is not a file of your own", a, e);
    if (fs_read_fd(fd, EXCLUDE_BYTES_MAX, a, &text, e))
        return not_excluded(g, line, "cannot be read", a, e);
    if (has_line(text, line))
        return ST_OK;
    sb_adds(&add, text.n && text.s[text.n - 1] != '\n' ? "\n" : "");
    sb_add(&add, line);
    sb_addc(&add, '\n');
    if (write(fd, sb_sv(&add).s, add.n) != (ssize_t)add.n)
        return not_excluded(g, line, "cannot be written", a, e);
    return ST_OK;
}

/* ---- the directory -------------------------------------------------------------------------- */

static bool has_guard(const struct workspace *ws)
{
    struct stat st;

    return fstatat(ws->root_fd, guard_head.s, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* HEAD comes last: without it git sees an ordinary directory. */
static enum status make_guard(const struct workspace *ws, struct err *e)
{
    if (fs_mkdirs(ws->root_fd, SV(".heddle/.git/objects"), e) ||
        fs_mkdirs(ws->root_fd, SV(".heddle/.git/refs"), e))
        return err_code(e);
    return fs_write(ws->root_fd, guard_head, GITPLACE_GUARD_HEAD, 0600, e);
}

enum status workspace_keep(const struct workspace *ws, struct arena *a, struct err *e)
{
    struct gitplace g;

    if (!find_checkout(ws, a, &g))
        return ST_OK;
    struct sv line = exclude_line(below_top(ws, &g, a), a);
    if (!has_line(read_exclude(&g, a), line) && add_line(ws, &g, line, a, e))
        return err_code(e);
    return has_guard(ws) ? ST_OK : make_guard(ws, e);
}

/* ---- looking -------------------------------------------------------------------------------- */

/* A file of .heddle that is in git's index, for one; absent: none is, or it cannot be read. */
static bool is_tracked(const struct workspace *ws, const struct gitplace *g, struct arena *a)
{
    struct gitrepo  repo = gitrepo_find(g->top, NULL, a);
    struct gitindex index;
    struct err      ignored;

    return repo.found &&
           gitindex_read(repo.index, repo.git_dir, repo.hash_size, a, &index, &ignored) == ST_OK &&
           gitindex_has_below(&index, below_top(ws, g, a));
}

enum status workspace_is_kept(const struct workspace *ws, struct arena *a, struct err *e)
{
    struct gitplace g;

    if (!find_checkout(ws, a, &g))
        return ST_OK;
    struct sv line = exclude_line(below_top(ws, &g, a), a);
    if (is_tracked(ws, &g, a)) {
        err_set(e, ST_CONFLICT,
                "git could delete the log (git clean -fdx): it tracks files in " SV_FMT "/.heddle",
                SV_ARG(ws->root));
        err_reason(e, "not_kept");
        return err_hint(e, "run: git -C " SH_FMT " rm -r -q --cached .heddle; and commit",
                        SV_ARG(ws->root));
    }
    if (!has_line(read_exclude(&g, a), line))
        return not_excluded(&g, line, "does not exclude .heddle", a, e);
    if (has_guard(ws))
        return ST_OK;
    err_set(e, ST_NOT_FOUND,
            "git could delete the log (git clean -fdx): " SV_FMT "/.heddle/.git is not there",
            SV_ARG(ws->root));
    err_reason(e, "not_kept");
    return err_hint(e, "`heddle doctor --fix` makes it");
}
