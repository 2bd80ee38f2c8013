/* Token counts against known encodings, and every way of counting against the plain one. */
#include "tap.h"
#include "tokens/counter.h"

static struct tokens *open_or_die(enum tokens_encoding enc)
{
    struct tokens *t;
    struct err     e;

    if (tokens_open(enc, &t, &e))
        die("%s", e.text);
    return t;
}

static void known_texts_have_their_known_ids(void)
{
    static const struct {
        enum tokens_encoding enc;
        struct sv            text;
        uint32_t             ids[8];
        size_t               n;
    } rows[] = {
        { TOKENS_O200K, SV_STATIC("hello world"), { 24912, 2375 }, 2 },
        { TOKENS_CL100K, SV_STATIC("hello world"), { 15339, 1917 }, 2 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena      a = { 0 };
        struct tokens    *t = open_or_die(rows[i].enc);
        struct tokens_ids ids;
        struct err        e;
        CHECK(tokens_encode(t, rows[i].text, &a, &ids, &e) == ST_OK);
        CHECK_INT(ids.n, rows[i].n);
        CHECK(!memcmp(ids.v, rows[i].ids, rows[i].n * sizeof *ids.v));
        CHECK_INT(tokens_count(t, rows[i].text), rows[i].n);
        tokens_close(t);
        arena_free(&a);
    }
}

TAP_MAIN(T(known_texts_have_their_known_ids), )
