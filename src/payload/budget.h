/* Which resources stay when not all fit. Pure. */
#ifndef HEDDLE_BUDGET_H
#define HEDDLE_BUDGET_H

#include "base/arena.h"
#include "base/base.h"

struct budget_item {
    int    rank;   /* a lower rank is cut first */
    size_t tokens; /* what it adds while it is kept */
    size_t note;   /* what naming it as cut adds */
    bool   cut;    /* set by budget_apply() */
};

/* Cut by rank, the largest first within one (the later one of equals), until fixed +
 * kept + notes is at most `budget`. Returns that sum; over the budget only when
 * everything is cut. An item that is no smaller than its note is never cut. */
size_t budget_apply(struct budget_item *items, size_t n, size_t fixed, size_t budget,
                    struct arena *scratch);

#endif
