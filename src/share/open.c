/* Opening what a thread shares. A thread's directory is written by agents, and may hold links; a
 * link must not make a key or a setting of the workspace an asset that is copied and shown. */
#include "share/share_internal.h"

#include "base/fs_where.h"

#include <sys/stat.h>
#include <unistd.h>

#define PRIVATE SV(".heddle")

static bool is_below_private(struct share *s, int fd, struct sv path)
{
    enum fs_where where = fs_where(fd, s->root, PRIVATE.s);
    enum fs_kind  kind;
    struct err    ignored;

    if (where != FS_NOT_KNOWN)
        return where == FS_INSIDE;
    /* It is not known where a link leads: then links are refused. */
    return fs_kind(s->root, path, &kind, &ignored) || kind == FS_LINK;
}

/* Is it another name of a file directly in .heddle? Only called for files with several names. */
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
