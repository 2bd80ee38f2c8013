/* Where a payload goes: files, pipes, standard output, the clipboard. */
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

/* Replace a symbolic link by its target, which need not exist yet. */
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

enum status payload_out_find(struct app *app, struct sv output, struct sv turn, bool report,
                             bool copy, struct payload_out *d, struct err *e)
{
    *d = (struct payload_out){ .app = app, .dir = -1, .plain = -1, .kept = -1, .copy = copy };
    if (output.n && !sv_is(output, "-"))
        return open_chosen(app, output, d, e);
    if (!output.n && turn.n) {
        d->in_turn = true;
        d->shown = d->name = path_join(turn, SV("input.md"), app->a);
        d->dir = openat(workspace_project_fd(&app->ws), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return d->dir < 0 ? err_errno(e, "open the workspace") : ST_OK;
    }
    if (report && output.n)
        return err_set(e, ST_USAGE, "stdout holds the report; name a file with --output");
    d->plain = report ? -1 : 1;
    return ST_OK;
}

void payload_out_close(struct payload_out *d)
{
    if (d->drafted)
        fs_draft_drop(&d->draft);
    d->drafted = false;
    fd_undo(&d->dir);
    fd_undo(&d->kept);
    if (d->plain > 2)
        close(d->plain);
}

/* ---- writing -------------------------------------------------------------------------------- */

static enum status open_file(struct payload_out *d, struct err *e)
{
    if (fs_draft_open(&d->draft, d->dir, d->name, 0644, e))
        return err_code(e);
    d->drafted = true;
    if (d->mode && fchmod(d->draft.fd, (mode_t)d->mode) != 0)
        warn("the mode of " SV_FMT " could not be kept", SV_ARG(d->shown));
    d->to = sb_to_fd(d->draft.fd, d->app->a);
    return ST_OK;
}

/* Write to memory first: the bytes go to the clipboard and to their destination. */
static enum status open_memory(struct payload_out *d, struct err *e)
{
    d->kept = memfd_create("payload", MFD_CLOEXEC);
    if (d->kept < 0)
        return err_errno(e, "memory for the clipboard");
    d->to = sb_to_fd(d->kept, d->app->a);
    return ST_OK;
}

static enum status open_out(void *ctx, struct sb **out, struct err *e)
{
    struct payload_out *d = ctx;

    *out = &d->to;
    if (d->name.n)
        return open_file(d, e);
    if (d->copy)
        return open_memory(d, e);
    if (d->plain > 1)
        d->to = sb_to_fd(d->plain, d->app->a);
    else
        *out = d->plain < 0 ? NULL : &d->app->out;
    return ST_OK;
}

/* Drop what was written; false when that is impossible, because stdout or a device has it. */
static bool drop_out(void *ctx)
{
    struct payload_out *d = ctx;

    if (d->drafted)
        fs_draft_drop(&d->draft);
    d->drafted = false;
    fd_undo(&d->kept);
    return d->name.n || d->copy || d->plain < 0;
}

void payload_out_take(struct payload_out *d, struct request *r)
{
    r->out = NULL;
    r->out_open = open_out;
    r->out_drop = drop_out;
    r->out_ctx = d;
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* Copy what was just written to another output. */
static enum status copy_to(int fd, struct sb *out, struct err *e)
{
    enum { PART = 256 << 10 };
    struct arena scratch = { 0 };
    char        *part = ARENA_NEW(&scratch, char, PART);
    ssize_t      n = 0;

    for (off_t at = 0; (n = pread(fd, part, PART, at)) > 0; at += n)
        sb_add(out, (struct sv){ part, (size_t)n });
    enum status s = n < 0 ? err_errno(e, "read") : ST_OK;
    arena_free(&scratch);
    return s;
}

/* Write what was collected in memory to its destination. */
static enum status hand_on(struct payload_out *d, struct err *e)
{
    if (d->plain == 1)
        return copy_to(d->kept, &d->app->out, e);
    if (d->plain < 0)
        return ST_OK;
    struct sb out = sb_to_fd(d->plain, d->app->a);
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

enum status payload_out_done(struct payload_out *d, struct err *e)
{
    struct app *app = d->app;
    bool        print = d->in_turn && sv_is(app->program, "teddy") && !app->json;

    if (d->drafted) {
        d->drafted = false;
        if (fs_draft_commit(&d->draft, e))
            return err_code(e);
        if ((d->copy || print) && fs_open(d->dir, d->name, O_RDONLY, &d->kept, e))
            return err_code(e);
        if (print && copy_to(d->kept, &app->out, e))
            return err_code(e);
    } else if (d->copy && hand_on(d, e)) {
        return err_code(e);
    }
    if (d->copy)
        copy_to_clipboard(app, d->kept);
    return ST_OK;
}

/* ---- which file it is ------------------------------------------------------------------------ */

/* Where a file is or will be, below the root; absent when it is elsewhere. */
static struct sv place_of(struct app *app, struct sv path)
{
    char      real[PATH_MAX];
    struct sv parent = path_dir(path), top = path_join(workspace_project(&app->ws), SV(""), app->a),
              full = SV("");

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
