/* Counts and ids of a fixed set of texts, as the reference implementation gives them. The file is
 * made by tools/tokens/golden.mjs, which also says what is in it. */
#include "base/fs.h"
#include "tap.h"
#include "tokens_text.h"

#include <err.h>

static struct arena   a;
static struct sv      golden;
static struct tokens *counters[2];

static uint32_t word_at(size_t at)
{
    const uint8_t *p = (const uint8_t *)golden.s + at;

    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void the_texts_are_there(void)
{
    struct err e;

    if (fs_read(AT_FDCWD, SV("tests/spec/tokens.golden"), 0, &a, &golden, &e))
        errx(1, "%s", e.text);
    counters[0] = tokens_of(TOKENS_O200K);
    counters[1] = tokens_of(TOKENS_CL100K);
    CHECK(golden.n > 100000);
}

static void check_text(struct sv text, size_t expected_at)
{
    for (size_t k = 0; k < 2; k++) {
        struct arena_mark m = arena_mark(&a);
        struct tokens_ids ids;
        struct err        e;
        uint32_t          hash = 2166136261u;
        CHECK(tokens_encode(counters[k], text, &a, &ids, &e) == ST_OK);
        for (size_t i = 0; i < ids.n; i++)
            hash = (hash ^ ids.v[i]) * 16777619u;
        CHECK_INT(ids.n, word_at(expected_at + 8 * k));
        CHECK_INT(hash, word_at(expected_at + 8 * k + 4));
        CHECK_INT(tokens_count(counters[k], text), ids.n);
        arena_reset(&a, m);
    }
}

static size_t check_all(void)
{
    size_t texts = 0;

    for (size_t at = 0; at + 4 <= golden.n; texts++) {
        size_t n = word_at(at);
        check_text((struct sv){ golden.s + at + 4, n }, at + 4 + n);
        at += 4 + n + 16;
    }
    return texts;
}

static void every_text_has_the_ids_of_the_reference(void)
{
    CHECK(check_all() > 1000);
}

static void and_so_it_has_by_the_plain_loops(void)
{
    for (int k = 0; k < 2; k++) {
        tokens_close(counters[k]);
        counters[k] = tokens_of(k ? TOKENS_CL100K : TOKENS_O200K);
        counters[k]->kernel = &kernel_plain;
        counters[k]->merge.encode = kernel_plain.window;
    }
    check_all();
    tokens_close(counters[0]);
    tokens_close(counters[1]);
    arena_free(&a);
}

TAP_MAIN(T(the_texts_are_there), T(every_text_has_the_ids_of_the_reference),
         T(and_so_it_has_by_the_plain_loops), )
