#include "base/sb.h"

#include "fresh.h"
#include "tap.h"

static struct sv plain(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_plain(&b, v);
    return sb_sv(&b);
}

static void an_empty_builder_is_the_empty_text(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);
    struct sv    out;
    struct err   e;

    CHECK(sb_sv(&b).s != NULL && sb_sv(&b).n == 0);
    CHECK(sb_done(&b, &out, &e) == ST_OK);
    CHECK_SV(out, SV(""));
    arena_free(&a);
}

static void pieces_stand_one_after_the_other(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);

    sb_add(&b, SV("a\0b"));
    sb_addc(&b, '-');
    sb_adds(&b, "text");
    sb_addf(&b, "%d%s", 7, "!");
    sb_pad(&b, ' ', 3);
    sb_adds(&b, NULL);
    sb_add_hex(&b, "\x00\xff\x1a", 3);
    CHECK_SV(sb_sv(&b), SV("a\0b-text7!   00ff1a"));
    CHECK_INT(sb_sv(&b).s[sb_sv(&b).n], 0);
    arena_free(&a);
}

static void a_formatted_piece_may_be_long(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);

    for (int n = 500; n < 530; n++) {
        b = sb_in(&a, 0);
        sb_addf(&b, "%0*d", n, 7);
        CHECK_INT(sb_sv(&b).n, n);
    }
    b = sb_in(&a, 0);
    sb_addf(&b, "%0100000d", 7);
    CHECK_INT(sb_sv(&b).n, 100000);
    CHECK_INT(sb_sv(&b).s[99999], '7');
    arena_free(&a);
}

static void the_limit_is_told_once_and_holds(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 10);
    struct sv    out = SV("untouched");
    struct err   e;

    sb_adds(&b, "0123456789");
    CHECK(sb_done(&b, &out, &e) == ST_OK);
    CHECK_SV(out, SV("0123456789"));
    out = SV("untouched");
    sb_adds(&b, "x");
    sb_adds(&b, "");
    sb_adds(&b, "y");
    CHECK_INT(sb_done(&b, &out, &e), ST_LIMIT_EXCEEDED);
    CHECK_SV(out, SV("untouched"));
    CHECK_INT(b.n, 10);
    arena_free(&a);
}

static void numbers_reach_their_limits(void)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);

    sb_add_int(&b, 0);
    sb_addc(&b, ' ');
    sb_add_int(&b, INT64_MIN);
    sb_addc(&b, ' ');
    sb_add_int(&b, INT64_MAX);
    CHECK_SV(sb_sv(&b), SV("0 -9223372036854775808 9223372036854775807"));
    b = sb_in(&a, 0);
    static const int64_t numbers[] = { 0, 999, 1000, -1000, 1234567, INT64_MIN };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        sb_add_commas(&b, numbers[i]);
        sb_addc(&b, ' ');
    }
    CHECK_SV(sb_sv(&b), SV("0 999 1,000 -1,000 1,234,567 -9,223,372,036,854,775,808 "));
    arena_free(&a);
}

static void a_terminal_gets_no_control_characters(void)
{
    struct arena a = { 0 };

    CHECK_SV(plain(SV("tab\tline\n"), &a), SV("tab\tline\n"));
    struct sb line = sb_in(&a, 0);
    sb_add_plain_line(&line, SV("a\tb\r\nc"));
    CHECK_SV(sb_sv(&line), SV("a\\x09b\\x0d\\x0ac"));
    CHECK_SV(plain(SV("\x1b[2J"), &a), SV("\\x1b[2J"));
    CHECK_SV(plain(SV("a\rb\x7f\0"), &a), SV("a\\x0db\\x7f\\x00"));
    CHECK_SV(plain(SV("\xc2\x9b"
                      "31m"),
                   &a),
             SV("\\x9b31m")); /* CSI as one character */
    CHECK_SV(plain(SV("\x9b"
                      "31m"),
                   &a),
             SV("\\x9b31m")); /* and as one byte */
    CHECK_SV(plain(SV("h\xc3\xa9 \xe2\x9c\x97 \xf0\x9f\x98\x80"), &a),
             SV("h\xc3\xa9 \xe2\x9c\x97 \xf0\x9f\x98\x80"));
    CHECK_SV(plain(SV("cut \xe2\x9c"), &a), SV("cut \\xe2\\x9c"));
    arena_free(&a);
}

static void writing_to_a_descriptor_keeps_order_at_any_size(void)
{
    struct arena a = { 0 };
    struct fresh f = fresh_folder();
    int          fd = openat(f.fd, "out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct sb    out = sb_to_fd(fd, &a), want = sb_in(&a, 0);
    struct err   e;

    for (int n = 1; n < 300000; n = n * 5 + 1) {
        struct sb piece = sb_in(&a, 0);
        sb_pad(&piece, (char)('a' + n % 26), (size_t)n);
        sb_add(&out, sb_sv(&piece));
        sb_add(&want, sb_sv(&piece));
    }
    CHECK(sb_flush(&out, &e) == ST_OK);
    struct sv all = sb_sv(&want);
    char     *got = ARENA_NEW(&a, char, all.n + 1);
    CHECK_INT(pread(fd, got, all.n + 1, 0), all.n);
    CHECK(memcmp(got, all.s, all.n) == 0);
    close(fd);
    fresh_done(&f);
    arena_free(&a);
}

static void a_full_disk_is_told_by_flush_and_stays_told(void)
{
    struct arena a = { 0 };
    int          fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct sb    out = sb_to_fd(fd, &a);
    struct err   e = { 0 };

    sb_adds(&out, "small");
    CHECK_INT(sb_flush(&out, &e), ST_IO);
    CHECK(strstr(e.text, "No space left") != NULL);
    CHECK(strstr(e.hint, "full") != NULL);
    sb_pad(&out, 'x', 200000);
    CHECK_INT(sb_flush(&out, &e), ST_IO);
    close(fd);
    arena_free(&a);
}

TAP_MAIN(T(an_empty_builder_is_the_empty_text), T(pieces_stand_one_after_the_other),
         T(a_formatted_piece_may_be_long), T(the_limit_is_told_once_and_holds),
         T(numbers_reach_their_limits), T(a_terminal_gets_no_control_characters),
         T(writing_to_a_descriptor_keeps_order_at_any_size),
         T(a_full_disk_is_told_by_flush_and_stays_told), )
