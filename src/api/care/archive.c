/* Writing and reading archives in the form of tar. */
#include "api/care/archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 512, END_BLOCKS = 2 };

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* ---- bytes ----------------------------------------------------------------------------- */

static enum status put(struct archive *w, struct sv bytes, struct err *e)
{
    if (w->zstd)
        return zstd_write(w->zstd, bytes, e);
    while (bytes.n) {
        ssize_t n = write(w->fd, bytes.s, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "write");
        bytes = sv_skip(bytes, (size_t)n);
    }
    return ST_OK;
}

/* Up to `size` bytes; fewer only at the end. */
static enum status get(struct archive *r, void *to, size_t size, size_t *got, struct err *e)
{
    char *at = to;

    if (r->zstd)
        return zstd_read(r->zstd, to, size, got, e);
    *got = 0;
    while (*got < size) {
        ssize_t n = read(r->fd, at + *got, size - *got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "read");
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return ST_OK;
}

/* ---- headers ---------------------------------------------------------------------------- */

static unsigned sum_of(const struct header *h)
{
    struct header copy = *h;
    unsigned char bytes[BLOCK];
    unsigned      sum = 0;

    memset(copy.sum, ' ', sizeof copy.sum);
    memcpy(bytes, &copy, BLOCK);
    for (size_t i = 0; i < BLOCK; i++)
        sum += bytes[i];
    return sum;
}

/* Octal digits or, when the number does not fit, its bytes after a first byte 0x80, as GNU tar
 * writes it. */
static void write_number(char *to, size_t size, int64_t n)
{
    char     digits[32];
    uint64_t left = (uint64_t)n;

    if (left >> (3 * (size - 1)) == 0) {
        snprintf(digits, sizeof digits, "%0*llo", (int)size - 1, (unsigned long long)left);
        memcpy(to, digits, size);
        return;
    }
    for (size_t i = size; i-- > 1; left >>= 8)
        to[i] = (char)(left & 0xff);
    to[0] = (char)0x80;
}

static bool read_number(const char *from, size_t size, int64_t *out)
{
    uint64_t n = 0;
    size_t   i = 0;

    if ((unsigned char)from[0] == 0x80) {
        for (i = 1; i < size; i++) {
            if (n >> 55)
                return false;
            n = n << 8 | (unsigned char)from[i];
        }
        *out = (int64_t)n;
        return true;
    }
    for (; i < size && from[i] >= '0' && from[i] <= '7'; i++)
        n = n << 3 | (uint64_t)(from[i] - '0');
    *out = (int64_t)n;
    return i > 0 && (i == size || from[i] == '\0' || from[i] == ' ');
}

static int pad_of(int64_t size)
{
    return (int)((BLOCK - size % BLOCK) % BLOCK);
}

/* ---- writing ------------------------------------------------------------------------------ */

enum status archive_begin(struct archive *w, int fd, bool compressed, struct err *e)
{
    *w = (struct archive){ .fd = fd };
    return compressed ? zstd_writer(fd, &w->zstd, e) : ST_OK;
}

static enum status put_zeros(struct archive *w, int n, struct err *e)
{
    static const char zeros[BLOCK * END_BLOCKS];

    return put(w, (struct sv){ zeros, (size_t)n }, e);
}

enum status archive_file(struct archive *w, struct sv name, int64_t size, int64_t at_ms,
                         struct err *e)
{
    struct header h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };

    if (name.n > ARCHIVE_NAME_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "the name " SV_FMT " is too long", SV_ARG(name));
    memcpy(h.name, name.s, name.n);
    write_number(h.mode, sizeof h.mode, 0600);
    write_number(h.uid, sizeof h.uid, 0);
    write_number(h.gid, sizeof h.gid, 0);
    write_number(h.size, sizeof h.size, size);
    write_number(h.mtime, sizeof h.mtime, at_ms > 0 ? at_ms / 1000 : 0);
    write_number(h.sum, sizeof h.sum - 1, sum_of(&h));
    h.sum[7] = ' ';
    w->left = size;
    w->pad = pad_of(size);
    return put(w, (struct sv){ (const char *)&h, BLOCK }, e);
}

enum status archive_write(struct archive *w, struct sv bytes, struct err *e)
{
    if ((int64_t)bytes.n > w->left)
        return err_set(e, ST_CONFLICT, "a file grew while it was copied");
    w->left -= (int64_t)bytes.n;
    if (put(w, bytes, e))
        return err_code(e);
    return w->left ? ST_OK : put_zeros(w, w->pad, e);
}

enum status archive_end(struct archive *w, struct err *e)
{
    if (w->left)
        return err_set(e, ST_CONFLICT, "a file shrank while it was copied");
    if (put_zeros(w, BLOCK * END_BLOCKS, e))
        return err_code(e);
    return w->zstd ? zstd_finish(w->zstd, e) : ST_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

enum status archive_open(struct archive *r, int fd, struct err *e)
{
    char    magic[4];
    ssize_t n = pread(fd, magic, sizeof magic, 0);

    *r = (struct archive){ .fd = fd };
    if (n < 0)
        return err_errno(e, "read");
    return n == sizeof magic && memcmp(magic, ZSTD_MAGIC, sizeof magic) == 0
               ? zstd_reader(fd, &r->zstd, e)
               : ST_OK;
}

static enum status damaged(const char *what, struct err *e)
{
    return err_set(e, ST_CORRUPT, "the archive is damaged: %s", what);
}

enum status archive_read(struct archive *r, void *out, size_t size, size_t *got, struct err *e)
{
    size_t want = (int64_t)size < r->left ? size : (size_t)r->left;

    if (get(r, out, want, got, e))
        return err_code(e);
    r->left -= (int64_t)*got;
    return *got < want ? damaged("it is cut short", e) : ST_OK;
}

static enum status pass_over(struct archive *r, struct err *e)
{
    char   piece[BLOCK];
    size_t got;

    r->left += r->pad;
    r->pad = 0;
    while (r->left)
        if (archive_read(r, piece, sizeof piece, &got, e))
            return err_code(e);
    return ST_OK;
}

static bool is_zero(const struct header *h)
{
    static const struct header zero;

    return memcmp(h, &zero, BLOCK) == 0;
}

static enum status read_header(struct archive *r, const struct header *h,
                               struct archive_member *out, struct err *e)
{
    int64_t sum, size;

    if (memcmp(h->magic, "ustar", 5) != 0 || !read_number(h->sum, sizeof h->sum, &sum) ||
        sum != sum_of(h))
        return damaged("a header is not as it should be", e);
    if ((h->type != '0' && h->type != '\0') || h->prefix[0])
        return damaged("it holds something that is not a plain file", e);
    if (!read_number(h->size, sizeof h->size, &size) || size < 0)
        return damaged("a size is none", e);
    memcpy(out->name, h->name, ARCHIVE_NAME_MAX);
    out->name[ARCHIVE_NAME_MAX] = '\0';
    out->size = r->left = size;
    r->pad = pad_of(size);
    return ST_OK;
}

enum status archive_next(struct archive *r, struct archive_member *out, bool *more, struct err *e)
{
    struct header h;
    size_t        got;

    *more = false;
    if (pass_over(r, e) || get(r, &h, BLOCK, &got, e))
        return err_code(e);
    if (got < BLOCK)
        return damaged("it is cut short", e);
    if (is_zero(&h))
        return ST_OK;
    *more = true;
    return read_header(r, &h, out, e);
}

void archive_close(struct archive *x)
{
    zstd_free(x->zstd);
    x->zstd = NULL;
}
