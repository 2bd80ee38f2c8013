/* Checks of `heddle doctor` that concern hooks of coding agents: failures in them, which are only
 * logged, and whether the program runs them at all. */
#include "api/care/doctor.h"
#include "base/fs.h"
#include "base/path.h"

#include <unistd.h>

enum { LOG_BYTES = 4 << 20 };

/* The number of notes in hook.log, and the newest. */
static void look_at_log(struct doctor *d)
{
    struct sv  text, last = { 0 };
    struct err ignored;
    size_t     n = 0;

    if (fs_read(d->r->ws->root_fd, SV(".heddle/hook.log"), LOG_BYTES, d->r->a, &text, &ignored))
        return;
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        last = line.head.n ? line.head : last;
        n += line.head.n > 0;
        text = line.tail;
    }
    if (n)
        doctor_note(d, "%zu note%s in .heddle/hook.log, the newest: " SV_FMT, n, n == 1 ? "" : "s",
                    SV_ARG(last));
}

static enum status read_below(struct doctor *d, struct sv dir, const char *name, struct sv *out)
{
    UNDO(fd_undo)
    int        fd = open(sv_cstr(path_join(dir, sv_of(name), d->r->a), d->r->a),
                         O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct err ignored;

    *out = (struct sv){ 0 };
    return fd < 0 ? ST_NOT_FOUND : fs_read_fd(fd, LOG_BYTES, d->r->a, out, &ignored);
}

/* Codex skips hooks that were not trusted, and says nothing. Trusted files are listed in
 * config.toml by their path, together with a hash, which is not compared here: a file that is not
 * named there was never trusted. */
static void look_at_codex(struct doctor *d, struct sv home, struct sv dir)
{
    struct sv path = path_join(dir, SV("hooks.json"), d->r->a), hooks, config;

    if (read_below(d, dir, "hooks.json", &hooks) || sv_find(hooks, SV(" hook codex")) < 0)
        return;
    if (read_below(d, home, "config.toml", &config) || sv_find(config, path) < 0)
        doctor_note(d, "Codex runs no hook of " SV_FMT " until you trust it: run /hooks there",
                    SV_ARG(path));
}

enum status doctor_check_hooks(struct doctor *d, struct err *e)
{
    struct sv home = workspace_variable(d->r->ws, "HOME");
    struct sv codex = workspace_variable(d->r->ws, "CODEX_HOME");

    (void)e;
    look_at_log(d);
    if (!codex.n && home.n)
        codex = path_join(home, SV(".codex"), d->r->a);
    if (codex.n) {
        look_at_codex(d, codex, codex);
        look_at_codex(d, codex, path_join(workspace_project(d->r->ws), SV(".codex"), d->r->a));
    }
    return ST_OK;
}
