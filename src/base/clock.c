/* The clock, and times as text. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

/* The time set by clock_set(); SYSTEM: the system's clock is used. */
#define SYSTEM INT64_MIN
static _Atomic int64_t fixed = SYSTEM;

int64_t clock_system_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_now_ms(void)
{
    int64_t ms = fixed;

    return ms != SYSTEM ? ms : clock_system_ms();
}

bool clock_is_fixed(void)
{
    return fixed != SYSTEM;
}

enum status clock_set(struct sv given, struct err *e)
{
    int64_t ms = SYSTEM;
    bool    good =
        !given.n || ((sv_to_int(given, &ms) || clock_parse_iso(given, &ms)) && ms != SYSTEM);

    fixed = good ? ms : SYSTEM;
    if (good)
        return ST_OK;
    err_set(e, ST_USAGE, "HEDDLE_NOW is no time: '" SV_FMT "'", SV_ARG(given));
    return err_hint(e, "milliseconds since 1970, or an instant such as 2026-11-15T21:36:00Z");
}

int64_t clock_steady_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct tm utc(int64_t ms, int *millis)
{
    int64_t   rest = ms % 1000, below = rest < 0; /* before 1970 the second starts earlier */
    time_t    secs = (time_t)(ms / 1000 - below);
    struct tm t = { 0 };

    gmtime_r(&secs, &t);
    *millis = (int)(rest + below * 1000);
    return t;
}

void sb_add_iso_ms(struct sb *b, int64_t ms)
{
    int       millis;
    struct tm t = utc(ms, &millis);
    char      text[] = "-00-00T00:00:00.000Z";
    const int parts[] = { t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec };

    for (size_t i = 0; i < COUNT(parts); i++) {
        text[3 * i + 1] = (char)('0' + parts[i] / 10);
        text[3 * i + 2] = (char)('0' + parts[i] % 10);
    }
    for (int i = 18; i > 15; i--, millis /= 10)
        text[i] = (char)('0' + millis % 10);
    if (t.tm_year + 1900 >= 1000)
        sb_add_int(b, t.tm_year + 1900);
    else
        sb_addf(b, "%04d", t.tm_year + 1900);
    sb_adds(b, text);
}

void sb_add_minute(struct sb *b, int64_t ms)
{
    int       millis;
    struct tm t = utc(ms, &millis);

    sb_addf(b, "%04d-%02d-%02d %02d:%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
            t.tm_min);
}

void sb_add_ago(struct sb *b, int64_t then_ms, int64_t now_ms)
{
    int64_t secs = now_ms / 1000 - then_ms / 1000;

    if (now_ms < then_ms || secs < 60)
        sb_adds(b, "just now"); /* also when the clock went back */
    else if (secs < 3600)
        sb_addf(b, "%dm ago", (int)(secs / 60));
    else if (secs < 86400)
        sb_addf(b, "%dh ago", (int)(secs / 3600));
    else if (secs < 30 * 86400)
        sb_addf(b, "%dd ago", (int)(secs / 86400));
    else {
        int       millis;
        struct tm t = utc(then_ms, &millis);
        sb_addf(b, "%04d-%02d-%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday);
    }
}

/* n digits at *v into *out; moves *v past them. */
static bool digits(struct sv *v, size_t n, int *out)
{
    int64_t value;

    if (v->n < n || v->s[0] == '-' || !sv_to_int(sv_first(*v, n), &value))
        return false;
    *v = sv_skip(*v, n);
    *out = (int)value;
    return true;
}

static bool expect(struct sv *v, char c)
{
    if (!v->n || v->s[0] != c)
        return false;
    *v = sv_skip(*v, 1);
    return true;
}

static bool fraction(struct sv *v, int *millis)
{
    int scale = 100, seen = 0;

    while (v->n && v->s[0] >= '0' && v->s[0] <= '9') {
        *millis += (v->s[0] - '0') * scale;
        scale /= 10;
        seen++;
        *v = sv_skip(*v, 1);
    }
    return seen > 0;
}

bool clock_parse_iso(struct sv v, int64_t *ms)
{
    struct tm t = { 0 };
    int       year, month, millis = 0;

    if (!digits(&v, 4, &year) || !expect(&v, '-') || !digits(&v, 2, &month) || !expect(&v, '-') ||
        !digits(&v, 2, &t.tm_mday) || !expect(&v, 'T') || !digits(&v, 2, &t.tm_hour) ||
        !expect(&v, ':') || !digits(&v, 2, &t.tm_min))
        return false;
    if (expect(&v, ':')) {
        if (!digits(&v, 2, &t.tm_sec))
            return false;
        if (expect(&v, '.') && !fraction(&v, &millis))
            return false;
    }
    if (!sv_is(v, "Z") || t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 59)
        return false;
    t.tm_year = year - 1900;
    t.tm_mon = month - 1;
    struct tm back = t;
    time_t    secs = timegm(&back); /* normalises: a date that does not exist comes back changed */
    if (back.tm_mon != t.tm_mon || back.tm_mday != t.tm_mday)
        return false;
    *ms = (int64_t)secs * 1000 + millis;
    return true;
}
