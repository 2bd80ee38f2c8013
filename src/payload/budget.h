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

/* Cut by rank, the largest first within one rank (the later one of equals), until fixed + kept +
 * notes is at most `budget`. Then put back what still fits, in the reverse order of cutting: one
 * item that is larger than the budget must not cause all those to be cut that come before it.
 * Afterwards no single cut item fits into what is left of the budget. Returns the sum; it is over
 * the budget only when everything is cut. An item that is not larger than its note is never cut.
 * O(n log n). */
size_t budget_apply(struct budget_item *items, size_t n, size_t fixed, size_t budget,
                    struct arena *scratch);

/* The second step of budget_apply() alone, for a sum that turned out smaller than expected: put
 * back what fits into budget - sum. Returns the new sum; items[i].cut says what is still cut. */
size_t budget_put_back(struct budget_item *items, size_t n, size_t sum, size_t budget,
                       struct arena *scratch);

#endif
