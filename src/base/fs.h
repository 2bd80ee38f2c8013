/* Files. Everything below a workspace is reached through its root descriptor and a
 * relative path, and cannot leave it: not by "..", not through a symbolic link. */
#ifndef HEDDLE_FS_H
#define HEDDLE_FS_H

#include "base/sb.h"

#include <fcntl.h>

/* Close on leaving scope: UNDO(fd_undo) int fd = ...; */
void fd_undo(int *fd);

/* Returns *fd and sets it to -1: the caller owns the descriptor now, and fd_undo() does not close
 * it. */
int fd_take(int *fd);

/* The private directory of a workspace. It and everything that the functions below create in it can
 * be read and written by the owner only, whatever mode is asked for. */
#define FS_PRIVATE ".heddle"

/* open(2) of `path` (relative) below `root`, never outside it. Flags as for open;
 * mode 0666 when creating. ST_PERMISSION_DENIED when a link, ".." or a leading / leads out,
 * ST_INVALID_SYNTAX when it holds a NUL. */
enum status fs_open(int root, struct sv path, int flags, int *fd, struct err *e) MUST_USE;

/* The same for hot loops: no error text, -1 and errno. EXDEV: it leads out. */
int fs_open_below(int root, const char *path, int flags);

/* All bytes of a file, at most `max` (0: no limit): ST_LIMIT_EXCEEDED beyond. The
 * bytes are followed by a NUL that is not counted. fs_read() refuses what is not a regular
 * file; fs_read_fd() takes pipes too. */
enum status fs_read(int root, struct sv path, size_t max, struct arena *a, struct sv *out,
                    struct err *e) MUST_USE;
enum status fs_read_fd(int fd, size_t max, struct arena *a, struct sv *out, struct err *e) MUST_USE;

/* Writing. A link in the last place is never written through: it is replaced, or refused where a
 * file is changed in place. Links to directories on the way are followed below root like those for
 * reading, but not into .git or .heddle: ST_PERMISSION_DENIED. */

/* A file to be changed in place (O_WRONLY or O_RDWR, O_APPEND), made when it is missing.
 * ST_PERMISSION_DENIED, reason "link": it is a symbolic link, or has several names, so that
 * another file would change with it; ST_IO: it is not a regular file. */
enum status fs_open_own(int root, struct sv path, int flags, int *fd, struct err *e) MUST_USE;

/* The error for a link where a file is to be changed in place; reason "link". */
enum status fs_refuse_link(struct sv path, struct err *e);

/* A new empty file in dir under a name that nobody had (written to `name`); -1 and errno. */
enum { FS_TEMP_NAME = 64 };
int fs_temp(int dir, int mode, char name[FS_TEMP_NAME]);

/* Replace a file as a whole: temporary file beside it, fsync, rename, fsync of the directory. A
 * crash leaves the old bytes or the new ones. */
enum status fs_write(int root, struct sv path, struct sv bytes, int mode, struct err *e) MUST_USE;

/* The same for bytes that come in parts. Until the commit there is nothing under any
 * name (where the file system can do that), so that a killed process leaves no trace.
 *
 *     struct fs_draft d;
 *     if (fs_draft_open(&d, root, path, 0644, e)) return err_code(e);
 *     write to d.fd ...
 *     if (failed) fs_draft_drop(&d); else return fs_draft_commit(&d, e);             */
struct fs_draft {
    int  dir, fd;
    bool named;  /* `temp` exists in the directory */
    bool synced; /* the caller has synced it: the commit need not */
    char name[256], temp[FS_TEMP_NAME];
};
enum status fs_draft_open(struct fs_draft *d, int root, struct sv path, int mode,
                          struct err *e) MUST_USE;
enum status fs_draft_commit(struct fs_draft *d, struct err *e) MUST_USE; /* closes it */
void        fs_draft_drop(struct fs_draft *d);

/* mkdir -p below root. ST_NOT_FOUND when a part of it is a file. */
enum status fs_mkdirs(int root, struct sv path, struct err *e) MUST_USE;

/* Make a directory and hold its lock until *fd is closed; other processes that want it wait. The
 * kernel releases it when the process ends. */
enum status fs_lock_dir(int root, struct sv path, int *fd, struct err *e) MUST_USE;

/* Remove a file or a whole directory below root without following links. Missing is fine.
 * ST_INVALID_SYNTAX for "", "." and "..": the root itself stays. */
enum status fs_remove(int root, struct sv path, struct err *e) MUST_USE;

/* What is at a path: the thing itself, links not followed. FS_MISSING only when the file system
 * says that there is nothing (ENOENT, ENOTDIR). Every other failure is an error: what cannot be
 * looked at may well be there. ST_PERMISSION_DENIED when a directory on the way leads out. */
enum fs_kind { FS_MISSING, FS_FILE, FS_DIR, FS_LINK, FS_OTHER };
enum status fs_kind(int root, struct sv path, enum fs_kind *out, struct err *e) MUST_USE;

/* Is anything there? Errors as for fs_kind(). */
enum status fs_exists(int root, struct sv path, bool *out, struct err *e) MUST_USE;

/* What a directory holds, sorted by name, without "." and "..". What is removed meanwhile is left
 * out; any other failure on the way is an error, never a shorter list. */
struct fs_item {
    struct sv    name;
    enum fs_kind kind;
};
enum status fs_list(int root, struct sv path, struct arena *a, struct fs_item **out, size_t *n,
                    struct err *e) MUST_USE;

/* The attributes by which a file is recognised as unchanged without reading it. */
struct fs_mark {
    uint64_t inode, size;
    int64_t  mtime_ns;
};
/* *found is false when there is nothing, or something else than a regular file. Links that stay
 * below root are followed. fs_mark_fd() refuses what is not a regular file with ST_IO. */
enum status fs_mark(int root, struct sv path, struct fs_mark *out, bool *found,
                    struct err *e) MUST_USE;
enum status fs_mark_fd(int fd, struct fs_mark *out, struct err *e) MUST_USE;
bool        fs_mark_eq(const struct fs_mark *a, const struct fs_mark *b);

#endif
