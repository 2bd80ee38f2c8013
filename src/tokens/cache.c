#include "tokens/cache.h"

#include "base/status.h"

#include <stdlib.h>

enum { BITS_FIRST = 9, BITS_STEP = 2, BITS_LAST = 15 };

static void half_alloc(struct cache_half *h)
{
    size_t size = (CACHE_WAYS * h->words * sizeof *h->sets) << h->bits;

    h->sets = aligned_alloc(LINE_BYTES, size);
    if (!h->sets)
        die("out of memory (%zu bytes)", size);
    memset(h->sets, 0, size);
}

void cache_init(struct cache *c)
{
    c->shorts = (struct cache_half){ .words = 1, .bits = BITS_FIRST };
    c->middles = (struct cache_half){ .words = 2, .bits = BITS_FIRST };
    half_alloc(&c->shorts);
    half_alloc(&c->middles);
}

void cache_release(struct cache *c)
{
    free(c->shorts.sets);
    free(c->middles.sets);
}

static uint64_t *set_of(const struct cache_half *h, const uint64_t *key)
{
    const uint64_t content = ~(~(uint64_t)0 << KEY_COUNT_SHIFT);

    if (h->words == 1)
        return h->sets + short_line(key[0] & content, h->bits) * CACHE_WAYS;
    return h->sets + middle_line(key[0], key[1] & content, h->bits) * 2 * CACHE_WAYS;
}

/* In front; the others move back and the last falls out. */
static void insert(struct cache_half *h, const uint64_t *key)
{
    uint64_t *set = set_of(h, key);

    memmove(set + h->words, set, (CACHE_WAYS - 1) * h->words * sizeof *set);
    memcpy(set, key, h->words * sizeof *set);
}

static void grow(struct cache_half *h)
{
    struct cache_half was = *h;
    size_t            words = ((size_t)CACHE_WAYS * was.words) << was.bits;

    h->bits += BITS_STEP;
    h->used = 0;
    half_alloc(h);
    for (size_t i = words; i > 0; i -= was.words)
        if (was.sets[i - 1] >> KEY_COUNT_SHIFT)
            insert(h, was.sets + i - was.words);
    free(was.sets);
}

void cache_put(struct cache *c, struct key k, unsigned count)
{
    struct cache_half *h = k.high ? &c->middles : &c->shorts;
    uint64_t           words[2] = { k.low, k.high };

    words[h->words - 1] |= (uint64_t)count << KEY_COUNT_SHIFT;
    if (h->used++ > (size_t)CACHE_WAYS << h->bits >> 1 && h->bits < BITS_LAST)
        grow(h);
    insert(h, words);
}
