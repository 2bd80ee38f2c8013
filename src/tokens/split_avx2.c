/* Splitting, 64 bytes at a time.
 *
 * A window starts at a piece start, so nothing before it matters. Its characters are sorted into
 * classes, one bit each, and the rules of split.c become arithmetic on those bits: a shift by one
 * tests the next character, an addition carries through a run of ones. */
#include "tokens/kernel_avx2.h"

#if defined(__x86_64__)

/* One bit for each character of a window. */
struct masks {
    uint64_t upper, lower, letter, mark, number, newline, space, tab; /* tab: all other spaces */
    uint64_t quote, slash;
    uint64_t leads; /* at the first byte of each character: how bits become bytes again */
    unsigned known; /* number of known characters */
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
    struct masks  m = { .leads = ~(uint64_t)0 };
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

/* A character of several bytes at p, all of them readable: its class and length. Length 0 when it
 * is not valid UTF-8. */
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

/* Windows with other than ASCII. A class is three bits, gathered in three words at the places of
 * the first bytes; then the bytes in between are squeezed out. */
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
    /* What is known ends before a byte that belongs to no character. */
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
    return (second == 'e' && (first == 'r' || first == 'v')) || (second == 'l' && first == 'l') ? 3
                                                                                                : 0;
}

/* Spaces after a newline begin a piece, unless white space with another newline follows them. */
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
        unsigned i = (unsigned)_tzcnt_u64(at), byte = i;
        if (~m->leads)
            byte = (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << i, m->leads));
        unsigned len = contraction(p + byte);
        if (!len || (o200k && i == end)) /* one contraction does not follow another */
            continue;
        end = i + len;
        if (o200k)
            starts &= ~(~(~(uint64_t)0 << len) << i);
        starts |= letters & (end < 64 ? (uint64_t)1 << end : 0);
    }
    return starts;
}

/* The piece starts among the characters of a window, as far as they are certain. The window itself
 * starts at one. */
AVX2 INLINE uint64_t starts_of(const struct masks *m, const uint8_t *p, bool o200k)
{
    uint64_t mark = o200k ? m->mark : 0; /* in cl100k_base a mark is like punctuation */
    uint64_t word = m->upper | m->lower | m->letter | mark;
    uint64_t blank = m->space | m->tab, white = blank | m->newline;
    uint64_t other = ~(word | m->number | white);

    /* Newlines right after punctuation belong to it; other white space stands by itself, except its
     * last space, which belongs to what follows. */
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
     * glued to a newline, capitals after caseless letters, and marks that do not follow a letter.
     */
    uint64_t hard = 0;
    if (o200k)
        hard =
            (glued << 1 & m->slash) | (m->upper & (m->letter | mark) << 1) | (mark & ~(word << 1));
    unsigned limit = (unsigned)_tzcnt_u64(hard);
    limit = limit < m->known ? limit : m->known;
    if (m->quote && m->known > 2)
        starts = apply_contractions(starts, m, p, o200k);
    unsigned run = 64 - (unsigned)_lzcnt_u64(_bzhi_u64(~white, limit));
    unsigned certain = limit < 3 ? 0 : limit - 3;
    return _bzhi_u64(starts, run + 1 < certain ? run + 1 : certain) | 1;
}

/* The same, at bytes. Without `any` only what stands before the first non-ASCII byte is certain. */
AVX2 INLINE uint64_t window_starts(const struct vocab *v, const uint8_t *p, bool o200k, bool any)
{
    const __m256i a = _mm256_loadu_si256((const void *)p);
    const __m256i b = _mm256_loadu_si256((const void *)(p + 32));
    struct masks  m = classify_ascii(a, b);
    uint64_t      beyond = bits_of(a, b);

    m.known = (unsigned)_tzcnt_u64(beyond);
    if (__builtin_expect(!beyond, 1) || !any)
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

AVX2 INLINE size_t split_windows(struct split_state *s, size_t at, bool whole,
                                 struct count_batch *b, bool o200k, bool any)
{
    size_t first = at;

    b->n_starts = 0;
    while (at < s->n && b->n_starts < BATCH && at - first < REACH) {
        if (at + 64 <= s->n && (any || s->p[at] < 0x80)) {
            uint64_t starts = window_starts(s->v, s->p + at, o200k, any);
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

AVX2 size_t split_avx2(struct split_state *s, size_t at, bool whole, struct count_batch *b)
{
    return s->v->encoding == TOKENS_O200K ? split_windows(s, at, whole, b, true, true)
                                          : split_windows(s, at, whole, b, false, true);
}

AVX2 size_t split_avx2_ascii(struct split_state *s, size_t at, bool whole, struct count_batch *b)
{
    return s->v->encoding == TOKENS_O200K ? split_windows(s, at, whole, b, true, false)
                                          : split_windows(s, at, whole, b, false, false);
}

#endif
