/* What a line for a shell would write, as far as its text tells: the targets of redirections and
 * the arguments of commands that change files (rm, mv, cp, tee, sed -i, git checkout …). Nothing is
 * run. What a script or a program writes by itself is not seen: that is found afterwards, by hash.
 */
#ifndef HEDDLE_API_HOOK_SHELL_WRITES_H
#define HEDDLE_API_HOOK_SHELL_WRITES_H

#include "base/sv.h"
#include "base/vec.h"

/* How much of what a path names is written. */
enum shell_reach {
    SHELL_ONE,     /* the file or directory itself */
    SHELL_TREE,    /* and all that is below it: removed, moved away, changed */
    SHELL_COPY,    /* what `from` has: it is put there under the same names */
    SHELL_TRACKED, /* what git tracks there and below */
    SHELL_REPO,    /* what git tracks in the whole repository around it */
};

/* Conditions of `find`: what it finds is what one of those that are not negated matches, and none
 * of those that are. */
struct shell_test {
    struct sv pattern; /* of a shell; * matches / as well */
    bool      whole;   /* of the path as find prints it; else of the name */
    bool      fold;    /* whatever the case */
    bool      negated;
    bool      prunes; /* negated, and nothing below is found either */
};
struct shell_tests {
    struct sv place; /* where it searches, as the line names it */
    VEC(struct shell_test) list;
    int64_t depth;             /* as deep as this; 0: all */
    bool    no_files, no_dirs; /* which are not found */
    bool    unknown;           /* there are other conditions on names */
};

struct shell_path {
    struct sv        path;    /* absolute, or below `cwd` when that is relative; not normalised */
    bool             pattern; /* it has * ? or [, which a shell expands */
    enum shell_reach reach;
    struct sv        from; /* of SHELL_COPY: the directory, as `path` */
    struct sv        only; /* of SHELL_COPY: the names in `from`, as a pattern; absent: all */
    const struct shell_tests *tests; /* of SHELL_TREE; absent: none */
};
struct shell_paths {
    VEC(struct shell_path) list;
};

/* The paths that `line` would write when it is run in `cwd`. Variables count when the line sets
 * them, and PWD and HOME; words with other ones, or with a substitution, are left out. `home` is
 * what ~ stands for; absent: not known. */
void shell_writes(struct sv line, struct sv cwd, struct sv home, struct arena *a,
                  struct shell_paths *out);

#endif
