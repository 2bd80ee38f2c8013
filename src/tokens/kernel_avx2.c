/* The inner loops for x86-64 processors with AVX2. */
#include "tokens/count.h"
#include "tokens/window.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

/* ---- splitting: 64 bytes at a time ----
 *
 * A window starts at a piece start, so nothing before it matters. Its characters are sorted into
 * classes, one bit each, and the rules of split.c become arithmetic on those bits: a shift by one
 * asks for a character's neighbour, an addition runs along a row of ones. */

/* One bit for each character of a window. */
struct masks {
    uint64_t upper, lower, letter, mark, number, newline, space, tab; /* tab: all other blanks */
    uint64_t quote, slash;
    uint64_t leads; /* at the first byte of each character: how bits become bytes again */
    unsigned known; /* so many characters are known */
};

AVX2 INLINE uint64_t bits_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 INLINE __m256i between(__m256i c, char first, char count)
{
    __m256i from = _mm256_sub_epi8(c, _mm256_set1_epi8(first));

    return _mm256_cmpeq_epi8(_mm256_min_epu8(from, _mm256_set1_epi8((char)(count - 1))), from);
}

AVX2 INLINE __m256i equal(__m256i c, char value)
{
    return _mm256_cmpeq_epi8(c, _mm256_set1_epi8(value));
}

/* The classes of the ASCII characters among 64 bytes, one bit for each byte. */
AVX2 INLINE struct masks classify_ascii(__m256i a, __m256i b)
{
    const __m256i small = _mm256_set1_epi8(0x20);
    struct masks  m = { .leads = ~(uint64_t)0, .known = 64 };
    uint64_t      letters, controls;

    letters = bits_of(between(_mm256_or_si256(a, small), 'a', 26),
                      between(_mm256_or_si256(b, small), 'a', 26));
    m.lower = letters & bits_of(_mm256_slli_epi16(a, 2), _mm256_slli_epi16(b, 2)); /* bit 5 */
    m.upper = letters & ~m.lower;
    m.number = bits_of(between(a, '0', 10), between(b, '0', 10));
    m.newline = bits_of(_mm256_or_si256(equal(a, '\n'), equal(a, '\r')),
                        _mm256_or_si256(equal(b, '\n'), equal(b, '\r')));
    controls = bits_of(between(a, '\t', 5), between(b, '\t', 5));
    m.tab = controls & ~m.newline;
    m.space = bits_of(equal(a, ' '), equal(b, ' '));
    m.quote = bits_of(equal(a, '\''), equal(b, '\''));
    m.slash = bits_of(equal(a, '/'), equal(b, '/'));
    return m;
}

/* A character of several bytes at p, all of them readable: its class and length. Length 0 when it is
 * not valid UTF-8. */
AVX2 INLINE unsigned class_at(const struct vocab *v, const uint8_t *p, unsigned *len)
{
    uint32_t cp, first = p[0], second = p[1] ^ 0x80u, third = p[2] ^ 0x80u, fourth = p[3] ^ 0x80u;
    bool     valid;

    if (first < 0xe0) {
        cp = (first & 31) << 6 | second;
        valid = second < 64 && first >= 0xc2;
        *len = 2;
    } else if (first < 0xf0) {
        cp = (first & 15) << 12 | second << 6 | third;
        valid = (second | third) < 64 && cp >= 0x800 && (cp < 0xd800 || cp > 0xdfff);
        *len = 3;
    } else {
        cp = (first & 7) << 18 | second << 12 | third << 6 | fourth;
        valid = (second | third | fourth) < 64 && first <= 0xf4 && cp >= 0x10000 && cp <= 0x10ffff;
        *len = 4;
    }
    if (__builtin_expect(!valid, 0))
        *len = 0;
    return vocab_class(v, valid ? cp : 0);
}

/* Windows with other than ASCII. A class is three bits, gathered in three words at the places of the
 * first bytes; then the bytes in between are squeezed out. */
