/* Keeps .heddle, which git does not track, from being deleted or committed by git.
 *
 * `git clean -fdx` and `git stash -a` remove what is ignored, the log with it. A directory that
 * looks like a repository of its own they leave alone; then `git add -A` would fail on it, unless
 * it is excluded. So there are both:
 *
 *     .heddle/.git/               HEAD, objects/ and refs/, both empty (GITPLACE_GUARD_HEAD)
 *     COMMON/info/exclude         a line /.heddle/, with the way from the top of the checkout
 *
 * Outside of a checkout of git nothing is needed. What git tracks below .heddle takes the
 * protection away: git looks into the directory then. */
#ifndef HEDDLE_WORKSPACE_KEEP_H
#define HEDDLE_WORKSPACE_KEEP_H

#include "api/workspace.h"

/* Make what is missing of both. An error says why it cannot be done: then .heddle is as before, and
 * usable. info/exclude is only appended to, and only when it is a file of the user. */
enum status workspace_keep(const struct workspace *ws, struct arena *a, struct err *e) MUST_USE;

/* Are both there? The error says what is missing, or what git tracks. */
enum status workspace_is_kept(const struct workspace *ws, struct arena *a, struct err *e) MUST_USE;

#endif
