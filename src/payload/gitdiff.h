/* The changes of the working tree against the last commit, as git prints them. */
#ifndef HEDDLE_GITDIFF_H
#define HEDDLE_GITDIFF_H

#include "base/sb.h"

/* Runs git in `root`, with hooks, external diff programs and colours off. Bytes on the
 * heap: free((void *)out->s). ST_NOT_FOUND: no git, or no repository. */
enum status gitdiff_read(struct sv root, struct sv *out, struct err *e) MUST_USE;

#endif
