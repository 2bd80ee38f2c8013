#include "base/sb.h"

#include "base/fs.h"

#include "fresh.h"
#include "tap.h"

#include <errno.h>
#include <unistd.h>

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

static void numbers_have_as_many_digits_as_printf_gives_them(void)
{
    char ours[SB_INT_MAX + 1], want[32];

    for (uint64_t power = 1, n = 0; n < 19; power *= 10, n++)
        for (int64_t around = -1; around < 2; around++) {
            int64_t v = (int64_t)power + around;
            *sb_write_int(ours, v) = 0;
            snprintf(want, sizeof want, "%lld", (long long)v);
            CHECK_SV(sv_of(ours), sv_of(want));
            *sb_write_int(ours, -v) = 0;
            snprintf(want, sizeof want, "%lld", (long long)-v);
            CHECK_SV(sv_of(ours), sv_of(want));
        }
}

static void a_short_text_is_copied_and_nothing_behind_it_is_written(void)
{
    static const char from[] = "the warp holds still, the weft goes over it";

    for (size_t n = 0; n < sizeof from; n++) {
        char to[sizeof from + 1];
        memset(to, '#', sizeof to);
        CHECK(sb_write_short(to, (struct sv){ from, n }) == to + n);
        CHECK(memcmp(to, from, n) == 0 && to[n] == '#');
    }
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

static void a_terminal_shows_what_cannot_be_seen(void)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "a\xe2\x80\xae"
          "b",
          "a\\u202eb" },                                    /* right-to-left override */
        { "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069" }, /* isolates */
        { "a\xe2\x80\x8b"
          "b",
          "a\\u200bb" },                                              /* zero-width space */
        { "\xef\xbb\xbfx", "\\ufeffx" },                              /* byte order mark */
        { "\xd8\x9c", "\\u061c" },                                    /* Arabic letter mark */
        { "\xe2\x80\xa8", "\\u2028" },                                /* line separator */
        { "\xf3\xa0\x81\x81", "\\udb40\\udc41" },                     /* a tag */
        { "\xc2\xad", "\\u00ad" },                                    /* soft hyphen */
        { "\xe2\x80\xa6 \xe2\x86\x92", "\xe2\x80\xa6 \xe2\x86\x92" }, /* … → */
        { "\xd7\xa9\xd7\x9c", "\xd7\xa9\xd7\x9c" },                   /* Hebrew by itself */
    };
    struct arena a = { 0 };

    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_SV(plain(sv_of(cases[i].text), &a), sv_of(cases[i].shown));
    arena_free(&a);
}

static void a_word_for_a_shell_is_quoted_when_it_must_be(void)
{
    static const struct {
        const char *word, *quoted;
    } cases[] = {
        { "plain-name_1.md", "plain-name_1.md" },
        { "/a/b:c=d,e%f+g@h", "/a/b:c=d,e%f+g@h" },
        { "", "''" },
        { "two words", "'two words'" },
        { "it's", "'it'\\''s'" },
        { "$(rm -r x)", "'$(rm -r x)'" },
        { "a;b", "'a;b'" },
        { "~", "'~'" },
        { "caf\xc3\xa9", "'caf\xc3\xa9'" },
    };
    struct arena a = { 0 };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sb b = sb_in(&a, 0);
        sb_add_shell(&b, sv_of(cases[i].word));
        CHECK_SV(sb_sv(&b), sv_of(cases[i].quoted));
    }
    arena_free(&a);
}

/* What arrives at the other end of a pipe, written in pieces of `step` bytes. */
static struct sv through(enum sb_show show, struct sv text, size_t step, struct arena *a)
{
    int        ends[2];
    struct err e;
    struct sv  got = { 0 };

    CHECK(pipe(ends) == 0);
    struct sb b = sb_to_fd(ends[1], a);
    CHECK_INT(b.show, SB_RAW); /* a pipe is no terminal */
    b.show = show;
    for (; text.n; text = sv_skip(text, step))
        sb_add(&b, sv_first(text, step < text.n ? step : text.n));
    CHECK_INT(sb_flush(&b, &e), ST_OK);
    close(ends[1]);
    CHECK_INT(fs_read_fd(ends[0], 0, a, &got, &e), ST_OK);
    close(ends[0]);
    return got;
}

static void text_on_its_way_to_a_descriptor_is_made_fit_for_it(void)
{
    struct arena a = { 0 };
    struct sv    text = SV("a\x1b[2J\xc2\x9b h\xc3\xa9 \xe2\x80\xae\xf3\xa0\x81\x81\r\n\xff\t.");

    for (size_t step = 1; step <= text.n; step++) {
        CHECK_SV(through(SB_RAW, text, step, &a), text);
        CHECK_SV(through(SB_PLAIN, text, step, &a),
                 SV("a\\x1b[2J\\x9b h\xc3\xa9 \\u202e\\udb40\\udc41\\x0d\n\\xff\t."));
        CHECK_SV(through(SB_ESCAPED, text, step, &a),
                 SV("a\\u001b[2J\\u009b h\xc3\xa9 \\u202e\\udb40\\udc41\r\n\\xff\t."));
    }
    arena_free(&a);
}