AVX2 static struct masks classify_any(const struct vocab *v, const uint8_t *p, struct masks m,
                                      uint64_t beyond, uint64_t tails)
{
    uint64_t plane[3] = { 0 }, todo = beyond & ~tails, covered = ~beyond;
    unsigned end = 64; /* bytes known */

    for (; todo; todo = _blsr_u64(todo)) {
        unsigned at = (unsigned)_tzcnt_u64(todo), len, class;
        if (at > 60) { /* it may reach beyond the window */
            end = at;
            break;
        }
        class = class_at(v, p + at, &len);
        plane[0] |= (uint64_t)(class & 1) << at;
        plane[1] |= (uint64_t)(class >> 1 & 1) << at;
        plane[2] |= (uint64_t)(class >> 2) << at;
        covered |= ~(~(uint64_t)0 << len) << at;
    }
    /* Bytes that belong to no character end what is known. */
    uint64_t stray = ~covered;
    if (_tzcnt_u64(stray) < end)
        end = (unsigned)_tzcnt_u64(stray);
    const uint64_t p0 = plane[0], p1 = plane[1], p2 = plane[2], leads = _bzhi_u64(~tails, end);
    _Static_assert(CLASS_UPPER == 1 && CLASS_LOWER == 2 && CLASS_LETTER == 3 && CLASS_MARK == 4 &&
                       CLASS_NUMBER == 5 && CLASS_SPACE == 6,
                   "the planes are read so");
    m.upper = _pext_u64(m.upper | (p0 & ~p1 & ~p2), leads);
    m.lower = _pext_u64(m.lower | (~p0 & p1 & ~p2), leads);
    m.letter = _pext_u64(p0 & p1 & ~p2, leads);
    m.mark = _pext_u64(~p0 & ~p1 & p2, leads);
    m.number = _pext_u64(m.number | (p0 & ~p1 & p2), leads);
    m.tab = _pext_u64(m.tab | (~p0 & p1 & p2), leads);
    m.newline = _pext_u64(m.newline, leads);
    m.space = _pext_u64(m.space, leads);
    m.quote = _pext_u64(m.quote, leads);
    m.slash = _pext_u64(m.slash, leads);
    m.leads = leads;
    m.known = (unsigned)_mm_popcnt_u64(leads);
    return m;
}

/* The length in characters of 's 't 're 've 'm 'll 'd in any case, or 0; p[0] is the apostrophe. */
static unsigned contraction(const uint8_t *p)
{
    uint8_t first = p[1] | 0x20, second = p[2] | 0x20;

    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return 2;
    if (p[1] == 0xc5 && p[2] == 0xbf) /* the long s */
        return 2;
    return (second == 'e' && (first == 'r' || first == 'v')) || (second == 'l' && first == 'l')
               ? 3
               : 0;
}

/* Blanks after a newline begin a piece, unless white space with another newline follows them. */
AVX2 INLINE uint64_t indents(uint64_t blank, uint64_t newline)
{
    uint64_t starts = blank & newline << 1, ends = (blank + starts) & ~blank;

    if (__builtin_expect(!(ends & newline), 1))
        return starts;
    uint64_t kept = 0;
    for (; starts; starts &= starts - 1) {
        uint64_t one = starts & -starts, end = (blank + one) & ~blank;
        kept |= end & newline ? 0 : one;
    }
    return kept;
}

/* Two more characters after the apostrophe are known: see `certain` below. */
AVX2 static uint64_t apply_contractions(uint64_t starts, const struct masks *m, const uint8_t *p,
                                        bool o200k)
{
    uint64_t letters = m->upper | m->lower | m->letter | m->mark;
    uint64_t at = m->quote & letters >> 1 & (o200k ? letters << 1 : starts);
    unsigned end = 0;

    for (at = _bzhi_u64(at, m->known - 2); at; at &= at - 1) {
        unsigned i = (unsigned)_tzcnt_u64(at);
        unsigned len = contraction(p + _tzcnt_u64(_pdep_u64((uint64_t)1 << i, m->leads)));
        if (!len || (o200k && i == end)) /* one contraction does not follow another */
            continue;
        end = i + len;
        if (o200k)
            starts &= ~(~(~(uint64_t)0 << len) << i);
        starts |= letters & (end < 64 ? (uint64_t)1 << end : 0);
    }
    return starts;
}

