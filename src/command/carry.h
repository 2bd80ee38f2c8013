/* An agent that leaves a branch can carry its content along: a summary of the nodes between the
 * fork and the node that it leaves becomes a node of the branch that it enters. */
#ifndef HEDDLE_COMMAND_CARRY_H
#define HEDDLE_COMMAND_CARRY_H

#include "command/session.h"

struct carried {
    struct node first, last; /* what is left */
    struct sv   text;        /* the node's text; absent: no branch is left */
    struct err  why_not;     /* why it cannot be carried; code ST_OK: it can */
};

/* The summary of what an agent leaves when it goes to `to`. It may ask a model, while nothing is
 * locked: nodes that were read before have to be read again. What stands against it (permissions,
 * a branch that is too long) is told in *out; when no model answers, extracts are taken. */
enum status carry_prepare(struct session *s, const struct node *to, struct carried *out,
                          struct err *e) MUST_USE;

/* Add the node behind *at, where the agent is, and tell so, or why not, in the result. *at becomes
 * that node. */
enum status carry_add(struct session *s, struct carried *x, struct node *at, struct result *r,
                      struct err *e) MUST_USE;

#endif
