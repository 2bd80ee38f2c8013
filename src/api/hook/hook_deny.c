/* Decides whether a tool of another program may run: which paths it would write, and whether one of
 * them is protected (a referenced thread, a frozen copy, heddle's own files). A path is checked as
 * it is named and with its links resolved. For an operation that removes, moves or replaces
 * everything below a path, every protected place below it is checked. */
#include "api/hook/hook.h"
#include "api/hook/shell_writes.h"
#include "base/path.h"
#include "project/gitindex.h"
#include "project/gitrepo.h"
#include "share/guard.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Absolute paths are stored without their first slash here, so that "" is the root of the file
 * system. */
struct judging {
    struct request          *r;
    struct share            *s;
    struct sv                thread, root;
    const struct shell_path *path;
    struct sv                why; /* the tool may not run; absent: it may */
    struct sv                top; /* of the repository around it */
    struct gitindex          index;
    bool                     is_git, git_asked; /* top and index are there; were looked for */
};

/* ---- paths --------------------------------------------------------------------------------- */

/* "a/b" for /x/../a/./b. False: the path leads above the root. */
static bool normal(struct sv path, struct arena *a, struct sv *out)
{
    struct err ignored;

    return path_normal_exact(path, a, out, &ignored) == ST_OK;
}

/* The part of `path` below `dir`; "" when they are equal; absent when it is not below. */
static struct sv below(struct sv path, struct sv dir)
{
    if (!dir.n)
        return path.n ? path : SV("");
    if (!sv_starts(path, dir) || (path.n > dir.n && path.s[dir.n] != '/'))
        return (struct sv){ 0 };
    return path.n > dir.n ? sv_skip(path, dir.n + 1) : SV("");
}

/* The real path of the longest part of `path` that exists; *n is the length of that part. */
static struct sv existing_path(struct sv path, struct arena *a, size_t *n)
{
    char      real[PATH_MAX];
    struct sv dir = path;

    while (dir.n > 1 && !realpath(sv_cstr(dir, a), real))
        dir = path_dir(dir);
    *n = dir.n > 1 ? dir.n : 0;
    return *n ? sv_dup(sv_of(real), a) : SV("");
}

/* The target of a link whose target does not exist yet; absent: it is not a link. */
static struct sv link_target(struct sv dir, struct sv link, struct arena *a)
{
    char    to[PATH_MAX];
    ssize_t n = readlink(sv_cstr(link, a), to, sizeof to);

    if (n <= 0 || n == (ssize_t)sizeof to)
        return (struct sv){ 0 };
    struct sv target = sv_dup((struct sv){ to, (size_t)n }, a);
    return target.s[0] == '/' ? target : path_join(dir, target, a);
}

/* The path with all links resolved, also a link to a file that does not exist yet: writing through
 * it creates the file. */
static struct sv real_path(struct sv path, struct arena *a)
{
    enum { LINKS_MAX = 16 };

    for (int i = 0; i < LINKS_MAX; i++) {
        size_t    n;
        struct sv real = existing_path(path, a, &n), rest = sv_skip(path, n);
        struct sb b = sb_in(a, 0);
        size_t    name = rest.n > 1 ? 1 + sv_cut(sv_skip(rest, 1), '/').head.n : 0;
        sb_add(&b, real);
        sb_add(&b, sv_first(rest, name));
        struct sv to = name ? link_target(real, sb_sv(&b), a) : (struct sv){ 0 };
        if (to.s) {
            b = sb_in(a, 0);
            sb_add(&b, to);
        }
        sb_add(&b, sv_skip(rest, name));
        path = sb_sv(&b);
        if (!to.s)
            break;
    }
    return path;
}

/* Does the operation act on a link itself? With a slash at the end of the path it acts on what the
 * link leads to. */
static bool is_link(struct sv path, struct arena *a)
{
    struct stat st;

    return !sv_ends(path, SV("/")) && !sv_ends(path, SV("/.")) && !sv_ends(path, SV("/..")) &&
           lstat(sv_cstr(path, a), &st) == 0 && S_ISLNK(st.st_mode);
}

/* ---- what an operation touches --------------------------------------------------------------- */

static bool matches(const struct shell_test *t, struct sv path, struct arena *a)
{
    struct sv text = t->whole ? path : path_base(path);

    return fnmatch(sv_cstr(t->pattern, a), sv_cstr(text, a), t->fold ? FNM_CASEFOLD : 0) == 0;
}

/* Would `find` with these conditions print `path`? */
static bool is_found(const struct shell_tests *tests, struct sv path, struct arena *a)
{
    bool any = false, hit = false;

    for (size_t i = 0; i < tests->list.n; i++) {
        const struct shell_test *t = &tests->list.v[i];
        bool                     m = matches(t, path, a);
        for (struct sv dir = path_dir(path); t->prunes && !m && dir.n; dir = path_dir(dir))
            m = matches(t, dir, a);
        if (t->negated && m)
            return false;
        any = any || !t->negated;
        hit = hit || (!t->negated && m);
    }
    return !any || hit;
}

