/* SHA-256 (FIPS 180-4) by the SHA extensions of x86-64. libsodium's code does without them and
 * takes several times as long. */
#include "base/hash_sha256.h"

#ifndef __x86_64__
bool hash_sha256_by_processor(struct sv v, struct hash *out)
{
    (void)v;
    (void)out;
    return false;
}
#else

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 64, GROUPS = 16 }; /* a group is four rounds */

#define SHA __attribute__((target("sha,sse4.1")))

/* clang-format off */
_Alignas(16) static const uint32_t constants[4 * GROUPS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

/* The eight words of the state, as the instructions want them: a b e f and c d g h, each with its
 * first word in the highest lane. */
struct halves {
    __m128i abef, cdgh;
};

SHA static void add_blocks(struct halves *h, const unsigned char *p, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i       w[4];

    for (; blocks; blocks--, p += BLOCK) {
        struct halves was = *h;
        for (size_t i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)),
                                    swap);
        _Pragma("GCC unroll 16") for (size_t g = 0; g < GROUPS; g++)
        {
            __m128i now = w[g % 4], before = w[(g + 3) % 4];
            __m128i k = _mm_add_epi32(
                now, _mm_load_si128((const __m128i *)(const void *)&constants[4 * g]));
            h->cdgh = _mm_sha256rnds2_epu32(h->cdgh, h->abef, k);
            h->abef = _mm_sha256rnds2_epu32(h->abef, h->cdgh, _mm_shuffle_epi32(k, 0x0e));
            /* The words of the group after the next three. */
            __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(g + 1) % 4]),
                                         _mm_alignr_epi8(before, w[(g + 2) % 4], 4));
            w[g % 4] = _mm_sha256msg2_epu32(next, before);
        }
        h->abef = _mm_add_epi32(h->abef, was.abef);
        h->cdgh = _mm_add_epi32(h->cdgh, was.cdgh);
    }
}

SHA static void sha256(struct sv v, struct hash *out)
{
    struct halves h = { _mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c),
                        _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19) };
    unsigned char tail[2 * BLOCK] = { 0 };
    size_t        whole = v.n / BLOCK, rest = v.n % BLOCK;
    size_t        ends = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK; /* a bit and the length fit in */

    add_blocks(&h, (const unsigned char *)v.s, whole);
    if (rest)
        memcpy(tail, v.s + whole * BLOCK, rest);
    tail[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[ends - 1 - i] = (unsigned char)((uint64_t)v.n * 8 >> 8 * i);
    add_blocks(&h, tail, ends / BLOCK);
    uint32_t abef[4], cdgh[4];
    memcpy(abef, &h.abef, sizeof abef);
    memcpy(cdgh, &h.cdgh, sizeof cdgh);
    const uint32_t words[8] = { abef[3], abef[2], cdgh[3], cdgh[2],
                                abef[1], abef[0], cdgh[1], cdgh[0] };
    for (size_t i = 0; i < HASH_SIZE; i++)
        out->b[i] = (unsigned char)(words[i / 4] >> (24 - 8 * (i % 4)));
}

/* Asked of the processor once: in a virtual machine the answer takes longer than many hashes.
 * __builtin_cpu_supports() does not know these instructions. */
static bool has_instructions(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    int               has = atomic_load_explicit(&known, memory_order_relaxed);
    unsigned          a, b, c, d;

    if (has == UNKNOWN) {
        bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29;
        has = sha && __builtin_cpu_supports("sse4.1") ? YES : NO;
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has == YES;
}

bool hash_sha256_by_processor(struct sv v, struct hash *out)
{
    if (!has_instructions())
        return false;
    sha256(v, out);
    return true;
}
#endif
