/* Content kept once: .heddle/objects/ab/cdef… holds the bytes whose BLAKE2b-256 is abcdef….
 *
 * An object is a copy of the source (a reflink where the file system can), and a frozen copy is a
 * copy of the object: never a hard link, since a forced write to one would reach all others. Copies
 * are read-only and no more readable than their source was; objects are for their owner alone.
 * Which hash a copy must have is in the log, so a copy changed by force is found by its hash. */
#include "share/share_internal.h"

#include "base/path.h"
#include "base/rand.h"
#include "share/erase.h"
#include "thread/scan.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Absent when `hash` is not a hash: then there is no such object. */
struct sv object_path(struct sv hash, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!share_hash_is_hex(hash))
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

/* ---- what other machines have ---- */

/* The hash that is written in hex. */
static struct hash hash_of(struct sv hex)
{
    struct hash h = { 0 };

    for (size_t i = 0; i < HASH_SIZE; i++)
        for (size_t k = 0; k < 2; k++) {
            char c = hex.s[i * 2 + k];
            h.b[i] = (unsigned char)(h.b[i] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
        }
    return h;
}

/* Store an object that was just made here for other machines. */
static enum status give(struct share *s, struct sv hash, struct err *e)
{
    struct arena scratch = { 0 };
    struct hash  h = hash_of(hash);
    struct sv    bytes;
    enum status  r = fs_read(s->root, object_path(hash, &scratch), 0, &scratch, &bytes, e);

    if (!r)
        r = log_object_put(s->log, &h, bytes, e);
    arena_free(&scratch);
    return r;
}

/* Fetch an object that this machine lacks from the store; ST_NOT_FOUND when the store lacks it too,
 * or has bytes with another hash. */
static enum status fetch(struct share *s, struct sv hash, struct err *e)
{
    struct arena scratch = { 0 };
    struct hash  h = hash_of(hash);
    struct sv    bytes, path = object_path(hash, &scratch);
    bool         found = false;
    enum status  r = log_object_get(s->log, &h, &scratch, &bytes, &found, e);

    if (!r && found) {
        struct hash now = hash_blake2b(&bytes, 1);
        found = hash_eq(&now, &h);
    }
    if (!r && !found)
        r = no_object(e);
    if (!r)
        r = fs_mkdirs(s->root, path_dir(path), e);
    if (!r)
        r = fs_write(s->root, path, bytes, 0400, e);
    arena_free(&scratch);
    return r;
}

static enum status hash_fd(struct share *s, int fd, struct sv path, struct sv *hash, int64_t *size,
                           struct err *e)
{
    struct hash h;
    uint64_t    n;

