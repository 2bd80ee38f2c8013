/* The cache of pieces: keys of one, two or eight words in open addressing. */
#include "tokens/cache.h"

#include "base/failure.h"
#include "base/status.h"

#include <stdlib.h>

enum { BITS_STEP = 2 };

static void part_init(struct cache_part *p)
{
    size_t size = (CACHE_WAYS * p->words * sizeof *p->sets) << p->bits;

    p->used = 0;
    p->sets = aligned_alloc(LINE_BYTES, size);
    if (!p->sets)
        failure_memory(size);
    memset(p->sets, 0, size);
}

/* At first 16, 32 and 32 KB; 1 MB each at the most. */
void cache_init(struct cache *c)
{
    c->shorts = (struct cache_part){ .words = 1, .bits = 9, .last = 15 };
    c->middles = (struct cache_part){ .words = 2, .bits = 9, .last = 14 };
    c->wides = (struct cache_part){ .words = WIDE_WORDS, .bits = 7, .last = 12 };
    part_init(&c->shorts);
    part_init(&c->middles);
    part_init(&c->wides);
    c->longs = NULL;
}

void cache_release(struct cache *c)
{
    free(c->shorts.sets);
    free(c->middles.sets);
    free(c->wides.sets);
    free(c->longs);
}

/* The set of a key as it is stored, with its count. */
static uint64_t *set_of(const struct cache_part *p, const uint64_t *key)
{
    const uint64_t content = ~(~(uint64_t)0 << KEY_COUNT_SHIFT);
    struct wide    wide;

    switch (p->words) {
    case 1: return p->sets + (short_hash(key[0] & content) >> (64 - p->bits)) * CACHE_WAYS;
    case 2:
        return p->sets + (middle_hash(key[0], key[1] & content) >> (64 - p->bits)) * 2 * CACHE_WAYS;
    default:
        memcpy(wide.w, key, sizeof wide.w);
        wide.w[WIDE_WORDS - 1] &= ~(~(uint64_t)0 << WIDE_COUNT_SHIFT);
        return p->sets + wide_line(&wide, p->bits) * WIDE_WORDS * CACHE_WAYS;
    }
}

/* Insert at the front of the set; the other keys move back, and the last one is dropped. */
static void insert(struct cache_part *p, const uint64_t *key)
{
    uint64_t *set = set_of(p, key);

    memmove(set + p->words, set, (CACHE_WAYS - 1) * p->words * sizeof *set);
    memcpy(set, key, p->words * sizeof *set);
}

static void grow(struct cache_part *p)
{
    struct cache_part was = *p;
    size_t            words = ((size_t)CACHE_WAYS * was.words) << was.bits;

    p->bits = p->bits + BITS_STEP < p->last ? p->bits + BITS_STEP : p->last;
    part_init(p);
    for (size_t i = words; i > 0; i -= was.words)
        if (was.sets[i - 1] >> WIDE_COUNT_SHIFT)
            insert(p, was.sets + i - was.words);
    free(was.sets);
}

static void put(struct cache_part *p, const uint64_t *key)
{
    if (p->used++ > (size_t)CACHE_WAYS << p->bits >> 1 && p->bits < p->last)
        grow(p);
    insert(p, key);
}

void cache_put(struct cache *c, struct cache_key k, unsigned count)
{
    uint64_t words[2] = { k.low, k.high };

    words[k.high ? 1 : 0] |= (uint64_t)count << KEY_COUNT_SHIFT;
    put(k.high ? &c->middles : &c->shorts, words);
}

void cache_put_wide(struct cache *c, const struct wide *k, unsigned count)
{
    struct wide stored = *k;

    stored.w[WIDE_WORDS - 1] |= (uint64_t)count << WIDE_COUNT_SHIFT;
    put(&c->wides, stored.w);
}

/* ---- longer pieces ---- */

enum { LONG_SLOTS = 128 };
struct cache_long {
    uint32_t len, count;
    uint8_t  bytes[KEY_LONG_MAX];
};

/* The only slot for a long piece, by its first, middle and last bytes and its length. */
static struct cache_long *long_slot(const struct cache *c, const uint8_t *p, size_t len)
{
    uint64_t ends = load64(p) * 0x9e3779b97f4a7c15u ^ load64(p + len - 8);
    uint64_t hash = (ends + len) * 0xd6e8feb86659fd93u ^ load64(p + len / 2);

    return &c->longs[hash * 0x9e3779b97f4a7c15u >> 57];
}

size_t cache_find_long(const struct cache *c, const uint8_t *p, size_t len)
{
    if (!c->longs)
        return 0;
    const struct cache_long *slot = long_slot(c, p, len);
    return slot->len == len && memcmp(slot->bytes, p, len) == 0 ? slot->count : 0;
}

void cache_put_long(struct cache *c, const uint8_t *p, size_t len, size_t count)
{
    _Static_assert(LONG_SLOTS == 1 << 7, "long_slot() takes seven bits");
    if (!c->longs && !(c->longs = calloc(LONG_SLOTS, sizeof *c->longs)))
        failure_memory(LONG_SLOTS * sizeof *c->longs);
    struct cache_long *slot = long_slot(c, p, len);
    slot->len = (uint32_t)len;
    slot->count = (uint32_t)count;
    memcpy(slot->bytes, p, len);
}
