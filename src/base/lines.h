/* Lines of a descriptor, or of a function, one at a time, in memory that does not grow with the
 * file.
 *
 *     struct lines in = lines_of(0, LINE_MAX, &a);
 *     while (!(s = lines_next(&in, &line, &more, e)) && more) ...                     */
#ifndef HEDDLE_LINES_H
#define HEDDLE_LINES_H

#include "base/sb.h"

#include <sys/types.h>

struct lines {
    struct arena *a;
    int           fd;
    ssize_t (*read)(void *ctx, char *into, size_t n); /* in the place of fd; may be NULL */
    void   *read_ctx;
    char   *buf;
    size_t  from, n, cap, limit;
    bool    ended;
    int64_t number; /* of the line last given, from 1 */
    int64_t bytes;  /* read so far */
};

struct lines lines_of(int fd, size_t limit, struct arena *a);

/* Lines of what `read` returns, which is as read(2): 0 at the end, -1 and errno on failure. */
struct lines lines_from(ssize_t (*read)(void *ctx, char *into, size_t n), void *ctx, size_t limit,
                        struct arena *a);

/* The next line without its LF or CRLF, the first one without a byte order mark; valid until the
 * next call. ST_LIMIT_EXCEEDED when it is longer than the limit, ST_IO when reading fails. */
enum status lines_next(struct lines *in, struct sv *line, bool *more, struct err *e) MUST_USE;

/* After ST_LIMIT_EXCEEDED: skip the rest of that line, so that lines_next() continues with the line
 * after it. The skipped line is counted in `number`. */
enum status lines_skip(struct lines *in, struct err *e) MUST_USE;

#endif
