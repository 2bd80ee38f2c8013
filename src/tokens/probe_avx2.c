/* Looking keys up, all keys of a line at once: in the cache, in the vocabulary. */
#include "tokens/kernel_avx2.h"

#if defined(__x86_64__)

/* ---- the cache: all keys of a set at once ---- */

/* First all keys are computed and their sets prefetched, then all sets are read, so that many
 * memory accesses overlap. Each key is written to the list of misses, and stays in it when it is
 * not found. */
AVX2 static void probe_shorts(const struct cache *c, struct count_batch *b)
{
    const __m256i     content = _mm256_set1_epi64x((int64_t) ~(~(uint64_t)0 << KEY_COUNT_SHIFT));
    const uint8_t    *base = b->base;
    const uint64_t   *sets = c->shorts.sets;
    const unsigned    shift = 64 - c->shorts.bits;
    struct cache_key *keys = b->missed + b->n_missed, *missed = keys;
    size_t            total = 0, n = b->n_shorts;

    for (size_t i = 0; i < n; i++) {
        uint64_t len = b->shorts[i] & PIECE_LEN, at = b->shorts[i] >> PIECE_LEN_BITS;
        keys[i].low = _bzhi_u64(load64(base + at), (unsigned)len * 8) | len << KEY_LEN_SHIFT;
        __builtin_prefetch(sets + (short_hash(keys[i].low) >> shift) * CACHE_WAYS);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t low = keys[i].low;
        __m256i  set =
            _mm256_load_si256((const void *)(sets + (short_hash(low) >> shift) * CACHE_WAYS));
        __m256i  key = _mm256_set1_epi64x((int64_t)low);
        __m256i  same = _mm256_cmpeq_epi64(_mm256_and_si256(set, content), key);
        uint64_t count = or_lanes(_mm256_and_si256(set, same)) >> KEY_COUNT_SHIFT;
        *missed = (struct cache_key){ low, 0 };
        missed += !count;
        total += count;
    }
    b->n_missed = (size_t)(missed - b->missed);
    b->total += total;
}

/* The count of a key in two of the four ways of its set. */
AVX2 INLINE __m256i match_two(const uint64_t *ways, __m256i key)
{
    const int64_t content = (int64_t) ~(~(uint64_t)0 << KEY_COUNT_SHIFT);
    const __m256i contents = _mm256_set_epi64x(content, -1, content, -1);
    __m256i       two = _mm256_load_si256((const void *)ways);
    __m256i       same = _mm256_cmpeq_epi64(_mm256_and_si256(two, contents), key);

    /* Both words must agree: combine the result for the low one with that for the high one. */
    return _mm256_and_si256(two, _mm256_and_si256(same, _mm256_shuffle_epi32(same, 0x44)));
}

AVX2 static void probe_middles(const struct cache *c, struct count_batch *b)
{
    const uint8_t    *base = b->base;
    const uint64_t   *sets = c->middles.sets;
    const unsigned    shift = 64 - c->middles.bits;
    struct cache_key *keys = b->missed + b->n_missed, *missed = keys;
    size_t            total = 0, n = b->n_middles;

    for (size_t i = 0; i < n; i++) {
        uint64_t       len = b->middles[i] & PIECE_LEN;
        const uint8_t *p = base + (b->middles[i] >> PIECE_LEN_BITS);
        uint64_t       low = load64(p), rest = _bzhi_u64(load64(p + 8), (unsigned)len * 8 - 64);
        keys[i] = (struct cache_key){ low, rest | len << KEY_LEN_SHIFT };
        __builtin_prefetch(sets + (middle_hash(low, keys[i].high) >> shift) * 2 * CACHE_WAYS);
    }
    for (size_t i = 0; i < n; i++) {
        struct cache_key k = keys[i];
        const uint64_t  *set = sets + (middle_hash(k.low, k.high) >> shift) * 2 * CACHE_WAYS;
        __m128i          one = _mm_set_epi64x((int64_t)k.high, (int64_t)k.low);
        __m256i          key = _mm256_broadcastsi128_si256(one);
        __m256i          hit = _mm256_or_si256(match_two(set, key), match_two(set + 4, key));
        one = _mm_or_si128(_mm256_castsi256_si128(hit), _mm256_extracti128_si256(hit, 1));
        uint64_t count = (uint64_t)_mm_extract_epi64(one, 1) >> KEY_COUNT_SHIFT;
        *missed = k;
        missed += !count;
        total += count;
    }
    b->n_missed = (size_t)(missed - b->missed);
    b->total += total;
}

