/* Opening, reading, writing and removing files below a root directory, without following links. */
#include "base/fs.h"

#include "base/path.h"
#include "base/rand.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_READ = 64 * 1024, TEMP_TRIES = 100 };

void fd_undo(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int fd_take(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

/* ---- staying below the root ----------------------------------------------------- */

/* One step of open_walking(): a part that is a link gives ELOOP, whatever errno openat() sets. */
static int open_part(int dir, const char *part, int flags, mode_t mode)
{
    struct stat st;
    int         fd = openat(dir, part, flags | O_NOFOLLOW | O_CLOEXEC, mode);

    if (fd < 0 && errno == ENOTDIR && fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return fd;
}

/* For kernels without openat2: walk the parts, and refuse every link and every "..". */
static int open_walking(int root, const char *path, int flags, mode_t mode)
{
    struct arena scratch = { 0 };
    struct sv    rest = sv_of(path);
    int          fd = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool         last = false;

    while (fd >= 0 && !last) {
        struct sv_cut cut = sv_cut(rest, '/');
        int           dir = fd;
        rest = cut.tail;
        last = !cut.found;
        if (!last && (!cut.head.n || sv_is(cut.head, ".")))
            continue;
        if (sv_is(cut.head, "..")) {
            fd = -1;
            errno = EXDEV;
        } else {
            const char *part = cut.head.n ? sv_cstr(cut.head, &scratch) : ".";
            fd = open_part(dir, part, last ? flags : O_PATH | O_DIRECTORY, mode);
        }
        int saved = errno;
        close(dir);
        errno = saved;
    }
    arena_free(&scratch);
    return fd;
}

/* The arguments of openat2(): below root, with or without following links. */
static int open_how(int root, const char *path, int flags, mode_t mode, uint64_t also)
{
    /* O_TMPFILE includes the bit of O_DIRECTORY; openat2() refuses a mode when nothing is
     * created. */
    bool            makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = makes ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | also,
    };
    long fd;

    if (*path == '/') {
        errno = EXDEV;
        return -1;
    }
    do /* EAGAIN: something was renamed while ".." was looked at */
        fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
    while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return open_walking(root, path, flags, mode);
    return (int)fd;
}

static int open_below(int root, const char *path, int flags, mode_t mode)
{
    return open_how(root, path, flags, mode, 0);
}

int fs_open_below(int root, const char *path, int flags)
{
    return open_below(root, path, flags, 0666);
}

/* What is made below .heddle is for its owner alone: the log holds other people's words. */
static mode_t mode_for(struct sv path, mode_t mode)
{
    return sv_is(path, FS_PRIVATE) || sv_starts(path, SV(FS_PRIVATE "/")) ? mode & 0700 : mode;
}

/* Does the name itself lead out, and not a link on the way? */
static bool names_outside(struct sv path)
{
    return sv_starts(path, SV("/")) || sv_is(path, "..") || sv_starts(path, SV("../")) ||
           sv_find(path, SV("/../")) >= 0;
}

static enum status leads_out(struct sv path, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' leads out of the workspace", SV_ARG(path));
    if (names_outside(path))
        return err_hint(e, "give its path from the root of the workspace, without ..");
    return err_hint(e, "a link on the way is to blame: put what it leads to in its place");
}

enum status fs_refuse_link(struct sv path, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' is a link", SV_ARG(path));
    err_reason(e, "link");
    return err_hint(e, "remove it: nothing is written through a link");
}

enum status fs_open(int root, struct sv path, int flags, int *out, struct err *e)
{
    struct arena scratch = { 0 };

    if (sv_has(path, 0)) /* the kernel would use only the part before the NUL */
        return err_set(e, ST_INVALID_SYNTAX, "a path holds a NUL byte");
    int fd = open_below(root, sv_cstr(path, &scratch), flags, mode_for(path, 0666));
    arena_free(&scratch);
    if (fd < 0 && (errno == EXDEV || errno == ELOOP))
        return leads_out(path, e);
    if (fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    *out = fd;
    return ST_OK;
}

/* The real path of an open directory, from /proc; "" when it cannot be read. */
static struct sv real_path(int fd, char *room, size_t size)
{
    char    link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, room, size);
    return n > 0 && (size_t)n < size ? (struct sv){ room, (size_t)n } : SV("");
}

static bool has_part(struct sv path, const char *part)
{
    struct sv_cut c = { .tail = path, .found = true };

    while (c.found) {
        c = sv_cut(c.tail, '/');
        if (sv_is(c.head, part))
            return true;
    }
    return false;
}

/* Open a directory in which something will be created. A link in a checkout could lead into .git or
 * .heddle, where a new file is a command or a secret: these are reached only by their own names. */
static enum status open_to_write(int root, struct sv path, int flags, int *out, struct err *e)
{
    static const char *const guarded[] = { ".git", ".heddle" };
    struct arena             scratch = { 0 };
    char                     room[PATH_MAX], top[PATH_MAX];
    int                      fd = sv_has(path, 0)
                                      ? -1
                                      : open_how(root, sv_cstr(path, &scratch), flags, 0, RESOLVE_NO_SYMLINKS);

    arena_free(&scratch);
    if (fd >= 0) {
        *out = fd;
        return ST_OK;
    }
    if (fs_open(root, path, flags, &fd, e))
        return err_code(e);
    struct sv real = real_path(fd, room, sizeof room), base = real_path(root, top, sizeof top);
    bool      ok = real.n && base.n && sv_starts(real, base);
    for (size_t i = 0; i < COUNT(guarded); i++)
        ok = ok && (has_part(path, guarded[i]) || !has_part(sv_skip(real, base.n), guarded[i]));
    if (!ok) {
        close(fd);
        return err_set(e, ST_PERMISSION_DENIED,
                       "'" SV_FMT "' leads through a link to where nothing may be written",
                       SV_ARG(path));
    }
    *out = fd;
    return ST_OK;
}

/* The directory that holds (or will hold) the last name of a path, and that name. What is not a
 * name is refused here, so that nothing outside the root can be created, removed or examined.
 * Flags: O_PATH to examine, O_RDONLY to create or remove something in it. */
static enum status open_parent(int root, struct sv path, int flags, struct arena *a, int *dir,
                               const char **name, struct err *e)
{
    struct sv base = path_base(path), parent = path_dir(path);

    if (sv_has(path, 0) || !base.n || sv_is(base, ".") || sv_is(base, ".."))
        return err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' does not name a file", SV_ARG(path));
    if (path.s[0] == '/')
        return err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' leads out of the workspace",
                       SV_ARG(path));
    *name = sv_cstr(base, a);
    parent = parent.n ? parent : SV(".");
    return flags & O_PATH ? fs_open(root, parent, flags | O_DIRECTORY, dir, e)
                          : open_to_write(root, parent, flags | O_DIRECTORY, dir, e);
}

/* ---- reading -------------------------------------------------------------------- */

static ssize_t read_some(int fd, char *into, size_t n)
{
    ssize_t got;

    do
        got = read(fd, into, n);
    while (got < 0 && errno == EINTR);
    return got;
}

enum status fs_read_fd(int fd, size_t max, struct arena *a, struct sv *out, struct err *e)
{
    struct stat st;
    size_t      most = max ? max : PTRDIFF_MAX / 4, room = FIRST_READ, n = 0;

    if (fstat(fd, &st) != 0)
        return err_errno(e, "read");
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        room = (size_t)st.st_size + 1; /* one byte more, so that the next read sees the end */
    if (room > most)
        room = most + 1;
    char *s = arena_grow(a, NULL, 0, room + 1);
    for (;;) {
        if (n == room) {
            size_t more = room < most / 2 ? room * 2 : most + 1;
            s = arena_grow(a, s, room + 1, more + 1);
            room = more;
        }
        ssize_t got = read_some(fd, s + n, room - n);
        if (got < 0)
            return err_errno(e, "read");
        if (got == 0)
            break;
        n += (size_t)got;
        if (n > most)
            return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", max);
    }
    s[n] = 0;
    *out = (struct sv){ s, n };
    return ST_OK;
}

enum status fs_read(int root, struct sv path, size_t max, struct arena *a, struct sv *out,
                    struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    /* Without O_NONBLOCK, opening a pipe would block until someone writes to it. */
    if (fs_open(root, path, O_RDONLY | O_NONBLOCK, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return err_set(e, ST_IO, "'" SV_FMT "' is not a regular file", SV_ARG(path));
    if (fs_read_fd(fd, max, a, out, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    return ST_OK;
}

/* ---- changing ------------------------------------------------------------------- */

static enum status write_synced(int fd, struct sv bytes, struct err *e)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.s, bytes.n);
        if (n < 0 && errno != EINTR)
            return err_errno(e, "write");
        if (n > 0)
            bytes = sv_skip(bytes, (size_t)n);
    }
    return fsync(fd) == 0 ? ST_OK : err_errno(e, "fsync");
}

static void draw_temp(char name[FS_TEMP_NAME])
{
    struct arena scratch = { 0 };

    snprintf(name, FS_TEMP_NAME, "%s", rand_id(".heddle-tmp-", 12, &scratch).s);
    arena_free(&scratch);
}

/* Under HEDDLE_SEED the names repeat from run to run, and one may be left of a run that was
 * killed, or be a link that somebody put there: then the next one is tried. */
int fs_temp(int dir, int mode, char name[FS_TEMP_NAME])
{
    int fd = -1;

    for (int i = 0; i < TEMP_TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        draw_temp(name);
        fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
    }
    return fd;
}

static enum status check_own(int fd, struct sv path, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return err_errno(e, "look at " SV_FMT, SV_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_IO, "'" SV_FMT "' is not a regular file", SV_ARG(path));
    if (st.st_nlink <= 1)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' has several names: another file would change",
            SV_ARG(path));
    err_reason(e, "link");
    return err_hint(e, "move it away, or put a copy in its place");
}

enum status fs_open_own(int root, struct sv path, int flags, int *out, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1, fd = -1;
    const char       *name;
    enum status       s = open_parent(root, path, O_RDONLY, &scratch, &dir, &name, e);

    if (!s) { /* opening a pipe must not block */
        fd = openat(dir, name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    mode_for(path, 0666));
        if (fd < 0)
            s = errno == ELOOP ? fs_refuse_link(path, e)
                               : err_errno(e, "open " SV_FMT, SV_ARG(path));
    }
    arena_free(&scratch);
    if (s || (s = check_own(fd, path, e)))
        return s;
    *out = fd_take(&fd);
    return ST_OK;
}

static enum status replace(int dir, const char *name, struct sv bytes, mode_t mode, struct err *e)
{
    char              temp[FS_TEMP_NAME];
    UNDO(fd_undo) int fd = fs_temp(dir, (int)mode, temp);

    if (fd < 0)
        return err_errno(e, "create a file beside it");
    enum status s = write_synced(fd, bytes, e);
    if (!s && renameat(dir, temp, dir, name) != 0)
        s = err_errno(e, "rename");
    if (s)
        unlinkat(dir, temp, 0);
    if (!s && fsync(dir) != 0)
        s = err_errno(e, "it was written and may not survive a crash: fsync of the directory");
    return s;
}

enum status fs_write(int root, struct sv path, struct sv bytes, int mode, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1;
    const char       *name;
    enum status       s = open_parent(root, path, O_RDONLY, &scratch, &dir, &name, e);

    if (!s && (s = replace(dir, name, bytes, mode_for(path, (mode_t)mode), e)))
        err_in(e, SV_FMT, SV_ARG(path));
    arena_free(&scratch);
    return s;
}

enum status fs_draft_open(struct fs_draft *d, int root, struct sv path, int mode, struct err *e)
{
    struct arena scratch = { 0 };
    const char  *name = "";
    mode_t       allowed = mode_for(path, (mode_t)mode);

    *d = (struct fs_draft){ .dir = -1, .fd = -1 };
    if (open_parent(root, path, O_RDONLY, &scratch, &d->dir, &name, e)) {
        d->dir = -1;
    } else if (strlen(name) >= sizeof d->name) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not a file name", SV_ARG(path));
    } else {
        snprintf(d->name, sizeof d->name, "%s", name);
        d->fd = openat(d->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, allowed);
        if (d->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
            d->fd = fs_temp(d->dir, (int)allowed, d->temp);
            d->named = d->fd >= 0;
        }
        if (d->fd < 0)
            err_errno(e, "create a file beside " SV_FMT, SV_ARG(path));
    }
    arena_free(&scratch);
    if (d->fd >= 0)
        return ST_OK;
    fs_draft_drop(d);
    return err_code(e);
}

