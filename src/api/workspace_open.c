/* Finding a workspace and reading its settings. */
#include "api/workspace_open.h"

#include "api/owner.h"
#include "api/settings.h"
#include "api/trust.h"
#include "api/user_file.h"
#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Above a repository only this makes a workspace. */
static const char *const heddle_alone[] = { ".heddle", NULL };

/* Repositories inside checkouts of others inside checkouts: where the search for one above ends. */
enum { NESTED_MAX = 8 };

static bool has(struct sv dir, const char *name, struct arena *a)
{
    return access(sv_cstr(path_join(dir, sv_of(name), a), a), F_OK) == 0;
}

static bool has_mark(struct sv dir, const char *const *marks, struct arena *a)
{
    bool any = false;

    for (size_t i = 0; marks[i] && !any; i++)
        any = has(dir, marks[i], a);
    return any;
}

/* The nearest directory from `at` up to `top` that holds one of the marks; absent: none does. */
static struct sv marked(struct sv at, struct sv top, const char *const *marks, struct arena *a)
{
    while (!has_mark(at, marks, a)) {
        if (at.n <= top.n)
            return (struct sv){ 0 };
        at = path_dir(at).n ? path_dir(at) : SV("/");
    }
    return at;
}

/* ---- git ------------------------------------------------------------------------------------ */

/* The place in the main checkout that is at the same path as `dir` is in its own; where there is no
 * main checkout, the directory that takes its place. */
static struct sv counterpart(const struct gitplace *g, struct sv dir, struct arena *a)
{
    if (!g->top.n || sv_eq(g->shared, g->common))
        return g->shared;
    struct sv rest = sv_skip(dir, g->top.n);
    while (rest.n && rest.s[0] == '/')
        rest = sv_skip(rest, 1);
    return rest.n ? path_join(g->shared, rest, a) : g->shared;
}

/* Which part of a repository belongs to another user? git asks the same of the first three; absent:
 * none does. */
static struct sv foreign_part(const struct workspace *ws, const struct gitplace *g, struct arena *a)
{
    const struct sv parts[] = { g->pointer, g->top, g->git_dir, g->common };
    struct stat     st;

    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].n && (lstat(sv_cstr(parts[i], a), &st) != 0 || !user_is(ws, st.st_uid)))
            return parts[i];
    return (struct sv){ 0 };
}

/* The workspace of the repository around `here`, ws->git: rule 2 of workspace_find(). */
static struct sv root_in_git(struct workspace *ws, struct sv here, struct arena *a)
{
    const char *const *marks = workspace_marks;
    struct gitplace    g = ws->git;
    struct sv          at = here, seen = { 0 }, found = { 0 };
    struct err         ignored;

    for (int i = 0; i < NESTED_MAX && g.found; i++) {
        /* what is around the common directory may be of the same repository: proj/.bare */
        bool      again = sv_eq(seen, g.common) && g.top.n;
        struct sv top = again ? g.top : g.shared;
        found = marked(again ? at : counterpart(&g, at, a), top, marks, a);
        if (!again && (!g.top.n || gitplace_is_linked(&g)) && !ws->foreign.n)
            ws->foreign = foreign_part(ws, &g, a);
        if (found.n || top.n <= 1)
            break;
        marks = heddle_alone;
        seen = g.common;
        at = path_dir(top).n ? path_dir(top) : SV("/");
        if (gitplace_find(at, ws->variables, a, &g, &ignored))
            break;
    }
    if (!found.n && !g.found)
        found = marked(at, SV("/"), marks, a);
    if (!found.n && !ws->foreign.n)
        ws->foreign = foreign_part(ws, &ws->git, a);
    return found.n ? found : ws->git.shared;
}

/* A log below a checkout that is not the shared one: an earlier version of heddle made it. */
static struct sv left_log(struct sv here, struct sv top, struct arena *a)
{
    static const char *const logs[] = { ".heddle/heddle.db", NULL };

    return marked(here, top, logs, a);
}

/* ---- the two roots -------------------------------------------------------------------------- */

static enum status bad_variable(struct sv value, const char *what, struct err *e)
{
    err_set(e, ST_USAGE, "HEDDLE_ROOT is '" SV_FMT "', which %s", SV_ARG(value), what);
    return err_hint(e, "set it to the absolute path of the directory that holds .heddle, or is to "
                       "hold it; or unset it");
}

/* HEDDLE_ROOT, when it counts; absent: it does not. */
static enum status named_root(const struct workspace *ws, const char *dir, struct sv here,
                              struct arena *a, struct sv *out, struct err *e)
{
    struct sv   v = workspace_variable(ws, "HEDDLE_ROOT");
    char        real[PATH_MAX];
    struct stat st;

    *out = (struct sv){ 0 };
    if (!v.n || ws->exactly)
        return ST_OK;
    bool counts = !dir || ws->is_seen;
    if (counts && v.s[0] != '/')
        return bad_variable(v, "is not an absolute path", e);
    bool there = realpath(sv_cstr(v, a), real) != NULL;
    if (counts && (!there || stat(real, &st) != 0 || !S_ISDIR(st.st_mode)))
        return bad_variable(v, there ? "is not a directory" : "is not there", e);
    if (there && (counts || sv_eq(here, sv_of(real))))
        *out = sv_dup(sv_of(real), a);
    return ST_OK;
}

/* Where no workspace is named: look for it. */
static struct sv searched_root(struct workspace *ws, struct sv here, struct arena *a)
{
    const struct gitplace *g = &ws->git;

