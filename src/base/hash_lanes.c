/* BLAKE2b (RFC 7693) with one message per lane of a vector register. */
#include "base/hash_lanes.h"

#include <stdint.h>
#include <string.h>

void hash_lanes_plain(const struct sv *messages, size_t n, struct hash *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = hash_blake2b(&messages[i], 1);
}

#ifdef __x86_64__
#include <immintrin.h>

enum { BLOCK = 128, WORDS = 8, LANES_MAX = 8 };

/* clang-format off */
static const uint64_t iv[WORDS] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};
static const uint8_t order[12][16] = {
    {  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15 },
    { 14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3 },
    { 11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4 },
    {  7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8 },
    {  9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13 },
    {  2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9 },
    { 12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11 },
    { 13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10 },
    {  6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5 },
    { 10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0 },
    {  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15 },
    { 14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3 },
};
/* clang-format on */

/* What stands in the lanes. Word w of the state of lane l is state[w * lanes + l]. */
struct lanes {
    _Alignas(64) uint64_t state[WORDS * LANES_MAX];
    _Alignas(64) uint64_t counted[LANES_MAX]; /* bytes so far, with those of this block */
    _Alignas(64) uint64_t last[LANES_MAX];    /* all bits: this block is the last of its message */
    const unsigned char *block[LANES_MAX];
    size_t               left[LANES_MAX];   /* bytes of the message from there on */
    size_t               stride[LANES_MAX]; /* to its next block; 0: the lane is idle */
    size_t               message[LANES_MAX];
    unsigned char        tail[LANES_MAX][BLOCK]; /* a last block, filled up with zeros */
    size_t               next, n, busy;          /* `next` of n messages begins next */
};

/* The functions below are inlined into two, for four lanes and for eight. */
#define INLINE static inline __attribute__((always_inline))

static const unsigned char zeros[BLOCK];

/* The next message begins in the lane, or nothing does. */
INLINE void lane_begin(struct lanes *x, size_t lanes, size_t lane, const struct sv *messages)
{
    bool idle = x->next == x->n;

    x->block[lane] = idle ? zeros : (const unsigned char *)messages[x->next].s;
    x->left[lane] = idle ? SIZE_MAX : messages[x->next].n;
    x->stride[lane] = idle ? 0 : BLOCK;
    x->counted[lane] = x->last[lane] = 0;
    for (size_t w = 0; w < WORDS; w++)
        x->state[w * lanes + lane] = iv[w];
    x->state[lane] ^= 0x01010000 ^ HASH_SIZE; /* no key, one message, 32 bytes of output */
    x->busy -= idle;
    if (!idle)
        x->message[lane] = x->next++;
}

/* Loops, because for a length below 128 the compiler puts string instructions in place of memcpy()
 * and memset(), which take longer to start than these take. */
INLINE void fill_tail(unsigned char *tail, const unsigned char *s, size_t n)
{
    size_t i = 0;

    memcpy(tail, zeros, BLOCK);
    for (; n - i >= 16; i += 16)
        memcpy(tail + i, s + i, 16);
    if (n >= 16) /* again some that are there */
        memcpy(tail + n - 16, s + n - 16, 16);
    else
        for (; i < n; i++)
            tail[i] = s[i];
}

/* Blocks behind which more of every message comes. */
INLINE size_t common_blocks(const struct lanes *x, size_t lanes)
{
    size_t least = SIZE_MAX;

    for (size_t l = 0; l < lanes; l++)
        least = x->left[l] < least ? x->left[l] : least;
    return least ? (least - 1) / BLOCK : 0;
}

INLINE void lane_block(struct lanes *x, size_t lane)
{
    size_t n = x->left[lane];

    x->counted[lane] += n < BLOCK ? n : BLOCK;
    x->last[lane] = n <= BLOCK ? UINT64_MAX : 0;
    if (n < BLOCK) {
        fill_tail(x->tail[lane], x->block[lane], n);
        x->block[lane] = x->tail[lane];
    }
}

INLINE void lane_end(struct lanes *x, size_t lanes, size_t lane, const struct sv *messages,
                     struct hash *out)
{
    x->block[lane] += x->stride[lane];
    x->left[lane] -= x->stride[lane];
    if (!x->last[lane])
        return;
    for (size_t w = 0; w < HASH_SIZE / 8; w++)
        memcpy(out[x->message[lane]].b + 8 * w, &x->state[w * lanes + lane], 8);
    lane_begin(x, lanes, lane, messages);
}

