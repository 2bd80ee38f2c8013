/* What the files of the kernel for x86-64 processors with AVX2 share. Each of its functions asks
 * for the instructions by itself, so the rest of the program runs on any x86-64. */
#ifndef HEDDLE_TOKENS_KERNEL_AVX2_H
#define HEDDLE_TOKENS_KERNEL_AVX2_H

#include "tokens/count.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

/* The steps of struct kernel. */
size_t split_avx2(struct split_state *s, size_t at, bool whole, struct count_batch *b);
size_t split_avx2_ascii(struct split_state *s, size_t at, bool whole, struct count_batch *b);
void   probe_avx2(const struct cache *c, struct count_batch *b);
size_t probe_find_avx2(const struct vocab *v, struct cache_key *keys, size_t n);

/* All four words or-ed. */
AVX2 INLINE uint64_t or_lanes(__m256i v)
{
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
}

#endif
#endif
