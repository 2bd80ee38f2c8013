/* How the database file is reached and made.
 *
 * A path that was checked can lead elsewhere a moment later: somebody swaps .heddle for a link, and
 * SQLite makes its three files outside the workspace. So the caller hands in the directory it
 * checked, and the file is opened as /proc/self/fd/N/NAME, where N is that directory, even if its
 * name leads elsewhere by now. SQLite's own VFS would resolve such a path back to the name
 * (xFullPathname reads every link on the way), so a copy of the VFS is registered that does not
 * resolve such a path, and that opens write-ahead logs by sqlite_wal.c. Everything else is
 * SQLite's: xOpen uses O_NOFOLLOW for the last name, so the file cannot be a link either. */
#include "base/failure.h"
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

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    return flags & SQLITE_OPEN_WAL ? sqlite_wal_open(below, name, file, flags, out)
                                   : below->xOpen(below, name, file, flags, out);
}

static void register_vfs(void)
{
    below = sqlite3_vfs_find(NULL);
    if (!below)
        return;
    through = *below;
    through.pNext = NULL;
    through.zName = VFS_NAME;
    through.szOsFile = sqlite_wal_room(below);
    through.xFullPathname = full_pathname;
    through.xOpen = open_file;
    registered = sqlite3_vfs_register(&through, 0) == SQLITE_OK;
}

const char *sqlite_vfs_name(void)
{
    return registered ? VFS_NAME : NULL;
}

/* Where /proc is not mounted, only the path can be used. */
static bool can_go_by_fd(void)
{
    return registered && access(BY_FD, X_OK) == 0;
}

enum status sqlite_locate(struct sqlite_store *q, struct sv path, const struct store_options *o,
                          struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct sv             name = path_base(path);
    size_t                room = sizeof BY_FD + 16 + name.n;

    pthread_once(&once, register_vfs);
    q->dir = -1;
    if (!(q->path = strndup(path.s, path.n)))
        failure_memory(path.n + 1);
    if (o->at_dir && can_go_by_fd() && (q->dir = fcntl(o->dir, F_DUPFD_CLOEXEC, 3)) < 0)
        return err_errno(e, "open the directory of %s", q->path);
    if (!(q->file = q->dir < 0 ? strdup(q->path) : malloc(room)))
        failure_memory(room);
    if (q->dir >= 0)
        snprintf(q->file, room, BY_FD "%d/%.*s", q->dir, (int)name.n, name.s);
    return ST_OK;
}

/* Does the path lead to a file that is not there yet, by a link? SQLite would make it, and others
 * could read it. In a directory that was checked no link is followed. */
static bool leads_nowhere(const struct sqlite_store *q)
{
    struct stat st;

    return q->dir < 0 && stat(q->file, &st) != 0 && errno == ENOENT;
}

enum status sqlite_make_file(struct sqlite_store *q, struct err *e)
{
    UNDO(fd_undo) int fd = open(q->file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool              exists = fd < 0 && errno == EEXIST;

    if (exists && leads_nowhere(q))
        exists = (fd = open(q->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) >= 0;
    if (fd >= 0 || exists)
        return ST_OK;
    err_errno(e, "%s cannot be made", q->path);
    return e->hint[0] ? e->code : err_hint(e, "check that the directory exists and may be written");
}

int64_t sqlite_file_size(const struct sqlite_store *q, const char *suffix)
{
    struct stat st;
    char       *whole = sqlite3_mprintf("%s%s", q->file, suffix);
    int64_t     n = stat(whole, &st) == 0 ? (int64_t)st.st_size : 0;

    sqlite3_free(whole);
    return n;
}
