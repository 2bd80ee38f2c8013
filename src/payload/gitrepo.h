/* What a git repository says about ignoring beside its .gitignore files, read without
 * starting git: where the work tree begins, .git/info/exclude, core.excludesFile,
 * core.ignoreCase. */
#ifndef HEDDLE_GITREPO_H
#define HEDDLE_GITREPO_H

#include "base/sb.h"

struct gitrepo {
    bool      found;
    bool      ignore_case;   /* patterns match names whatever their case */
    struct sv top;           /* absolute path of the work tree */
    struct sv info_exclude;  /* bytes of .git/info/exclude; absent when there is none */
    struct sv global_ignore; /* bytes of the user's core.excludesFile; absent likewise */
};

/* The repository around `root` (absolute). Nothing here fails: what cannot be read is
 * absent, as it is for git. */
struct gitrepo gitrepo_find(struct sv root, struct arena *a);

#endif
