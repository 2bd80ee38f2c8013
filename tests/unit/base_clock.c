#include "base/clock.h"

#include "tap.h"

#include <stdlib.h>

static struct arena a;

static struct sv iso(int64_t ms)
{
    struct sb b = sb_in(&a, 0);

    sb_add_iso_ms(&b, ms);
    return sb_sv(&b);
}

static struct sv ago(int64_t then, int64_t now)
{
    struct sb b = sb_in(&a, 0);

    sb_add_ago(&b, then, now);
    return sb_sv(&b);
}

static void instants_are_written_in_utc(void)
{
    struct sb b = sb_in(&a, 0);

    setenv("TZ", "Pacific/Apia", 1); /* no zone of the machine may show */
    CHECK_SV(iso(0), SV("1970-01-01T00:00:00.000Z"));
    CHECK_SV(iso(1794778560123), SV("2026-11-15T21:36:00.123Z"));
    CHECK_SV(iso(951782400000), SV("2000-02-29T00:00:00.000Z"));
    sb_add_minute(&b, 1794778560123);
    CHECK_SV(sb_sv(&b), SV("2026-11-15 21:36"));
}

static void instants_before_1970_round_down(void)
{
    CHECK_SV(iso(-1), SV("1969-12-31T23:59:59.999Z"));
    CHECK_SV(iso(-1000), SV("1969-12-31T23:59:59.000Z"));
    CHECK_SV(iso(-62135596800000), SV("0001-01-01T00:00:00.000Z"));
}

static void the_ends_of_time_do_not_overflow(void)
{
    CHECK(iso(INT64_MAX).n > 20);
    CHECK(iso(INT64_MIN).n > 20);
    CHECK_SV(ago(INT64_MAX, INT64_MIN), SV("just now"));
    CHECK(ago(INT64_MIN, INT64_MAX).n > 0);
}

static void instants_are_read_strictly(void)
{
    static const struct {
        const char *text;
        bool        ok;
        int64_t     ms;
    } cases[] = {
        { "2026-11-15T21:36:00Z", true, 1794778560000 },
        { "2026-11-15T21:36Z", true, 1794778560000 },
        { "2026-11-15T21:36:00.5Z", true, 1794778560500 },
        { "2026-11-15T21:36:00.123456789Z", true, 1794778560123 },
        { "1970-01-01T00:00:00Z", true, 0 },
        { "1969-12-31T23:59:59.999Z", true, -1 },
        { "2000-02-29T00:00Z", true, 951782400000 },
        { "2001-02-29T00:00Z", false, 0 },
        { "2026-13-01T00:00Z", false, 0 },
        { "2026-00-01T00:00Z", false, 0 },
        { "2026-01-00T00:00Z", false, 0 },
        { "2026-01-32T00:00Z", false, 0 },
        { "2026-01-01T24:00Z", false, 0 },
        { "2026-01-01T00:60Z", false, 0 },
        { "2026-01-01T00:00:60Z", false, 0 },
        { "2026-01-01T00:00:00.Z", false, 0 },
        { "2026-01-01T00:00:00", false, 0 },
        { "2026-01-01T00:00:00z", false, 0 },
        { "2026-01-01t00:00:00Z", false, 0 },
        { "2026-01-01 00:00:00Z", false, 0 },
        { "2026-01-01T00:00:00+00:00", false, 0 },
        { "2026-01-01T00:00:00Z ", false, 0 },
        { "-026-01-01T00:00Z", false, 0 },
        { "2026-1-01T00:00Z", false, 0 },
        { "2026-01-01", false, 0 },
        { "", false, 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ms = 77;
        bool    ok = clock_parse_iso(sv_of(cases[i].text), &ms);
        if (ok != cases[i].ok)
            printf("# %s\n", cases[i].text);
        CHECK(ok == cases[i].ok);
        CHECK_INT(ms, cases[i].ok ? cases[i].ms : 77);
    }
}

static void every_day_is_read_as_it_was_written(void)
{
    int wrong = 0;

    for (int64_t day = -800000; day < 2900000; day += 97) {
        int64_t ms;
        if (!clock_parse_iso(iso(day * 86400000 + 45296789), &ms) ||
            ms != day * 86400000 + 45296789)
            wrong += day * 86400000 > -62167219200000; /* the year 0 and later: four digits */
        arena_free(&a);
    }
    CHECK_INT(wrong, 0);
}

static void distances_are_rounded_down(void)
{
    int64_t now = 1794778560123, second = 1000, day = 86400 * second;

    CHECK_SV(ago(now, now), SV("just now"));
    CHECK_SV(ago(now - 59 * second, now), SV("just now"));
    CHECK_SV(ago(now - 60 * second, now), SV("1m ago"));
    CHECK_SV(ago(now - 3599 * second, now), SV("59m ago"));
    CHECK_SV(ago(now - 3600 * second, now), SV("1h ago"));
    CHECK_SV(ago(now - day + second, now), SV("23h ago"));
    CHECK_SV(ago(now - day, now), SV("1d ago"));
    CHECK_SV(ago(now - 30 * day + second, now), SV("29d ago"));
    CHECK_SV(ago(now - 30 * day, now), SV("2026-10-16"));
}

static void a_clock_that_went_back_says_just_now(void)
{
    CHECK_SV(ago(2000000000000, 1000000000000), SV("just now"));
}

static void the_clock_can_be_fixed(void)
{
    struct err e;

    CHECK_INT(clock_set(SV("1794778560123"), &e), ST_OK);
    CHECK_INT(clock_now_ms(), 1794778560123);
    CHECK_INT(clock_set(SV("2026-11-15T21:36:00Z"), &e), ST_OK);
    CHECK_INT(clock_now_ms(), 1794778560000);
    CHECK_INT(clock_set(SV("0"), &e), ST_OK);
    CHECK_INT(clock_now_ms(), 0);
    CHECK_INT(clock_set(SV("yesterday"), &e), ST_USAGE);
    CHECK(clock_now_ms() > 1700000000000); /* not the time before, nor half of this one */
    CHECK_INT(clock_set(SV("7"), &e), ST_OK);
    CHECK_INT(clock_set(SV(""), &e), ST_OK);
    CHECK(clock_now_ms() > 1700000000000);
}

static void the_steady_clock_never_goes_back(void)
{
    int64_t before = clock_steady_us();

    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_steady_us();
        CHECK(now >= before);
        before = now;
    }
}

TAP_MAIN(T(instants_are_written_in_utc), T(instants_before_1970_round_down),
         T(the_ends_of_time_do_not_overflow), T(instants_are_read_strictly),
         T(every_day_is_read_as_it_was_written), T(distances_are_rounded_down),
         T(a_clock_that_went_back_says_just_now), T(the_clock_can_be_fixed),
         T(the_steady_clock_never_goes_back), )