/* The piece starts among the characters of a window, itself one, as far as they are certain. */
AVX2 INLINE uint64_t starts_of(const struct masks *m, const uint8_t *p, bool o200k)
{
    uint64_t mark = o200k ? m->mark : 0; /* in cl100k_base a mark is like punctuation */
    uint64_t word = m->upper | m->lower | m->letter | mark;
    uint64_t blank = m->space | m->tab, white = blank | m->newline;
    uint64_t other = ~(word | m->number | white);

    /* Newlines right after punctuation belong to it; other white space stands by itself, except
     * its last blank, which belongs to what follows. */
    uint64_t glued = m->newline & ~(m->newline + (m->newline & other << 1));
    uint64_t apart = white & ~glued;
    uint64_t starts = 1 | (apart & ~(apart << 1)) | (blank & ~(white >> 1)) |
                      indents(blank, m->newline) | (word & (m->number | m->newline) << 1) |
                      (other & ~(other << 1) & ~(m->space << 1)) |
                      (word & other << 1 & (other | m->space) << 2);
    if (o200k)
        starts |= m->upper & m->lower << 1;

    uint64_t numbers = m->number & ~(m->number << 1);
    uint64_t four = m->number & m->number << 1 & m->number << 2 & m->number << 3;
    do {
        starts |= numbers;
        numbers = numbers << 3 & four;
    } while (numbers);

    /* Certain is what does not depend on characters after the known ones: two ahead for
     * contractions, all of a run of white space. Left to the plain rules are a slash that may be
     * glued to a newline, capitals after caseless letters, and marks that do not follow a letter. */
    uint64_t hard = 0;
    if (o200k)
        hard = (glued << 1 & m->slash) | (m->upper & (m->letter | mark) << 1) | (mark & ~(word << 1));
    unsigned limit = (unsigned)_tzcnt_u64(hard);
    limit = limit < m->known ? limit : m->known;
    if (m->quote && m->known > 2)
        starts = apply_contractions(starts, m, p, o200k);
    unsigned run = 64 - (unsigned)_lzcnt_u64(_bzhi_u64(~white, limit));
    unsigned certain = limit < 3 ? 0 : limit - 3;
    return _bzhi_u64(starts, run + 1 < certain ? run + 1 : certain) | 1;
}

/* The same, at bytes. */
AVX2 INLINE uint64_t window_starts(const struct vocab *v, const uint8_t *p, bool o200k)
{
    const __m256i a = _mm256_loadu_si256((const void *)p);
    const __m256i b = _mm256_loadu_si256((const void *)(p + 32));
    struct masks  m = classify_ascii(a, b);
    uint64_t      beyond = bits_of(a, b);

    if (__builtin_expect(!beyond, 1))
        return starts_of(&m, p, o200k);
    const __m256i top = _mm256_set1_epi8((char)0xc0); /* bytes 0x80 to 0xbf go on a character */
    uint64_t      tails = bits_of(_mm256_cmpgt_epi8(top, a), _mm256_cmpgt_epi8(top, b));
    m = classify_any(v, p, m, beyond, tails);
    return _pdep_u64(starts_of(&m, p, o200k), m.leads) | 1;
}

/* Writes base + the positions of the bits of `set`; there is room for 64 more. */
AVX2 INLINE void put_starts(uint32_t *out, uint32_t base, uint64_t set, unsigned n)
{
    for (unsigned done = 0; done < n; done += 8)
        for (unsigned i = 0; i < 8; i++) {
            out[done + i] = base + (uint32_t)_tzcnt_u64(set);
            set = _blsr_u64(set);
        }
}

AVX2 INLINE size_t split_windows(struct split *s, size_t at, bool whole, struct batch *b,
                                 bool o200k)
{
    size_t first = at;

    b->n_starts = 0;
    while (at < s->n && b->n_starts < BATCH && at - first < REACH) {
        if (at + 64 <= s->n) {
            uint64_t starts = window_starts(s->v, s->p + at, o200k);
            s->steps += 64;
            unsigned top = 63 - (unsigned)_lzcnt_u64(starts);
            if (top) {
                starts = _bzhi_u64(starts, top);
                unsigned n = (unsigned)_mm_popcnt_u64(starts);
                put_starts(b->starts + b->n_starts, (uint32_t)(at - first), starts, n);
                b->n_starts += n;
                at += top;
                continue;
            }
        }
        size_t end = split_piece(s, at);
        if (s->bad || (s->open && !whole))
            break;
        b->starts[b->n_starts++] = (uint32_t)(at - first);
        at = end;
    }
    return at;
}

AVX2 static size_t split_avx2(struct split *s, size_t at, bool whole, struct batch *b)
{
    return s->v->encoding == TOKENS_O200K ? split_windows(s, at, whole, b, true)
                                          : split_windows(s, at, whole, b, false);
}

/* ---- the cache: all keys of a set at once ---- */

AVX2 INLINE uint64_t or_lanes(__m256i v)
{
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
}

/* First all keys are made and their sets asked for, then all sets are read: the memory answers many
 * questions at once. The keys are written where they stay if they miss. */
