/* Every way of counting against the plain one. */
#include "tap.h"
#include "tokens_text.h"

#include <err.h>
#include <stdlib.h>

enum { ROUNDS = 400 };

static struct tokens *o200k, *cl100k;
static struct arena   scratch;

static struct tokens *either(int i)
{
    if (!o200k) {
        o200k = tokens_of(TOKENS_O200K);
        cl100k = tokens_of(TOKENS_CL100K);
    }
    return i % 2 ? cl100k : o200k;
}

static struct tokens_ids encode(struct tokens *t, struct sv text)
{
    struct tokens_ids ids;
    struct err        e;

    if (tokens_encode(t, text, &scratch, &ids, &e))
        errx(1, "%s", e.text);
    return ids;
}

static struct sv decode(struct tokens *t, const uint32_t *ids, size_t n)
{
    struct sb  b = sb_in(&scratch, 0);
    struct err e;

    for (size_t i = 0; i < n; i++) {
        struct sv text;
        if (tokens_text(t, ids[i], &text, &e))
            errx(1, "%s", e.text);
        sb_add(&b, text);
    }
    return sb_sv(&b);
}

static void known_texts_have_their_known_ids(void)
{
    static const struct {
        int       encoding;
        struct sv text;
        uint32_t  ids[10];
        size_t    n;
    } rows[] = {
        { TOKENS_O200K, SV_STATIC(""), { 0 }, 0 },
        { TOKENS_O200K, SV_STATIC("hello world"), { 24912, 2375 }, 2 },
        { TOKENS_O200K, SV_STATIC("hello \xe4\xbd\xa0\xe5\xa5\xbd"), { 24912, 220, 177519 }, 3 },
        { TOKENS_CL100K, SV_STATIC("hello world"), { 15339, 1917 }, 2 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tokens_ids got = encode(either(rows[i].encoding), rows[i].text);
        CHECK_INT(got.n, rows[i].n);
        for (size_t k = 0; k < got.n && k < rows[i].n; k++)
            CHECK_INT(got.v[k], rows[i].ids[k]);
        CHECK_INT(tokens_count(either(rows[i].encoding), rows[i].text), rows[i].n);
    }
}

static void the_texts_of_the_ids_are_the_text(void)
{
    struct rng r = { 11 };

    for (int i = 0; i < ROUNDS; i++) {
        struct sb clean = sb_in(&scratch, 0);
        struct sv text = text_random(&r, rng_below(&r, 800), i % 2, &scratch);
        sb_add_lossy(&clean, text);
        struct tokens_ids ids = encode(either(i), text);
        CHECK_INT(tokens_count(either(i), text), ids.n);
        CHECK_SV(decode(either(i), ids.v, ids.n), sb_sv(&clean));
        arena_free(&scratch);
    }
}

static void parts_sum_to_the_whole_however_they_are_cut(void)
{
    struct rng r = { 12 };

    for (int i = 0; i < ROUNDS; i++) {
        struct sv text = text_random(&r, rng_below(&r, 3000), i % 2, &scratch), rest = text;
        struct tokens_stream s;
        uint32_t             most = 1 + rng_below(&r, i % 5 ? 9 : 2000);
        tokens_stream_init(&s, either(i / 2));
        s.due = 1 + rng_below(&r, 200); /* look for finished pieces early: the texts are short */
        while (rest.n) {
            size_t n = 1 + rng_below(&r, most);
            tokens_stream_add(&s, sv_first(rest, n));
            rest = sv_skip(rest, n);
            s.due = s.n + rng_below(&r, 100);
        }
        CHECK_INT(tokens_stream_end(&s), tokens_count(either(i / 2), text));
        CHECK(s.lossy == (utf8_invalid(text) >= 0));
        arena_free(&scratch);
    }
}

static void counted_parts_cost_only_their_seams_and_sum_exactly(void)
{
    struct rng r = { 13 };

    for (int i = 0; i < ROUNDS; i++) {
        struct tokens       *t = either(i);
        struct sb            all = sb_in(&scratch, 0);
        struct tokens_stream s;
        tokens_stream_init(&s, t);
        for (uint32_t parts = 1 + rng_below(&r, 6); parts; parts--) {
            struct sv part = text_random(&r, rng_below(&r, 400), i % 3 == 0, &scratch);
            sb_add(&all, part);
            if (rng_below(&r, 4))
                tokens_stream_add_counted(&s, part, tokens_count(t, part));
            else
                tokens_stream_add(&s, part);
        }
        CHECK_INT(tokens_stream_end(&s), tokens_count(t, sb_sv(&all)));
        arena_free(&scratch);
    }
}

static void any_range_of_a_text_with_marks_counts_as_if_alone(void)
{
    struct rng r = { 14 };

    for (int i = 0; i < ROUNDS / 8; i++) {
        struct tokens      *t = either(i);
        struct sv           text = text_random(&r, 6000, false, &scratch);
        struct tokens_lines l;
        tokens_lines_in(t, text, &scratch, &l);
        CHECK_INT(l.total, tokens_count(t, text));
        CHECK_INT(tokens_lines_count(t, &l, 0, text.n), l.total);
        for (int k = 0; k < 12; k++) {
            size_t    from = rng_below(&r, (uint32_t)text.n), n = rng_below(&r, (uint32_t)text.n);
            struct sv part = sv_first(sv_skip(text, from), n);
            CHECK_INT(tokens_lines_count(t, &l, from, from + part.n), tokens_count(t, part));
        }
        arena_free(&scratch);
    }
}

static void a_text_of_many_lines_has_many_marks(void)
{
    struct sb           b = sb_in(&scratch, 0);
    struct tokens_lines l;

    for (int i = 0; i < 1000; i++)
        sb_addf(&b, "    line %d of a text\n", i);
    tokens_lines_in(either(0), sb_sv(&b), &scratch, &l);
    CHECK(l.n > 20);
    CHECK_INT(l.marks[0].offset, 0);
    CHECK_INT(l.marks[l.n - 1].before +
                  tokens_count(either(0), sv_skip(sb_sv(&b), l.marks[l.n - 1].offset)),
              l.total);
    arena_free(&scratch);
}

static void a_budget_ends_on_a_token_border(void)
{
    struct rng r = { 15 };

    for (int i = 0; i < ROUNDS; i++) {
        struct tokens    *t = either(i);
        struct sv         text = text_random(&r, rng_below(&r, 1500), false, &scratch);
        struct tokens_ids ids = encode(t, text);
        size_t            limit = rng_below(&r, (uint32_t)ids.n + 3), offset;
        size_t            n = tokens_count_until(t, text, limit, &offset);
        CHECK(n <= limit || n == 0);
        CHECK_INT(decode(t, ids.v, n).n, offset);
        CHECK(offset == text.n || ((uint8_t)text.s[offset] & 0xc0) != 0x80);
        if (limit >= ids.n)
            CHECK_INT(offset, text.n);
        else /* no more would have fitted without cutting a character */
            for (size_t k = n + 1; k <= limit; k++)
                CHECK(((uint8_t)text.s[decode(t, ids.v, k).n] & 0xc0) == 0x80);
        arena_free(&scratch);
    }
}

static void a_budget_in_a_long_or_dirty_text_is_found(void)
{
    struct rng r = { 16 };
    struct sv  text = text_random(&r, 700000, true, &scratch);
    size_t     all = tokens_count(o200k, text), limits[] = { 0, 1, 1000, all / 2, all - 1, all };

    for (size_t i = 0; i < COUNT(limits); i++) {
        size_t offset, n = tokens_count_until(o200k, text, limits[i], &offset);
        CHECK(n <= limits[i] && n + 4 > limits[i]); /* a character is at most four tokens */
        CHECK(offset <= text.n);
        CHECK((offset == text.n) == (limits[i] == all));
    }
    size_t offset;
    memset((char *)text.s, 'a', text.n); /* one piece, longer than any stretch */
    CHECK_INT(tokens_count_until(o200k, text, 100, &offset), 100);
    CHECK_INT(offset, 800);
    arena_free(&scratch);
}

static void special_tokens_are_ordinary_text(void)
{
    CHECK_INT(tokens_count(either(0), SV("<|endoftext|>")), 7);
    CHECK_INT(tokens_count(either(1), SV("<|endoftext|>")), 7);
}

/* ---- estimates and names ---- */

static void an_estimate_is_a_quarter_of_the_characters_and_says_so(void)
{
    struct tokens       *t = tokens_open_estimate();
    struct tokens_stream s;
    struct tokens_ids    ids;
    struct err           e;
    size_t               offset;

    CHECK(tokens_is_estimate(t) && !tokens_is_estimate(either(0)));
    CHECK(strstr(tokens_label(t), "estimate"));
    CHECK_SV(sv_of(tokens_label(either(1))), SV("cl100k_base"));
    CHECK_INT(tokens_count(t, SV("")), 0);
    CHECK_INT(tokens_count(t, SV("abcd")), 1);
    CHECK_INT(tokens_count(t, SV("abcde")), 2);
    CHECK_INT(tokens_count(t, SV("\xe4\xbd\xa0\xe5\xa5\xbd\xff")), 1); /* three characters */
    tokens_stream_init(&s, t);
    for (int i = 0; i < 9; i++)
        tokens_stream_add(&s, SV("\xe4"));
    tokens_stream_add_counted(&s, SV("abc\ndef\nghi\n"), 3);
    CHECK_INT(tokens_stream_end(&s), 6);
    CHECK_INT(tokens_count_until(t, SV("abcdefgh-"), 2, &offset), 2);
    CHECK_INT(offset, 8);
    CHECK(tokens_encode(t, SV("a"), &scratch, &ids, &e) == ST_NOT_FOUND);
    tokens_close(t);
    tokens_close(NULL);
}

static void models_have_encodings(void)
{
    static const struct {
        const char          *model;
        enum tokens_encoding encoding;
        bool                 exact;
    } rows[] = {
        { "gpt-4o-mini", TOKENS_O200K, true },
        { "openai:gpt-5.1", TOKENS_O200K, true },
        { "gpt-4-turbo", TOKENS_CL100K, true },
        { "o3-mini", TOKENS_O200K, true },
        { "gpt-3.5-turbo", TOKENS_CL100K, true },
        { "ft:gpt-4o:me", TOKENS_O200K, true },
        { "claude-x", TOKENS_O200K, false },
        { "anthropic:claude-x", TOKENS_O200K, false },
        { "", TOKENS_O200K, false },
        { "o1", TOKENS_O200K, true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tokens_model m = tokens_model(sv_of(rows[i].model));
        CHECK_INT(m.encoding, rows[i].encoding);
        CHECK_INT(m.exact, rows[i].exact);
    }
    enum tokens_encoding enc;
    CHECK(tokens_encoding_find(SV("cl100k_base"), &enc) && enc == TOKENS_CL100K);
    CHECK(!tokens_encoding_find(SV("cl100k"), &enc));
    CHECK_INT(tokens_scale(1000, 1150), 1150);
    CHECK_INT(tokens_scale(1, 1001), 2);
    CHECK_INT(tokens_scale(0, 5000), 0);
}

static void close_all(void)
{
    tokens_close(o200k);
    tokens_close(cl100k);
    arena_free(&scratch);
    CHECK(true);
}

TAP_MAIN(T(known_texts_have_their_known_ids), T(the_texts_of_the_ids_are_the_text),
         T(parts_sum_to_the_whole_however_they_are_cut),
         T(counted_parts_cost_only_their_seams_and_sum_exactly),
         T(any_range_of_a_text_with_marks_counts_as_if_alone),
         T(a_text_of_many_lines_has_many_marks), T(a_budget_ends_on_a_token_border),
         T(a_budget_in_a_long_or_dirty_text_is_found), T(special_tokens_are_ordinary_text),
         T(an_estimate_is_a_quarter_of_the_characters_and_says_so), T(models_have_encodings),
         T(close_all), )