/* An unnamed file gets its temporary name only for the moment of the rename. */
static int give_name(struct fs_draft *d)
{
    char link[64];

    if (d->named)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", d->fd);
    for (int i = 0; i < TEMP_TRIES && !d->named && (i == 0 || errno == EEXIST); i++) {
        draw_temp(d->temp);
        d->named = linkat(AT_FDCWD, link, d->dir, d->temp, AT_SYMLINK_FOLLOW) == 0;
    }
    return d->named ? 0 : -1;
}

enum status fs_draft_commit(struct fs_draft *d, struct err *e)
{
    sigset_t    all, before;
    enum status s = ST_OK;

    if (!d->synced && fsync(d->fd) != 0)
        s = err_errno(e, "fsync");
    sigfillset(&all); /* a signal between the two calls would leave the temporary name in place */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!s && (give_name(d) != 0 || renameat(d->dir, d->temp, d->dir, d->name) != 0))
        s = err_errno(e, "%s", d->name);
    if (!s)
        d->named = false;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!s && fsync(d->dir) != 0)
        s = err_errno(e, "it was written and may not survive a crash: fsync of the directory");
    fs_draft_drop(d);
    return s;
}

void fs_draft_drop(struct fs_draft *d)
{
    if (d->named)
        unlinkat(d->dir, d->temp, 0);
    fd_undo(&d->fd);
    fd_undo(&d->dir);
    *d = (struct fs_draft){ .dir = -1, .fd = -1 };
}

