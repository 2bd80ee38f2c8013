/* A file of files: an archive in the form of tar (POSIX ustar), which other programs can unpack,
 * compressed with zstd when its name says so. Regular files only. A file is written from front to
 * back and read in the same way, in memory that does not grow with it.
 *
 *     archive_begin(&w, fd, compressed, e);
 *     archive_file(&w, SV("heddle.db"), size, at, e); archive_write(&w, bytes, e) ...
 *     archive_end(&w, e);
 *
 *     archive_open(&r, fd, e);                     finds out by itself whether it is compressed
 *     while (archive_next(&r, &member, &more, e) == ST_OK && more)
 *         archive_read(&r, buffer, size, &got, e)  up to member.size bytes in all
 *     archive_close(&r);
 *
 * An archive that is read may come from anybody: names can hold any bytes, and sizes are only what
 * the headers claim. */
#ifndef HEDDLE_ARCHIVE_H
#define HEDDLE_ARCHIVE_H

#include "base/sv.h"
#include "base/zstd.h"

enum { ARCHIVE_NAME_MAX = 100 };

struct archive {
    int          fd;
    struct zstd *zstd; /* NULL: not compressed */
    int64_t      left; /* of the file that is being written or read */
    int          pad;  /* bytes behind it that fill its last block */
};

struct archive_member {
    char    name[ARCHIVE_NAME_MAX + 1];
    int64_t size;
};

enum status archive_begin(struct archive *w, int fd, bool compressed, struct err *e) MUST_USE;

/* The next file: `size` bytes are to be written to it. */
enum status archive_file(struct archive *w, struct sv name, int64_t size, int64_t at_ms,
                         struct err *e) MUST_USE;
enum status archive_write(struct archive *w, struct sv bytes, struct err *e) MUST_USE;
enum status archive_end(struct archive *w, struct err *e) MUST_USE;

enum status archive_open(struct archive *r, int fd, struct err *e) MUST_USE;

/* The next file; what was not read of the one before is passed over. ST_CORRUPT: not an archive, or
 * damaged, or cut short. */
enum status archive_next(struct archive *r, struct archive_member *out, bool *more,
                         struct err *e) MUST_USE;
enum status archive_read(struct archive *r, void *out, size_t size, size_t *got,
                         struct err *e) MUST_USE;

void archive_close(struct archive *x); /* of a reader or a writer; the descriptor stays open */

#endif
