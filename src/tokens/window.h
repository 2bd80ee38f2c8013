/* A window of a long piece, encoded by the definition: a list of tokens linked by the places of
 * their first bytes, for each the rank of its merger with the next one, and for each block the
 * lowest rank in it, so that the lowest of all is found in few steps. The code is written once and
 * compiled for each kernel, which supplies the three steps that its processor can do faster. */
#ifndef HEDDLE_TOKENS_WINDOW_H
#define HEDDLE_TOKENS_WINDOW_H

#include "tokens/merge.h"

enum { BLOCK = 16, SPAN = BLOCK * BLOCK }; /* bytes in a block, and in a block of blocks */

struct window_steps {
    uint32_t (*lowest)(const uint32_t *block);              /* of BLOCK ranks */
    size_t (*index)(const uint32_t *block, uint32_t value); /* the first one equal to it */
    uint32_t (*pair)(const struct vocab *v, uint32_t left, uint32_t right);
};

INLINE void window_load(const struct vocab *v, struct merge_window *w, const uint8_t *p, size_t n,
                        struct window_steps steps)
{
    size_t padded = (n + SPAN - 1) / SPAN * SPAN;

    merge_window_reserve(w, padded);
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        w->id[i] = v->byte_id[p[i]];
        w->rank[i] = i + 1 < n ? v->bigram[p[i] << 8 | p[i + 1]] : TOKEN_NONE;
        w->next[i] = (uint32_t)i + 1;
        w->prev[i] = (uint32_t)i - 1;
    }
    for (size_t i = n; i < padded; i++)
        w->rank[i] = TOKEN_NONE;
    for (size_t i = 0; i < padded / BLOCK; i++)
        w->lowest[i] = steps.lowest(w->rank + i * BLOCK);
}

/* The leftmost place of the lowest rank; false when nothing merges any more. */
INLINE bool window_find(const struct merge_window *w, size_t *at, struct window_steps steps)
{
    uint32_t low = TOKEN_NONE;
    size_t   span = 0;

    for (size_t i = 0; i * SPAN < w->n; i++) {
        uint32_t here = steps.lowest(w->lowest + i * BLOCK);
        span = here < low ? i : span;
        low = here < low ? here : low;
    }
    if (low == TOKEN_NONE)
        return false;
    size_t block = span * BLOCK + steps.index(w->lowest + span * BLOCK, low);
    *at = block * BLOCK + steps.index(w->rank + block * BLOCK, low);
    return true;
}

INLINE void window_refresh(struct merge_window *w, size_t block, struct window_steps steps)
{
    w->lowest[block] = steps.lowest(w->rank + block * BLOCK);
}

/* Merge the token at `at` with the next one, and rank the merged token with both neighbours. */
INLINE void window_join(const struct vocab *v, struct merge_window *w, size_t at,
                        struct window_steps steps)
{
    size_t gone = w->next[at], after = w->next[gone], before = at ? w->prev[at] : at;

    w->id[at] = w->rank[at];
    w->next[at] = (uint32_t)after;
    w->rank[gone] = TOKEN_NONE;
    w->rank[at] = TOKEN_NONE;
    if (after < w->n) {
        w->prev[after] = (uint32_t)at;
        w->rank[at] = steps.pair(v, w->id[at], w->id[after]);
    }
    if (before < at)
        w->rank[before] = steps.pair(v, w->id[before], w->id[at]);
    window_refresh(w, at / BLOCK, steps);
    if (gone / BLOCK != at / BLOCK)
        window_refresh(w, gone / BLOCK, steps);
    if (before / BLOCK != at / BLOCK)
        window_refresh(w, before / BLOCK, steps);
}

/* Returns the number of steps taken. */
INLINE uint64_t window_encode(const struct vocab *v, struct merge_window *w, const uint8_t *p,
                              size_t n, struct window_steps steps)
{
    uint64_t merged = 0;
    size_t   at;

    window_load(v, w, p, n, steps);
    for (; window_find(w, &at, steps); merged++)
        window_join(v, w, at, steps);
    return n + merged * (4 + n / SPAN);
}

#endif
