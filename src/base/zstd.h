/* Compressed files, over libzstd, which is loaded when the first one is read or written.
 *
 *     struct zstd *z;
 *     if (zstd_writer(fd, &z, e)) ...            or zstd_reader(fd, &z, e)
 *     zstd_write(z, bytes, e) ...; zstd_finish(z, e)
 *     zstd_read(z, buffer, size, &got, e)        got 0: the end
 *     zstd_free(z);
 *
 * The descriptor stays the caller's. */
#ifndef HEDDLE_ZSTD_H
#define HEDDLE_ZSTD_H

#include "base/status.h"
#include "base/sv.h"

struct zstd;

/* The first bytes of every compressed file. */
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

/* ST_IO, reason "no_zstd", when the library is not installed. */
enum status zstd_writer(int fd, struct zstd **out, struct err *e) MUST_USE;
enum status zstd_reader(int fd, struct zstd **out, struct err *e) MUST_USE;
void        zstd_free(struct zstd *z); /* NULL is fine */

enum status zstd_write(struct zstd *z, struct sv bytes, struct err *e) MUST_USE;
enum status zstd_finish(struct zstd *z, struct err *e) MUST_USE; /* writes what is left */

/* Up to `size` bytes; fewer only at the end. ST_CORRUPT: this was not compressed by zstd, or is cut
 * short. */
enum status zstd_read(struct zstd *z, void *out, size_t size, size_t *got, struct err *e) MUST_USE;

#endif
