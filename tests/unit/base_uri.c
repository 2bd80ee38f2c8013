/* Percent-encoding. */
#include "base/uri.h"
#include "tap.h"

static struct arena a;

static struct sv encoded(struct sv v, const char *keep)
{
    struct sb b = sb_in(&a, 0);

    sb_add_uri(&b, v, keep);
    return sb_sv(&b);
}

static void plain_names_stay_and_everything_else_is_escaped(void)
{
    CHECK_SV(encoded(SV("a-Z_0.9~"), NULL), SV("a-Z_0.9~"));
    CHECK_SV(encoded(SV("a b/c?d#e%"), NULL), SV("a%20b%2Fc%3Fd%23e%25"));
    CHECK_SV(encoded(SV("Grüße"), NULL), SV("Gr%C3%BC%C3%9Fe"));
    CHECK_SV(encoded(SV("a b/c"), "/"), SV("a%20b/c"));
    CHECK_SV(encoded(((struct sv){ "\0x", 2 }), "/"), SV("%00x"));
}

static void what_was_escaped_is_read_back(void)
{
    char      all[255];
    struct sv back;

    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    CHECK(uri_read(encoded((struct sv){ all, sizeof all }, NULL), &a, &back));
    CHECK_SV(back, ((struct sv){ all, sizeof all }));
    CHECK(uri_read(SV("%c3%bc"), &a, &back) && sv_is(back, "ü"));
    CHECK(uri_read(SV(""), &a, &back) && back.n == 0);
}

static void what_is_no_encoding_is_refused(void)
{
    static const char *const wrong[] = { "%", "a%4", "%zz", "%4", "%%41", "a%00b", "% 41" };
    struct sv                out;

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(!uri_read(sv_of(wrong[i]), &a, &out));
    arena_free(&a);
}

TAP_MAIN(T(plain_names_stay_and_everything_else_is_escaped), T(what_was_escaped_is_read_back),
         T(what_is_no_encoding_is_refused), )
