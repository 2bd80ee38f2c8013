/* Secrets by their shapes. One pass looks for three bytes of each shape's fixed text with a few
 * byte shuffles for 32 places at a time, however many shapes there are; the places that remain are
 * looked up in a table, and only then is the shape itself checked (secret_shapes.c). */
#include "payload/secret_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <pthread.h>
#include <string.h>

enum {
    PROBE = 3,
    SETS = 2,
    BUCKETS = 16,
    SLOTS = 512,
    BLOCK = 32,
    BLOCK_READS = BLOCK + PROBE - 1
};

/* How candidates are found. The probe of a shape is those three bytes of its fixed text that are
 * rarest in ordinary text. The shapes are divided into buckets; each bucket is a bit, eight buckets
 * are a set. `low` and `high` have, for the lower and upper half of the i-th byte of a probe, the
 * buckets in which it occurs; `bytes` has the same for the complete byte. */
static struct {
    unsigned char low[SETS][PROBE][16], high[SETS][PROBE][16];
    uint16_t      bytes[PROBE][256];
    uint16_t      slot[SLOTS]; /* 1 + number of the first shape with a probe of this hash */
    uint16_t      next[SECRET_SHAPES_MAX];  /* 1 + number of the next one */
    size_t        probe[SECRET_SHAPES_MAX]; /* offset of the probe in the fixed text */
} finder;
static pthread_once_t finder_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *p)
{
    uint32_t key = (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
                   (uint32_t)(unsigned char)p[2] << 16;

    return key * 2654435761u >> 23;
}

/* How often a byte occurs in text, roughly. */
static unsigned frequency(unsigned char c)
{
    return c == ' '                      ? 120
           : c && strchr("etaoinsr", c)  ? 50
           : c && strchr("lcdhupm_", c)  ? 25
           : c >= 'a' && c <= 'z'        ? 10
           : c && strchr("*/-(),.\n", c) ? 10
           : secret_is_digit((char)c)    ? 8
           : c >= 'A' && c <= 'Z'        ? 6
           : c > 0x20 && c < 0x7f        ? 4
                                         : 1;
}

static uint64_t weight(const char *probe)
{
    return (uint64_t)frequency((unsigned char)probe[0]) * frequency((unsigned char)probe[1]) *
           frequency((unsigned char)probe[2]);
}

static size_t rarest(const char *start)
{
    size_t n = strlen(start), best = 0;

    for (size_t i = 1; i + PROBE <= n; i++)
        if (weight(start + i) < weight(start + best))
            best = i;
    return best;
}

/* The halves of bytes that a bucket accepts, as bits. */
struct bucket {
    uint16_t low[PROBE], high[PROBE];
    uint64_t cost; /* how often text passes it, by the sums of frequency() */
};

/* The sum of the frequencies of all bytes whose halves are both accepted. */
static uint64_t let_through(uint16_t low, uint16_t high, const unsigned frequencies[256])
{
    uint64_t sum = 0;

    for (unsigned h = 0; h < 16; h++)
        for (unsigned l = 0; high >> h & 1 && l < 16; l++)
            if (low >> l & 1)
                sum += frequencies[h << 4 | l];
    return sum;
}

static struct bucket bucket_with(const struct bucket *b, const char *probe,
                                 const unsigned frequencies[256])
{
    struct bucket with = *b;

    with.cost = 1;
    for (int i = 0; i < PROBE; i++) {
        unsigned char c = (unsigned char)probe[i];
        with.low[i] = (uint16_t)(with.low[i] | 1u << (c & 15));
        with.high[i] = (uint16_t)(with.high[i] | 1u << (c >> 4));
        with.cost *= let_through(with.low[i], with.high[i], frequencies);
    }
    return with;
}

/* Puts the probe into the bucket whose cost grows least by it, and returns the number of that
 * bucket. */
static unsigned deal(struct bucket buckets[BUCKETS], const char *probe,
                     const unsigned frequencies[256])
{
    struct bucket best = { .cost = UINT64_MAX };
    unsigned      at = 0;
    uint64_t      least = UINT64_MAX;

    for (unsigned k = 0; k < BUCKETS; k++) {
        struct bucket with = bucket_with(&buckets[k], probe, frequencies);
        if (with.cost - buckets[k].cost >= least)
            continue;
        least = with.cost - buckets[k].cost;
        best = with;
        at = k;
    }
    buckets[at] = best;
    return at;
}

static void add_probe(const char *probe, unsigned bucket)
{
    unsigned char bit = (unsigned char)(1u << bucket % 8);

    for (int i = 0; i < PROBE; i++) {
        unsigned char c = (unsigned char)probe[i];
        finder.low[bucket / 8][i][c & 15] |= bit;
        finder.high[bucket / 8][i][c >> 4] |= bit;
        finder.bytes[i][c] = (uint16_t)(finder.bytes[i][c] | 1u << bucket);
    }
}

static void make_finder(void)
{
    struct bucket buckets[BUCKETS] = { 0 };
    unsigned      frequencies[256];

    for (unsigned c = 0; c < 256; c++)
        frequencies[c] = frequency((unsigned char)c);
    for (size_t k = secret_shape_count;
         k-- > 0;) { /* backwards, so that the shapes of a slot are in the order of the table */
        finder.probe[k] = rarest(secret_shapes[k].start);
        const char *probe = secret_shapes[k].start + finder.probe[k];
        add_probe(probe, deal(buckets, probe, frequencies));
        finder.next[k] = finder.slot[slot_of(probe)];
        finder.slot[slot_of(probe)] = (uint16_t)(k + 1);
    }
}

/* The shape, if any, whose probe is at text[i]. */
static const struct shape *shape_at(struct sv text, size_t i, size_t *at)
{
    for (size_t k = finder.slot[slot_of(text.s + i)]; k; k = finder.next[k - 1]) {
        size_t probe = finder.probe[k - 1];
        if (i < probe || memcmp(text.s + i, secret_shapes[k - 1].start + probe, PROBE) != 0)
            continue;
        *at = i - probe;
        if (secret_shape_fits(&secret_shapes[k - 1], text, *at))
            return &secret_shapes[k - 1];
    }
    return NULL;
}

static const struct shape *find_plain(struct sv text, size_t i, size_t *at)
{
    for (; i + PROBE <= text.n; i++) {
        const unsigned char *s = (const unsigned char *)text.s + i;
        if (!(finder.bytes[0][s[0]] & finder.bytes[1][s[1]] & finder.bytes[2][s[2]]))
            continue;
        const struct shape *found = shape_at(text, i, at);
        if (found)
            return found;
    }
    return NULL;
}

#if defined(__x86_64__)
/* In which buckets of a set the i-th byte of a probe at each of 32 places is. */
__attribute__((target("avx2"))) static inline __m256i buckets_at(__m256i v, int set, int i)
{
    __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)finder.low[set][i]));
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)finder.high[set][i]));

    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(v, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), half)));
}

