/* The published rules, alternatives in order. \p{X} as in Unicode 16; \s is White_Space.
 *
 * o200k_base:
 *   1  [^\r\n\p{L}\p{N}]? U* L+ C?      U = Lu Lt Lm Lo M     L = Ll Lm Lo M
 *   2  [^\r\n\p{L}\p{N}]? U+ L* C?      C = (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   3  \p{N}{1,3}
 *   4   ?[^\s\p{L}\p{N}]+[\r\n/]*
 *   5  \s*[\r\n]+          6  \s+(?!\S)          7  \s+
 *
 * cl100k_base: C first and on its own; then [^\r\n\p{L}\p{N}]?\p{L}+ in place of 1 and 2, and no
 * slash in 4.
 *
 * Regular expressions give back what they took when they fail later on. Where that shows in the
 * result (caseless letters before capitals, white space before a word) the scan remembers the
 * place to go back to, so that every byte is looked at a bounded number of times. */
#include "tokens/split.h"

#define BIT(class) (1u << (class))
enum {
    UPPERS = BIT(CLASS_UPPER) | BIT(CLASS_LETTER) | BIT(CLASS_MARK),
    LOWERS = BIT(CLASS_LOWER) | BIT(CLASS_LETTER) | BIT(CLASS_MARK),
    LETTERS = BIT(CLASS_UPPER) | BIT(CLASS_LOWER) | BIT(CLASS_LETTER),
    PUNCTUATION = BIT(CLASS_OTHER) | BIT(CLASS_MARK),
    BLANKS = BIT(CLASS_SPACE) | BIT(CLASS_NEWLINE),
};

/* A character: its class as a bit and its length; both 0 at the end of the text. */
struct ch {
    unsigned bit, len;
};

INLINE bool follows(const struct split_state *s, size_t at, unsigned low, unsigned high)
{
    return at < s->n && s->p[at] >= low && s->p[at] <= high;
}

/* The code point of a character of two to four bytes; 0 when it is not valid UTF-8. */
INLINE uint32_t decode(const struct split_state *s, size_t at, unsigned *len)
{
    const uint8_t *p = s->p + at;

    if (p[0] >= 0xe0 && p[0] <= 0xef) {
        unsigned low = p[0] == 0xe0 ? 0xa0 : 0x80, high = p[0] == 0xed ? 0x9f : 0xbf;
        *len = 3;
        if (follows(s, at + 1, low, high) && follows(s, at + 2, 0x80, 0xbf))
            return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    } else if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        *len = 2;
        if (follows(s, at + 1, 0x80, 0xbf))
            return (p[0] & 31u) << 6 | (p[1] & 63u);
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        unsigned low = p[0] == 0xf0 ? 0x90 : 0x80, high = p[0] == 0xf4 ? 0x8f : 0xbf;
        *len = 4;
        if (follows(s, at + 1, low, high) && follows(s, at + 2, 0x80, 0xbf) &&
            follows(s, at + 3, 0x80, 0xbf))
            return (p[0] & 7u) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
    }
    return 0;
}

INLINE struct ch ch_at(struct split_state *s, size_t at)
{
    unsigned len = 1;
    uint32_t cp;

    s->steps++;
    if (at >= s->n) {
        s->open = true;
        return (struct ch){ 0, 0 };
    }
    cp = s->p[at];
    if (cp >= 0x80 && !(cp = decode(s, at, &len))) {
        s->bad = true;
        return (struct ch){ 0, 0 };
    }
    return (struct ch){ BIT(vocab_class(s->v, cp)), len };
}

/* The end of the run of characters in `set` that starts at `at`. */
static size_t run_end(struct split_state *s, size_t at, unsigned set)
{
    for (struct ch c; (c = ch_at(s, at)).bit & set;)
        at += c.len;
    return at;
}

static bool is_letter(const struct split_state *s, size_t at, char lower)
{
    return (s->p[at] | 0x20) == lower;
}

/* The end of 's 't 're 've 'm 'll 'd at `at`, in any case; `at` when there is none. U+017F, the
 * long s, is an s to a match that ignores case. */
