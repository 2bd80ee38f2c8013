/* Decoding and checking UTF-8, and how wide characters are on a terminal. */
#include "base/utf8.h"

#include <string.h>

/* Allowed range of the second byte, by first byte (Unicode table 3-7). */
static bool second_ok(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xed: return second >= 0x80 && second <= 0x9f;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    default: return second >= 0x80 && second <= 0xbf;
    }
}

int32_t utf8_decode(struct sv v, size_t *len)
{
    const unsigned char *p = (const unsigned char *)v.s;
    size_t               want;
    int32_t              cp;

    *len = v.n ? 1 : 0;
    if (!v.n)
        return -1;
    if (p[0] < 0x80)
        return p[0];
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        want = 2, cp = p[0] & 0x1f;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        want = 3, cp = p[0] & 0x0f;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        want = 4, cp = p[0] & 0x07;
    else
        return -1;
    for (size_t i = 1; i < want; i++) {
        *len = i;
        if (i >= v.n || !(i == 1 ? second_ok(p[0], p[1]) : (p[i] & 0xc0) == 0x80))
            return -1;
        cp = cp << 6 | (p[i] & 0x3f);
    }
    *len = want;
    return cp;
}

ptrdiff_t utf8_invalid(struct sv v)
{
    size_t i = 0;

    while (i < v.n) {
        uint64_t eight, four[4];
        if (v.n - i >= 32 && (memcpy(four, v.s + i, 32),
                              !((four[0] | four[1] | four[2] | four[3]) & 0x8080808080808080u))) {
            i += 32;
            continue;
        }
        if (v.n - i >= 8 && (memcpy(&eight, v.s + i, 8), !(eight & 0x8080808080808080u))) {
            i += 8;
            continue;
        }
        size_t len = 1;
        if ((unsigned char)v.s[i] >= 0x80 && utf8_decode(sv_skip(v, i), &len) < 0)
            return (ptrdiff_t)i;
        i += len;
    }
    return -1;
}

struct sv utf8_skip_bom(struct sv v)
{
    return sv_starts(v, SV("\xef\xbb\xbf")) ? sv_skip(v, 3) : v;
}

size_t utf8_count(struct sv v)
{
    size_t   n = 0, len;
    uint64_t eight;

    while (v.n) {
        while (v.n >= sizeof eight) { /* ASCII, eight at a time */
            memcpy(&eight, v.s, sizeof eight);
            if (eight & 0x8080808080808080u)
                break;
            v = sv_skip(v, sizeof eight);
            n += sizeof eight;
        }
        if (!v.n)
            break;
        utf8_decode(v, &len);
        v = sv_skip(v, len);
        n++;
    }
    return n;
}

struct sv utf8_first(struct sv v, size_t max)
{
    size_t start = max, len;

    if (v.n <= max)
        return v;
    while (start && max - start < 3 && ((unsigned char)v.s[start] & 0xc0) == 0x80)
        start--;
    /* Only a whole character that starts before the cut and ends after it moves the cut. */
    bool inside = start < max && utf8_decode(sv_skip(v, start), &len) >= 0 && start + len > max;
    return sv_first(v, inside ? start : max);
}

size_t utf8_unfinished(struct sv v)
{
    for (size_t k = 1; k <= 3 && k <= v.n; k++) {
        unsigned char lead = (unsigned char)v.s[v.n - k];
        size_t        want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2, len;
        if (lead < 0x80)
            return 0;
        if (lead >= 0xc0) {
            bool open = utf8_decode(sv_skip(v, v.n - k), &len) < 0 && len == k && k < want;
            return open && lead >= 0xc2 && lead <= 0xf4 ? k : 0;
        }
    }
    return 0;
}

struct range {
    int32_t from, to;
};

static bool is_in(const struct range *ranges, size_t n, int32_t cp)
{
    for (size_t i = 0; i < n; i++)
        if (cp <= ranges[i].to)
            return cp >= ranges[i].from;
    return false;
}

