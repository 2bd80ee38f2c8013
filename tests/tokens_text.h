/* Text for tests of token counts: random, and always the same for the same seed. */
#ifndef HEDDLE_TOKENS_TEXT_H
#define HEDDLE_TOKENS_TEXT_H

#include "base/sb.h"
#include "base/utf8.h"
#include "tokens/counter.h"

#include <err.h>

struct rng {
    uint64_t s;
};

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    r->s = r->s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->s >> 33) % n);
}

/* Words of one alphabet are separated by '|'. Each is what some rule trips over. */
static const char *const text_alphabets[] = {
    "a|A|b|B| |",
    "a|A|'s|'S|'t|'T|'re|'vE|'lL|'d|'m|'| |x",
    "don't|I'd've|'ll|it's'|x'ſ|'ſ|''|'a|\"|'",
    " |\n|\r|\t|\v|a|  |\n\n|\r\n",
    " |\n|\r|/|//|a|{|}|;|\t",
    "0|1|9|.|a| |12345|½|٣|४|²|Ⅷ",
    "A|B|c|d|ª|ǅ|ʰ|漢|字|\u0301|\u0300|'s",
    "\u00a0|\xc2\x85|\u2028|\ufeff|\u3000| |\n|a|é",
    "ひ|ら|カ|タ|漢|字|한|글|ไ|ท|ย|。|、|「|A|b",
    "हि|न्|दी| |ع|ر|ب|ي|ע|ב|Ж|ж|Я|é|É|ß",
    "😀|👩🏽‍🚀|👨‍👩‍👧|🇩🇪|\ufe0f|1\u20e3|a| ",
    "=|-|_|*|#|/|.|==|--| |\n",
    "the| of| and| function|return|(|)|{|}|;|\n|    | int|_t|->|\"|::|//",
    "的|是|了|我们|在|有|他|这|中国|，|。|1|a",
    "\x01|\x1b|\x7f|a|\n| |\x08",
};

/* About `n` bytes; `dirty` mixes in bytes that are not UTF-8. */
static inline struct sv text_random(struct rng *r, size_t n, bool dirty, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    const char *of[2] = { text_alphabets[rng_below(r, COUNT(text_alphabets))],
                          text_alphabets[rng_below(r, COUNT(text_alphabets))] };
    uint32_t    mix = rng_below(r, 3) ? 0 : 30;

    while (b.n < n) {
        struct sv     words = sv_of(of[rng_below(r, 100) < mix]);
        uint32_t      skip = rng_below(r, 16);
        struct sv_cut word = sv_cut(words, '|');
        while (skip-- && word.found)
            word = sv_cut(word.tail.n ? word.tail : words, '|');
        for (uint32_t times = rng_below(r, 8) ? 1 : 1 + rng_below(r, 12); times; times--)
            sb_add(&b, word.head);
        if (dirty && !rng_below(r, 10))
            sb_addc(&b, (char)rng_below(r, 256));
        if (!rng_below(r, 40))
            sb_add_utf8(&b, 0x80 + rng_below(r, 0xd000));
        if (!rng_below(r, 200))
            sb_addc(&b, 0);
    }
    return sb_sv(&b);
}

static inline struct tokens *tokens_of(enum tokens_encoding enc)
{
    struct tokens *t;
    struct err     e;

    if (tokens_open(enc, (struct sv){ 0 }, &t, &e))
        errx(1, "%s", e.text);
    return t;
}

#endif
