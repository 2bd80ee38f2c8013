/* How the database file is reached and made.
 *
 * A path that was checked can lead elsewhere a moment later: somebody swaps .heddle for a link, and
 * SQLite makes its three files outside the workspace. So the caller hands in the directory it
 * checked, and the file is opened as /proc/self/fd/N/NAME, where N is that directory whatever its
 * name leads to by now. SQLite's own VFS would resolve such a path back to the name (xFullPathname
 * reads every link on the way), so a copy of it is registered that leaves it alone. All else is
 * SQLite's: xOpen uses O_NOFOLLOW for the last name, so the file cannot be a link either. */
#include "store/sqlite_internal.h"

#include "base/fs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BY_FD "/proc/self/fd/"
#define VFS_NAME "heddle"

static sqlite3_vfs *below;   /* SQLite's default, to which all calls go */
static sqlite3_vfs  through; /* the copy */
static int          registered;

static int full_pathname(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    (void)vfs;
    if (strncmp(name, BY_FD, sizeof BY_FD - 1) != 0)
        return below->xFullPathname(below, name, n, out);
    if (snprintf(out, (size_t)n, "%s", name) >= n)
        return SQLITE_CANTOPEN;
    return SQLITE_OK;
}

static void register_vfs(void)
{
    below = sqlite3_vfs_find(NULL);
    if (!below)
        return;
    through = *below;
    through.pNext = NULL;
    through.zName = VFS_NAME;
    through.xFullPathname = full_pathname;
    registered = sqlite3_vfs_register(&through, 0) == SQLITE_OK;
}

const char *sqlite_vfs_name(const struct sqlite_store *q)
{
    return q->dir >= 0 ? VFS_NAME : NULL;
}

/* Where /proc is not mounted the path is all there is. */
static bool can_go_by_fd(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_vfs);
    return registered && access(BY_FD, X_OK) == 0;
}

enum status sqlite_locate(struct sqlite_store *q, struct sv path, const struct store_options *o,
                          struct err *e)
{
    struct sv name = path_base(path);
    size_t    room = sizeof BY_FD + 16 + name.n;

    q->dir = -1;
    if (!(q->path = strndup(path.s, path.n)))
        die("out of memory");
    if (o->at_dir && can_go_by_fd() && (q->dir = fcntl(o->dir, F_DUPFD_CLOEXEC, 3)) < 0)
        return err_errno(e, "open the directory of %s", q->path);
    if (!(q->file = q->dir < 0 ? strdup(q->path) : malloc(room)))
        die("out of memory");
    if (q->dir >= 0)
        snprintf(q->file, room, BY_FD "%d/%.*s", q->dir, (int)name.n, name.s);
    return ST_OK;
}

enum status sqlite_make_file(struct sqlite_store *q, struct err *e)
{
    UNDO(fd_undo) int fd = open(q->file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 || errno == EEXIST)
        return ST_OK;
    err_errno(e, "%s cannot be made", q->path);
    return e->hint[0] ? e->code : err_hint(e, "check that the folder exists and may be written");
}

int64_t sqlite_file_size(const struct sqlite_store *q, const char *suffix)
{
    struct stat st;
    char       *whole = sqlite3_mprintf("%s%s", q->file, suffix);
    int64_t     n = stat(whole, &st) == 0 ? (int64_t)st.st_size : 0;

    sqlite3_free(whole);
    return n;
}
