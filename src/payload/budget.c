#include "payload/budget.h"

#include <stdlib.h>

struct candidate {
    struct budget_item *item;
};

static int in_cutting_order(const void *left, const void *right)
{
    const struct budget_item *a = ((const struct candidate *)left)->item;
    const struct budget_item *b = ((const struct candidate *)right)->item;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->tokens != b->tokens)
        return a->tokens > b->tokens ? -1 : 1;
    return a > b ? -1 : 1; /* later first */
}

size_t budget_apply(struct budget_item *items, size_t n, size_t fixed, size_t budget,
                    struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch); /* callers try several budgets */
    struct candidate *order = ARENA_NEW(scratch, struct candidate, n + 1);
    size_t            sum = fixed;

    for (size_t i = 0; i < n; i++) {
        order[i].item = &items[i];
        sum += items[i].tokens;
    }
    qsort(order, n, sizeof order[0], in_cutting_order);
    for (size_t i = 0; i < n && sum > budget; i++) {
        if (order[i].item->tokens <= order[i].item->note)
            continue;
        order[i].item->cut = true;
        sum -= order[i].item->tokens - order[i].item->note;
    }
    arena_reset(scratch, mark);
    return sum;
}