static void characters_survive_the_end_of_the_buffer(void)
{
    struct arena a = { 0 };

    for (size_t shift = 0; shift < 4; shift++) { /* 60,000 bytes fit into a pipe */
        struct sb b = sb_in(&a, 0);
        sb_pad(&b, 'x', shift);
        for (size_t i = 0; i < 15000; i++)
            sb_adds(&b, "\xf0\x9f\x98\x80");
        CHECK_SV(through(SB_PLAIN, sb_sv(&b), sb_sv(&b).n, &a), sb_sv(&b));
    }
    arena_free(&a);
}

static void styles_pass_where_they_are_let_and_nothing_else_does(void)
{
    struct arena a = { 0 };
    struct sv    text =
        SV("\x1b[1mHEAD\x1b[0m \x1b[31mbad\x1b[36m\x1b[2m \x1b[30m\x1b[37m\x1b[8m\x1b[3m"
           "\x1b[2J\x1b[1;1H\x1b[\x1b");

    CHECK_SV(through(SB_STYLED, text, text.n, &a),
             SV("\x1b[1mHEAD\x1b[0m \x1b[31mbad\x1b[36m\x1b[2m \\x1b[30m\\x1b[37m\\x1b[8m\\x1b[3m"
                "\\x1b[2J\\x1b[1;1H\\x1b[\\x1b"));
    for (size_t shift = 0; shift < 6;
         shift++) { /* a style may stand across the end of the buffer */
        struct sb b = sb_in(&a, 0);
        sb_pad(&b, 'x', shift);
        for (size_t i = 0; i < 10000; i++)
            sb_adds(&b, "\x1b[31m.");
        CHECK_SV(through(SB_STYLED, sb_sv(&b), sb_sv(&b).n, &a), sb_sv(&b));
        CHECK_SV(through(SB_STYLED, sb_sv(&b), 7, &a), sb_sv(&b));
    }
    arena_free(&a);
}

struct taken {
    struct sb all;
    size_t    most; /* bytes that are wanted */
};

static int take(void *ctx, struct sv bytes)
{
    struct taken *t = ctx;

    sb_add(&t->all, bytes);
    return t->all.n > t->most ? EPIPE : 0;
}

static void a_sink_gets_all_bytes_in_order_until_it_wants_no_more(void)
{
    struct arena a = { 0 };
    struct taken t = { sb_in(&a, 0), SIZE_MAX };
    struct sb    b = sb_to_sink(take, &t, &a), want = sb_in(&a, 0);
    struct err   e;

    for (int i = 0; i < 20000; i++) {
        sb_addf(&b, "%d,", i);
        sb_addf(&want, "%d,", i);
    }
    sb_add(&b, SV("end"));
    sb_adds(&want, "end");
    CHECK(sb_flush(&b, &e) == ST_OK);
    CHECK_SV(sb_sv(&t.all), sb_sv(&want));
    t = (struct taken){ sb_in(&a, 0), 10 };
    b = sb_to_sink(take, &t, &a);
    sb_pad(&b, 'x', 100);
    CHECK(sb_flush(&b, &e) == ST_IO && sv_is(sv_of(e.reason), "reader_gone"));
    sb_adds(&b, "more");
    CHECK(sb_flush(&b, &e) == ST_IO);
    CHECK_INT(t.all.n, 100);
    arena_free(&a);
}

TAP_MAIN(T(a_sink_gets_all_bytes_in_order_until_it_wants_no_more),
         T(styles_pass_where_they_are_let_and_nothing_else_does),
         T(text_on_its_way_to_a_descriptor_is_made_fit_for_it),
         T(characters_survive_the_end_of_the_buffer), T(a_terminal_shows_what_cannot_be_seen),
         T(a_word_for_a_shell_is_quoted_when_it_must_be), T(an_empty_builder_is_the_empty_text),
         T(pieces_stand_one_after_the_other), T(a_formatted_piece_may_be_long),
         T(the_limit_is_told_once_and_holds), T(numbers_reach_their_limits),
         T(numbers_have_as_many_digits_as_printf_gives_them),
         T(a_short_text_is_copied_and_nothing_behind_it_is_written),
         T(a_terminal_gets_no_control_characters),
         T(writing_to_a_descriptor_keeps_order_at_any_size),
         T(a_full_disk_is_told_by_flush_and_stays_told), )
