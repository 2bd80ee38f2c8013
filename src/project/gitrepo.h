/* The settings of a git repository for ignoring files besides its .gitignore files, read without
 * starting git: where the work tree begins, .git/info/exclude, core.excludesFile, core.ignoreCase,
 * and where its index is. GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE count as for git when the
 * workspace lies in that work tree. Variables are those of the environment that is handed in
 * (base/env.h). */
#ifndef HEDDLE_GITREPO_H
#define HEDDLE_GITREPO_H

#include "base/sb.h"

struct gitrepo {
    bool      found;
    bool      ignore_case;    /* patterns match names whatever their case */
    struct sv top;            /* absolute path of the work tree */
    struct sv info_exclude;   /* bytes of .git/info/exclude; absent when there is none */
    struct sv global_ignore;  /* bytes of the user's core.excludesFile; absent likewise */
    struct sv git_dir, index; /* absolute paths */
    size_t    hash_size;      /* of object names: 20 or 32 */
};

/* The repository around `root` (absolute). Nothing here fails: what cannot be read is
 * absent, as it is for git. */
struct gitrepo gitrepo_find(struct sv root, char *const *variables, struct arena *a);

#endif
