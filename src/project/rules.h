/* Which paths belong to the project: git's rules, then .teddyignore over them.
 *
 *   1. the nearest .gitignore that has a matching line decides, else .git/info/exclude,
 *      else core.excludesFile; whatever lies in an ignored directory is ignored; what git
 *      tracks (its index names it) is in nevertheless;
 *   2. built-in names are left out whatever git says (.git, .teddy, virtual environments …),
 *      and the ignore files themselves;
 *   3. the last line of the root's .teddyignore that matches a path, or a directory above
 *      it, overrules both. So it can bring back one file of an ignored directory.
 *
 * The walk asks from the top down and keeps one rules_dir per open directory:
 *
 *     struct rules_dir top = rules_top(rules);
 *     switch (rules_judge(rules, &top, path, is_dir, &state)) ...
 *     struct rules_dir below = rules_enter(rules, &top, path, state, gitignore_text, a);
 *
 * Paths given to these functions start with rules_prefix(): the way from the top of
 * the git work tree to the workspace, "" or ending with a slash. */
#ifndef HEDDLE_RULES_H
#define HEDDLE_RULES_H

#include "project/ignore.h"

struct rules;

enum rules_verdict {
    RULES_IN,
    RULES_OUT,
    RULES_LOOK, /* a directory that is out, but something below it is tracked or may be brought
                 * back */
};

/* What applies to the entries of a directory. */
struct rules_state {
    bool out, builtin;
    int  teddy; /* the .teddyignore line in force */
};

struct rules_dir {
    const struct rules_dir *up;
    const struct ignore    *git;  /* its .gitignore, or NULL */
    size_t                  base; /* length of the path in front of what that file judges */
    struct rules_state      state;
};

/* Reads what applies to the whole workspace. `root` is its absolute path. git's index is read when
 * the first path is judged that git's patterns exclude: so only one thread may use the rules.
 * `variables`: the environment, of which git's variables are used, see gitrepo.h. */
struct rules *rules_in(int root_fd, struct sv root, char *const *variables, struct arena *a);

/* The same without git's rules: only the built-in names and .teddyignore count. */
struct rules *rules_in_without_git(int root_fd, struct sv root, struct arena *a);

/* Why git's index could not be used, or NULL. A missing index is not an error. */
const char *rules_trouble(const struct rules *r);

struct sv          rules_prefix(const struct rules *r);
struct rules_dir   rules_top(const struct rules *r);
enum rules_verdict rules_judge(const struct rules *r, const struct rules_dir *dir, struct sv path,
                               bool is_dir, struct rules_state *state);
struct rules_dir   rules_enter(const struct rules *r, const struct rules_dir *up, struct sv path,
                               struct rules_state state, struct sv gitignore, struct arena *a);

#endif
