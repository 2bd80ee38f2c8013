/* The fast inner loops against the plain ones, the plain ones against the definition. */
#include "tap.h"
#include "tokens_text.h"

#include <err.h>
#include <stdlib.h>

enum { ROUNDS = 1500 };
static const enum tokens_encoding encodings[] = { TOKENS_O200K, TOKENS_CL100K };

/* The kernels this machine can run; the first is the plain one. */
static size_t kernels(const struct kernel **list)
{
    size_t n = 0;

    list[n++] = &kernel_plain;
#if defined(__x86_64__)
    if (kernel_best() != &kernel_plain) {
        list[n++] = &kernel_avx2;
        list[n++] = &kernel_avx2_ascii;
    }
#endif
    return n;
}

static struct tokens *counter_with(enum tokens_encoding enc, const struct kernel *k)
{
    struct tokens *t = tokens_of(enc);

    t->kernel = k;
    t->merge.encode = k->window;
    return t;
}

/* Byte-pair encoding as it is defined, the slow way; the number of tokens. */
static size_t defined_count(const struct vocab *v, struct sv piece, uint32_t *ids)
{
    size_t n = piece.n;

    for (size_t i = 0; i < n; i++)
        ids[i] = v->byte_id[(uint8_t)piece.s[i]];
    for (;;) {
        uint32_t best = TOKEN_NONE;
        size_t   at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t merged = vocab_pair(v, ids[i], ids[i + 1]);
            if (merged < best)
                best = merged, at = i;
        }
        if (best == TOKEN_NONE)
            return n;
        ids[at] = best;
        n--;
        for (size_t i = at + 1; i < n; i++)
            ids[i] = ids[i + 1];
    }
}

static bool same_starts(struct tokens *t, struct sv text)
{
    struct split_state fast = { .v = t->v, .p = (const uint8_t *)text.s, .n = text.n }, slow = fast;
    struct count_batch b;

    for (size_t at = 0; at < text.n;) {
        size_t end = t->kernel->split(&fast, at, true, &b), expect = at;
        for (size_t i = 0; i < b.n_starts; i++) {
            if (at + b.starts[i] != expect)
                return false;
            expect = split_piece(&slow, expect);
        }
        if (end != expect || end == at)
            return false;
        at = end;
    }
    return true;
}

static void windows_split_as_the_rules_do(void)
{
    const struct kernel *list[4];
    size_t               n = kernels(list);
    struct rng           r = { 1 };

    for (size_t k = 0; k < COUNT(encodings) * n; k++) {
        struct tokens *t = counter_with(encodings[k % 2], list[k / 2]);
        for (int i = 0; i < ROUNDS; i++) {
            struct arena a = { 0 };
            struct sv    text = text_random(&r, 20 + rng_below(&r, 600), false, &a);
            CHECK(same_starts(t, text));
            arena_free(&a);
        }
        tokens_close(t);
    }
}

static void all_kernels_count_alike(void)
{
    const struct kernel *list[4];
    size_t               n = kernels(list);
    struct rng           r = { 2 };

    for (size_t k = 0; k < COUNT(encodings); k++) {
        struct tokens *t[4];
        for (size_t i = 0; i < n; i++)
            t[i] = counter_with(encodings[k], list[i]);
        for (int round = 0; round < ROUNDS; round++) {
            struct arena a = { 0 };
            struct sv    text = text_random(&r, rng_below(&r, 900), round % 3 == 0, &a);
            size_t       count = tokens_count(t[0], text);
            for (size_t i = 1; i < n; i++)
                CHECK_INT(tokens_count(t[i], text), count);
            arena_free(&a);
        }
        for (size_t i = 0; i < n; i++)
            tokens_close(t[i]);
    }
}

static void ids_are_those_of_the_definition(void)
{
    struct rng r = { 3 };

    for (size_t k = 0; k < COUNT(encodings); k++) {
        struct tokens *t = tokens_of(encodings[k]);
        for (int i = 0; i < 300; i++) {
            struct arena       a = { 0 };
            struct sv          piece = text_random(&r, 1 + rng_below(&r, 90), true, &a);
            uint32_t          *want = ARENA_NEW(&a, uint32_t, piece.n);
            struct merge_token got[512];
            if (piece.n > COUNT(got))
                piece.n = COUNT(got);
            size_t n = defined_count(t->v, piece, want);
            CHECK_INT(merge_piece(&t->merge, (const uint8_t *)piece.s, piece.n, got), n);
            for (size_t j = 0; j < n; j++)
                CHECK_INT(got[j].id, want[j]);
            arena_free(&a);
        }
        tokens_close(t);
    }
}