enum status fs_mkdirs(int root, struct sv path, struct err *e)
{
    struct arena scratch = { 0 };
    enum status  s = sv_has(path, 0) || sv_starts(path, SV("/"))
                         ? err_set(e, ST_INVALID_SYNTAX, "a directory's path must be relative")
                         : ST_OK;

    for (size_t end = 1; end <= path.n && !s; end++) {
        if (end < path.n && path.s[end] != '/')
            continue;
        UNDO(fd_undo) int dir = -1, made = -1;
        struct sv         part = sv_first(path, end), parent = path_dir(part);
        const char       *name = sv_cstr(path_base(part), &scratch);
        s = open_to_write(root, parent.n ? parent : SV("."), O_PATH | O_DIRECTORY, &dir, e);
        if (!s && mkdirat(dir, name, mode_for(part, 0777)) != 0 && errno != EEXIST && *name)
            s = err_errno(e, "mkdir " SV_FMT, SV_ARG(part));
        if (!s && end == path.n) /* what was there already may be a file */
            s = fs_open(root, part, O_PATH | O_DIRECTORY, &made, e);
    }
    arena_free(&scratch);
    return s;
}

static int remove_tree(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    int  fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return -1;
    int rc = 0;
    for (struct dirent *it; rc == 0 && (it = readdir(d));)
        if (strcmp(it->d_name, ".") != 0 && strcmp(it->d_name, "..") != 0)
            rc = remove_tree(dirfd(d), it->d_name);
    int saved = errno;
    closedir(d);
    errno = saved;
    return rc ? rc : unlinkat(dir, name, AT_REMOVEDIR);
}

