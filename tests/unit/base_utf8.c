#include "base/utf8.h"

#include "tap.h"

static void every_code_point_survives_the_round_trip(void)
{
    struct arena a = { 0 };
    int          wrong = 0;

    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        struct arena_mark m = arena_mark(&a);
        struct sb         b = sb_in(&a, 0);
        size_t            len;
        sb_add_utf8(&b, cp);
        struct sv v = sb_sv(&b);
        bool      half = cp >= 0xd800 && cp <= 0xdfff;
        int32_t   back = utf8_decode(v, &len);
        if (half ? back != -1 || utf8_invalid(v) != 0
                 : back != (int32_t)cp || len != v.n || utf8_invalid(v) != -1)
            wrong++;
        arena_reset(&a, m);
    }
    CHECK_INT(wrong, 0);
    arena_free(&a);
}

static void what_unicode_forbids_is_invalid(void)
{
    static const struct {
        const char *bytes;
        size_t      len; /* of the maximal invalid part */
    } cases[] = {
        { "\x80", 1 },             /* a continuation alone */
        { "\xc0\xaf", 1 },         /* overlong / */
        { "\xc1\xbf", 1 },         /* overlong DEL */
        { "\xe0\x80\xaf", 1 },     /* overlong, three bytes */
        { "\xe0\x9f\xbf", 1 },     /* overlong, the last one */
        { "\xed\xa0\x80", 1 },     /* a surrogate */
        { "\xf0\x8f\xbf\xbf", 1 }, /* overlong, four bytes */
        { "\xf4\x90\x80\x80", 1 }, /* over U+10FFFF */
        { "\xf5\x80\x80\x80", 1 },
        { "\xff", 1 },
        { "\xc3", 1 }, /* cut short */
        { "\xe2\x82", 2 },
        { "\xf0\x9f\x98", 3 },
        { "\xe2\x82x", 2 }, /* the next byte does not belong to it */
        { "\xf0\x9f\x98x", 3 },
        { "\xc3(", 1 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t len = 99;
        CHECK_INT(utf8_decode(sv_of(cases[i].bytes), &len), -1);
        CHECK_INT(len, cases[i].len);
        CHECK_INT(utf8_invalid(sv_of(cases[i].bytes)), 0);
    }
}

static void empty_text_is_valid_and_decodes_to_nothing(void)
{
    size_t len = 99;

    CHECK_INT(utf8_decode(SV(""), &len), -1);
    CHECK_INT(len, 0);
    CHECK_INT(utf8_invalid(SV("")), -1);
    CHECK_INT(utf8_count(SV("")), 0);
}

static void the_first_invalid_byte_is_found_at_every_offset(void)
{
    char text[64];

    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'a', sizeof text);
        text[at] = (char)0xff;
        CHECK_INT(utf8_invalid((struct sv){ text, sizeof text }), at);
        memset(text, 'a', sizeof text);
        if (at + 1 < sizeof text)
            memcpy(text + at, "\xc3\xa9", 2);
        CHECK_INT(utf8_invalid((struct sv){ text, sizeof text }), -1);
    }
}

static void nul_is_valid(void)
{
    size_t len;

    CHECK_INT(utf8_invalid(SV("a\0b")), -1);
    CHECK_INT(utf8_decode(SV("\0"), &len), 0);
    CHECK_INT(utf8_count(SV("a\0b")), 3);
}

static void an_invalid_part_counts_as_one(void)
{
    CHECK_INT(utf8_count(SV("h\xc3\xa9y")), 3);
    CHECK_INT(utf8_count(SV("\xf0\x9f\x98\x80")), 1);
    CHECK_INT(utf8_count(SV("\xf0\x9f\x98")), 1);
    CHECK_INT(utf8_count(SV("\xff\xff")), 2);
}

static void a_prefix_never_cuts_a_character(void)
{
    struct sv v = SV("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"); /* 1 2 3 4 1 */

    static const size_t want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    for (size_t max = 0; max < COUNT(want); max++)
        CHECK_INT(utf8_first(v, max).n, want[max]);
}

