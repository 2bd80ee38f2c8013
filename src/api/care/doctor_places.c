/* Checks of `heddle doctor` that concern where the workspace is: logs in other checkouts of the
 * repository, which nobody reads, and pointers of git that are out of date; and whether git leaves
 * the log alone. */
#include "api/care/doctor.h"
#include "api/workspace_keep.h"
#include "base/path.h"

#include <unistd.h>

/* A log that an earlier version made in a linked worktree, or that was copied there. */
static void look_for_log(struct doctor *d, struct sv dir)
{
    struct arena           *a = d->r->a;
    const struct workspace *ws = d->r->ws;
    struct sb               hint = sb_in(a, 0);

    if (sv_eq(dir, ws->root) ||
        access(sv_cstr(path_join(dir, SV(".heddle/heddle.db"), a), a), F_OK) != 0)
        return;
    sb_adds(&hint, "bring its entries over: HEDDLE_ROOT=");
    sb_add_shell(&hint, dir);
    sb_adds(&hint, " heddle log export --all | heddle log import --all --root ");
    sb_add_shell(&hint, ws->root);
    sb_adds(&hint, "; a thread that is in both logs goes in under another name: log export T | "
                   "log import NAME; then remove that .heddle");
    doctor_find(d, ST_CONFLICT, sv_cstr(sb_sv(&hint), a),
                "the log in " SV_FMT "/.heddle is not used: all checkouts of the repository have "
                "the workspace " SV_FMT,
                SV_ARG(dir), SV_ARG(ws->root));
}

enum status doctor_check_places(struct doctor *d, struct err *e)
{
    const struct workspace *ws = d->r->ws;
    struct sv               moved = gitplace_moved(&ws->git, d->r->a);
    bool                    said = !ws->left.n;

    (void)e;
    if (!ws->git.found || workspace_variable(ws, "HEDDLE_ROOT").n)
        return ST_OK;
    struct sv_list others = gitplace_worktrees(&ws->git, d->r->a);
    for (size_t i = 0; i < others.n; i++) {
        said = said || sv_eq(others.v[i], ws->left);
        look_for_log(d, others.v[i]);
    }
    if (!said)
        look_for_log(d, ws->left);
    if (moved.n)
        doctor_note(d,
                    "git believes this worktree to be in " SV_FMT
                    "; if it was moved, run `git worktree repair` here",
                    SV_ARG(moved));
    return ST_OK;
}

enum status doctor_check_kept(struct doctor *d, struct err *e)
{
    return d->r->ws->has_heddle ? workspace_is_kept(d->r->ws, d->r->a, e) : ST_OK;
}

enum status doctor_fix_kept(struct doctor *d, struct err *e)
{
    return workspace_keep(d->r->ws, d->r->a, e);
}
