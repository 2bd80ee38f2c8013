/* The pieces a counter has met, with their counts: most text is made of pieces seen before.
 *
 * A piece of up to 15 bytes is its own key, packed into one or two words with its length at the
 * top, so that a hit is exact. Four keys share a set; a new one drives out the oldest. The cache
 * starts small, because a small text should not touch much memory, and grows with what it holds. */
#ifndef HEDDLE_TOKENS_CACHE_H
#define HEDDLE_TOKENS_CACHE_H

#include "tokens/table.h"

enum {
    KEY_SHORT_MAX = 7,   /* bytes in a one-word key */
    KEY_MIDDLE_MAX = 15, /* in a two-word key */
    KEY_LEN_SHIFT = 56,
    KEY_COUNT_SHIFT = 60, /* a key stored in the cache holds the count here; 0 is empty */
    CACHE_WAYS = 4,
};

/* Bytes, then zeros, then the length in bits 56 to 59 of the last word. */
struct key {
    uint64_t low, high; /* high is 0 for a short key */
};

static inline size_t key_len(struct key k)
{
    return (k.high ? k.high : k.low) >> KEY_LEN_SHIFT & 15;
}

struct cache_half {
    uint64_t *sets;  /* CACHE_WAYS keys of `words` words each */
    unsigned  words; /* 1 or 2 */
    unsigned  bits;  /* log2 of the number of sets */
    size_t    used;  /* insertions since it last grew */
};
struct cache {
    struct cache_half shorts, middles;
};

void cache_init(struct cache *c);
void cache_release(struct cache *c);
void cache_put(struct cache *c, struct key k, unsigned count);

static inline uint64_t *cache_short_set(const struct cache *c, uint64_t low)
{
    return c->shorts.sets + short_line(low, c->shorts.bits) * CACHE_WAYS;
}

static inline uint64_t *cache_middle_set(const struct cache *c, uint64_t low, uint64_t high)
{
    return c->middles.sets + middle_line(low, high, c->middles.bits) * 2 * CACHE_WAYS;
}

/* The count, or 0 when the key is not there. */
static inline unsigned cache_find(const struct cache *c, struct key k)
{
    const uint64_t content = ~(~(uint64_t)0 << KEY_COUNT_SHIFT);

    if (!k.high) {
        const uint64_t *set = cache_short_set(c, k.low);
        for (int i = 0; i < CACHE_WAYS; i++)
            if ((set[i] & content) == k.low)
                return (unsigned)(set[i] >> KEY_COUNT_SHIFT);
        return 0;
    }
    const uint64_t *set = cache_middle_set(c, k.low, k.high);
    for (int i = 0; i < CACHE_WAYS; i++)
        if (set[2 * i] == k.low && (set[2 * i + 1] & content) == k.high)
            return (unsigned)(set[2 * i + 1] >> KEY_COUNT_SHIFT);
    return 0;
}

#endif