static bool passes_tests(const struct shell_tests *tests, const struct guard_place *place,
                         struct sv rest, struct arena *a)
{
    int64_t depth = 0;

    for (struct sv_cut c = { .tail = rest, .found = rest.n > 0 }; c.found; depth++)
        c = sv_cut(c.tail, '/');
    if (tests->unknown || (tests->depth && depth > tests->depth) ||
        (place->is_file ? tests->no_files : tests->no_dirs))
        return false;
    return is_found(tests, rest.n ? path_join(tests->place, rest, a) : tests->place, a);
}

/* Do the sources of a copy have a file for the place `rest` below the target? */
static bool is_copied(const struct shell_path *p, struct sv rest, struct arena *a)
{
    struct stat st;
    struct sv   name = sv_cut(rest, '/').head;

    if (!p->from.n || (p->only.n && fnmatch(sv_cstr(p->only, a), sv_cstr(name, a), 0) != 0))
        return false;
    return lstat(sv_cstr(path_join(p->from, rest, a), a), &st) == 0;
}

static void ask_git(struct judging *j, struct sv dir)
{
    struct err     ignored;
    struct gitrepo repo =
        gitrepo_find(path_join(SV("/"), dir, j->r->a), j->r->ws->variables, j->r->a);

    j->git_asked = true;
    j->is_git = repo.found && gitindex_read(repo.index, repo.git_dir, repo.hash_size, j->r->a,
                                            &j->index, &ignored) == ST_OK;
    j->top = sv_skip(repo.top, 1);
}

/* Does git track the place, or a file below it? `dir` is the directory in which the repository is
 * looked for. */
static bool is_tracked(struct judging *j, struct sv dir, struct sv place)
{
    if (!j->git_asked)
        ask_git(j, dir);
    struct sv rest = below(place, j->top);
    return j->is_git && rest.s &&
           (gitindex_has(&j->index, rest) || gitindex_has_below(&j->index, rest));
}

/* Does the operation change a protected place that is `rest` below its path, or in the same
 * repository? heddle's own files are exempt from git operations: heddle detects on its own when
 * they were reverted. */
static bool touches(struct judging *j, struct sv form, const struct guard_place *place,
                    struct sv absolute, struct sv rest)
{
    const struct shell_path *p = j->path;

    switch (p->reach) {
    case SHELL_ONE: return false;
    case SHELL_TREE: return !p->tests || passes_tests(p->tests, place, rest, j->r->a);
    case SHELL_COPY: return !place->holds && is_copied(p, rest, j->r->a);
    case SHELL_TRACKED:
    case SHELL_REPO: return place->refusal.why != GUARD_CONTROL && is_tracked(j, form, absolute);
    }
    return false;
}

/* ---- why not --------------------------------------------------------------------------------- */

/* `base` is in front of paths, see struct share. */
static void add_refusal(struct sb *b, const struct guard_refusal *x, struct sv thread,
                        struct sv base, struct sv path)
{
    sb_addf(b, "heddle: " SV_FMT " ", SV_ARG(path));
    switch (x->why) {
    case GUARD_REFERENCE:
        sb_addf(b,
                "belongs to thread '" SV_FMT "', which thread '" SV_FMT
                "' may read and not write. Write below " SV_FMT ".leslie/threads/" SV_FMT
                "/ instead; `heddle inject ",
                SV_ARG(x->owner), SV_ARG(thread), SV_ARG(base), SV_ARG(thread));
        sb_add_shell(b, x->owner);
        sb_adds(b, " TEXT` tells the other thread something.");
        break;
    case GUARD_COPY:
        sb_adds(b, "is a frozen copy of another thread's work, which is read and not written. "
                   "`heddle refresh --from ");
        sb_add_shell(b, x->owner);
        sb_adds(b, "` takes new copies.");
        break;
    default:
        sb_adds(b,
                "is written by heddle itself. Its commands change what it shows: `heddle help`.");
    }
}

static void refuse(struct judging *j, const struct guard_refusal *x, struct sv path, bool whole)
{
    struct sb b = sb_in(j->r->a, 0);

    add_refusal(&b, x, j->thread, j->s->base, path);
    if (whole) {
        sb_adds(&b, " This acts on all that is in ");
        sb_add_plain_line(&b, j->path->path);
        sb_adds(&b, ": name the files and directories that are yours instead.");
    }
    j->why = sb_sv(&b);
}

/* ---- judging --------------------------------------------------------------------------------- */

static enum status judge_path(struct judging *j, struct sv path, struct err *e)
{
    struct guard_refusal x;

    if (guard_path(j->s, j->thread, path, &x, e))
        return err_code(e);
    if (x.why != GUARD_ALLOWED)
        refuse(j, &x, path, false);
    return ST_OK;
}

/* Does a pattern of a shell match a place, or a directory above it (*above)? *rest is the part of
 * the pattern below the place. */
