/* The inner loops for any processor. */
#include "tokens/count.h"
#include "tokens/window.h"

#include <assert.h>

static size_t split_plain(struct split_state *s, size_t at, bool whole, struct count_batch *b)
{
    size_t first = at;

    b->n_starts = 0;
    while (at < s->n && b->n_starts < BATCH && at - first < REACH) {
        size_t end = split_piece(s, at);
        if (s->bad || (s->open && !whole))
            break;
        b->starts[b->n_starts++] = (uint32_t)(at - first);
        at = end;
    }
    return at;
}

static void probe_plain(const struct cache *c, struct count_batch *b)
{
    unsigned count;

    for (size_t i = 0; i < b->n_shorts + b->n_middles; i++) {
        uint32_t item = i < b->n_shorts ? b->shorts[i] : b->middles[i - b->n_shorts];
        b->missed[b->n_missed] = key_at(b->base + (item >> PIECE_LEN_BITS), item & PIECE_LEN);
        count = cache_find(c, b->missed[b->n_missed]);
        b->total += count;
        b->n_missed += !count;
    }
    for (size_t i = 0; i < b->n_wides; i++) {
        uint32_t     item = b->wides[i];
        struct wide *k = &b->missed_wides[b->n_missed_wides];
        *k = wide_copy(b->base + (item >> PIECE_LEN_BITS), item & PIECE_LEN);
        count = cache_find_wide(c, k);
        b->total += count;
        b->n_missed_wides += !count;
    }
}

static bool is_token(const struct vocab *v, struct cache_key k)
{
    const uint64_t *slots = k.high ? v->middles : v->shorts;
    size_t          lines = k.high ? v->middle_lines : v->short_lines, words = k.high ? 2 : 1;
    uint64_t        hash = k.high ? middle_hash(k.low, k.high) : short_hash(k.low);

    for (size_t line = line_of(hash, lines);; line = next_line(line, lines)) {
        const uint64_t *slot = slots + line * 8;
        for (size_t i = 0; i < 8; i += words)
            if (slot[i] == k.low && (words == 1 || slot[i + 1] == k.high))
                return true;
        if (!slot[7])
            return false;
    }
}

static size_t find_plain(const struct vocab *v, struct cache_key *keys, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (is_token(v, keys[i])) {
            struct cache_key k = keys[i];
            keys[i] = keys[found];
            keys[found++] = k;
        }
    return found;
}

/* Merges by the definition, in one small array of tokens. */
static uint8_t merge_bytes(const struct vocab *v, const uint8_t *p, size_t n)
{
    uint32_t id[KEY_WIDE_MAX], rank[KEY_WIDE_MAX];

    assert(n > 0 && n <= KEY_WIDE_MAX);
    for (size_t i = 0; i < n; i++) {
        id[i] = v->byte_id[p[i]];
        rank[i] = i + 1 < n ? v->bigram[p[i] << 8 | p[i + 1]] : TOKEN_NONE;
    }
    for (;;) {
        size_t at = 0;
        for (size_t i = 1; i < n; i++)
            at = rank[i] < rank[at] ? i : at;
        if (rank[at] == TOKEN_NONE)
            return (uint8_t)n;
        id[at] = rank[at];
        n--;
        memmove(id + at + 1, id + at + 2, (n - at - 1) * sizeof *id);
        memmove(rank + at + 1, rank + at + 2, (n - at - 1) * sizeof *rank);
        rank[at] = at + 1 < n ? vocab_pair(v, id[at], id[at + 1]) : TOKEN_NONE;
        if (at)
            rank[at - 1] = vocab_pair(v, id[at - 1], id[at]);
    }
}

static void merge_plain(const struct vocab *v, const struct cache_key *keys, size_t n,
                        uint8_t *counts)
{
    uint8_t bytes[16];

    for (size_t i = 0; i < n; i++) {
        store64(bytes, keys[i].low);
        store64(bytes + 8, keys[i].high);
        counts[i] = merge_bytes(v, bytes, key_len(keys[i]));
    }
}

static void merge_wide_plain(const struct vocab *v, const struct wide *keys, size_t n,
                             uint8_t *counts)
{
    uint8_t bytes[WIDE_WORDS * 8];

    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < WIDE_WORDS; k++)
            store64(bytes + 8 * k, keys[i].w[k]);
        counts[i] = merge_bytes(v, bytes, wide_len(&keys[i]));
    }
}

static uint32_t lowest_plain(const uint32_t *block)
{
    uint32_t low = block[0];

    for (int i = 1; i < BLOCK; i++)
        low = block[i] < low ? block[i] : low;
    return low;
}

static size_t index_plain(const uint32_t *block, uint32_t value)
{
    size_t i = 0;

    while (block[i] != value)
        i++;
    return i;
}

static uint64_t window_plain(const struct vocab *v, struct merge_window *w, const uint8_t *p,
                             size_t n)
{
    return window_encode(v, w, p, n,
                         (struct window_steps){ lowest_plain, index_plain, vocab_pair });
}

const struct kernel kernel_plain = { "plain",     split_plain,      probe_plain, find_plain,
                                     merge_plain, merge_wide_plain, window_plain };

const struct kernel *kernel_best(void)
{
#if defined(__x86_64__)
    /* every processor with AVX2 and BMI2 has LZCNT, too */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        bool slow = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
        return slow ? &kernel_avx2_ascii : &kernel_avx2;
    }
#endif
    return &kernel_plain;
}
