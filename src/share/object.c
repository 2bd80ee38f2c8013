/* Content kept once: .heddle/objects/ab/cdef… holds the bytes whose BLAKE2b-256 is abcdef….
 *
 * An object is a copy of the source (a reflink where the file system can), never a link to it,
 * so no change of the source reaches it. Frozen copies are reflinks of the object, else hard
 * links to it, else copies; they are read-only (0444), because hard links share one inode. Which
 * hash a copy must have is in the log, so a copy changed by force is found by its hash. */
#include "share/share_internal.h"

#include "base/path.h"
#include "base/rand.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Absent for what is no hash: then there is no such object. */
static struct sv object_path(struct sv hash, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!hash_is_hex(hash))
        return (struct sv){ 0 };
    sb_addf(&b, ".heddle/objects/" SV_FMT "/" SV_FMT, SV_ARG(sv_first(hash, 2)),
            SV_ARG(sv_skip(hash, 2)));
    return sb_sv(&b);
}

static enum status no_object(struct err *e)
{
    err_set(e, ST_NOT_FOUND, "there is no such object");
    return err_reason(e, "object");
}

enum status object_hash_of(struct share *s, struct sv path, struct sv *hash, int64_t *size,
                           struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct hash       h;
    uint64_t          n;

    if (fs_open(s->root, path, O_RDONLY | O_NONBLOCK, &fd, e))
        return err_code(e);
    if (hash_blake2b_fd(fd, &h, &n, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    *hash = hash_hex(&h, s->a);
    *size = (int64_t)n;
    return ST_OK;
}

/* Is this file there with these bytes? An object is asked too: a copy that is a link to it may
 * have been changed by force, and the object with it. */
static enum status holds_already(struct share *s, struct sv path, struct sv hash, bool *out,
                                 struct err *e)
{
    struct sv    now;
    int64_t      size;
    enum fs_kind kind;

    *out = false;
    if (fs_kind(s->root, path, &kind, e))
        return err_code(e);
    if (kind != FS_FILE)
        return ST_OK;
    enum status r = object_hash_of(s, path, &now, &size, e);
    if (r == ST_NOT_FOUND)
        return ST_OK; /* removed meanwhile */
    *out = !r && sv_eq(now, hash);
    return r;
}

static enum status copy_bytes(int from, int to, struct err *e)
{
    char piece[64 * 1024];

    if (ioctl(to, FICLONE, from) == 0)
        return ST_OK;
    for (;;) {
        ssize_t got = read(from, piece, sizeof piece), put = 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read");
        if (got == 0)
            return ST_OK;
        while (put < got) {
            ssize_t n = write(to, piece + put, (size_t)(got - put));
            if (n < 0 && errno != EINTR)
                return err_errno(e, "write");
            put += n > 0 ? n : 0;
        }
    }
}

/* A new file with the bytes of `from`, complete and on the disk before it has its name. */
static enum status copy_to(struct share *s, int from, struct sv path, mode_t mode, struct err *e)
{
    UNDO(fd_undo) int dir = -1, to = -1;
    const char       *temp = sv_cstr(rand_id(".heddle-tmp-", 12, s->a), s->a);

    if (fs_open(s->root, path_dir(path), O_RDONLY | O_DIRECTORY, &dir, e))
        return err_code(e);
    to = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (to < 0)
        return err_errno(e, "create a file in " SV_FMT, SV_ARG(path_dir(path)));
    enum status r = copy_bytes(from, to, e);
    if (!r && (fchmod(to, mode) != 0 || fsync(to) != 0 ||
               renameat(dir, temp, dir, sv_cstr(path_base(path), s->a)) != 0))
        r = err_errno(e, "write " SV_FMT, SV_ARG(path));
    if (r)
        unlinkat(dir, temp, 0);
    return r;
}

static enum status make_object(struct share *s, int from, struct sv *hash, int64_t *size,
                               struct err *e)
{
    struct sv         temp = path_join(SV(".heddle/objects"), rand_id("new-", 12, s->a), s->a);
    UNDO(fd_undo) int dir = -1, two = -1;
    enum status       r = fs_mkdirs(s->root, SV(".heddle/objects"), e);

    if (!r)
        r = copy_to(s, from, temp, 0444, e);
    if (!r) /* of the copy: the source may be changing */
        r = object_hash_of(s, temp, hash, size, e);
    struct sv final = r ? temp : object_path(*hash, s->a);
    if (!r)
        r = fs_mkdirs(s->root, path_dir(final), e);
    if (!r)
        r = fs_open(s->root, path_dir(temp), O_RDONLY | O_DIRECTORY, &dir, e);
    if (!r)
        r = fs_open(s->root, path_dir(final), O_RDONLY | O_DIRECTORY, &two, e);
    if (!r &&
        (renameat(dir, sv_cstr(path_base(temp), s->a), two, sv_cstr(path_base(final), s->a)) != 0 ||
         fsync(two) != 0))
        r = err_errno(e, "store " SV_FMT, SV_ARG(*hash));
    if (r) {
        struct err ignored;
        (void)!fs_remove(s->root, temp, &ignored);
    }
    return r;
}

enum status object_put_file(struct share *s, struct sv path, struct sv *hash, int64_t *size,
                            struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    bool              there;

    if (object_hash_of(s, path, hash, size, e) ||
        holds_already(s, object_path(*hash, s->a), *hash, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    if (fs_open(s->root, path, O_RDONLY | O_NONBLOCK, &fd, e))
        return err_code(e);
    return make_object(s, fd, hash, size, e) ? err_in(e, SV_FMT, SV_ARG(path)) : ST_OK;
}

enum status object_put(struct share *s, struct sv bytes, struct sv *hash, struct err *e)
{
    struct hash h = hash_blake2b(&bytes, 1);

    *hash = hash_hex(&h, s->a);
    struct sv path = object_path(*hash, s->a);
    bool      there;
    if (holds_already(s, path, *hash, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    return fs_mkdirs(s->root, path_dir(path), e) ? err_code(e)
                                                 : fs_write(s->root, path, bytes, 0444, e);
}

enum status object_read(struct share *s, struct sv hash, struct arena *a, struct sv *out,
                        struct err *e)
{
    struct sv path = object_path(hash, a);

    return path.s ? fs_read(s->root, path, 0, a, out, e) : no_object(e);
}

enum status object_place(struct share *s, struct sv hash, struct sv path, struct err *e)
{
    UNDO(fd_undo) int from = -1, objects = -1, dir = -1;
    struct sv         object = object_path(hash, s->a);
    const char       *temp = sv_cstr(rand_id(".heddle-tmp-", 12, s->a), s->a);
    const char       *name = sv_cstr(path_base(path), s->a);
    bool              there;

    if (!object.s)
        return no_object(e);
    if (holds_already(s, path, hash, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    if (fs_mkdirs(s->root, path_dir(path), e) || fs_open(s->root, object, O_RDONLY, &from, e) ||
        fs_open(s->root, path_dir(object), O_RDONLY | O_DIRECTORY, &objects, e) ||
        fs_open(s->root, path_dir(path), O_RDONLY | O_DIRECTORY, &dir, e))
        return err_code(e);
    int to = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (to < 0)
        return err_errno(e, "create a file in " SV_FMT, SV_ARG(path_dir(path)));
    bool cloned = ioctl(to, FICLONE, from) == 0;
    close(to);
    if (!cloned) {
        unlinkat(dir, temp, 0);
        if (linkat(objects, sv_cstr(path_base(object), s->a), dir, temp, 0) != 0)
            return copy_to(s, from, path, 0444, e); /* too many links, or none here */
    }
    if (renameat(dir, temp, dir, name) == 0) {
        unlinkat(dir, temp, 0); /* rename between two links of one file leaves both */
        return fsync(dir) == 0 ? ST_OK : err_errno(e, "fsync " SV_FMT, SV_ARG(path_dir(path)));
    }
    err_errno(e, "place " SV_FMT, SV_ARG(path));
    unlinkat(dir, temp, 0);
    return err_code(e);
}

enum status object_drop(struct share *s, struct sv hash, struct err *e)
{
    struct sv path = object_path(hash, s->a);

    return path.s ? fs_remove(s->root, path, e) : ST_OK;
}