typedef void (*compress_fn)(struct lanes *x);

INLINE void all_messages(const struct sv *messages, size_t n, struct hash *out, size_t lanes,
                         compress_fn compress)
{
    struct lanes x;

    x.next = 0;
    x.n = n;
    x.busy = lanes;
    for (size_t l = 0; l < lanes; l++)
        lane_begin(&x, lanes, l, messages);
    while (x.busy) {
        for (size_t more = common_blocks(&x, lanes); more; more--) {
            for (size_t l = 0; l < lanes; l++)
                x.counted[l] += BLOCK;
            compress(&x);
            for (size_t l = 0; l < lanes; l++) {
                x.block[l] += x.stride[l];
                x.left[l] -= x.stride[l];
            }
        }
        for (size_t l = 0; l < lanes; l++)
            lane_block(&x, l);
        compress(&x);
        for (size_t l = 0; l < lanes; l++)
            lane_end(&x, lanes, l, messages, out);
    }
}

/* One step of the mixing function on four words; `x` and `y` are words of the message. */
#define MIX(add, xor, r32, r24, r16, r63, a, b, c, d, x, y)                                        \
    do {                                                                                           \
        a = add(add(a, b), x);                                                                     \
        d = r32(xor(d, a));                                                                        \
        c = add(c, d);                                                                             \
        b = r24(xor(b, c));                                                                        \
        a = add(add(a, b), y);                                                                     \
        d = r16(xor(d, a));                                                                        \
        c = add(c, d);                                                                             \
        b = r63(xor(b, c));                                                                        \
    } while (0)

/* Twelve rounds over v[16], with the message in m[16]. */
#define ROUNDS(G, v, m)                                                                            \
    _Pragma("GCC unroll 12") for (size_t r = 0; r < 12; r++)                                       \
    {                                                                                              \
        const uint8_t *o = order[r];                                                               \
        G(v[0], v[4], v[8], v[12], m[o[0]], m[o[1]]);                                              \
        G(v[1], v[5], v[9], v[13], m[o[2]], m[o[3]]);                                              \
        G(v[2], v[6], v[10], v[14], m[o[4]], m[o[5]]);                                             \
        G(v[3], v[7], v[11], v[15], m[o[6]], m[o[7]]);                                             \
        G(v[0], v[5], v[10], v[15], m[o[8]], m[o[9]]);                                             \
        G(v[1], v[6], v[11], v[12], m[o[10]], m[o[11]]);                                           \
        G(v[2], v[7], v[8], v[13], m[o[12]], m[o[13]]);                                            \
        G(v[3], v[4], v[9], v[14], m[o[14]], m[o[15]]);                                            \
    }

/* ---- four lanes ------------------------------------------------------------------- */

#define AVX2 __attribute__((target("avx2")))
#define R32_4(x) _mm256_shuffle_epi32(x, 0xb1)
#define R24_4(x) _mm256_shuffle_epi8(x, by24)
#define R16_4(x) _mm256_shuffle_epi8(x, by16)
#define R63_4(x) _mm256_or_si256(_mm256_srli_epi64(x, 63), _mm256_add_epi64(x, x))
#define G4(a, b, c, d, x, y)                                                                       \
    MIX(_mm256_add_epi64, _mm256_xor_si256, R32_4, R24_4, R16_4, R63_4, a, b, c, d, x, y)

/* Words 4i to 4i + 3 of the four blocks: rows become columns. */
AVX2 static void turn_4(const struct lanes *x, size_t i, __m256i *m)
{
    __m256i r[4], t[4];

    for (size_t l = 0; l < 4; l++)
        r[l] = _mm256_loadu_si256((const __m256i *)(x->block[l] + 32 * i));
    t[0] = _mm256_unpacklo_epi64(r[0], r[1]);
    t[1] = _mm256_unpackhi_epi64(r[0], r[1]);
    t[2] = _mm256_unpacklo_epi64(r[2], r[3]);
    t[3] = _mm256_unpackhi_epi64(r[2], r[3]);
    m[0] = _mm256_permute2x128_si256(t[0], t[2], 0x20);
    m[1] = _mm256_permute2x128_si256(t[1], t[3], 0x20);
    m[2] = _mm256_permute2x128_si256(t[0], t[2], 0x31);
    m[3] = _mm256_permute2x128_si256(t[1], t[3], 0x31);
}

