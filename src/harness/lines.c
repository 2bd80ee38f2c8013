/* Reads transcripts that are JSON Lines, including damaged ones: a last line without its end, lines
 * that are too long, bytes that are not UTF-8, files that were truncated or rewritten. */
#include "harness/harness_internal.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool harness_parse(struct sv text, struct arena *a, struct json *out, bool *mended)
{
    struct err ignored;
    struct sb  b;

    *mended = false;
    if (json_parse(text, JSON_ONE_LINE, a, out, &ignored) == ST_OK)
        return true;
    if (utf8_invalid(text) < 0)
        return false;
    b = sb_in(a, 0);
    sb_add_lossy(&b, text);
    *mended = json_parse(sb_sv(&b), JSON_ONE_LINE, a, out, &ignored) == ST_OK;
    return *mended;
}

struct sv harness_tail(int fd, int64_t offset, struct arena *a)
{
    char        bytes[HARNESS_TAIL];
    size_t      want = offset < HARNESS_TAIL ? (size_t)offset : HARNESS_TAIL, got = 0;
    struct hash h;
    struct sv   part;
    struct sb   b;

    while (got < want) {
        ssize_t n = pread(fd, bytes + got, want - got, (off_t)offset - (off_t)(want - got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (struct sv){ 0 };
        got += (size_t)n;
    }
    part = (struct sv){ bytes, want };
    h = hash_blake2b(&part, 1);
    b = sb_in(a, 0);
    sb_add_hex(&b, h.b, 16);
    return sb_sv(&b);
}

/* ---- the input ------------------------------------------------------------------------------ */

static enum status stat_file(struct harness_file *f, struct err *e)
{
    struct stat st;

    if (fstat(f->fd, &st))
        return err_errno(e, SV_FMT, SV_ARG(f->path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_INVALID_SYNTAX, SV_FMT " is not a regular file", SV_ARG(f->path));
    f->size = (int64_t)st.st_size;
    return ST_OK;
}

/* Is the file that was read still there, as it was, and is this one shorter? Then this one does not
 * replace it. Gemini CLI begins a file whenever it resumes a session, and goes on in the old one.
 */
static bool is_beside(struct harness_file *f)
{
    struct sv         name = path_base(f->state->path);
    UNDO(fd_undo) int fd = -1;

    if (f->src->dir < 0 || !name.n || sv_eq(name, path_base(f->path)) || f->size > f->state->offset)
        return false;
    fd = openat(f->src->dir, sv_cstr(name, &f->kept),
                O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 &&
           sv_eq(harness_tail(fd, f->state->offset, &f->kept), harness_text_sv(&f->state->tail));
}

/* Is the file what it was, with more behind it? Else it is read from the start. */
static enum status look(struct harness_file *f, bool found, bool *is_new, struct err *e)
{
    if (stat_file(f, e))
        return err_code(e);
    bool same = !found || (f->state->offset <= f->size &&
                           sv_eq(harness_tail(f->fd, f->state->offset, &f->kept),
                                 harness_text_sv(&f->state->tail)));
    if (!same) {
        f->beside = is_beside(f);
        harness_file_restart(f);
        f->report->rewritten = !f->beside;
    }
    *is_new = !same || f->state->offset < f->size;
    return ST_OK;
}

struct reading_lines {
    struct lines in;
    int64_t      start; /* offset at which reading began */
};

static enum status open_lines(struct harness_file *f, struct err *e)
{
    struct reading_lines *r = ARENA_NEW(&f->lines, struct reading_lines, 1);

    if (lseek(f->fd, f->state->offset, SEEK_SET) < 0)
        return err_errno(e, "seek in " SV_FMT, SV_ARG(f->path));
    r->in = lines_of(f->fd, HARNESS_RECORD_MAX, &f->lines);
    r->in.number = f->state->number;
    r->start = f->state->offset;
    f->in = r;
    return ST_OK;
}

static enum status next_line(struct harness_file *f, struct sv *text, bool *whole, bool *fits,
                             bool *more, struct err *e)
{
    struct lines *in = &((struct reading_lines *)f->in)->in;
    enum status   s = lines_next(in, text, more, e);

    *fits = s != ST_LIMIT_EXCEEDED;
    if (!*fits) {
        *text = (struct sv){ 0 };
        *more = true;
        s = lines_skip(in, e);
    }
    *whole = in->from > 0 && in->buf[in->from - 1] == '\n';
    return s;
}

static void taken(struct harness_file *f)
{
    const struct reading_lines *r = f->in;

    f->state->offset = r->start + r->in.bytes - (int64_t)(r->in.n - r->in.from);
}

static void save(struct harness_file *f)
{
    harness_text_set(&f->state->tail, harness_tail(f->fd, f->state->offset, &f->kept));
}

const struct harness_input harness_lines = {
    .look = look, .open = open_lines, .next = next_line, .taken = taken, .save = save
};
