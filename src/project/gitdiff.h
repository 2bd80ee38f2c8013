/* The changes of the working tree against the last commit, as git prints them. */
#ifndef HEDDLE_GITDIFF_H
#define HEDDLE_GITDIFF_H

#include "base/sb.h"

/* Runs git in `root`, with everything switched off by which the settings of a repository run
 * programs, open the network or lead to other directories: hooks, fsmonitor, external diffs,
 * filters, lazy fetches, dirty submodules. `variables` is the environment for git; what looks like
 * a secret is removed from it. The bytes live in `a`. ST_NOT_FOUND: no git, or no repository. */
enum status gitdiff_read(struct sv root, char *const *variables, struct arena *a, struct sv *out,
                         struct err *e) MUST_USE;

#endif