static size_t contraction_end(struct split_state *s, size_t at)
{
    if (at >= s->n)
        s->open = true;
    if (at >= s->n || s->p[at] != '\'')
        return at;
    if (at + 1 >= s->n) {
        s->open = true;
        return at;
    }
    switch (s->p[at + 1] < 0x80 ? s->p[at + 1] | 0x20 : s->p[at + 1]) {
    case 's':
    case 't':
    case 'm':
    case 'd': return at + 2;
    case 'r':
    case 'v':
    case 'l':
        if (at + 2 >= s->n) {
            s->open = true;
            return at;
        }
        return is_letter(s, at + 2, is_letter(s, at + 1, 'l') ? 'l' : 'e') ? at + 3 : at;
    case 0xc5:
        if (at + 2 >= s->n) {
            s->open = true;
            return at;
        }
        return s->p[at + 2] == 0xbf ? at + 3 : at;
    default: return at;
    }
}

/* U* L+ at `at`, or else, when `capitals` allow it, U+ L*; then C?. `at` when neither matches. */
static size_t word_end(struct split_state *s, size_t at, bool capitals)
{
    size_t    end = at, giving_back = 0;
    struct ch c;

    while ((c = ch_at(s, end)).bit & UPPERS) {
        end += c.len;
        if (c.bit & LOWERS)
            giving_back = end;
    }
    if (c.bit & LOWERS)
        end = run_end(s, end, LOWERS);
    else if (giving_back)
        end = giving_back;
    else if (!capitals)
        return at;
    return end > at ? contraction_end(s, end) : at;
}

/* A run of punctuation that starts at `at`, and the newlines (and slashes) glued to it. */
static size_t punctuation_end(struct split_state *s, size_t at)
{
    bool slash = s->v->encoding == TOKENS_O200K;

    at = run_end(s, at, PUNCTUATION);
    while (at < s->n && (s->p[at] == '\n' || s->p[at] == '\r' || (slash && s->p[at] == '/')))
        at++;
    if (at >= s->n)
        s->open = true;
    return at;
}

static size_t blank_end(struct split_state *s, size_t at)
{
    size_t    end = at, newline = 0, last = at;
    struct ch c;

    while ((c = ch_at(s, end)).bit & BLANKS) {
        last = end;
        end += c.len;
        if (c.bit & BIT(CLASS_NEWLINE))
            newline = end;
    }
    if (newline)
        return newline;
    if (end < s->n && last > at)
        return last; /* the last space belongs to what follows */
    return end;
}

static size_t number_end(struct split_state *s, size_t at)
{
    struct ch c;

    for (int i = 0; i < 3 && (c = ch_at(s, at)).bit & BIT(CLASS_NUMBER); i++)
        at += c.len;
    return at;
}

/* A piece that begins with neither a letter nor a number, and whose first character is not followed
 * by a word. */
static size_t rest_end(struct split_state *s, size_t at, struct ch first)
{
    if (first.bit & PUNCTUATION)
        return punctuation_end(s, at);
    if (s->p[at] == ' ' && ch_at(s, at + 1).bit & PUNCTUATION)
        return punctuation_end(s, at + 1);
    return blank_end(s, at);
}

static size_t piece_o200k(struct split_state *s, size_t at)
{
    struct ch c = ch_at(s, at);

    if (c.bit & LETTERS)
        return word_end(s, at, true);
    if (c.bit & BIT(CLASS_NUMBER))
        return number_end(s, at);
    if (!(c.bit & BIT(CLASS_NEWLINE))) {
        size_t after = at + c.len, end = word_end(s, after, !(c.bit & BIT(CLASS_MARK)));
        if (end > after)
            return end;
        if (c.bit & BIT(CLASS_MARK))
            return word_end(s, at, false);
    }
    return rest_end(s, at, c);
}

static size_t piece_cl100k(struct split_state *s, size_t at)
{
    struct ch c = ch_at(s, at);

    if (c.bit & LETTERS)
        return run_end(s, at, LETTERS);
    if (c.bit & BIT(CLASS_NUMBER))
        return number_end(s, at);
    size_t end = contraction_end(s, at);
    if (end > at)
        return end;
    if (!(c.bit & BIT(CLASS_NEWLINE))) {
        end = run_end(s, at + c.len, LETTERS);
        if (end > at + c.len)
            return end;
    }
    return rest_end(s, at, c);
}

size_t split_piece(struct split_state *s, size_t at)
{
    return s->v->encoding == TOKENS_O200K ? piece_o200k(s, at) : piece_cl100k(s, at);
}