AVX2 static void probe_shorts(const struct cache *c, struct batch *b)
{
    const __m256i   content = _mm256_set1_epi64x((int64_t) ~(~(uint64_t)0 << KEY_COUNT_SHIFT));
    const uint8_t  *base = b->base;
    const uint64_t *sets = c->shorts.sets;
    const unsigned  shift = 64 - c->shorts.bits;
    struct key     *keys = b->missed + b->n_missed, *missed = keys;
    size_t          total = 0, n = b->n_shorts;

    for (size_t i = 0; i < n; i++) {
        uint64_t len = b->shorts[i] & PIECE_LEN, at = b->shorts[i] >> PIECE_LEN_BITS;
        keys[i].low = _bzhi_u64(load64(base + at), (unsigned)len * 8) | len << KEY_LEN_SHIFT;
        __builtin_prefetch(sets + (short_hash(keys[i].low) >> shift) * CACHE_WAYS);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t low = keys[i].low;
        __m256i  set = _mm256_load_si256((const void *)(sets + (short_hash(low) >> shift) * CACHE_WAYS));
        __m256i  key = _mm256_set1_epi64x((int64_t)low);
        __m256i  same = _mm256_cmpeq_epi64(_mm256_and_si256(set, content), key);
        uint64_t count = or_lanes(_mm256_and_si256(set, same)) >> KEY_COUNT_SHIFT;
        *missed = (struct key){ low, 0 };
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

    /* Both words must agree: put the verdict on the low one to that on the high one. */
    return _mm256_and_si256(two, _mm256_and_si256(same, _mm256_shuffle_epi32(same, 0x44)));
}

AVX2 static void probe_middles(const struct cache *c, struct batch *b)
{
    const uint8_t  *base = b->base;
    const uint64_t *sets = c->middles.sets;
    const unsigned  shift = 64 - c->middles.bits;
    struct key     *keys = b->missed + b->n_missed, *missed = keys;
    size_t          total = 0, n = b->n_middles;

    for (size_t i = 0; i < n; i++) {
        uint64_t       len = b->middles[i] & PIECE_LEN;
        const uint8_t *p = base + (b->middles[i] >> PIECE_LEN_BITS);
        uint64_t       low = load64(p), rest = _bzhi_u64(load64(p + 8), (unsigned)len * 8 - 64);
        keys[i] = (struct key){ low, rest | len << KEY_LEN_SHIFT };
        __builtin_prefetch(sets + (middle_hash(low, keys[i].high) >> shift) * 2 * CACHE_WAYS);
    }
    for (size_t i = 0; i < n; i++) {
        struct key      k = keys[i];
        const uint64_t *set = sets + (middle_hash(k.low, k.high) >> shift) * 2 * CACHE_WAYS;
        __m128i         one = _mm_set_epi64x((int64_t)k.high, (int64_t)k.low);
        __m256i         key = _mm256_broadcastsi128_si256(one);
        __m256i         hit = _mm256_or_si256(match_two(set, key), match_two(set + 4, key));
        one = _mm_or_si128(_mm256_castsi256_si128(hit), _mm256_extracti128_si256(hit, 1));
        uint64_t count = (uint64_t)_mm_extract_epi64(one, 1) >> KEY_COUNT_SHIFT;
        *missed = k;
        missed += !count;
        total += count;
    }
    b->n_missed = (size_t)(missed - b->missed);
    b->total += total;
}

/* All ones up to byte `len`, then the length's place. */
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

AVX2 static void probe_wides(const struct cache *c, struct batch *b)
{
    for (size_t i = 0; i < b->n_wides; i++) {
        uint32_t        item = b->wides[i];
        struct wide *k = &b->missed_wides[b->n_missed_wides];
        *k = wide_at(b->base + (item >> PIECE_LEN_BITS), item & PIECE_LEN);
        unsigned count = cache_find_wide(c, k);
        b->total += count;
        b->n_missed_wides += !count;
    }
}

AVX2 static void probe_avx2(const struct cache *c, struct batch *b)
{
    probe_shorts(c, b);
    probe_middles(c, b);
    probe_wides(c, b);
}

/* ---- is it a token? ---- */

AVX2 INLINE bool is_short_token(const struct vocab *v, uint64_t low)
{
    const __m256i key = _mm256_set1_epi64x((int64_t)low);

    for (size_t line = line_of(short_hash(low), v->short_lines);; line = next_line(line, v->short_lines)) {
        const uint64_t *slot = v->shorts + line * 8;
        __m256i         a = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)slot), key);
        __m256i         b = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(slot + 4)), key);
        a = _mm256_or_si256(a, b);
        if (__builtin_expect(!slot[7] || !_mm256_testz_si256(a, a), 1))
            return !_mm256_testz_si256(a, a);
    }
}