    if (hash_blake2b_fd(fd, &h, &n, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    *hash = hash_hex(&h, s->a);
    *size = (int64_t)n;
    return ST_OK;
}

enum status object_hash_of(struct share *s, struct sv path, struct sv *hash, int64_t *size,
                           struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    if (share_open(s, path, O_RDONLY | O_NONBLOCK, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_NOT_FOUND, SV_FMT " is not a file", SV_ARG(path));
    return hash_fd(s, fd, path, hash, size, e);
}

/* Does an open file hold these bytes? */
static enum status holds(struct share *s, int fd, struct sv path, struct sv hash, bool *out,
                         struct err *e)
{
    struct sv now;
    int64_t   size;

    if (hash_fd(s, fd, path, &now, &size, e))
        return err_code(e);
    *out = sv_eq(now, hash);
    return ST_OK;
}

static enum status has_object(struct share *s, struct sv hash, bool *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct sv         path = object_path(hash, s->a);
    enum status       r = fs_open(s->root, path, O_RDONLY | O_NOFOLLOW, &fd, e);

    *out = false;
    if (r == ST_NOT_FOUND || r == ST_PERMISSION_DENIED) /* none, or a link in its place */
        return ST_OK;
    return r ? r : holds(s, fd, path, hash, out, e);
}

/* Does this copy exist with the right bytes, and is it not a hard link? Also corrects its mode. */
static enum status is_placed(struct share *s, struct sv path, struct sv hash, mode_t mode,
                             bool *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       r = fs_open(s->root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, &fd, e);

    *out = false;
    if (r == ST_NOT_FOUND || r == ST_PERMISSION_DENIED)
        return ST_OK;
    if (r)
        return r;
    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(path));
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
        return ST_OK;
    if (holds(s, fd, path, hash, out, e))
        return err_code(e);
    if (*out && (st.st_mode & 0777) != mode && fchmod(fd, mode) != 0)
        return err_errno(e, "chmod " SV_FMT, SV_ARG(path));
    return ST_OK;
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

/* Make a new file with the bytes of `from`; it is complete and on the disk before it is renamed
 * into place. */
static enum status copy_to(struct share *s, int from, struct sv path, mode_t mode, struct err *e)
{
    UNDO(fd_undo) int dir = -1, to = -1;
    const char       *temp = sv_cstr(rand_id(".heddle-tmp-", 12, s->a), s->a);

    if (fs_open(s->root, path_dir(path), O_RDONLY | O_DIRECTORY, &dir, e))
        return err_code(e);
    to = openat(dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return err_errno(e, "create a file in " SV_FMT, SV_ARG(path_dir(path)));
    enum status r = copy_bytes(from, to, e);
    if (!r && (fchmod(to, mode) != 0 || fsync(to) != 0 ||
               renameat(dir, temp, dir, sv_cstr(path_base(path), s->a)) != 0))
        r = err_errno(e, "write " SV_FMT, SV_ARG(path));
    if (r)
        unlinkat(dir, temp, 0);
    else if (fsync(dir) != 0)
        r = err_errno(e, "fsync " SV_FMT, SV_ARG(path_dir(path)));
    return r;
}

static enum status make_object(struct share *s, int from, struct share_file *f, struct err *e)
{
    struct sv         temp = path_join(SV(".heddle/objects"), rand_id("new-", 12, s->a), s->a);
    UNDO(fd_undo) int dir = -1, two = -1, made = -1;
    enum status       r = fs_mkdirs(s->root, SV(".heddle/objects"), e);

    if (!r)
        r = copy_to(s, from, temp, 0400, e);
    if (!r)
        r = fs_open(s->root, temp, O_RDONLY | O_NOFOLLOW, &made, e);
    if (!r) /* the hash of the copy: the source may be changing */
        r = hash_fd(s, made, temp, &f->hash, &f->size, e);
    struct sv final = r ? temp : object_path(f->hash, s->a);
    if (!r)
        r = fs_mkdirs(s->root, path_dir(final), e);
    if (!r)
        r = fs_open(s->root, path_dir(temp), O_RDONLY | O_DIRECTORY, &dir, e);
    if (!r)
        r = fs_open(s->root, path_dir(final), O_RDONLY | O_DIRECTORY, &two, e);
    if (!r &&
        (renameat(dir, sv_cstr(path_base(temp), s->a), two, sv_cstr(path_base(final), s->a)) != 0 ||
         fsync(two) != 0))
        r = err_errno(e, "store " SV_FMT, SV_ARG(f->hash));
    if (r) {
        struct err ignored;
        (void)!fs_remove(s->root, temp, &ignored);
    }
    return r;
}

enum status object_put_file(struct share *s, struct sv path, struct share_file *f, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    if (share_open(s, path, O_RDONLY | O_NONBLOCK, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_NOT_FOUND, "'" SV_FMT "' is not a regular file", SV_ARG(path));
    f->mode = (st.st_mode & 0555) | 0400;
    if (hash_fd(s, fd, path, &f->hash, &f->size, e))
        return err_code(e);
    bool there;
    if (has_object(s, f->hash, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(e, "read " SV_FMT, SV_ARG(path));
    return make_object(s, fd, f, e) || give(s, f->hash, e) ? err_in(e, SV_FMT, SV_ARG(path))
                                                           : ST_OK;
}

enum status object_put(struct share *s, struct sv bytes, struct sv *hash, struct err *e)
{
    struct hash h = hash_blake2b(&bytes, 1);

    *hash = hash_hex(&h, s->a);
    struct sv path = object_path(*hash, s->a);
    bool      there;
    if (has_object(s, *hash, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    if (fs_mkdirs(s->root, path_dir(path), e) || fs_write(s->root, path, bytes, 0400, e))
        return err_code(e);
    return log_object_put(s->log, &h, bytes, e);
}

enum status object_read(struct share *s, struct sv hash, struct arena *a, struct sv *out,
                        struct err *e)
{
    struct sv path = object_path(hash, a);

    if (!path.s)
        return no_object(e);
    enum status r = fs_read(s->root, path, 0, a, out, e);
    if (r == ST_NOT_FOUND)
        r = fetch(s, hash, e) ? err_code(e) : fs_read(s->root, path, 0, a, out, e);
    return r;
}

/* ---- moving to another store ---- */

/* Gives one object to another log. *have false: neither this machine nor the store of s->log has
 * it. */
static enum status hand_over(struct share *s, struct log *to, struct sv hash, bool *have,
                             struct err *e)
{
    struct arena scratch = { 0 };
    struct hash  h = hash_of(hash);
    struct sv    bytes;
    enum status  r = object_read(s, hash, &scratch, &bytes, e);

    *have = r != ST_NOT_FOUND;
    if (!r)
        r = log_object_put(to, &h, bytes, e);
    arena_free(&scratch);
    return *have ? r : ST_OK;
}

enum status share_objects_copy(struct share *s, struct log *to, struct share_objects *out,
                               struct err *e)
{
    struct map  used;
    enum status r = log_begin(s->log, SHARE_GLOBAL, STORE_READ, e);

    *out = (struct share_objects){ 0 };
    if (!r)
        r = share_objects_in_use(s->log, s->a, &used, e);
    log_abort(s->log);
    for (size_t i = 0; !r && i < used.n; i++) {
        bool have = false;
        if (share_hash_is_hex(used.items[i].key))
            r = hand_over(s, to, used.items[i].key, &have, e);
        out->there += have;
        out->missing += !have;
    }
    return r;
}

/* ---- frozen copies ---- */

static enum status open_object(struct share *s, struct sv hash, int *fd, struct err *e)
{
    struct sv   path = object_path(hash, s->a);
    enum status r = path.s ? fs_open(s->root, path, O_RDONLY | O_NOFOLLOW, fd, e) : ST_NOT_FOUND;

    bool good = false;

    if (r == ST_NOT_FOUND && path.s && !fetch(s, hash, e))
        r = fs_open(s->root, path, O_RDONLY | O_NOFOLLOW, fd, e);
    if (r == ST_NOT_FOUND)
        return no_object(e);
    if (!r && holds(s, *fd, path, hash, &good, e))
        return err_code(e);
    if (!r && !good) {
        err_set(e, ST_CORRUPT, "the stored content " SV_FMT " is damaged", SV_ARG(path));
        return err_reason(e, "object");
    }
    if (!r && lseek(*fd, 0, SEEK_SET) != 0)
        return err_errno(e, "read " SV_FMT, SV_ARG(path));
    return r;
}

enum status object_place(struct share *s, const struct share_file *f, struct sv path, struct err *e)
{
    UNDO(fd_undo) int from = -1;
    mode_t            mode = f->mode ? (mode_t)f->mode : 0444;
    bool              there;

    if (is_placed(s, path, f->hash, mode, &there, e))
        return err_code(e);
    if (there)
        return ST_OK;
    if (open_object(s, f->hash, &from, e))
        return err_code(e);
    enum status r = fs_mkdirs(s->root, path_dir(path), e);
    if (r == ST_NOT_FOUND) /* a file is in the way: not the same as an object that is gone */
        return err_set(e, ST_CONFLICT, "a file stands where the directory of '" SV_FMT "' belongs",
                       SV_ARG(path));
    return r ? r : copy_to(s, from, path, mode, e);
}

enum status object_drop(struct share *s, struct sv hash, struct err *e)
{
    struct sv path = object_path(hash, s->a);

    if (!path.s)
        return ST_OK;
    struct hash h = hash_of(hash);
    enum status r = fs_remove(s->root, path, e);
    return r && r != ST_NOT_FOUND ? r : log_object_drop(s->log, &h, e);
}
