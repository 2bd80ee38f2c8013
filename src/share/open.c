/* Opening what a thread shares. A thread's folder is written by agents, and may hold links; a link
 * must not make a key or a setting of the workspace an asset that is copied and shown. */
#include "share/share_internal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRIVATE SV(".heddle")

/* Where a descriptor leads, as the kernel names it; absent where /proc is not mounted. */
static struct sv path_of_fd(int fd, struct arena *a)
{
    char    link[64];
    char   *at = ARENA_NEW(a, char, PATH_MAX + 1);
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, at, PATH_MAX);
    return n > 0 ? (struct sv){ at, (size_t)n } : (struct sv){ 0 };
}

static bool is_below_private(struct share *s, int fd, struct sv path)
{
    struct arena scratch = { 0 };
    struct sv    root = path_of_fd(s->root, &scratch), at = path_of_fd(fd, &scratch);
    bool         is;

    if (root.s && at.s) {
        struct sv rest = sv_starts(at, root) ? sv_skip(at, root.n) : SV("");
        while (sv_starts(rest, SV("/")))
            rest = sv_skip(rest, 1);
        is = sv_eq(sv_cut(rest, '/').head, PRIVATE);
    } else {
        enum fs_kind kind; /* it cannot be told where it leads: then no link will do */
        struct err   ignored;
        is = fs_kind(s->root, path, &kind, &ignored) || kind == FS_LINK;
    }
    arena_free(&scratch);
    return is;
}

/* Another name of a file that lies directly in .heddle? Asked only of files with several names. */
static bool is_hard_link_of_private(struct share *s, const struct stat *st)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1;
    struct fs_item   *items;
    size_t            n = 0;
    struct stat       other;
    struct err        ignored;
    bool              is = false;

    if (fs_open(s->root, PRIVATE, O_RDONLY | O_DIRECTORY, &dir, &ignored) == ST_OK &&
        fs_list(s->root, PRIVATE, &scratch, &items, &n, &ignored) == ST_OK)
        for (size_t i = 0; i < n && !is; i++)
            is = fstatat(dir, sv_cstr(items[i].name, &scratch), &other, AT_SYMLINK_NOFOLLOW) == 0 &&
                 other.st_ino == st->st_ino && other.st_dev == st->st_dev;
    arena_free(&scratch);
    return is;
}

enum status share_open(struct share *s, struct sv path, int flags, int *fd, struct err *e)
{
    struct stat st;
    int         got = -1;

    if (fs_open(s->root, path, flags, &got, e))
        return err_code(e);
    if (!is_below_private(s, got, path) && !(fstat(got, &st) == 0 && S_ISREG(st.st_mode) &&
                                             st.st_nlink > 1 && is_hard_link_of_private(s, &st))) {
        *fd = got;
        return ST_OK;
    }
    close(got);
    return err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' leads into .heddle, which is not shared",
                   SV_ARG(path));
}
