/* Finds the repository around a directory and what its checkouts share. */
#include "project/gitplace.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "project/gitconfig.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool gitplace_is_below(struct sv path, struct sv top)
{
    return top.n && sv_starts(path, top) && (path.n == top.n || top.n == 1 || path.s[top.n] == '/');
}

static struct sv real_path(struct sv path, struct arena *a)
{
    char found[PATH_MAX];

    return path.n && realpath(sv_cstr(path, a), found) ? sv_dup(sv_of(found), a) : (struct sv){ 0 };
}

/* A file of one path, without its line end: spaces at the end belong to the name, as for git. */
static struct sv path_in_file(struct sv file, struct arena *a)
{
    struct sv text = gitconfig_slurp(file, a);

    while (text.n && (text.s[text.n - 1] == '\n' || text.s[text.n - 1] == '\r'))
        text.n--;
    return text;
}

static struct sv relative_to(struct sv dir, struct sv path, struct arena *a)
{
    return path.n && path.s[0] != '/' ? path_join(dir, path, a) : path;
}

/* ---- git directories --------------------------------------------------------------------------
 */

static bool is_head(struct sv git, struct arena *a)
{
    struct sv   file = path_join(git, SV("HEAD"), a), text;
    struct stat st;
    size_t      digits = 0;

    if (lstat(sv_cstr(file, a), &st) != 0)
        return false;
    if (S_ISLNK(st.st_mode)) /* an old form: a link to refs/heads/x, which need not be there yet */
        return true;
    text = sv_trim(gitconfig_slurp(file, a));
    if (sv_starts(text, SV("ref:")))
        return sv_starts(sv_trim(sv_skip(text, 4)), SV("refs/"));
    while (digits < text.n && isxdigit((unsigned char)text.s[digits]))
        digits++;
    return digits == text.n && (digits == 40 || digits == 64);
}

/* commondir is relative to the directory that has it. */
static struct sv common_of(struct sv git, struct arena *a)
{
    struct sv named = path_in_file(path_join(git, SV("commondir"), a), a);

    return named.n ? real_path(relative_to(git, named, a), a) : git;
}

/* Is it a git directory? *common is then what it shares with others. */
static bool is_git_dir(struct sv git, struct arena *a, struct sv *common)
{
    static const char *const parts[] = { "objects", "refs" };

    if (!git.n || !is_head(git, a))
        return false;
    *common = common_of(git, a);
    for (size_t i = 0; i < COUNT(parts); i++)
        if (!common->n || access(sv_cstr(path_join(*common, sv_of(parts[i]), a), a), X_OK) != 0)
            return false;
    return true;
}

/* heddle's own directory, see GITPLACE_GUARD_HEAD. */
static bool is_guard(struct sv dir, struct sv git, struct arena *a)
{
    return sv_is(path_base(dir), ".heddle") &&
           sv_eq(gitconfig_slurp(path_join(git, SV("HEAD"), a), a), GITPLACE_GUARD_HEAD);
}

/* What a .git file says: absent when it is not one. */
static struct sv pointed_at(struct sv file, struct sv dir, struct arena *a)
{
    struct sv text = path_in_file(file, a), lead = SV("gitdir: ");

    return sv_starts(text, lead) ? relative_to(dir, sv_skip(text, lead.n), a) : (struct sv){ 0 };
}

static enum status bad_pointer(struct sv file, struct sv target, struct arena *a, struct err *e)
{
    if (!target.n) {
        err_set(e, ST_INVALID_SYNTAX, SV_FMT " is not a pointer of git (\"gitdir: PATH\")",
                SV_ARG(file));
        return err_hint(e, "remove the file, or name the workspace with HEDDLE_ROOT");
    }
    err_set(e, ST_NOT_FOUND, SV_FMT " points to " SV_FMT ", which is no git repository",
            SV_ARG(file), SV_ARG(target));
    err_reason(e, "git_pointer");
    if (access(sv_cstr(target, a), F_OK) == 0)
        return err_hint(e, "mend the file, or name the workspace with HEDDLE_ROOT");
    return err_hint(e,
                    "if the main checkout was moved, run `git worktree repair " SH_FMT
                    "` there; or name the workspace with HEDDLE_ROOT",
                    SV_ARG(path_dir(file)));
}

/* ---- one directory -------------------------------------------------------------------------- */

/* Does `dir` hold a .git that counts, or is it a git directory itself? */
static enum status look_at(struct sv dir, struct arena *a, struct gitplace *out, struct err *e)
{
    struct sv   pointer = path_join(dir, SV(".git"), a), target = { 0 };
    struct stat st;

    if (stat(sv_cstr(pointer, a), &st) == 0) {
        if (S_ISREG(st.st_mode)) {
            out->top = dir;
            out->pointer = pointer;
            target = pointed_at(pointer, dir, a);
            out->git_dir = real_path(target, a);
            out->found = is_git_dir(out->git_dir, a, &out->common);
            return out->found ? ST_OK : bad_pointer(pointer, target, a, e);
        }
        out->git_dir = real_path(pointer, a);
        if (is_git_dir(out->git_dir, a, &out->common) && !is_guard(dir, out->git_dir, a)) {
            out->top = dir;
            out->pointer = pointer;
            out->found = true;
            return ST_OK;
        }
    }
    out->git_dir = dir;
    out->found = is_git_dir(dir, a, &out->common) && !is_guard(path_dir(dir), dir, a);
    return ST_OK;
}

/* ---- what the checkouts share --------------------------------------------------------------- */