static bool pattern_matches(struct sv pattern, struct sv place, struct arena *a, struct sv *rest,
                            bool *above)
{
    struct sv_cut p = { .tail = pattern, .found = true }, d = { .tail = place, .found = true };

    for (*above = false; d.found;) {
        if (!p.found) {
            *above = true;
            return true;
        }
        p = sv_cut(p.tail, '/');
        d = sv_cut(d.tail, '/');
        if (fnmatch(sv_cstr(p.head, a), sv_cstr(d.head, a), FNM_PERIOD) != 0)
            return false;
    }
    *rest = p.tail;
    return true;
}

/* `form` is a pattern. */
static enum status judge_pattern(struct judging *j, struct sv form, enum shell_reach reach,
                                 const struct guard_place *place, struct sv absolute, struct err *e)
{
    struct sv rest = { 0 };
    bool      above;

    if (!pattern_matches(form, absolute, j->r->a, &rest, &above))
        return ST_OK;
    if (!above)
        return judge_path(j, rest.n ? path_join(place->path, rest, j->r->a) : place->path, e);
    if (reach == SHELL_TREE && !j->path->tests)
        refuse(j, &place->refusal, place->path, true);
    return ST_OK;
}

/* The places that are protected, as far as the operation reaches them. */
static enum status judge_places(struct judging *j, struct sv form, enum shell_reach reach,
                                struct err *e)
{
    struct guard_place_list places;
    struct sv               inside = below(form, j->root);

    j->git_asked = false;
    if (guard_places(j->s, j->thread, inside, reach == SHELL_TREE && j->path->tests, &places, e))
        return err_code(e);
    for (size_t i = 0; i < places.list.n && !j->why.n; i++) {
        const struct guard_place *place = &places.list.v[i];
        struct sv                 absolute = path_join(j->root, place->path, j->r->a);
        struct sv                 rest = reach == SHELL_REPO ? SV("") : below(absolute, form);
        if (j->path->pattern && judge_pattern(j, form, reach, place, absolute, e))
            return err_code(e);
        if (!j->why.n && rest.s && reach != SHELL_ONE && touches(j, form, place, absolute, rest))
            refuse(j, &place->refusal, place->path, true);
    }
    return ST_OK;
}

/* A linked worktree may have files of .leslie, as they were committed: nobody reads what is written
 * there. */
static void judge_checkout(struct judging *j, struct sv form)
{
    struct sv inside = below(form, sv_skip(workspace_project(j->r->ws), 1));
    struct sb b = sb_in(j->r->a, 0);

    if (!j->r->ws->project.n || !j->thread.n || !sv_starts(inside, SV(".leslie/threads/")))
        return;
    sb_addf(&b,
            "heddle: " SV_FMT " of this worktree is a copy that no other thread sees. The "
            "directories of threads are in " SV_FMT "/.leslie/threads/; yours is " SV_FMT "/.",
            SV_ARG(inside), SV_ARG(j->r->ws->root), SV_ARG(j->thread));
    j->why = sb_sv(&b);
}

/* Checks the path as it is named and with links resolved: neither a link into a protected place nor
 * one out of it may be used to write. */
static enum status judge(struct judging *j, struct err *e)
{
    const struct shell_path *p = j->path;
    struct sv                forms[2] = { p->path, real_path(p->path, j->r->a) };

    for (size_t i = 0; i < COUNT(forms) && !j->why.n; i++) {
        struct sv        form, inside;
        enum shell_reach reach = p->reach;
        if (!normal(forms[i], j->r->a, &form))
            continue;
        inside = below(form, j->root);
        if (reach == SHELL_TREE && i && is_link(p->path, j->r->a))
            reach = SHELL_ONE;
        if (reach == SHELL_ONE)
            judge_checkout(j, form);
        if (!j->why.n && inside.n && judge_path(j, inside, e))
            return err_code(e);
        if (!j->why.n && (p->pattern || reach != SHELL_ONE) && judge_places(j, form, reach, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status hook_deny(struct request *r, struct share *s, struct sv thread,
                      const struct hook_event_params *p, struct sv *why, struct err *e)
{
    struct sv          cwd = sv_starts(p->cwd, SV("/")) ? p->cwd : r->ws->start;
    struct judging     j = { .r = r, .s = s, .thread = thread, .root = sv_skip(r->ws->root, 1) };
    struct shell_paths written = { 0 };

    *why = (struct sv){ 0 };
    if (p->command.n)
        shell_writes(p->command, cwd, workspace_variable(r->ws, "HOME"), r->a, &written);
    for (size_t i = 0; i < p->paths.n; i++) {
        struct sv path = p->paths.v[i];
        *vec_push(&written.list, r->a) = (struct shell_path){
            .path = sv_starts(path, SV("/")) ? path : path_join(cwd, path, r->a),
            .reach = p->whole ? SHELL_TREE : SHELL_ONE,
        };
    }
    for (size_t i = 0; i < written.list.n && !j.why.n; i++) {
        j.path = &written.list.v[i];
        if (judge(&j, e))
            return err_code(e);
    }
    *why = j.why;
    return ST_OK;
}
