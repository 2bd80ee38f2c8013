#include "base/lines.h"

#include "fresh.h"
#include "tap.h"

#include <errno.h>

static struct arena a;

/* A file with these bytes, at its start. */
static int file_of(struct fresh *f, struct sv text)
{
    int fd = openat(f->fd, "in", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(pwrite(fd, text.s, text.n, 0) == (ssize_t)text.n);
    return fd;
}

/* The lines of a text, each in brackets; ends with the code of an error. */
static struct sv split(struct sv text, size_t limit)
{
    struct fresh f = fresh_folder();
    int          fd = file_of(&f, text);
    struct lines in = lines_of(fd, limit, &a);
    struct sb    b = sb_in(&a, 0);
    struct sv    line;
    struct err   e = { 0 };
    bool         more;

    while (lines_next(&in, &line, &more, &e) == ST_OK && more) {
        sb_addc(&b, '[');
        sb_add(&b, line);
        sb_addc(&b, ']');
    }
    sb_adds(&b, e.code ? status_word(e.code) : "");
    close(fd);
    fresh_done(&f);
    return sb_sv(&b);
}

static void lines_end_with_lf_or_crlf_or_the_end(void)
{
    CHECK_SV(split(SV(""), 100), SV(""));
    CHECK_SV(split(SV("a"), 100), SV("[a]"));
    CHECK_SV(split(SV("a\n"), 100), SV("[a]"));
    CHECK_SV(split(SV("a\r\nb\r\n"), 100), SV("[a][b]"));
    CHECK_SV(split(SV("\n\na\n\n"), 100), SV("[][][a][]"));
    CHECK_SV(split(SV("a\rb\n"), 100), SV("[a\rb]"));
    CHECK_SV(split(SV("a\0b\nc"), 100), SV("[a\0b][c]"));
}

static void a_line_over_the_limit_is_refused_wherever_it_stands(void)
{
    CHECK_SV(split(SV("12345\n"), 5), SV("[12345]"));
    CHECK_SV(split(SV("12345\r\n"), 5), SV("[12345]"));
    CHECK_SV(split(SV("12345"), 5), SV("[12345]"));
    CHECK_SV(split(SV("123456\n"), 5), SV("LIMIT_EXCEEDED"));
    CHECK_SV(split(SV("123456"), 5), SV("LIMIT_EXCEEDED"));
    CHECK_SV(split(SV("1\n123456\n2\n"), 5), SV("[1]LIMIT_EXCEEDED"));
}

static void a_long_line_is_given_whole(void)
{
    struct sb big = sb_in(&a, 0);

    sb_adds(&big, "first\n");
    sb_pad(&big, 'x', 1000000);
    sb_adds(&big, "\nlast");
    struct sv got = split(sb_sv(&big), 2000000);
    CHECK_INT(got.n, 7 + 1000002 + 6);
    CHECK(sv_starts(got, SV("[first][xxx")) && sv_ends(got, SV("xxx][last]")));
    CHECK_SV(split(sb_sv(&big), 999999), SV("[first]LIMIT_EXCEEDED"));
    arena_free(&a);
}

static void memory_does_not_grow_with_the_file(void)
{
    struct fresh f = fresh_folder();
    struct sb    text = sb_in(&a, 0);

    for (int i = 0; i < 100000; i++)
        sb_addf(&text, "line number %d\n", i);
    int          fd = file_of(&f, sb_sv(&text));
    struct arena own = { 0 };
    struct lines in = lines_of(fd, 1000, &own);
    struct sv    line;
    struct err   e;
    bool         more = true;
    int64_t      n = 0;
    while (lines_next(&in, &line, &more, &e) == ST_OK && more)
        n++;
    CHECK_INT(n, 100000);
    CHECK_INT(in.number, 100000);
    CHECK_INT(in.bytes, sb_sv(&text).n);
    CHECK(in.cap <= 256 * 1024);
    close(fd);
    fresh_done(&f);
    arena_free(&own);
    arena_free(&a);
}

static void a_folder_cannot_be_read_as_lines(void)
{
    struct fresh f = fresh_folder();
    struct lines in = lines_of(f.fd, 100, &a);
    struct sv    line;
    struct err   e;
    bool         more;

    CHECK_INT(lines_next(&in, &line, &more, &e), ST_IO);
    fresh_done(&f);
    arena_free(&a);
}

static void a_line_that_is_too_long_can_be_passed_over(void)
{
    struct sb    text = sb_in(&a, 0);
    struct fresh f = fresh_folder();
    struct sv    line;
    struct err   e;
    bool         more;

    sb_adds(&text, "one\n");
    sb_pad(&text, 'x', 1 << 20);
    sb_adds(&text, "\ntwo\n");
    int          fd = file_of(&f, sb_sv(&text));
    struct lines in = lines_of(fd, 100, &a);
    CHECK(lines_next(&in, &line, &more, &e) == ST_OK && sv_is(line, "one"));
    CHECK(lines_next(&in, &line, &more, &e) == ST_LIMIT_EXCEEDED);
    CHECK(lines_skip(&in, &e) == ST_OK);
    CHECK(lines_next(&in, &line, &more, &e) == ST_OK && sv_is(line, "two"));
    CHECK_INT(in.number, 3);
    close(fd);
    fresh_done(&f);
    arena_free(&a);
}

/* Gives its text in pieces of two bytes, then fails or ends. */
struct source {
    struct sv rest;
    int       fails;
};

static ssize_t give(void *ctx, char *into, size_t n)
{
    struct source *s = ctx;
    size_t         some = s->rest.n < 2 ? s->rest.n : 2;

    CHECK(n >= some);
    if (!some && s->fails) {
        errno = s->fails;
        return -1;
    }
    memcpy(into, s->rest.s, some);
    s->rest = sv_skip(s->rest, some);
    return (ssize_t)some;
}

static void lines_can_come_from_a_function_which_may_fail(void)
{
    struct source s = { SV("one\ntwo"), 0 };
    struct lines  in = lines_from(give, &s, 100, &a);
    struct sv     line;
    struct err    e;
    bool          more;

    CHECK(lines_next(&in, &line, &more, &e) == ST_OK && more && sv_is(line, "one"));
    CHECK(lines_next(&in, &line, &more, &e) == ST_OK && more && sv_is(line, "two"));
    CHECK(lines_next(&in, &line, &more, &e) == ST_OK && !more);
    s = (struct source){ SV("cut"), EIO };
    in = lines_from(give, &s, 100, &a);
    CHECK(lines_next(&in, &line, &more, &e) == ST_IO);
    arena_free(&a);
}

TAP_MAIN(T(lines_can_come_from_a_function_which_may_fail),
         T(a_line_that_is_too_long_can_be_passed_over), T(lines_end_with_lf_or_crlf_or_the_end),
         T(a_line_over_the_limit_is_refused_wherever_it_stands), T(a_long_line_is_given_whole),
         T(memory_does_not_grow_with_the_file), T(a_folder_cannot_be_read_as_lines), )