/* core.worktree, but only where the .git file of that directory points back: a line of a
 * configuration alone must not choose where heddle writes. */
static struct sv named_checkout(struct sv common, struct arena *a)
{
    static const char *const files[] = { "config", "config.worktree" };

    for (size_t i = 0; i < COUNT(files); i++) {
        struct sv   text = gitconfig_slurp(path_join(common, sv_of(files[i]), a), a);
        struct sv   named = gitconfig_value(text, "core.worktree", a);
        struct sv   dir = real_path(relative_to(common, named, a), a);
        struct sv   pointer = dir.n ? path_join(dir, SV(".git"), a) : dir;
        struct stat st;

        if (dir.n && lstat(sv_cstr(pointer, a), &st) == 0 && S_ISREG(st.st_mode) &&
            sv_eq(real_path(pointed_at(pointer, dir, a), a), common))
            return dir;
    }
    return (struct sv){ 0 };
}

static struct sv shared_of(struct sv common, struct arena *a)
{
    struct sv named = named_checkout(common, a);

    if (named.n)
        return named;
    if (!sv_is(path_base(common), ".git"))
        return common;
    return common.n > 5 ? path_dir(common) : SV("/");
}

/* ---- the way up ----------------------------------------------------------------------------- */

/* The longest of GIT_CEILING_DIRECTORIES that is above `dir`: it is not looked at, nor what is
 * above it. git does not resolve links in those after an empty one. */
static struct sv ceiling_of(struct sv dir, char *const *variables, struct arena *a)
{
    struct sv list = env_find(variables, "GIT_CEILING_DIRECTORIES"), found = { 0 };
    bool      resolve = true;

    for (struct sv_cut c = { .tail = list, .found = list.n > 0 }; c.found;) {
        c = sv_cut(c.tail, ':');
        struct sv real = resolve ? real_path(c.head, a) : (struct sv){ 0 };
        struct sv one = real.n ? real : c.head;
        resolve = resolve && c.head.n;
        if (one.n > found.n && one.s[0] == '/' && one.n < dir.n && gitplace_is_below(dir, one))
            found = one;
    }
    return found;
}

static bool crosses_file_systems(char *const *variables)
{
    struct sv v = env_find(variables, "GIT_DISCOVERY_ACROSS_FILESYSTEM");

    return v.n && !sv_is(v, "0") && !sv_is(v, "false") && !sv_is(v, "no") && !sv_is(v, "off");
}

/* What GIT_COMMON_DIR or GIT_DIR name, when it is not what was found. git sets GIT_DIR for its own
 * hooks and aliases, and then both agree. */
static struct sv other_common(struct sv start, struct sv common, char *const *variables,
                              struct arena *a)
{
    struct sv git = env_find(variables, "GIT_DIR");
    struct sv named = env_find(variables, "GIT_COMMON_DIR");

    git = git.n ? real_path(relative_to(start, git, a), a) : git;
    named = named.n ? real_path(relative_to(start, named, a), a) : named;
    if (!named.n && git.n)
        named = common_of(git, a);
    return named.n && !sv_eq(named, common) ? named : (struct sv){ 0 };
}

enum status gitplace_find(struct sv dir, char *const *variables, struct arena *a,
                          struct gitplace *out, struct err *e)
{
    struct sv   ceiling = ceiling_of(dir, variables, a), at = dir;
    bool        crosses = crosses_file_systems(variables);
    struct stat first, st;

    *out = (struct gitplace){ 0 };
    if (stat(sv_cstr(dir, a), &first) != 0)
        return ST_OK;
    for (;;) {
        if (look_at(at, a, out, e))
            return err_code(e);
        if (out->found || at.n <= 1)
            break;
        at = path_dir(at).n ? path_dir(at) : SV("/");
        if (sv_eq(at, ceiling) || stat(sv_cstr(at, a), &st) != 0 ||
            (st.st_dev != first.st_dev && !crosses))
            break;
    }
    if (!out->found)
        *out = (struct gitplace){ 0 };
    else
        out->shared = shared_of(out->common, a);
    out->other = other_common(dir, out->common, variables, a);
    return ST_OK;
}

bool gitplace_is_linked(const struct gitplace *g)
{
    return g->top.n && !sv_eq(g->top, g->shared);
}

struct sv gitplace_moved(const struct gitplace *g, struct arena *a)
{
    struct sv known;

    if (!g->found || sv_eq(g->git_dir, g->common))
        return (struct sv){ 0 };
    known = path_in_file(path_join(g->git_dir, SV("gitdir"), a), a);
    known = relative_to(g->git_dir, known, a);
    struct sv real = real_path(known, a), here = real_path(g->pointer, a);
    return known.n && !sv_eq(real, here) ? path_dir(known) : (struct sv){ 0 };
}

struct sv_list gitplace_worktrees(const struct gitplace *g, struct arena *a)
{
    struct sv         all = path_join(g->common, SV("worktrees"), a);
    UNDO(fd_undo) int fd = open(sv_cstr(all, a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct fs_item   *items;
    struct err        ignored;
    size_t            n = 0;

    if (fd < 0 || fs_list(fd, SV("."), a, &items, &n, &ignored))
        return (struct sv_list){ 0 };
    struct sv *out = ARENA_NEW(a, struct sv, n + 1);
    size_t     kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct sv admin = path_join(all, items[i].name, a);
        struct sv named = path_in_file(path_join(admin, SV("gitdir"), a), a);
        if (named.n)
            out[kept++] = path_dir(relative_to(admin, named, a));
    }
    return (struct sv_list){ out, kept };
}
