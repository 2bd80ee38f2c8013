/* Reading lines from a descriptor through one buffer that grows to the longest line. */
#include "base/lines.h"

#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct lines lines_of(int fd, size_t limit, struct arena *a)
{
    return (struct lines){ .a = a,
                           .fd = fd,
                           .limit = limit,
                           .cap = 256 * 1024,
                           .buf = arena_grow(a, NULL, 0, 256 * 1024) };
}

struct lines lines_from(ssize_t (*reader)(void *, char *, size_t), void *ctx, size_t limit,
                        struct arena *a)
{
    struct lines in = lines_of(-1, limit, a);

    in.read = reader;
    in.read_ctx = ctx;
    return in;
}

static enum status too_long(const struct lines *in, struct err *e)
{
    return err_set(e, ST_LIMIT_EXCEEDED, "line %lld is longer than %zu bytes",
                   (long long)in->number + 1, in->limit);
}

/* More bytes behind those that are there. */
static enum status fill(struct lines *in, struct err *e)
{
    if (in->from) {
        memmove(in->buf, in->buf + in->from, in->n - in->from);
        in->n -= in->from;
        in->from = 0;
    }
    if (in->n > in->limit + 1) /* a CR may belong to the line's end */
        return too_long(in, e);
    if (in->n == in->cap) {
        in->buf = arena_grow(in->a, in->buf, in->cap, in->cap * 2);
        in->cap *= 2;
    }
    for (;;) {
        ssize_t got = in->read ? in->read(in->read_ctx, in->buf + in->n, in->cap - in->n)
                               : read(in->fd, in->buf + in->n, in->cap - in->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read");
        in->ended = got == 0;
        in->n += (size_t)got;
        in->bytes += got;
        return ST_OK;
    }
}

enum status lines_next(struct lines *in, struct sv *line, bool *more, struct err *e)
{
    size_t looked = in->from;

    for (;;) {
        const char *lf = memchr(in->buf + looked, '\n', in->n - looked);
        size_t      end = lf ? (size_t)(lf - in->buf) : in->n;
        if (lf || in->ended) {
            *more = lf || end > in->from;
            *line = (struct sv){ in->buf + in->from, end - in->from };
            if (!in->number)
                *line = utf8_skip_bom(*line);
            if (line->n && line->s[line->n - 1] == '\r')
                line->n--;
            if (line->n > in->limit)
                return too_long(in, e);
            in->from = lf ? end + 1 : end;
            in->number += *more;
            return ST_OK;
        }
        looked = in->n - in->from; /* fill() moves what is left to the front */
        if (fill(in, e))
            return err_code(e);
    }
}

enum status lines_skip(struct lines *in, struct err *e)
{
    for (;;) {
        const char *lf = memchr(in->buf + in->from, '\n', in->n - in->from);
        if (lf || in->ended) {
            in->from = lf ? (size_t)(lf - in->buf) + 1 : in->n;
            in->number++;
            return ST_OK;
        }
        in->from = in->n; /* the rest of the line is dropped, so that fill() has room */
        if (fill(in, e))
            return err_code(e);
    }
}
