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
 * kept + notes is at most `budget`; then put back what fits after all, the last one cut
 * first: one item that can never fit must not cost all those that were cut before it.
 * Afterwards no single cut item fits into what is left of the budget. Returns the sum; over
 * the budget only when everything is cut. An item that is no smaller than its note is never
 * cut. O(n log n). */
size_t budget_apply(struct budget_item *items, size_t n, size_t fixed, size_t budget,
                    struct arena *scratch);

/* The second half alone, for a sum that turned out smaller than expected: put back what fits
 * into budget - sum. Returns the new sum; items[i].cut says which ones came back. */
size_t budget_put_back(struct budget_item *items, size_t n, size_t sum, size_t budget,
                       struct arena *scratch);

#endif