AVX2 static void compress_4(struct lanes *x)
{
    const __m256i by24 = _mm256_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3,
                                          4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    const __m256i by16 = _mm256_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2,
                                          3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
    __m256i      *state = (__m256i *)x->state, m[16], v[16];

    for (size_t i = 0; i < 4; i++)
        turn_4(x, i, m + 4 * i);
    for (size_t w = 0; w < WORDS; w++) {
        v[w] = state[w];
        v[w + WORDS] = _mm256_set1_epi64x((int64_t)iv[w]);
    }
    v[12] = _mm256_xor_si256(v[12], *(const __m256i *)x->counted);
    v[14] = _mm256_xor_si256(v[14], *(const __m256i *)x->last);
    ROUNDS(G4, v, m)
    for (size_t w = 0; w < WORDS; w++)
        state[w] = _mm256_xor_si256(state[w], _mm256_xor_si256(v[w], v[w + WORDS]));
}

void hash_lanes_avx2(const struct sv *messages, size_t n, struct hash *out)
{
    all_messages(messages, n, out, 4, compress_4);
}

/* ---- eight lanes ------------------------------------------------------------------ */

#define AVX512 __attribute__((target("avx512f")))
#define R32_8(x) _mm512_ror_epi64(x, 32)
#define R24_8(x) _mm512_ror_epi64(x, 24)
#define R16_8(x) _mm512_ror_epi64(x, 16)
#define R63_8(x) _mm512_ror_epi64(x, 63)
#define G8(a, b, c, d, x, y)                                                                       \
    MIX(_mm512_add_epi64, _mm512_xor_si512, R32_8, R24_8, R16_8, R63_8, a, b, c, d, x, y)

/* Words 8i to 8i + 7 of the eight blocks. */
AVX512 static void turn_8(const struct lanes *x, size_t i, __m512i *m)
{
    __m512i t[8];

    for (size_t l = 0; l < 8; l += 2) {
        __m512i even = _mm512_loadu_si512(x->block[l] + 64 * i);
        __m512i odd = _mm512_loadu_si512(x->block[l + 1] + 64 * i);
        t[l] = _mm512_unpacklo_epi64(even, odd);
        t[l + 1] = _mm512_unpackhi_epi64(even, odd);
    }
    for (size_t l = 0; l < 2; l++) { /* pairs of lanes: words l, l + 2, l + 4, l + 6 */
        __m512i low = _mm512_shuffle_i64x2(t[l], t[l + 2], 0x88);
        __m512i high = _mm512_shuffle_i64x2(t[l], t[l + 2], 0xdd);
        __m512i low2 = _mm512_shuffle_i64x2(t[l + 4], t[l + 6], 0x88);
        __m512i high2 = _mm512_shuffle_i64x2(t[l + 4], t[l + 6], 0xdd);
        m[l] = _mm512_shuffle_i64x2(low, low2, 0x88);
        m[l + 4] = _mm512_shuffle_i64x2(low, low2, 0xdd);
        m[l + 2] = _mm512_shuffle_i64x2(high, high2, 0x88);
        m[l + 6] = _mm512_shuffle_i64x2(high, high2, 0xdd);
    }
}

AVX512 static void compress_8(struct lanes *x)
{
    __m512i *state = (__m512i *)x->state, m[16], v[16];

    for (size_t i = 0; i < 2; i++)
        turn_8(x, i, m + 8 * i);
    for (size_t w = 0; w < WORDS; w++) {
        v[w] = state[w];
        v[w + WORDS] = _mm512_set1_epi64((int64_t)iv[w]);
    }
    v[12] = _mm512_xor_si512(v[12], *(const __m512i *)x->counted);
    v[14] = _mm512_xor_si512(v[14], *(const __m512i *)x->last);
    ROUNDS(G8, v, m)
    for (size_t w = 0; w < WORDS; w++)
        state[w] = _mm512_xor_si512(state[w], _mm512_xor_si512(v[w], v[w + WORDS]));
}

void hash_lanes_avx512(const struct sv *messages, size_t n, struct hash *out)
{
    all_messages(messages, n, out, 8, compress_8);
}
#endif

hash_lanes_fn hash_lanes_best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return hash_lanes_avx512;
    if (__builtin_cpu_supports("avx2"))
        return hash_lanes_avx2;
#endif
    return hash_lanes_plain;
}
