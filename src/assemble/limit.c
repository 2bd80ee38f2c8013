/* Where a context that is cut to its newest turns may start. */
#include "assemble/limit.h"

#include "base/map.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where `id` was met last, as index + 1; 0: not yet. */
static size_t met(const struct map *m, struct sv id)
{
    return (size_t)(uintptr_t)map_find(m, id);
}

static void meet(struct map *m, struct sv id, size_t i)
{
    map_put(m, id, (void *)(uintptr_t)(i + 1));
}

/* reach[i]: the earliest turn that turn i may not be cut from. A result reaches back to its
 * call; a call reaches back to a result that stands before it. */
static size_t *find_reach(const struct parsed_message *turns, size_t n, struct arena *a)
{
    size_t    *reach = ARENA_NEW(a, size_t, n + 1);
    struct map calls = map_in(a), lone = map_in(a);

    for (size_t i = 0; i < n; i++) {
        const struct parsed_message *t = &turns[i];
        reach[i] = i;
        if (parsed_is(t, "tool")) {
            if (met(&calls, t->tool_call_id))
                reach[i] = met(&calls, t->tool_call_id) - 1;
            else
                meet(&lone, t->tool_call_id, i);
        }
        for (size_t k = 0; k < t->n_calls; k++) {
            if (met(&lone, t->calls[k].id))
                reach[i] = smaller(reach[i], met(&lone, t->calls[k].id) - 1);
            meet(&calls, t->calls[k].id, i);
        }
    }
    return reach;
}

size_t limit_start(const struct parsed_message *turns, size_t n, int64_t limit, struct arena *a)
{
    size_t start = n, low = n;

    if (limit < 0 || (uint64_t)limit >= n)
        return 0;
    if (!limit)
        return n;
    const size_t *reach = find_reach(turns, n, a);
    for (size_t k = n; k-- > 0;) {
        low = smaller(low, reach[k]);
        if (low < k)
            continue; /* a cut here would separate a call from its result */
        if (n - k > (uint64_t)limit && start < n)
            break;
        start = k;
    }
    return start;
}

bool limit_lacks_call(const struct parsed_message *turns, size_t n, size_t from, struct arena *a)
{
    struct map calls = map_in(a);

    for (size_t i = 0; i < n; i++) {
        const struct parsed_message *t = &turns[i];
        if (parsed_is(t, "tool") && t->message >= from && !met(&calls, t->tool_call_id))
            return true;
        for (size_t k = 0; k < t->n_calls; k++)
            meet(&calls, t->calls[k].id, i);
    }
    return false;
}
