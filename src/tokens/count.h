/* Counting in batches. A few hundred pieces at a time are split off, looked up in the cache, and
 * what is not there is looked up in the vocabulary or merged, together: counts do not depend on
 * order, so while one piece waits for memory, another one is processed.
 *
 * The three inner loops come in a plain form and in one for processors with AVX2, chosen when a
 * counter is opened. tests/unit/tokens_kernel_test.c compares them with each other. */
#ifndef HEDDLE_TOKENS_COUNT_H
#define HEDDLE_TOKENS_COUNT_H

#include "tokens/cache.h"
#include "tokens/merge.h"
#include "tokens/split.h"

enum {
    BATCH = 512,         /* pieces split off at a time, about */
    STARTS = BATCH + 72, /* the last window may add 64; and the end of the last piece */
    LIST = 1024,         /* pieces of one length class waiting for the cache */
    REACH = 1 << 20,     /* bytes of text in one batch, about */
    WIDE_LIST = 128,     /* and of the longest class, whose keys are large */
    KEY_READ = 16,       /* bytes read at the start of a piece, however short it is */
    WIDE_READ = 64,      /* likewise, of the longest class */
};

/* A piece in a list is one word: its offset from the batch's base << 6 | its length. */
enum { PIECE_LEN_BITS = 6, PIECE_LEN = (1 << PIECE_LEN_BITS) - 1 };

struct count_batch {
    const uint8_t   *base;
    const uint8_t   *readable; /* the end of the text: KEY_READ bytes before it may be read */
    uint32_t         starts[STARTS];
    size_t           n_starts;
    uint32_t         shorts[LIST + 1], middles[LIST + 1]; /* up to 7, up to 15 bytes */
    uint32_t         wides[WIDE_LIST];                    /* up to 62 */
    size_t           n_shorts, n_middles, n_wides;
    struct cache_key missed[2 * LIST + 2]; /* not in the cache */
    struct wide      missed_wides[2 * WIDE_LIST];
    size_t           n_missed, n_missed_wides;
    size_t           total;
};

struct kernel {
    const char *name;

    /* Writes the starts of the pieces from `at` on, relative to `at`, into b->starts, followed by
     * the end of the last one; returns that end. Stops before a piece with invalid UTF-8 and,
     * unless `whole`, before one whose end depends on text that is not there yet. */
    size_t (*split)(struct split_state *s, size_t at, bool whole, struct count_batch *b);

    /* Looks up the listed pieces, adds the counts that are known to b->total, and the other pieces
     * to b->missed. */
    void (*probe)(const struct cache *c, struct count_batch *b);

    /* Puts the keys that are tokens of the vocabulary in front; returns their number. */
    size_t (*find)(const struct vocab *v, struct cache_key *keys, size_t n);

    /* The token counts of n <= MERGE_GROUP keys. */
    void (*merge)(const struct vocab *v, const struct cache_key *keys, size_t n, uint8_t *counts);
    void (*merge_wide)(const struct vocab *v, const struct wide *keys, size_t n, uint8_t *counts);

    /* For pieces longer than that. */
    merge_window_fn *window;
};
enum { MERGE_GROUP = 32 };

extern const struct kernel kernel_plain;
#if defined(__x86_64__)
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx2_ascii; /* for processors that are slow at PEXT */
#endif
const struct kernel *kernel_best(void);

/* The key of a piece that may be read KEY_READ bytes far. */
static inline struct cache_key key_at(const uint8_t *p, size_t len)
{
    uint64_t low = load64(p), high = load64(p + 8);

    if (len <= KEY_SHORT_MAX)
        return (struct cache_key){ (low & ~(~(uint64_t)0 << 8 * len)) | (uint64_t)len
                                                                            << KEY_LEN_SHIFT,
                                   0 };
    return (struct cache_key){ low, (high & ~(~(uint64_t)0 << 8 * (len - 8))) |
                                        (uint64_t)len << KEY_LEN_SHIFT };
}

/* p[0..len) with zeros behind, for 16 to 62 bytes; reads no further than that. */
static inline struct wide wide_copy(const uint8_t *p, size_t len)
{
    uint8_t     bytes[WIDE_WORDS * 8] = { 0 };
    struct wide k;

    memcpy(bytes, p, len);
    for (int i = 0; i < WIDE_WORDS; i++)
        k.w[i] = load64(bytes + 8 * i);
    k.w[WIDE_WORDS - 1] |= (uint64_t)len << WIDE_LEN_SHIFT;
    return k;
}

#endif
