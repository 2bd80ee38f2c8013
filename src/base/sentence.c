/* Where sentences end, by their marks: a table of code points, no dictionary. */
#include "base/sentence.h"

#include "base/utf8.h"

/* Marks that end a sentence wherever they stand: Unicode's Sentence_Terminal without those of ASCII
 * and without commas, and the shad of Tibetan. First and last of each range, in order. */
static const struct {
    int32_t first, last;
} marks[] = {
    { 0x0589, 0x0589 },   { 0x061d, 0x061f },   { 0x06d4, 0x06d4 },   { 0x0700, 0x0702 },
    { 0x07f9, 0x07f9 },   { 0x0837, 0x0837 },   { 0x0839, 0x0839 },   { 0x083d, 0x083e },
    { 0x0964, 0x0965 },   { 0x0f0d, 0x0f0e },   { 0x104b, 0x104b },   { 0x1362, 0x1362 },
    { 0x1367, 0x1368 },   { 0x166e, 0x166e },   { 0x1735, 0x1736 },   { 0x17d4, 0x17d5 },
    { 0x1803, 0x1803 },   { 0x1809, 0x1809 },   { 0x1944, 0x1945 },   { 0x1aa8, 0x1aab },
    { 0x1b5a, 0x1b5b },   { 0x1b5e, 0x1b5f },   { 0x1b7d, 0x1b7e },   { 0x1c3b, 0x1c3c },
    { 0x1c7e, 0x1c7f },   { 0x203c, 0x203d },   { 0x2047, 0x2049 },   { 0x2e2e, 0x2e2e },
    { 0x2e3c, 0x2e3c },   { 0x2e53, 0x2e54 },   { 0x3002, 0x3002 },   { 0xa4ff, 0xa4ff },
    { 0xa60e, 0xa60f },   { 0xa6f3, 0xa6f3 },   { 0xa6f7, 0xa6f7 },   { 0xa876, 0xa877 },
    { 0xa8ce, 0xa8cf },   { 0xa92f, 0xa92f },   { 0xa9c8, 0xa9c9 },   { 0xaa5d, 0xaa5f },
    { 0xaaf0, 0xaaf1 },   { 0xabeb, 0xabeb },   { 0xfe52, 0xfe52 },   { 0xfe56, 0xfe57 },
    { 0xff01, 0xff01 },   { 0xff1f, 0xff1f },   { 0xff61, 0xff61 },   { 0x10a56, 0x10a57 },
    { 0x10f55, 0x10f59 }, { 0x10f86, 0x10f89 }, { 0x11047, 0x11048 }, { 0x110be, 0x110c1 },
    { 0x11141, 0x11143 }, { 0x111c5, 0x111c6 }, { 0x111cd, 0x111cd }, { 0x111de, 0x111df },
    { 0x11238, 0x11239 }, { 0x1123b, 0x1123c }, { 0x112a9, 0x112a9 }, { 0x1144b, 0x1144c },
    { 0x115c2, 0x115c3 }, { 0x115c9, 0x115d7 }, { 0x11641, 0x11642 }, { 0x1173c, 0x1173e },
    { 0x11944, 0x11944 }, { 0x11946, 0x11946 }, { 0x11a42, 0x11a43 }, { 0x11a9b, 0x11a9c },
    { 0x11c41, 0x11c42 }, { 0x11ef7, 0x11ef8 }, { 0x11f43, 0x11f44 }, { 0x16a6e, 0x16a6f },
    { 0x16af5, 0x16af5 }, { 0x16b37, 0x16b38 }, { 0x16b44, 0x16b44 }, { 0x16e98, 0x16e98 },
    { 0x1bc9f, 0x1bc9f }, { 0x1da88, 0x1da88 },
};

/* What closes behind a mark and belongs to the sentence. */
static const char *const closers[] = { "」", "』", "”",  "’", "»", "›", "）", "】",
                                       "》", "〉", "\"", "'", ")", "]", "*",  "_" };

static bool is_mark(int32_t cp)
{
    size_t low = 0, high = COUNT(marks);

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cp > marks[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < COUNT(marks) && cp >= marks[low].first;
}

static size_t closer_at(struct sv v)
{
    for (size_t i = 0; i < COUNT(closers); i++)
        if (sv_starts(v, sv_of(closers[i])))
            return strlen(closers[i]);
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* A mark that is one wherever it stands; 0: none. */
static size_t mark_at(struct sv v)
{
    size_t  n = 0;
    int32_t cp = v.n ? utf8_decode(v, &n) : -1;

    return is_mark(cp) ? n : 0;
}

static size_t ascii_at(struct sv v)
{
    return v.n && (v.s[0] == '.' || v.s[0] == '!' || v.s[0] == '?');
}

/* Several marks, and what closes behind them. Marks of ASCII are also part of words and numbers:
 * they count before a space or at the end. */
size_t sentence_mark(struct sv rest)
{
    bool   ascii = ascii_at(rest);
    size_t n = ascii ? 1 : mark_at(rest), more = n;

    while (more) {
        struct sv v = sv_skip(rest, n);
        more = ascii ? ascii_at(v) : mark_at(v);
        more = more ? more : closer_at(v);
        n += more;
    }
    return ascii && n < rest.n && !is_blank(rest.s[n]) ? 0 : n;
}

struct sv sentence_first(struct sv text, size_t words)
{
    size_t halves = 0, len;
    bool   in_word = false;

    text = sv_trim(text);
    for (size_t i = 0; i < text.n; i += len) {
        struct sv rest = sv_skip(text, i);
        size_t    end = sentence_mark(rest);
        bool      blank = is_blank(rest.s[0]), empty = sv_starts(rest, SV("\n\n"));
        int32_t   cp = utf8_decode(rest, &len);

        if (end)
            return sv_first(text, i + end);
        halves += utf8_is_unspaced(cp) ? 1 : blank && in_word ? 2 : 0;
        in_word = !blank && !utf8_is_unspaced(cp);
        if (empty || (halves >= 2 * words && blank))
            return sv_trim(sv_first(text, i));
        if (halves >= 2 * words && utf8_is_unspaced(cp))
            return sv_first(text, i + len);
    }
    return text;
}

bool sentence_within(struct sv text, size_t words)
{
    size_t halves = 0, len = 1;
    bool   in_word = false;

    for (size_t i = 0; i < text.n && halves <= 2 * words; i += len) {
        bool ascii = (unsigned char)text.s[i] < 0x80, blank = is_blank(text.s[i]);
        bool unspaced = !ascii && utf8_is_unspaced(utf8_decode(sv_skip(text, i), &len));

        len = ascii ? 1 : len;
        halves += unspaced ? 1 : !blank && !in_word ? 2 : 0;
        in_word = !blank && !unspaced;
    }
    return halves <= 2 * words;
}

struct sv sentence_whole(struct sv text)
{
    size_t end = 0, n;

    text = sv_trim(text);
    for (size_t i = 0; i < text.n; i += n ? n : 1) {
        n = sentence_mark(sv_skip(text, i));
        end = n ? i + n : end;
    }
    return end ? sv_first(text, end) : text;
}