/* Of the 32 places from s on, those where a probe may be, a bit each. */
__attribute__((target("avx2"))) static inline uint32_t places_at(const char *s)
{
    __m256i hit = _mm256_setzero_si256(), v[PROBE];

    for (int i = 0; i < PROBE; i++)
        v[i] = _mm256_loadu_si256((const void *)(s + i));
    for (int set = 0; set < SETS; set++)
        hit = _mm256_or_si256(hit, _mm256_and_si256(buckets_at(v[0], set, 0),
                                                    _mm256_and_si256(buckets_at(v[1], set, 1),
                                                                     buckets_at(v[2], set, 2))));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256()));
}

__attribute__((target("avx2"))) static const struct shape *find_avx2(struct sv text, size_t *at)
{
    size_t i = 0;

    for (; i + BLOCK_READS <= text.n; i += BLOCK)
        for (uint32_t places = places_at(text.s + i); places; places &= places - 1) {
            const struct shape *found = shape_at(text, i + (size_t)__builtin_ctz(places), at);
            if (found)
                return found;
        }
    return find_plain(text, i, at);
}
#endif

const char *secret_find(struct sv text, size_t *at)
{
    const struct shape *found;

    pthread_once(&finder_once, make_finder);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        found = find_avx2(text, at);
    else
#endif
        found = find_plain(text, 0, at);
    return found ? found->what : NULL;
}

const char *secret_find_in_url(struct sv url, size_t *from, size_t *to)
{
    struct sv   user, password;
    ptrdiff_t   at = sv_find(url, SV("://"));
    const char *what;

    if (at >= 0 && secret_url_user(sv_skip(url, (size_t)at + 3), &user, &password)) {
        *from = (size_t)(password.s - url.s);
        *to = *from + password.n;
        return "password in a URL";
    }
    what = secret_find(url, from);
    if (what)
        *to = *from + secret_run_of(sv_skip(url, *from), "-_.~+/=:");
    return what;
}