bool utf8_is_unseen(int32_t cp)
{
    static const struct range ranges[] = {
        { 0x00ad, 0x00ad },   /* soft hyphen */
        { 0x034f, 0x034f },   /* grapheme joiner */
        { 0x061c, 0x061c },   /* Arabic letter mark */
        { 0x115f, 0x1160 },   /* Hangul fillers */
        { 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
        { 0x180b, 0x180f },   /* Mongolian selectors and separator */
        { 0x200b, 0x200f },   /* zero-width space and joiners, direction marks */
        { 0x2028, 0x202e },   /* separators; embeddings and overrides of direction */
        { 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
        { 0x3164, 0x3164 },   /* Hangul filler */
        { 0xfeff, 0xfeff },   /* byte order mark */
        { 0xffa0, 0xffa0 },   /* Hangul filler, half as wide */
        { 0xfff9, 0xfffb },   /* interlinear annotation */
        { 0x1bca0, 0x1bca3 }, /* shorthand format */
        { 0x1d173, 0x1d17a }, /* musical format */
        { 0xe0000, 0xe0fff }, /* tags, more variation selectors */
    };

    return is_in(ranges, COUNT(ranges), cp);
}

bool utf8_is_unspaced(int32_t cp)
{
    static const struct range ranges[] = {
        { 0x0e00, 0x0eff },   /* Thai, Lao */
        { 0x1000, 0x109f },   /* Burmese */
        { 0x1780, 0x17ff },   /* Khmer */
        { 0x3005, 0x3007 },   /* marks that stand for a Chinese character */
        { 0x3040, 0x30ff },   /* Hiragana, Katakana */
        { 0x31f0, 0x31ff },   /* Katakana */
        { 0x3400, 0x4dbf },   /* Chinese */
        { 0x4e00, 0x9fff },   /* Chinese */
        { 0xac00, 0xd7a3 },   /* Hangul */
        { 0xf900, 0xfaff },   /* Chinese */
        { 0xff66, 0xff9f },   /* Katakana, half as wide */
        { 0x20000, 0x3ffff }, /* Chinese */
    };

    return is_in(ranges, COUNT(ranges), cp);
}

void sb_add_utf8(struct sb *b, uint32_t cp)
{
    if (cp > 0x10ffff)
        cp = 0xfffd;
    char   out[4];
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)(lead[n] | cp);
    sb_add(b, (struct sv){ out, n });
}

void sb_add_lossy(struct sb *b, struct sv v)
{
    while (v.n) {
        ptrdiff_t bad = utf8_invalid(v);
        if (bad < 0) {
            sb_add(b, v);
            return;
        }
        size_t len;
        sb_add(b, sv_first(v, (size_t)bad));
        v = sv_skip(v, (size_t)bad);
        utf8_decode(v, &len);
        v = sv_skip(v, len);
        sb_add_utf8(b, 0xfffd);
    }
}

/* ---- columns of a terminal ------------------------------------------------------------ */

struct cp_range {
    int32_t first, last;
};

/* clang-format off */
/* Marks that combine with the character before them, and characters without a width. */
static const struct cp_range narrow_ranges[] = {
    { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a }, { 0x064b, 0x065f },
    { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
    { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef },
};
/* East Asian wide and full-width characters, and emoji, as terminals draw them. */
static const struct cp_range wide_ranges[] = {
    { 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x23e9, 0x23ec }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff },
    { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff }, { 0xa000, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
    { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
    { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};
/* clang-format on */

static bool in_ranges(const struct cp_range *r, size_t n, int32_t cp)
{
    for (size_t i = 0; i < n && r[i].first <= cp; i++)
        if (cp <= r[i].last)
            return true;
    return false;
}

static size_t cp_width(int32_t cp)
{
    if (cp < 0x300)
        return 1;
    if (in_ranges(narrow_ranges, COUNT(narrow_ranges), cp))
        return 0;
    return in_ranges(wide_ranges, COUNT(wide_ranges), cp) ? 2 : 1;
}

struct sv utf8_fit(struct sv v, size_t columns)
{
    size_t at = 0, len = 0;

    while (at < v.n) {
        size_t wide = cp_width(utf8_decode(sv_skip(v, at), &len));
        if (wide > columns)
            break;
        columns -= wide;
        at += len;
    }
    return sv_first(v, at);
}

size_t utf8_width(struct sv v)
{
    size_t columns = 0, len;

    for (size_t at = 0; at < v.n; at += len)
        columns += cp_width(utf8_decode(sv_skip(v, at), &len));
    return columns;
}