    if (ws->trouble.code || ws->exactly)
        return here;
    if (ws->only_here)
        return g->found && gitplace_is_linked(g) && sv_eq(here, g->top) ? root_in_git(ws, here, a)
                                                                        : here;
    if (g->found)
        return root_in_git(ws, here, a);
    struct sv found = marked(here, SV("/"), workspace_marks, a);
    return found.n ? found : here;
}

/* The directory that is packed. */
static struct sv project_of(const struct workspace *ws, bool named, struct arena *a)
{
    const struct gitplace *g = &ws->git;

    if (ws->exactly || ws->only_here)
        return ws->root;
    if (!g->top.n)
        return !named || g->found || gitplace_is_below(ws->start, ws->root) ? ws->root : ws->start;
    if (!named && !ws->trouble.code && !gitplace_is_linked(g))
        return ws->root;
    struct sv own = marked(ws->start, g->top, workspace_marks, a);
    return own.n ? own : g->top;
}

static enum status open_dir(struct sv path, struct arena *a, int *fd, struct err *e)
{
    *fd = open(sv_cstr(path, a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(path)) : ST_OK;
}

/* What an earlier search in the same workspace has found does not stay. */
static void forget_place(struct workspace *ws)
{
    if (ws->root_fd >= 0)
        close(ws->root_fd);
    if (ws->project.n)
        close(ws->project_fd);
    ws->root_fd = ws->project_fd = -1;
    ws->left = ws->foreign = ws->project = (struct sv){ 0 };
    ws->git = (struct gitplace){ 0 };
    ws->trouble = (struct err){ 0 };
    ws->is_workspace = ws->has_heddle = ws->is_named = false;
}

enum status workspace_find(struct workspace *ws, const char *dir, struct arena *a, struct err *e)
{
    char      absolute[PATH_MAX];
    struct sv named, project;

    forget_place(ws);
    if (!realpath(dir ? dir : ".", absolute))
        return err_errno(e, "%s", dir ? dir : "the current directory");
    struct sv here = sv_dup(sv_of(absolute), a);
    if (named_root(ws, dir, here, a, &named, e))
        return err_code(e);
    ws->start = here;
    if (!ws->exactly && gitplace_find(here, ws->variables, a, &ws->git, e)) {
        if (!named.n)
            ws->trouble = *e;
    }
    ws->root = named.n ? named : searched_root(ws, here, a);
    if (ws->git.found && gitplace_is_linked(&ws->git) && !named.n)
        ws->left = left_log(here, ws->git.top, a);
    if (sv_eq(ws->left, ws->root))
        ws->left = (struct sv){ 0 };
    ws->is_workspace = !ws->trouble.code && has_mark(ws->root, workspace_marks, a);
    ws->has_heddle = !ws->trouble.code && has(ws->root, ".heddle", a);
    ws->is_named = dir && sv_eq(ws->root, here) && !ws->is_seen;
    if (open_dir(ws->root, a, &ws->root_fd, e))
        return err_code(e);
    project = project_of(ws, named.n, a);
    if (sv_eq(project, ws->root))
        return ST_OK;
    if (open_dir(project, a, &ws->project_fd, e))
        return err_code(e);
    ws->project = project;
    return ST_OK;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* Files of git that belong to another user must not lead to a workspace; where there is none yet,
 * none is made. */
static enum status check_way(struct workspace *ws, const struct json *safe, struct arena *a,
                             struct err *e)
{
    if (!ws->foreign.n || sv_eq(ws->root, ws->start) ||
        owner_check_git(ws, safe, ws->foreign, a, e) == ST_OK)
        return ST_OK;
    if (ws->is_workspace)
        return err_code(e);
    ws->trouble = *e;
    return ST_OK;
}

enum status workspace_settings(struct workspace *ws, struct arena *a, struct err *e)
{
    struct json user, workspace = { 0 };
    struct sv   text = { 0 };

    if (settings_of_user(ws, a, &user, e))
        return err_code(e);
    const struct json *safe = json_find(&user, "safe_workspaces");
    if (check_way(ws, safe, a, e) ||
        (ws->is_workspace && !ws->is_named && owner_check(ws, safe, a, e)) ||
        (!ws->trouble.code && settings_of_workspace(ws, a, &text, &workspace, e)))
        return err_code(e);
    ws->store_url = workspace_variable(ws, "HEDDLE_STORE");
    config_join(&ws->config, &user, &workspace, false, a);
    if (!ws->config.trusted && trust_has(ws, text, a))
        config_join(&ws->config, &user, &workspace, true, a);
    ws->config.withheld = ws->warn;
    ws->config.withheld_ctx = ws->warn_ctx;
    return ST_OK;
}

void workspace_say_place(const struct workspace *ws)
{
    if (ws->left.n)
        workspace_note(ws,
                       "the log in " SV_FMT "/.heddle is not used: all checkouts of the repository "
                       "have the workspace " SV_FMT "; `heddle doctor` says how to bring it there",
                       SV_ARG(ws->left), SV_ARG(ws->root));
    if (ws->git.other.n)
        workspace_note(ws,
                       "GIT_DIR leads to " SV_FMT ", but " SV_FMT " belongs to %s" SV_FMT
                       ": the workspace is " SV_FMT,
                       SV_ARG(ws->git.other), SV_ARG(ws->start),
                       ws->git.found ? "" : "no repository", SV_ARG(ws->git.common),
                       SV_ARG(ws->root));
}

enum status workspace_open(struct workspace *ws, const char *dir, enum op_needs needs,
                           struct arena *a, struct err *e)
{
    if (needs >= NEEDS_PLACE && workspace_find(ws, dir, a, e))
        return err_code(e);
    if (needs < NEEDS_ROOT)
        return ST_OK;
    workspace_say_place(ws);
    return workspace_settings(ws, a, e);
}