static void a_prefix_of_invalid_bytes_still_advances(void)
{
    CHECK_INT(utf8_first(SV("\x80\x80\x80\x80\x80\x80\x80\x80"), 5).n, 5);
    CHECK_INT(utf8_first(SV("ab\x80\x80"), 3).n, 3);
    CHECK_INT(utf8_first(SV("\xe2\x82"), 1).n, 1); /* not a character, so not cut */
    CHECK_INT(utf8_first(SV("\xc3\xa9"), 1).n, 0); /* one that does not fit is left out */
}

static struct sv lossy(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_lossy(&b, v);
    return sb_sv(&b);
}

#define FFFD "\xef\xbf\xbd"

static void invalid_parts_become_replacement_characters(void)
{
    struct arena a = { 0 };

    CHECK_SV(lossy(SV("plain"), &a), SV("plain"));
    CHECK_SV(lossy(SV("a\xff"
                      "b"),
                   &a),
             SV("a" FFFD "b"));
    CHECK_SV(lossy(SV("\xf0\x9f\x98"), &a), SV(FFFD));           /* one maximal part */
    CHECK_SV(lossy(SV("\xed\xa0\x80"), &a), SV(FFFD FFFD FFFD)); /* as WHATWG counts it */
    CHECK_SV(lossy(SV("\xc0\xaf\xe2\x82x"), &a), SV(FFFD FFFD FFFD "x"));
    CHECK_INT(utf8_invalid(lossy(SV("\xff\xfe\x80 a \xe2\x82"), &a)), -1);
    arena_free(&a);
}

static void beyond_unicode_is_replaced(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);

    sb_add_utf8(&b, 0x110000);
    sb_add_utf8(&b, UINT32_MAX);
    CHECK_SV(sb_sv(&b), SV(FFFD FFFD));
    arena_free(&a);
}

static void a_byte_order_mark_is_skipped_once_and_only_in_front(void)
{
    CHECK_SV(utf8_skip_bom(SV("\xef\xbb\xbfx")), SV("x"));
    CHECK_SV(utf8_skip_bom(SV("\xef\xbb\xbf\xef\xbb\xbf")), SV("\xef\xbb\xbf"));
    CHECK_SV(utf8_skip_bom(SV("x\xef\xbb\xbf")), SV("x\xef\xbb\xbf"));
    CHECK_SV(utf8_skip_bom(SV("\xef\xbb")), SV("\xef\xbb"));
    CHECK_SV(utf8_skip_bom(SV("")), SV(""));
}

static void scripts_without_blanks_are_known(void)
{
    static const int32_t yes[] = {
        0x0e01, 0x3042, 0x30ab, 0x4e00, 0x6771, 0x9fff, 0xac00, 0x20000
    };
    static const int32_t no[] = { -1, 'a', 0xe9, 0x430, 0x3001, 0x3002, 0xffff, 0x1f600, 0x40000 };

    for (size_t i = 0; i < COUNT(yes); i++)
        CHECK(utf8_is_unspaced(yes[i]));
    for (size_t i = 0; i < COUNT(no); i++)
        CHECK(!utf8_is_unspaced(no[i]));
}

TAP_MAIN(T(scripts_without_blanks_are_known),
         T(a_byte_order_mark_is_skipped_once_and_only_in_front),
         T(every_code_point_survives_the_round_trip), T(what_unicode_forbids_is_invalid),
         T(empty_text_is_valid_and_decodes_to_nothing),
         T(the_first_invalid_byte_is_found_at_every_offset), T(nul_is_valid),
         T(an_invalid_part_counts_as_one), T(a_prefix_never_cuts_a_character),
         T(a_prefix_of_invalid_bytes_still_advances),
         T(invalid_parts_become_replacement_characters), T(beyond_unicode_is_replaced), )