AVX2 INLINE bool is_middle_token(const struct vocab *v, struct key k)
{
    const __m256i key = _mm256_broadcastsi128_si256(_mm_set_epi64x((int64_t)k.high, (int64_t)k.low));

    for (size_t line = line_of(middle_hash(k.low, k.high), v->middle_lines);;
         line = next_line(line, v->middle_lines)) {
        const uint64_t *slot = v->middles + line * 8;
        __m256i         a = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)slot), key);
        __m256i         b = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(slot + 4)), key);
        a = _mm256_and_si256(a, _mm256_shuffle_epi32(a, 0x4e)); /* both words of a slot */
        b = _mm256_and_si256(b, _mm256_shuffle_epi32(b, 0x4e));
        a = _mm256_or_si256(a, b);
        if (__builtin_expect(!slot[7] || !_mm256_testz_si256(a, a), 1))
            return !_mm256_testz_si256(a, a);
    }
}

AVX2 static size_t find_avx2(const struct vocab *v, struct key *keys, size_t n)
{
    struct key *found = keys;

    for (size_t i = 0; i < n; i++) {
        struct key k = keys[i];
        bool       is = k.high ? is_middle_token(v, k) : is_short_token(v, k.low);
        keys[i] = *found;
        *found = k;
        found += is;
    }
    return (size_t)(found - keys);
}

/* ---- merging up to MERGE_GROUP pieces in step ---- */

/* A piece being merged. A rank is stored << PLACE_BITS | its place, so that the smallest of them
 * says what to merge and where. Tokens stay at the place of their first byte; `alive` has a bit for
 * each. There is an id on either side of the places that merges with nothing, and a rank that
 * nobody reads, so that the ends need no special care. */
enum { PLACES = 64, PLACE_BITS = 6, OUTSIDE = (1 << TOKEN_BITS) - 1 };
struct merging {
    _Alignas(LINE_BYTES) uint32_t rank[PLACES + 1];
    uint32_t id[PLACES + 2];   /* [place + 1] */
    uint32_t at, gone, before; /* places of the merger under way; before: + 1 */
    uint64_t alive;
    uint64_t left, right; /* the pairs it makes */
};

/* `blocks` of eight places are used. */
AVX2 INLINE void merging_load(struct merging *m, const struct vocab *v, const uint8_t *p,
                                     size_t n, size_t blocks)
{
    for (size_t i = 0; i + 1 < n; i++) {
        uint32_t rank = v->bigram[p[i] << 8 | p[i + 1]];
        m->rank[i] = rank == TOKEN_NONE ? rank : rank << PLACE_BITS | (uint32_t)i;
        m->id[i + 1] = v->byte_id[p[i]];
    }
    m->id[n] = v->byte_id[p[n - 1]];
    for (size_t i = n - 1; i < 8 * blocks; i++)
        m->rank[i] = TOKEN_NONE;
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

/* Choose a merger and put it through, and ask for the lines that rank its neighbours. False when
 * there is none; what has then been done does no harm. */
AVX2 INLINE bool merging_choose(struct merging *m, const struct vocab *v, size_t blocks)
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
        if (__builtin_expect(id || !slot[7], 1))
            return (id << PLACE_BITS | place) | -(uint32_t)!id; /* nothing merges to id 0, a byte */
    }
}

AVX2 INLINE void merging_rank(struct merging *m, const struct vocab *v)
{
    uint32_t left = find_pair(v, m->left, m->before - 1), right = find_pair(v, m->right, m->at);

    m->rank[m->gone] = TOKEN_NONE;
    m->rank[m->at] = right;
    m->rank[m->before ? m->before - 1 : PLACES] = left;
}

/* All pieces take a step, again and again, until none is left that merges. */
AVX2 INLINE void merge_in_step(struct merging *group, size_t n, const struct vocab *v,
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

AVX2 static void merge_avx2(const struct vocab *v, const struct key *keys, size_t n,
                            uint8_t *counts)
{
    struct merging group[MERGE_GROUP];
    uint64_t       high = 0;

    for (size_t i = 0; i < n; i++) {
        merging_load(&group[i], v, (const uint8_t *)&keys[i], key_len(keys[i]), 2);
        high |= keys[i].high;
    }
    if (high)
        merge_in_step(group, n, v, counts, 2);
    else
        merge_in_step(group, n, v, counts, 1);
}

AVX2 static void merge_wide_avx2(const struct vocab *v, const struct wide *keys, size_t n,
                                 uint8_t *counts)
{
    struct merging group[MERGE_GROUP];

    for (size_t i = 0; i < n; i++)
        merging_load(&group[i], v, (const uint8_t *)keys[i].w, wide_len(&keys[i]), 8);
    merge_in_step(group, n, v, counts, 8);
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

const struct kernel kernel_avx2 = { "avx2", split_avx2, probe_avx2, find_avx2, merge_avx2, merge_wide_avx2, window_avx2 };

#endif
