#include "base/sv.h"

#include "tap.h"

static void absent_and_empty_are_equal_bytes(void)
{
    struct sv absent = sv_of(NULL);

    CHECK(absent.s == NULL && absent.n == 0);
    CHECK(sv_eq(absent, SV("")));
    CHECK(sv_is(absent, ""));
    CHECK(!sv_is(absent, "a"));
    CHECK_INT(sv_cmp(absent, SV("")), 0);
    CHECK(sv_skip(absent, 5).n == 0 && sv_first(absent, 5).n == 0 && sv_trim(absent).n == 0);
    CHECK(!sv_cut(absent, 'x').found && !sv_cut_last(absent, 'x').found);
    CHECK(!sv_has(absent, 0));
}

static void order_is_by_bytes_then_by_length(void)
{
    CHECK(sv_cmp(SV("a"), SV("b")) < 0);
    CHECK(sv_cmp(SV("a"), SV("aa")) < 0);
    CHECK(sv_cmp(SV("b"), SV("aa")) > 0);
    CHECK(sv_cmp(SV("\x7f"), SV("\x80")) < 0); /* bytes are unsigned */
    CHECK(sv_cmp(SV("a\0b"), SV("a\0c")) < 0);
    CHECK(sv_cmp(SV("a\0"), SV("a")) > 0);
}

static void nul_is_a_byte_like_any_other(void)
{
    struct arena a = { 0 };
    struct sv    v = SV("a\0b");

    CHECK_INT(v.n, 3);
    CHECK(sv_has(v, 0));
    CHECK(!sv_eq(v, SV("a")));
    CHECK_SV(sv_dup(v, &a), v);
    CHECK_SV(sv_cut(v, 0).tail, SV("b"));
    CHECK_INT(sv_find(v, SV("\0b")), 1);
    arena_free(&a);
}

static void starts_and_ends_with(void)
{
    CHECK(sv_starts(SV("abc"), SV("ab")) && sv_starts(SV("abc"), SV("")));
    CHECK(!sv_starts(SV("ab"), SV("abc")));
    CHECK(sv_ends(SV("abc"), SV("bc")) && sv_ends(SV("abc"), SV("abc")) &&
          sv_ends(SV("abc"), SV("")));
    CHECK(!sv_ends(SV("bc"), SV("abc")) && !sv_ends(SV("abd"), SV("bc")));
}

static void skipping_past_the_end_is_the_empty_end(void)
{
    CHECK_SV(sv_skip(SV("abc"), 1), SV("bc"));
    CHECK_SV(sv_skip(SV("abc"), 3), SV(""));
    CHECK_SV(sv_skip(SV("abc"), SIZE_MAX), SV(""));
    CHECK_SV(sv_first(SV("abc"), 2), SV("ab"));
    CHECK_SV(sv_first(SV("abc"), SIZE_MAX), SV("abc"));
}

static void trimming_takes_blanks_at_both_ends_only(void)
{
    CHECK_SV(sv_trim(SV(" \t\r\n a b \r\n")), SV("a b"));
    CHECK_SV(sv_trim(SV("\n\n")), SV(""));
    CHECK_SV(sv_trim(SV("\v x")), SV("\v x")); /* only blank, tab, CR, LF */
}

static void cutting_at_the_first_and_at_the_last(void)
{
    struct sv_cut first = sv_cut(SV("a/b/c"), '/'), last = sv_cut_last(SV("a/b/c"), '/');

    CHECK(first.found && last.found);
    CHECK_SV(first.head, SV("a"));
    CHECK_SV(first.tail, SV("b/c"));
    CHECK_SV(last.head, SV("a/b"));
    CHECK_SV(last.tail, SV("c"));
    CHECK(!sv_cut(SV("abc"), '/').found);
    CHECK_SV(sv_cut(SV("abc"), '/').head, SV("abc"));
    CHECK(sv_cut(SV("/"), '/').found);
    CHECK_SV(sv_cut(SV("/"), '/').tail, SV(""));
}

static void finding_text(void)
{
    CHECK_INT(sv_find(SV("hay needle"), SV("needle")), 4);
    CHECK_INT(sv_find(SV("hay"), SV("needle")), -1);
    CHECK_INT(sv_find(SV(""), SV("x")), -1);
    CHECK_INT(sv_find(SV("x"), SV("")), 0);
    CHECK_INT(sv_find(SV("x"), SV("xx")), -1);
}

static void copies_end_with_a_nul(void)
{
    struct arena a = { 0 };

    CHECK_INT(strlen(sv_cstr(SV("abc"), &a)), 3);
    CHECK_INT(strlen(sv_cstr((struct sv){ 0 }, &a)), 0);
    CHECK(sv_dup((struct sv){ 0 }, &a).s != NULL);
    arena_free(&a);
}

static void whole_numbers_are_read_up_to_their_limits(void)
{
    static const struct {
        const char *text;
        bool        ok;
        int64_t     value;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "007", true, 7 },
        { "42", true, 42 },
        { "-42", true, -42 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+1", false, 0 },
        { "--1", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "1.0", false, 0 },
        { "1e3", false, 0 },
        { "0x10", false, 0 },
        { "\xd9\xa1", false, 0 }, /* an Arabic digit */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t n = 12345;
        bool    ok = sv_to_int(sv_of(cases[i].text), &n);
        if (ok != cases[i].ok)
            printf("# %s\n", cases[i].text);
        CHECK(ok == cases[i].ok);
        CHECK_INT(n, cases[i].ok ? cases[i].value : 12345); /* untouched on failure */
    }
    int64_t n;
    CHECK(!sv_to_int(SV("1\0"), &n));
}

static void typing_errors_are_counted(void)
{
    CHECK_INT(sv_distance(SV("view"), SV("view")), 0);
    CHECK_INT(sv_distance(SV("veiw"), SV("view")), 1);
    CHECK_INT(sv_distance(SV("viw"), SV("view")), 1);
    CHECK_INT(sv_distance(SV("viewx"), SV("view")), 1);
    CHECK_INT(sv_distance(SV("vies"), SV("view")), 1);
    CHECK_INT(sv_distance(SV("prnue"), SV("prune")), 1);
    CHECK_INT(sv_distance(SV("ab"), SV("")), 2);
    CHECK_INT(sv_distance(SV(""), SV("abc")), 3);
    CHECK_INT(sv_distance(SV("ca"), SV("abc")), 3);
    CHECK_INT(sv_distance(SV("kitten"), SV("sitting")), 3);
}

TAP_MAIN(T(typing_errors_are_counted), T(absent_and_empty_are_equal_bytes),
         T(order_is_by_bytes_then_by_length), T(nul_is_a_byte_like_any_other),
         T(starts_and_ends_with), T(skipping_past_the_end_is_the_empty_end),
         T(trimming_takes_blanks_at_both_ends_only), T(cutting_at_the_first_and_at_the_last),
         T(finding_text), T(copies_end_with_a_nul), T(whole_numbers_are_read_up_to_their_limits), )
