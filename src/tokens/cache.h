/* The cache of pieces that a counter has met, with their token counts. Most text consists of pieces
 * that occurred before.
 *
 * A piece of up to 62 bytes is its own key, packed into one, two or eight words with its length at
 * the top, so that a hit is exact. Four keys share a set; a new one replaces the oldest. The cache
 * starts small, so that counting a small text touches little memory, and grows with what it holds.
 */
#ifndef HEDDLE_TOKENS_CACHE_H
#define HEDDLE_TOKENS_CACHE_H

#include "tokens/table.h"

enum {
    KEY_SHORT_MAX = 7,   /* bytes in a one-word key */
    KEY_MIDDLE_MAX = 15, /* in a two-word key */
    KEY_LEN_SHIFT = 56,
    KEY_COUNT_SHIFT = 60, /* a key stored in the cache holds the count here; 0 is empty */

    KEY_WIDE_MAX = 62, /* in an eight-word key */
    WIDE_WORDS = 8,
    WIDE_LEN_SHIFT = 48, /* both in the last word */
    WIDE_COUNT_SHIFT = 56,

    KEY_LONG_MAX = 256, /* longer pieces are not cached */

    CACHE_WAYS = 4,
};

/* Bytes, then zeros, then the length in bits 56 to 59 of the last word. */
struct cache_key {
    uint64_t low, high; /* high is 0 for a short key */
};

static inline size_t key_len(struct cache_key k)
{
    return (k.high ? k.high : k.low) >> KEY_LEN_SHIFT & 15;
}

/* Likewise for 16 to 62 bytes. */
struct wide {
    uint64_t w[WIDE_WORDS];
};

static inline size_t wide_len(const struct wide *k)
{
    return k->w[WIDE_WORDS - 1] >> WIDE_LEN_SHIFT & 63;
}

/* One table of the three. */
struct cache_part {
    uint64_t *sets;  /* CACHE_WAYS keys of `words` words each */
    unsigned  words; /* 1, 2 or WIDE_WORDS */
    unsigned  bits;  /* log2 of the number of sets */
    unsigned  last;  /* the largest value that `bits` may reach */
    size_t    used;  /* insertions since it last grew */
};
struct cache_long; /* one longer piece */
struct cache {
    struct cache_part  shorts, middles, wides;
    struct cache_long *longs; /* NULL until there is one */
};

void cache_init(struct cache *c);
void cache_release(struct cache *c);

/* Remember a count of 1 to 15, or to 62. */
void cache_put(struct cache *c, struct cache_key k, unsigned count);
void cache_put_wide(struct cache *c, const struct wide *k, unsigned count);

/* Pieces of more than KEY_WIDE_MAX and at most KEY_LONG_MAX bytes; 0 when it is not there. */
size_t cache_find_long(const struct cache *c, const uint8_t *p, size_t len);
void   cache_put_long(struct cache *c, const uint8_t *p, size_t len, size_t count);

static inline size_t wide_line(const struct wide *k, unsigned bits)
{
    static const uint64_t odd[WIDE_WORDS] = {
        0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 0xd6e8feb86659fd93u,
        0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u,
    };
    uint64_t h = 0;

    for (int i = 0; i < WIDE_WORDS; i++)
        h += k->w[i] * odd[i] ^ k->w[i] >> 32;
    return (size_t)((h ^ h >> 29) * odd[0] >> (64 - bits));
}

static inline uint64_t *cache_wide_set(const struct cache *c, const struct wide *k)
{
    return c->wides.sets + wide_line(k, c->wides.bits) * WIDE_WORDS * CACHE_WAYS;
}

static inline uint64_t *cache_short_set(const struct cache *c, uint64_t low)
{
    return c->shorts.sets + (short_hash(low) >> (64 - c->shorts.bits)) * CACHE_WAYS;
}

static inline uint64_t *cache_middle_set(const struct cache *c, uint64_t low, uint64_t high)
{
    return c->middles.sets + (middle_hash(low, high) >> (64 - c->middles.bits)) * 2 * CACHE_WAYS;
}

/* The count, or 0 when the key is not there. */
static inline unsigned cache_find(const struct cache *c, struct cache_key k)
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

static inline unsigned cache_find_wide(const struct cache *c, const struct wide *k)
{
    const uint64_t  content = ~(~(uint64_t)0 << WIDE_COUNT_SHIFT);
    const uint64_t *key = cache_wide_set(c, k);

    for (int i = 0; i < CACHE_WAYS; i++, key += WIDE_WORDS)
        if ((key[WIDE_WORDS - 1] & content) == k->w[WIDE_WORDS - 1] &&
            memcmp(key, k->w, (WIDE_WORDS - 1) * sizeof *key) == 0)
            return (unsigned)(key[WIDE_WORDS - 1] >> WIDE_COUNT_SHIFT);
    return 0;
}

#endif
