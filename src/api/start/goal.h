/* The goals of users. `heddle` without a command shows them, `heddle init --for` begins one of
 * them. */
#ifndef HEDDLE_API_GOAL_H
#define HEDDLE_API_GOAL_H

#include "base/sv.h"

enum { GOAL_STEPS = 3 };

struct goal {
    const char *name;              /* "agents": a value of --for */
    const char *what;              /* "share work between agents" */
    const char *words;             /* the commands it is about */
    const char *steps[GOAL_STEPS]; /* commands that can be run in a fresh workspace as they stand */
    const char *more;              /* one sentence on what comes then */
};

extern const struct goal goal_table[]; /* ends with a name that is NULL */
extern const char *const goal_names[]; /* ends with NULL */

const struct goal *goal_find(struct sv name); /* NULL: there is none */

#endif