/* Small alphabets make long chains of dependent mergers; whole windows repeat or nearly do. */
static void long_pieces_are_encoded_in_windows_exactly(void)
{
    static const char *const alphabets[] = { "a",   "ab", "=",      "=-", " \t",    "abc",
                                             "\n ", "aA", "etaoin", "0a", "ABab01", "/*" };
    struct rng               r = { 4 };

    for (size_t k = 0; k < COUNT(encodings); k++) {
        struct tokens *fast = tokens_of(encodings[k]);
        struct tokens *plain = counter_with(encodings[k], &kernel_plain);
        for (size_t i = 0; i < COUNT(alphabets); i++) {
            struct arena a = { 0 };
            size_t       n = 1500 + rng_below(&r, 400), letters = strlen(alphabets[i]);
            char        *s = ARENA_NEW(&a, char, n);
            for (size_t j = 0; j < n; j++)
                s[j] = alphabets[i][rng_below(&r, (uint32_t)letters)];
            uint32_t *want = ARENA_NEW(&a, uint32_t, n);
            size_t    count = defined_count(fast->v, (struct sv){ s, n }, want);
            CHECK_INT(merge_piece(&fast->merge, (uint8_t *)s, n, NULL), count);
            CHECK_INT(merge_piece(&plain->merge, (uint8_t *)s, n, NULL), count);
            arena_free(&a);
        }
        tokens_close(fast);
        tokens_close(plain);
    }
}

/* ---- a text whose end decides about its beginning ---- */

struct pair {
    uint32_t merged, left, right;
    uint32_t chain; /* pairs in the longest chain that starts with it */
};

static int by_rank(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return x->merged < y->merged ? -1 : x->merged > y->merged;
}

static size_t all_pairs(const struct vocab *v, struct pair *out)
{
    size_t n = 0;

    for (size_t i = 0; i < v->pair_lines * 8; i++) {
        uint64_t slot = v->pairs[i], key = (slot >> TOKEN_BITS) - 1;
        uint32_t mask = (1u << TOKEN_BITS) - 1;
        if (slot)
            out[n++] = (struct pair){ (uint32_t)slot & mask, (uint32_t)(key >> TOKEN_BITS),
                                      (uint32_t)key & mask, 0 };
    }
    qsort(out, n, sizeof *out, by_rank);
    return n;
}

static void add_token(struct sb *b, struct vocab *v, uint32_t id)
{
    struct sv  text;
    struct err e;

    if (vocab_text(v, id, &text, &e))
        errx(1, "%s", e.text);
    sb_add(b, text);
}

/* The longest row of tokens where each pair of neighbours ranks before the pair to its left: the
 * last pair merges first, which keeps the one before from merging, and so on to the front. */
static struct sv chain_of(struct vocab *v, struct arena *a)
{
    struct pair *pairs = ARENA_NEW(a, struct pair, v->n_tokens);
    uint32_t    *longest = ARENA_NEW(a, uint32_t, v->n_tokens);
    size_t       n = all_pairs(v, pairs), at = 0;
    struct sb    b = sb_in(a, 0);

    for (size_t i = 0; i < n; i++) {
        pairs[i].chain = longest[pairs[i].right] + 1;
        if (pairs[i].chain > longest[pairs[i].left])
            longest[pairs[i].left] = pairs[i].chain;
        at = pairs[i].chain > pairs[at].chain ? i : at;
    }
    add_token(&b, v, pairs[at].left);
    for (uint32_t node = pairs[at].right, left = pairs[at].chain - 1;; left--) {
        add_token(&b, v, node);
        if (!left)
            return sb_sv(&b);
        for (at--; pairs[at].left != node || pairs[at].chain < left;)
            at--;
        node = pairs[at].right;
    }
}

static void a_change_far_ahead_is_seen_by_the_window_before(void)
{
    for (size_t k = 0; k < COUNT(encodings); k++) {
        struct arena   a = { 0 };
        struct tokens *t = tokens_of(encodings[k]);
        struct sv      chain = chain_of(t->v, &a);
        CHECK(chain.n > 120);
        for (size_t before = 200; before < 520; before += 7) {
            struct arena_mark m = arena_mark(&a);
            struct sb         b = sb_in(&a, 0);
            sb_pad(&b, 'a', before);
            sb_add(&b, chain);
            sb_pad(&b, 'b', 520 - before / 2);
            struct sv           text = sb_sv(&b);
            uint32_t           *want = ARENA_NEW(&a, uint32_t, text.n);
            struct merge_token *got = ARENA_NEW(&a, struct merge_token, text.n);
            size_t              n = defined_count(t->v, text, want);
            CHECK_INT(merge_piece(&t->merge, (const uint8_t *)text.s, text.n, got), n);
            for (size_t i = 0; i < n; i++)
                CHECK_INT(got[i].id, want[i]);
            arena_reset(&a, m);
        }
        tokens_close(t);
        arena_free(&a);
    }
}

/* ---- cuts between characters of three bytes ---- */

