/* Which git repository a directory belongs to, and the one directory that all its checkouts have in
 * common. Found as git finds it, from the directory upwards, but by reading files alone: git is not
 * started.
 *
 *     struct gitplace g;
 *     if (gitplace_find(dir, variables, a, &g, e)) ...
 *     if (g.found && gitplace_is_linked(&g)) ...      the main checkout is g.shared
 *
 * `shared` is the main checkout. A submodule is a repository of its own: its checkout. Where no
 * file says where a main checkout is (a bare repository, git init --separate-git-dir), it is the
 * common directory. docs/FORMATS.md has the table of layouts; tests/e2e/worktrees.sh makes each of
 * them. */
#ifndef HEDDLE_GITPLACE_H
#define HEDDLE_GITPLACE_H

#include "base/sb.h"

struct gitplace {
    bool      found;
    struct sv top; /* the checkout: where .git is; absent: the directory is in a git directory */
    struct sv pointer; /* that .git, whatever it is; absent with `top` */
    struct sv git_dir; /* where HEAD of this checkout is */
    struct sv common;  /* what the checkouts share: config, objects, info/exclude */
    struct sv shared;  /* see above */
    struct sv other;   /* GIT_DIR or GIT_COMMON_DIR name this common directory instead of `common`;
                        * absent: they agree, or are not set */
};

/* `dir` is absolute and has no links in it. Not found is ST_OK. An error: a .git file on the way
 * leads nowhere; then `top` and `pointer` are set nevertheless. GIT_CEILING_DIRECTORIES and
 * GIT_DISCOVERY_ACROSS_FILESYSTEM count as for git; GIT_DIR does not lead elsewhere. */
enum status gitplace_find(struct sv dir, char *const *variables, struct arena *a,
                          struct gitplace *out, struct err *e) MUST_USE;

/* Does the directory lie in a checkout (or git directory) other than `shared`? */
bool gitplace_is_linked(const struct gitplace *g);

/* Where git believes this linked worktree to be, when it is not here: it was moved or copied. */
struct sv gitplace_moved(const struct gitplace *g, struct arena *a);

/* The linked worktrees that git knows of the repository, by their absolute paths. They need not be
 * there. */
struct sv_list gitplace_worktrees(const struct gitplace *g, struct arena *a);

/* Is `path` the directory `top` or below it? */
bool gitplace_is_below(struct sv path, struct sv top);

/* What .heddle/.git/HEAD says: a directory .heddle with such a .git only looks like a repository,
 * to git, which then leaves it alone; gitplace_find() passes it over. */
#define GITPLACE_GUARD_HEAD SV("ref: refs/heads/none\n")

#endif
