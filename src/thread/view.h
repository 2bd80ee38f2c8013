/* A view: ordered rows of one thread, folded from its entries in the transaction that appends them,
 * so that a view that is kept is never behind its log. A fold is a pure function of the rows it
 * reads and the entry it is given: no clock, no randomness, no other thread.
 *
 *     static enum status fold(struct rows *f, const struct entry *n, struct err *e)
 *     {
 *         if (kind_of(n->kind) != KIND_LOOM_MARK) return ST_OK;
 *         return row_put(f, key, value, e);
 *     }
 *     const struct view loom_view = { .name = "loom", .version = 1, .fold = fold };
 *
 * A new view, or a new version of one, is folded from entry 0 on first use, a long thread in slices
 * (fold.c): until the last one the view is behind, and nobody reads it. A view on demand is not
 * folded for a thread until it is first wanted there; from then on it is kept up to date. `heddle
 * verify` folds every view again beside the live rows and compares. */
#ifndef HEDDLE_VIEW_H
#define HEDDLE_VIEW_H

#include "thread/rows.h"

struct view {
    const char *name;
    int         version; /* raise it when the fold changes */
    enum status (*fold)(struct rows *f, const struct entry *n, struct err *e);
    bool on_demand; /* kept only for threads it was wanted for: see struct log */
};

#endif
