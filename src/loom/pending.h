/* Which summaries are still to be made. A node has none when it is written; the loom view keeps a
 * row for each that waits, and counts the nodes written since the tree as a whole was summarised.
 * A provisional summary does not end the wait. */
#ifndef HEDDLE_PENDING_H
#define HEDDLE_PENDING_H

#include "loom/node.h"

struct pending {
    int64_t node;        /* its seq */
    bool    provisional; /* it has an extract for the time being */
};

/* Up to `max` nodes that wait, with seq > after (NO_NODE: from the start), oldest first: a parent
 * stands before its children. The list lives in the loom's arena. */
enum status loom_pending(struct loom *l, int64_t after, size_t max, struct pending **out, size_t *n,
                         struct err *e) MUST_USE;

enum { TREE_SUMMARY_EVERY = 10 };

/* How many nodes were written since the tree was last summarised (ever, before that), and whether
 * it has at least a provisional summary. */
enum status loom_pending_tree(struct loom *l, int64_t *nodes, bool *has_any,
                              struct err *e) MUST_USE;

/* Visible nodes from which the tree branches, oldest branch first, at most `max`. */
enum status loom_branch_points(struct loom *l, size_t max, struct node **out, size_t *n,
                               struct err *e) MUST_USE;

#endif