enum status fs_lock_dir(int root, struct sv path, int *fd, struct err *e)
{
    if (fs_mkdirs(root, path, e) || fs_open(root, path, O_RDONLY | O_DIRECTORY, fd, e))
        return err_code(e);
    while (flock(*fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return err_errno(e, "lock " SV_FMT, SV_ARG(path));
    return ST_OK;
}

enum status fs_remove(int root, struct sv path, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1;
    const char       *name;
    enum status       s = open_parent(root, path, O_RDONLY, &scratch, &dir, &name, e);

    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s && remove_tree(dir, name) != 0)
        s = err_errno(e, "remove " SV_FMT, SV_ARG(path));
    arena_free(&scratch);
    return s;
}

static enum fs_kind kind_of_mode(mode_t mode)
{
    return S_ISREG(mode) ? FS_FILE : S_ISDIR(mode) ? FS_DIR : S_ISLNK(mode) ? FS_LINK : FS_OTHER;
}

enum status fs_kind(int root, struct sv path, enum fs_kind *out, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1;
    struct stat       st;
    enum fs_kind      kind = FS_DIR;
    enum status       s = ST_OK;
    const char       *name;

    if (path.n && !sv_is(path, ".")) {
        s = open_parent(root, path, O_PATH, &scratch, &dir, &name, e);
        if (!s && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            s = err_errno(e, "look at " SV_FMT, SV_ARG(path));
        kind = s ? FS_MISSING : kind_of_mode(st.st_mode);
    }
    arena_free(&scratch);
    if (s && s != ST_NOT_FOUND)
        return s;
    *out = kind;
    return ST_OK;
}

enum status fs_exists(int root, struct sv path, bool *out, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(root, path, &kind, e))
        return err_code(e);
    *out = kind != FS_MISSING;
    return ST_OK;
}

static int by_name(const void *a, const void *b)
{
    return sv_cmp(((const struct fs_item *)a)->name, ((const struct fs_item *)b)->name);
}

enum status fs_list(int root, struct sv path, struct arena *a, struct fs_item **out, size_t *n,
                    struct err *e)
{
    VEC(struct fs_item) list = { 0 };
    int fd;

