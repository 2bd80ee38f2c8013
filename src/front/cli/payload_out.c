#include "front/cli/payload_out.h"

#include "base/fs.h"
#include "base/path.h"
#include "front/cli/clipboard.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* ---- opening -------------------------------------------------------------------------------- */

/* What a link leads to, also when that is not there yet. */
static enum status follow(struct app *app, struct sv *path, struct err *e)
{
    char to[PATH_MAX];

    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t n = readlink(sv_cstr(*path, app->a), to, sizeof to - 1);
        if (n < 0)
            return ST_OK;
        struct sv target = sv_dup((struct sv){ to, (size_t)n }, app->a);
        struct sv parent = path_dir(*path);
        bool      beside = target.n && target.s[0] != '/' && sv_has(*path, '/');
        *path = !beside    ? target
                : parent.n ? path_join(parent, target, app->a)
                           : path_join(SV("/"), target, app->a);
    }
    errno = ELOOP;
    return err_errno(e, SV_FMT, SV_ARG(*path));
}

static enum status open_chosen(struct app *app, struct sv path, struct payload_out *d,
                               struct err *e)
{
    struct stat st;
    const char *name = sv_cstr(path, app->a);
    bool        there = stat(name, &st) == 0;

    d->shown = path;
    if (there && S_ISDIR(st.st_mode)) {
        err_set(e, ST_INVALID_SYNTAX, "'%s' is a folder", name);
        return err_hint(e, "name a file in it");
    }
    if (there && !S_ISREG(st.st_mode)) {
        d->plain = open(name, O_WRONLY | O_CLOEXEC);
        return d->plain < 0 ? err_errno(e, "open %s", name) : ST_OK;
    }
    d->mode = there ? st.st_mode & 07777 : 0;
    if (follow(app, &path, e))
        return err_code(e);
    struct sv parent = path_dir(path);
    if (!parent.n)
        parent = path.n && path.s[0] == '/' ? SV("/") : SV(".");
    d->dir = open(sv_cstr(parent, app->a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d->name = path_base(path);
    return d->dir < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(parent)) : ST_OK;
}

enum status payload_out_open(struct app *app, struct sv output, struct sv turn, bool report,
                             struct payload_out *d, struct err *e)
{
    *d = (struct payload_out){ .dir = -1, .plain = -1, .kept = -1 };
    if (output.n && !sv_is(output, "-"))
        return open_chosen(app, output, d, e);
    if (!output.n && turn.n) {
        d->in_turn = true;
        d->shown = d->name = path_join(turn, SV("input.md"), app->a);
        d->dir = openat(app->ws.root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return d->dir < 0 ? err_errno(e, "open the workspace") : ST_OK;
    }
    if (report && output.n)
        return err_set(e, ST_USAGE, "stdout holds the report; name a file with --output");
    d->plain = report ? -1 : 1;
    return ST_OK;
}

void payload_out_close(struct payload_out *d)
{
    fd_undo(&d->dir);
    fd_undo(&d->kept);
    if (d->plain > 2)
        close(d->plain);
}

bool payload_out_may_repeat(const struct payload_out *d)
{
    return d->plain < 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Once more, from what was just written. */
static enum status copy_to(int fd, struct sb *out, struct err *e)
{
    struct buffer b = { 0 };
    ssize_t       n = 0;

    buffer_reserve(&b, RESOURCE_PART);
    for (off_t at = 0; (n = pread(fd, b.s, b.cap, at)) > 0; at += n)
        sb_add(out, (struct sv){ b.s, (size_t)n });
    buffer_free(&b);
    return n < 0 ? err_errno(e, "read") : ST_OK;
}

static enum status write_file(struct app *app, struct payload *p, struct payload_out *d,
                              struct err *e)
{
    struct fs_draft draft;

    if (fs_draft_open(&draft, d->dir, d->name, 0644, e))
        return err_code(e);
    if (d->mode && fchmod(draft.fd, (mode_t)d->mode) != 0)
        warn("the mode of " SV_FMT " could not be kept", SV_ARG(d->shown));
    struct sb out = sb_to_fd(draft.fd, app->a);
    if (payload_write(p, &out, e)) {
        fs_draft_drop(&draft);
        return err_in(e, SV_FMT, SV_ARG(d->shown));
    }
    return fs_draft_commit(&draft, e);
}

static enum status write_plain(struct app *app, struct payload *p, int fd, struct err *e)
{
    if (fd < 0)
        return payload_write(p, NULL, e);
    if (fd == 1)
        return payload_write(p, &app->out, e);
    struct sb out = sb_to_fd(fd, app->a);
    return payload_write(p, &out, e);
}

/* To memory first, since it is wanted twice. */
static enum status write_twice(struct app *app, struct payload *p, struct payload_out *d,
                               struct err *e)
{
    fd_undo(&d->kept);
    d->kept = memfd_create("payload", MFD_CLOEXEC);
    if (d->kept < 0)
        return err_errno(e, "memory for the clipboard");
    struct sb memory = sb_to_fd(d->kept, app->a);
    if (payload_write(p, &memory, e))
        return err_code(e);
    if (d->plain == 1)
        return copy_to(d->kept, &app->out, e);
    if (d->plain < 0)
        return ST_OK;
    struct sb out = sb_to_fd(d->plain, app->a);
    if (copy_to(d->kept, &out, e))
        return err_code(e);
    return sb_flush(&out, e);
}

static void copy_to_clipboard(struct app *app, int fd)
{
    struct err e;

    if (clipboard_copy(fd, &e)) {
        warn("not copied: %s", e.text);
        return;
    }
    bool teddy = sv_is(app->program, "teddy"), tty = isatty(2);
    fprintf(stderr, "%s%sOutput copied to clipboard.%s\n", teddy ? "\n" : "", tty ? "\033[32m" : "",
            tty ? "\033[0m" : "");
}

enum status payload_out_write(struct app *app, struct payload *p, struct payload_out *d, bool copy,
                              struct err *e)
{
    bool print = d->in_turn && sv_is(app->program, "teddy") && !app->json;

    if (d->name.n) {
        if (write_file(app, p, d, e))
            return err_code(e);
        if ((copy || print) && fs_open(d->dir, d->name, O_RDONLY, &d->kept, e))
            return err_code(e);
        if (print && copy_to(d->kept, &app->out, e))
            return err_code(e);
    } else if (!copy) {
        return write_plain(app, p, d->plain, e);
    } else if (write_twice(app, p, d, e)) {
        return err_code(e);
    }
    if (copy)
        copy_to_clipboard(app, d->kept);
    return ST_OK;
}

/* ---- which file it is ------------------------------------------------------------------------ */

/* Where a file is or will be, below the root; absent when it is elsewhere. */
static struct sv place_of(struct app *app, struct sv path)
{
    char      real[PATH_MAX];
    struct sv parent = path_dir(path), top = path_join(app->ws.root, SV(""), app->a), full = SV("");

    if (realpath(sv_cstr(path, app->a), real))
        full = sv_dup(sv_of(real), app->a);
    else if (realpath(parent.n ? sv_cstr(parent, app->a) : ".", real))
        full = path_join(sv_dup(sv_of(real), app->a), path_base(path), app->a);
    return sv_starts(full, top) ? sv_skip(full, top.n) : (struct sv){ 0 };
}

struct sv payload_out_place(struct app *app, struct sv output, struct sv turn)
{
    struct stat st;
    char        name[PATH_MAX];

    if (output.n && !sv_is(output, "-"))
        return place_of(app, output);
    if (!output.n && turn.n)
        return path_join(turn, SV("input.md"), app->a);
    if (fstat(1, &st) != 0 || !S_ISREG(st.st_mode))
        return (struct sv){ 0 };
    ssize_t n = readlink("/proc/self/fd/1", name, sizeof name - 1);
    return n > 0 ? place_of(app, sv_dup((struct sv){ name, (size_t)n }, app->a)) : (struct sv){ 0 };
}
