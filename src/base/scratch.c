/* Making and sweeping files for work on a copy of the log. */
#include "base/scratch.h"

#include "base/path.h"
#include "base/rand.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 32, ID_LENGTH = 12 };

/* Locked, and still in the directory: a sweep may have removed it between creating and locking. */
static bool hold(int fd)
{
    struct stat st;

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int scratch_make(int dir, char name[FS_TEMP_NAME])
{
    for (int i = 0; i < TRIES; i++) {
        struct arena a = { 0 };
        snprintf(name, FS_TEMP_NAME, "%s", rand_id(SCRATCH_PREFIX, ID_LENGTH, &a).s);
        arena_free(&a);
        int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && hold(fd))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    errno = EEXIST;
    return -1;
}

void scratch_drop(struct sv path)
{
    struct arena   a = { 0 };
    struct sv      name = path_base(path);
    DIR           *dir = opendir(sv_cstr(path_dir(path), &a));
    struct dirent *d;

    while (dir && (d = readdir(dir)))
        if (sv_starts(sv_of(d->d_name), name))
            unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
    arena_free(&a);
}

/* The files that SQLite keeps beside a database belong to it. */
static struct sv maker_of(struct sv path)
{
    size_t length = path_dir(path).n + 1 + sizeof SCRATCH_PREFIX - 1 + ID_LENGTH;

    return path.n > length ? sv_first(path, length) : path;
}

enum status scratch_is_left(int root, struct sv path, bool *left, struct err *e)
{
    struct arena a = { 0 };

    *left = false;
    if (!sv_starts(path_base(path), SV(SCRATCH_PREFIX)))
        return ST_OK;
    UNDO(fd_undo)
    int fd = fs_open_below(root, sv_cstr(maker_of(path), &a),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    arena_free(&a);
    if (fd < 0 && errno != ENOENT)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    *left = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
    return ST_OK;
}

enum status scratch_sweep(int root, struct sv dir, struct err *e)
{
    struct arena    a = { 0 };
    struct fs_item *items = NULL;
    size_t          n = 0;
    enum status     s = fs_list(root, dir, &a, &items, &n, e);

    if (s == ST_NOT_FOUND)
        s = ST_OK;
    for (size_t i = 0; !s && i < n; i++) {
        struct sv path = path_join(dir, items[i].name, &a);
        bool      left = false;
        if (items[i].kind == FS_FILE)
            s = scratch_is_left(root, path, &left, e);
        if (!s && left)
            s = fs_remove(root, path, e);
    }
    arena_free(&a);
    return s;
}
