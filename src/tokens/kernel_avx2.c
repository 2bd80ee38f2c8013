/* Merging on processors with AVX2: many short pieces in step, and the windows of long ones. */
#include "tokens/kernel_avx2.h"
#include "tokens/window.h"

#if defined(__x86_64__)

/* ---- merging up to MERGE_GROUP pieces in step ---- */

/* A piece that is being merged. Each rank is stored as rank << PLACE_BITS | place, so that the
 * smallest of them says what to merge and where. A token stays at the place of its first byte;
 * `alive` has a bit for each of them. The ids before the first and after the last place merge with
 * nothing, and the last rank is never read, so that both ends need no special case. */
enum { PLACES = 64, PLACE_BITS = 6, OUTSIDE = (1 << TOKEN_BITS) - 1 };
struct kernel_merging {
    _Alignas(LINE_BYTES) uint32_t rank[PLACES + 1];
    uint32_t id[PLACES + 2];   /* [place + 1] */
    uint32_t at, gone, before; /* places of the current merger; `before` is a place + 1 */
    uint64_t alive;
    uint64_t left, right; /* the two pairs that it creates */
};

/* `blocks` of eight places are used, all of them whatever n is: loops of fixed length cause no
 * branch mispredictions. 8 * blocks + 1 bytes are read. */
AVX2 INLINE void merging_load(struct kernel_merging *m, const struct vocab *v, const uint8_t *p,
                              size_t n, size_t blocks)
{
    for (size_t i = 0; i < 8 * blocks; i++) {
        uint32_t rank = v->bigram[p[i] << 8 | p[i + 1]];
        uint32_t none = -(uint32_t)((rank == TOKEN_NONE) | (i + 1 >= n));
        m->rank[i] = rank << PLACE_BITS | (uint32_t)i | none;
        m->id[i + 1] = v->byte_id[p[i]];
    }
    m->id[0] = m->id[PLACES + 1] = OUTSIDE;
    m->alive = _bzhi_u64(~(uint64_t)0, (unsigned)n);
}

AVX2 INLINE uint64_t pair_key(uint32_t left, uint32_t right)
{
    return ((uint64_t)left << TOKEN_BITS | right) + 1;
}

AVX2 INLINE uint32_t lowest_rank(const uint32_t *rank, size_t blocks)
{
    __m256i low = _mm256_load_si256((const void *)rank);

    for (size_t i = 1; i < blocks; i++)
        low = _mm256_min_epu32(low, _mm256_load_si256((const void *)(rank + 8 * i)));
    __m128i half = _mm_min_epu32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

/* Chooses a merger, does it, and prefetches the cache lines that hold the ranks of the two new
 * pairs. False when there is none; what was stored until then does no harm. */
AVX2 INLINE bool merging_choose(struct kernel_merging *m, const struct vocab *v, size_t blocks)
{
    uint32_t best = lowest_rank(m->rank, blocks), at = best & (PLACES - 1);
    uint32_t merged = best >> PLACE_BITS;
    uint64_t above = m->alive & ~(uint64_t)1 << at, rest = _blsr_u64(above);

    m->at = at;
    m->gone = (uint32_t)_tzcnt_u64(above);
    m->before = 64 - (uint32_t)_lzcnt_u64(_bzhi_u64(m->alive, at));
    m->alive ^= above ^ rest;
    m->id[at + 1] = merged;
    m->left = pair_key(m->id[m->before], merged);
    m->right = pair_key(merged, m->id[_tzcnt_u64(rest) + 1]);
    __builtin_prefetch(v->pairs + line_of(pair_hash(m->left), v->pair_lines) * 8);
    __builtin_prefetch(v->pairs + line_of(pair_hash(m->right), v->pair_lines) * 8);
    return best != TOKEN_NONE;
}

/* The merged token's rank and place, or TOKEN_NONE. */
AVX2 INLINE uint32_t find_pair(const struct vocab *v, uint64_t key, uint32_t place)
{
    const __m256i want = _mm256_set1_epi64x((int64_t)key);
    const size_t  lines = v->pair_lines;

    for (size_t line = line_of(pair_hash(key), lines);; line = next_line(line, lines)) {
        const uint64_t *slot = v->pairs + line * 8;
        __m256i         a = _mm256_load_si256((const void *)slot);
        __m256i         b = _mm256_load_si256((const void *)(slot + 4));
        __m256i         same_a = _mm256_cmpeq_epi64(_mm256_srli_epi64(a, TOKEN_BITS), want);
        __m256i         same_b = _mm256_cmpeq_epi64(_mm256_srli_epi64(b, TOKEN_BITS), want);
        a = _mm256_or_si256(_mm256_and_si256(a, same_a), _mm256_and_si256(b, same_b));
        uint32_t id = (uint32_t)or_lanes(a) & ((1u << TOKEN_BITS) - 1);
        if (__builtin_expect(!((id == 0) & (slot[7] != 0)), 1)) /* one branch, mostly taken */
            return (id << PLACE_BITS | place) | -(uint32_t)!id; /* id 0 is a byte: no merger */
    }
}

AVX2 INLINE void merging_rank(struct kernel_merging *m, const struct vocab *v)
{
    uint32_t left = find_pair(v, m->left, m->before - 1), right = find_pair(v, m->right, m->at);

    m->rank[m->gone] = TOKEN_NONE;
    m->rank[m->at] = right;
    m->rank[m->before ? m->before - 1 : PLACES] = left;
}

/* All pieces take one step after the other until none of them has a merger left. */
AVX2 INLINE void merge_in_step(struct kernel_merging *group, size_t n, const struct vocab *v,
                               uint8_t *counts, size_t blocks)
{
    uint8_t active[MERGE_GROUP];
    size_t  n_active = n;

    for (size_t i = 0; i < n; i++)
        active[i] = (uint8_t)i;
    while (n_active) {
        size_t still = 0;
        for (size_t i = 0; i < n_active; i++) {
            uint8_t one = active[i];
            active[still] = one;
            still += merging_choose(&group[one], v, blocks);
        }
        n_active = still;
        for (size_t i = 0; i < n_active; i++)
            merging_rank(&group[active[i]], v);
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint8_t)_mm_popcnt_u64(group[i].alive);
}

AVX2 INLINE void merge_keys(const struct vocab *v, const struct cache_key *keys, size_t n,
                            uint8_t *counts, size_t blocks)
{
    struct kernel_merging group[MERGE_GROUP];

    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[17] = { 0 };
        memcpy(bytes, &keys[i], 16);
        merging_load(&group[i], v, bytes, key_len(keys[i]), blocks);
    }
    merge_in_step(group, n, v, counts, blocks);
}