    if (fs_open(root, path.n ? path : SV("."), O_RDONLY | O_DIRECTORY, &fd, e))
        return err_code(e);
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return err_errno(e, "list " SV_FMT, SV_ARG(path));
    }
    struct dirent *it;
    while (errno = 0, (it = readdir(d))) {
        struct stat st;
        if (strcmp(it->d_name, ".") == 0 || strcmp(it->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(d), it->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            *vec_push(&list, a) =
                (struct fs_item){ sv_dup(sv_of(it->d_name), a), kind_of_mode(st.st_mode) };
        else if (errno != ENOENT)
            break;
    }
    enum status s = errno ? err_errno(e, "list " SV_FMT, SV_ARG(path)) : ST_OK;
    closedir(d);
    if (s)
        return s;
    if (list.n)
        qsort(list.v, list.n, sizeof *list.v, by_name);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

static struct fs_mark mark_of(const struct stat *st)
{
    return (struct fs_mark){ (uint64_t)st->st_ino, (uint64_t)st->st_size,
                             (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec };
}

enum status fs_mark_fd(int fd, struct fs_mark *out, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return err_errno(e, "fstat");
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_IO, "not a regular file");
    *out = mark_of(&st);
    return ST_OK;
}

enum status fs_mark(int root, struct sv path, struct fs_mark *out, bool *found, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       s = fs_open(root, path, O_PATH, &fd, e);

    if (s && s != ST_NOT_FOUND)
        return s;
    if (!s && fstat(fd, &st) != 0)
        return err_errno(e, "look at " SV_FMT, SV_ARG(path));
    *found = !s && S_ISREG(st.st_mode);
    if (*found)
        *out = mark_of(&st);
    return ST_OK;
}

bool fs_mark_eq(const struct fs_mark *a, const struct fs_mark *b)
{
    return a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns;
}
