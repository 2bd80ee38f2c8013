/* Server-sent events, in pieces of any size. */
#include "model/sse.h"

#include "tap.h"

static struct arena a;
static struct err   e;
static struct sb    seen;

static enum status note(void *ctx, const struct sse_event *ev, struct err *error)
{
    (void)ctx, (void)error;
    sb_addf(&seen, "<" SV_FMT "|" SV_FMT ">", SV_ARG(ev->name), SV_ARG(ev->data));
    return ST_OK;
}

/* The events of a stream that comes in pieces of n bytes. */
static struct sv events_of(struct sv stream, size_t n)
{
    struct sse p = sse_in(&a, 1000);

    seen = sb_in(&a, 0);
    for (; stream.n; stream = sv_skip(stream, n))
        CHECK(sse_feed(&p, sv_first(stream, n), note, NULL, &e) == ST_OK);
    return sb_sv(&seen);
}

static void lines_end_in_three_ways(void)
{
    CHECK_SV(events_of(SV("event: a\ndata: 1\n\n"), 99), SV("<a|1>"));
    CHECK_SV(events_of(SV("event: a\r\ndata: 1\r\n\r\n"), 99), SV("<a|1>"));
    CHECK_SV(events_of(SV("event: a\rdata: 1\r\r"), 99), SV("<a|1>"));
    CHECK_SV(events_of(SV("data: 1\r\n\ndata: 2\n\r\n"), 99), SV("<|1><|2>"));
}

static void every_split_gives_the_same_events(void)
{
    struct sv stream = SV("\xef\xbb\xbf: hello\r\nevent: a\r\ndata: {\"é→\":1}\r\ndata:  two\r\n"
                          "id: 7\r\n\r\ndata\n\nretry: 5\nevent: lost\n\ndata: 𐍈\r\rdata: cut");
    struct sv whole = SV("<a|{\"é→\":1}\n two><|><|𐍈>");

    for (size_t n = 1; n <= stream.n; n++)
        CHECK_SV(events_of(stream, n), whole);
    for (size_t at = 0; at <= stream.n; at++) { /* each place once */
        struct sse p = sse_in(&a, 1000);
        seen = sb_in(&a, 0);
        CHECK(sse_feed(&p, sv_first(stream, at), note, NULL, &e) == ST_OK);
        CHECK(sse_feed(&p, sv_skip(stream, at), note, NULL, &e) == ST_OK);
        CHECK_SV(sb_sv(&seen), whole);
    }
}

static void an_event_without_its_empty_line_is_none(void)
{
    CHECK_SV(events_of(SV("data: 1\n\ndata: 2\n"), 99), SV("<|1>"));
}

static void a_long_line_and_a_long_event_are_refused(void)
{
    struct sse p = sse_in(&a, 100);
    struct sb  line = sb_in(&a, 0);

    sb_pad(&line, 'x', 101);
    CHECK(sse_feed(&p, sb_sv(&line), note, NULL, &e) == ST_LIMIT_EXCEEDED);
    p = sse_in(&a, 100);
    enum status s = ST_OK;
    int         fed = 0;
    while (s == ST_OK && fed++ < 100)
        s = sse_feed(&p, SV("data: 0123456789\n"), note, NULL, &e);
    CHECK(s == ST_LIMIT_EXCEEDED);
    CHECK_INT(fed, 10);
    p = sse_in(&a, 100); /* comments are not kept, however many there are */
    for (int i = 0; i < 100; i++)
        CHECK(sse_feed(&p, SV(": 0123456789\n"), note, NULL, &e) == ST_OK);
}

static enum status refuse(void *ctx, const struct sse_event *ev, struct err *error)
{
    (void)ctx, (void)ev;
    return err_set(error, ST_IO, "no");
}

static void an_error_of_the_receiver_ends_it(void)
{
    struct sse p = sse_in(&a, 100);

    CHECK(sse_feed(&p, SV("data: 1\n\ndata: 2\n\n"), refuse, NULL, &e) == ST_IO);
}

TAP_MAIN(T(lines_end_in_three_ways), T(every_split_gives_the_same_events),
         T(an_event_without_its_empty_line_is_none), T(a_long_line_and_a_long_event_are_refused),
         T(an_error_of_the_receiver_ends_it), )