AVX2 static void merge_avx2(const struct vocab *v, const struct cache_key *keys, size_t n,
                            uint8_t *counts)
{
    uint64_t high = 0;

    for (size_t i = 0; i < n; i++)
        high |= keys[i].high;
    if (high)
        merge_keys(v, keys, n, counts, 2);
    else
        merge_keys(v, keys, n, counts, 1);
}

AVX2 INLINE void merge_wides(const struct vocab *v, const struct wide *keys, size_t n,
                             uint8_t *counts, size_t blocks)
{
    struct kernel_merging group[MERGE_GROUP];

    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[PLACES + 1] = { 0 };
        memcpy(bytes, keys[i].w, PLACES);
        merging_load(&group[i], v, bytes, wide_len(&keys[i]), blocks);
    }
    merge_in_step(group, n, v, counts, blocks);
}

AVX2 static void merge_wide_avx2(const struct vocab *v, const struct wide *keys, size_t n,
                                 uint8_t *counts)
{
    size_t longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = wide_len(&keys[i]) > longest ? wide_len(&keys[i]) : longest;
    if (longest <= 32)
        merge_wides(v, keys, n, counts, 4);
    else
        merge_wides(v, keys, n, counts, 8);
}

/* ---- windows of long pieces ---- */

AVX2 INLINE uint32_t lowest_avx2(const uint32_t *block)
{
    return lowest_rank(block, BLOCK / 8);
}

AVX2 INLINE size_t index_avx2(const uint32_t *block, uint32_t value)
{
    const __m256i want = _mm256_set1_epi32((int)value);
    __m256i       a = _mm256_cmpeq_epi32(_mm256_load_si256((const void *)block), want);
    __m256i       b = _mm256_cmpeq_epi32(_mm256_load_si256((const void *)(block + 8)), want);
    unsigned      low = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a));
    unsigned      high = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(b));

    return _tzcnt_u32(high << 8 | low);
}

AVX2 INLINE uint32_t pair_avx2(const struct vocab *v, uint32_t left, uint32_t right)
{
    uint32_t found = find_pair(v, pair_key(left, right), 0);

    return found == TOKEN_NONE ? found : found >> PLACE_BITS;
}

AVX2 static uint64_t window_avx2(const struct vocab *v, struct merge_window *w, const uint8_t *p,
                                 size_t n)
{
    return window_encode(v, w, p, n, (struct window_steps){ lowest_avx2, index_avx2, pair_avx2 });
}

const struct kernel kernel_avx2 = {
    "avx2", split_avx2, probe_avx2, probe_find_avx2, merge_avx2, merge_wide_avx2, window_avx2,
};

const struct kernel kernel_avx2_ascii = {
    "avx2-ascii", split_avx2_ascii, probe_avx2,  probe_find_avx2,
    merge_avx2,   merge_wide_avx2,  window_avx2,
};

#endif