/* The token's bytes with what makes whole characters of a part at either end. */
static void add_completed(struct sb *b, struct sv token)
{
    static const char *const fronts[] = { "", "\xe7\x9a", "\xe7", "\xf0" };
    size_t                   tails = 0, open;

    while (tails < token.n && tails < 3 && ((uint8_t)token.s[tails] & 0xc0) == 0x80)
        tails++;
    sb_adds(b, fronts[tails]);
    sb_add(b, token);
    while ((open = utf8_unfinished(sb_sv(b)))) {
        uint8_t lead = (uint8_t)b->s[b->n - open];
        sb_addc(b, (char)(open == 1 && lead == 0xe0   ? 0xa0
                          : open == 1 && lead == 0xf0 ? 0x90
                                                      : 0x80));
    }
}

/* Counted piece by piece, without cuts. */
static size_t uncut_count(struct tokens *t, struct sv text)
{
    struct split_state s = { .v = t->v, .p = (const uint8_t *)text.s, .n = text.n };
    size_t             total = 0;

    for (size_t at = 0, end; at < s.n; at = end) {
        end = split_piece(&s, at);
        total += merge_piece(&t->merge, s.p + at, end - at, NULL);
    }
    return total;
}

static void no_cut_parts_a_token_of_the_vocabulary(void)
{
    for (size_t k = 0; k < COUNT(encodings); k++) {
        struct tokens *t = tokens_of(encodings[k]);
        size_t         tried = 0;
        for (uint32_t id = 256; id < t->v->n_tokens; id++) {
            struct arena a = { 0 };
            struct sb    b = sb_in(&a, 0);
            struct sv    token;
            struct err   e;
            CHECK(vocab_text(t->v, id, &token, &e) == ST_OK);
            sb_adds(&b, "的是在");
            add_completed(&b, token);
            sb_adds(&b, "的是在");
            if (utf8_invalid(sb_sv(&b)) < 0 && (token.s[0] & 0x80)) {
                tried++;
                CHECK_INT(tokens_count(t, sb_sv(&b)), uncut_count(t, sb_sv(&b)));
            }
            arena_free(&a);
        }
        CHECK(tried > 1000);
        tokens_close(t);
    }
}

/* ---- how cost grows ---- */

static uint64_t steps_of(const char *pattern, size_t n, bool random)
{
    struct tokens *t = tokens_of(TOKENS_O200K);
    struct arena   a = { 0 };
    struct rng     r = { 5 };
    char          *s = ARENA_NEW(&a, char, n);
    size_t         period = strlen(pattern);

    for (size_t i = 0; i < n; i++)
        s[i] = random ? (char)rng_below(&r, 256) : pattern[i % period];
    tokens_count(t, (struct sv){ s, n });
    uint64_t steps = t->merge.steps + t->split_steps;
    tokens_close(t);
    arena_free(&a);
    return steps;
}

static void cost_grows_with_length_and_no_faster(void)
{
    static const char *const patterns[] = { "a",         " ",   "=",   "\n",   " \n",
                                            "A",         "aab", "'s",  "\xff", "\xe7\x9a\x84",
                                            "A\xcc\x81", "\n ", "x/\n" };
    enum { MEGABYTE = 1 << 20 };

    for (size_t i = 0; i < COUNT(patterns); i++) {
        uint64_t one = steps_of(patterns[i], MEGABYTE, false);
        uint64_t ten = steps_of(patterns[i], 10 * MEGABYTE, false);
        CHECK(ten < one * 11);
        CHECK(one < 64 * (uint64_t)MEGABYTE);
    }
    CHECK(steps_of("", 4 * MEGABYTE, true) < steps_of("", MEGABYTE, true) * 9 / 2);
}

/* One piece that never ends, in small parts. */
static void an_endless_word_in_parts_costs_its_length(void)
{
    char     part[1000];
    uint64_t steps[2];

    memset(part, 'a', sizeof part);
    for (int k = 0; k < 2; k++) {
        struct tokens       *t = tokens_of(TOKENS_O200K);
        struct tokens_stream s;
        tokens_stream_init(&s, t);
        for (int i = 0; i < (k ? 4000 : 1000); i++)
            tokens_stream_add(&s, (struct sv){ part, sizeof part });
        tokens_stream_end(&s);
        steps[k] = t->merge.steps + t->split_steps;
        tokens_close(t);
    }
    CHECK(steps[1] < steps[0] * 5);
}

TAP_MAIN(T(windows_split_as_the_rules_do), T(all_kernels_count_alike),
         T(ids_are_those_of_the_definition), T(long_pieces_are_encoded_in_windows_exactly),
         T(a_change_far_ahead_is_seen_by_the_window_before),
         T(no_cut_parts_a_token_of_the_vocabulary), T(cost_grows_with_length_and_no_faster),
         T(an_endless_word_in_parts_costs_its_length), )
