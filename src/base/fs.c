#include "base/fs.h"

#include "base/path.h"
#include "base/rand.h"

#include <dirent.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void fd_undo(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* For kernels without openat2: walk the parts and refuse every link. */
static int open_walking(int root, const char *path, int flags, mode_t mode)
{
    int dir = dup(root);

    for (;;) {
        const char *slash = strchr(path, '/');
        if (dir < 0 || !slash)
            break;
        char part[256];
        if ((size_t)(slash - path) >= sizeof part || strncmp(path, "..", 2) == 0) {
            close(dir);
            errno = EXDEV;
            return -1;
        }
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        int next = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(dir);
        dir = next;
        path = slash + 1;
    }
    if (dir < 0)
        return -1;
    int fd = openat(dir, *path ? path : ".", flags | O_NOFOLLOW | O_CLOEXEC, mode);
    int saved = errno;
    close(dir);
    errno = saved;
    return fd;
}

static int open_below(int root, const char *path, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return open_walking(root, path, flags, mode);
    return (int)fd;
}

enum status fs_open(int root, struct sv path, int flags, int *out, struct err *e)
{
    struct arena scratch = { 0 };
    int          fd = open_below(root, sv_cstr(path, &scratch), flags, 0666);

    arena_free(&scratch);
    if (fd < 0 && (errno == EXDEV || errno == ELOOP))
        return err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' leads out of the workspace",
                       SV_ARG(path));
    if (fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    *out = fd;
    return ST_OK;
}

enum status fs_read_fd(int fd, size_t max, struct arena *a, struct sv *out, struct err *e)
{
    struct stat st;
    size_t      cap = 64 * 1024, n = 0;

    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return err_errno(e, "read");
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        cap = (size_t)st.st_size + 1;
    if (max && cap > max + 1)
        cap = max + 1;
    char *s = arena_grow(a, NULL, 0, cap);
    for (;;) {
        ssize_t got = read(fd, s + n, cap - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read");
        n += (size_t)got;
        if (got == 0 && n < cap - 1)
            break;
        if (n == cap - 1) {
            char    one;
            ssize_t more = read(fd, &one, 1);
            if (more == 0)
                break;
            if (more < 0 && errno != EINTR)
                return err_errno(e, "read");
            if (max && n >= max)
                return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", max);
            s = arena_grow(a, s, cap, cap * 2);
            cap *= 2;
            if (more == 1)
                s[n++] = one;
        }
    }
    s[n] = 0;
    *out = (struct sv){ s, n };
    return ST_OK;
}

enum status fs_read(int root, struct sv path, size_t max, struct arena *a, struct sv *out,
                    struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (fs_open(root, path, O_RDONLY, &fd, e))
        return e->code;
    if (fs_read_fd(fd, max, a, out, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    return ST_OK;
}

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

enum status fs_write(int root, struct sv path, struct sv bytes, int mode, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1, fd = -1;
    struct sv         parent = path_dir(path);
    const char       *name = sv_cstr(path_base(path), &scratch);
    const char       *temp = sv_cstr(rand_id(".heddle-tmp-", 12, &scratch), &scratch);
    enum status s = fs_open(root, parent.n ? parent : SV("."), O_RDONLY | O_DIRECTORY, &dir, e);

    if (s)
        goto done;
    fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    if (fd < 0) {
        s = err_errno(e, "create a file beside " SV_FMT, SV_ARG(path));
        goto done;
    }
    s = write_synced(fd, bytes, e);
    if (!s && renameat(dir, temp, dir, name) != 0)
        s = err_errno(e, "rename");
    if (!s && fsync(dir) != 0)
        s = err_errno(e, "fsync of the folder");
    if (s) {
        unlinkat(dir, temp, 0);
        err_in(e, SV_FMT, SV_ARG(path));
    }
done:
    arena_free(&scratch);
    return s;
}

enum status fs_mkdirs(int root, struct sv path, struct err *e)
{
    struct arena scratch = { 0 };
    enum status  s = ST_OK;

    for (size_t end = 1; end <= path.n && !s; end++) {
        if (end < path.n && path.s[end] != '/')
            continue;
        UNDO(fd_undo) int dir = -1;
        struct sv         part = sv_first(path, end), parent = path_dir(part);
        s = fs_open(root, parent.n ? parent : SV("."), O_PATH | O_DIRECTORY, &dir, e);
        if (!s && mkdirat(dir, sv_cstr(path_base(part), &scratch), 0777) != 0 && errno != EEXIST)
            s = err_errno(e, "mkdir " SV_FMT, SV_ARG(part));
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

enum status fs_remove(int root, struct sv path, struct err *e)
{
    struct arena      scratch = { 0 };
    UNDO(fd_undo) int dir = -1;
    struct sv         parent = path_dir(path);
    enum status s = fs_open(root, parent.n ? parent : SV("."), O_RDONLY | O_DIRECTORY, &dir, e);

    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s && remove_tree(dir, sv_cstr(path_base(path), &scratch)) != 0)
        s = err_errno(e, "remove " SV_FMT, SV_ARG(path));
    arena_free(&scratch);
    return s;
}

enum fs_kind fs_kind(int root, struct sv path)
{
    struct arena      scratch = { 0 };
    struct err        ignored;
    UNDO(fd_undo) int dir = -1;
    struct stat       st;
    enum fs_kind      kind = FS_MISSING;
    struct sv         parent = path_dir(path), name = path_base(path);

    if (fs_open(root, parent.n ? parent : SV("."), O_PATH | O_DIRECTORY, &dir, &ignored) == ST_OK &&
        fstatat(dir, name.n ? sv_cstr(name, &scratch) : ".", &st, AT_SYMLINK_NOFOLLOW) == 0)
        kind = S_ISREG(st.st_mode)   ? FS_FILE
               : S_ISDIR(st.st_mode) ? FS_DIR
               : S_ISLNK(st.st_mode) ? FS_LINK
                                     : FS_OTHER;
    arena_free(&scratch);
    return kind;
}