/* The key of the `len` bytes at p: padded with zeros, with the length at its end. */
AVX2 INLINE struct wide wide_at(const uint8_t *p, size_t len)
{
    const __m256i steps =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                         21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    const __m256i n = _mm256_set1_epi8((char)len);
    const __m256i second = _mm256_add_epi8(steps, _mm256_set1_epi8(32));
    struct wide   k;
    __m256i a = _mm256_loadu_si256((const void *)p), b = _mm256_loadu_si256((const void *)(p + 32));

    _mm256_storeu_si256((void *)k.w, _mm256_and_si256(a, _mm256_cmpgt_epi8(n, steps)));
    _mm256_storeu_si256((void *)(k.w + 4), _mm256_and_si256(b, _mm256_cmpgt_epi8(n, second)));
    k.w[WIDE_WORDS - 1] |= (uint64_t)len << WIDE_LEN_SHIFT;
    return k;
}

AVX2 static void probe_wides(const struct cache *c, struct count_batch *b)
{
    for (size_t i = 0; i < b->n_wides; i++) {
        uint32_t     item = b->wides[i];
        struct wide *k = &b->missed_wides[b->n_missed_wides];
        *k = wide_at(b->base + (item >> PIECE_LEN_BITS), item & PIECE_LEN);
        unsigned count = cache_find_wide(c, k);
        b->total += count;
        b->n_missed_wides += !count;
    }
}

AVX2 void probe_avx2(const struct cache *c, struct count_batch *b)
{
    probe_shorts(c, b);
    probe_middles(c, b);
    probe_wides(c, b);
}

/* ---- is it a token? ---- */

AVX2 INLINE bool is_short_token(const struct vocab *v, uint64_t low)
{
    const __m256i key = _mm256_set1_epi64x((int64_t)low);

    for (size_t line = line_of(short_hash(low), v->short_lines);;
         line = next_line(line, v->short_lines)) {
        const uint64_t *slot = v->shorts + line * 8;
        __m256i         a = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)slot), key);
        __m256i         b = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(slot + 4)), key);
        a = _mm256_or_si256(a, b);
        bool is = !_mm256_testz_si256(a, a);
        if (__builtin_expect(!((slot[7] != 0) & !is), 1))
            return is;
    }
}

AVX2 INLINE bool is_middle_token(const struct vocab *v, struct cache_key k)
{
    const __m256i key =
        _mm256_broadcastsi128_si256(_mm_set_epi64x((int64_t)k.high, (int64_t)k.low));

    for (size_t line = line_of(middle_hash(k.low, k.high), v->middle_lines);;
         line = next_line(line, v->middle_lines)) {
        const uint64_t *slot = v->middles + line * 8;
        __m256i         a = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)slot), key);
        __m256i         b = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(slot + 4)), key);
        a = _mm256_and_si256(a, _mm256_shuffle_epi32(a, 0x4e)); /* both words of a slot */
        b = _mm256_and_si256(b, _mm256_shuffle_epi32(b, 0x4e));
        a = _mm256_or_si256(a, b);
        bool is = !_mm256_testz_si256(a, a);
        if (__builtin_expect(!((slot[7] != 0) & !is), 1))
            return is;
    }
}

AVX2 size_t probe_find_avx2(const struct vocab *v, struct cache_key *keys, size_t n)
{
    struct cache_key *found = keys;

    for (size_t i = 0; i < n; i++) {
        struct cache_key k = keys[i];
        bool             is = k.high ? is_middle_token(v, k) : is_short_token(v, k.low);
        keys[i] = *found;
        *found = k;
        found += is;
    }
    return (size_t)(found - keys);
}

#endif
