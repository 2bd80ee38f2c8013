/* Cuts resources in order until the rest fits, then puts back those that fit after all. */
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

static struct candidate *in_order(struct budget_item *items, size_t n, struct arena *scratch)
{
    struct candidate *order = ARENA_NEW(scratch, struct candidate, n + 1);

    for (size_t i = 0; i < n; i++)
        order[i].item = &items[i];
    qsort(order, n, sizeof order[0], in_cutting_order);
    return order;
}

/* From the last cut to the first: what was cut last is the most important. */
static size_t put_back(struct candidate *order, size_t n, size_t sum, size_t budget)
{
    for (size_t i = n; i-- > 0;) {
        struct budget_item *it = order[i].item;
        if (!it->cut || sum + it->tokens > budget + it->note)
            continue;
        it->cut = false;
        sum += it->tokens - it->note;
    }
    return sum;
}

size_t budget_put_back(struct budget_item *items, size_t n, size_t sum, size_t budget,
                       struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);

    sum = put_back(in_order(items, n, scratch), n, sum, budget);
    arena_reset(scratch, mark);
    return sum;
}

size_t budget_apply(struct budget_item *items, size_t n, size_t fixed, size_t budget,
                    struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch); /* callers try several budgets */
    struct candidate *order = in_order(items, n, scratch);
    size_t            sum = fixed;

    for (size_t i = 0; i < n; i++)
        sum += items[i].tokens;
    for (size_t i = 0; i < n && sum > budget; i++) {
        if (order[i].item->tokens <= order[i].item->note)
            continue;
        order[i].item->cut = true;
        sum -= order[i].item->tokens - order[i].item->note;
    }
    if (sum <= budget)
        sum = put_back(order, n, sum, budget);
    arena_reset(scratch, mark);
    return sum;
}
