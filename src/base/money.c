/* Reading and writing amounts of money. */
#include "base/money.h"

enum { PLACES = 9 };

/* One digit behind what was read so far; false when it does not fit. */
static bool shift(int64_t *n, int digit)
{
    return !__builtin_mul_overflow(*n, 10, n) && !__builtin_add_overflow(*n, digit, n);
}

bool money_parse(struct sv decimal, int64_t *nano)
{
    struct sv_cut c = sv_cut(decimal, '.');
    int64_t       n = 0;

    if (!c.head.n || (c.found && !c.tail.n))
        return false;
    for (size_t i = 0; i < c.head.n; i++)
        if (c.head.s[i] < '0' || c.head.s[i] > '9' || !shift(&n, c.head.s[i] - '0'))
            return false;
    for (size_t i = 0; i < PLACES || i < c.tail.n; i++) {
        char digit = i < c.tail.n ? c.tail.s[i] : '0';
        if (digit < '0' || digit > '9' || (i < PLACES && !shift(&n, digit - '0')))
            return false;
        if (i == PLACES && digit >= '5' && __builtin_add_overflow(n, 1, &n))
            return false;
    }
    *nano = n;
    return true;
}

/* With `places` digits behind the point, 0 to PLACES. */
static void add_fixed(struct sb *b, int64_t nano, int places)
{
    uint64_t size = nano < 0 ? 0 - (uint64_t)nano : (uint64_t)nano, unit = 1;

    for (int i = places; i < PLACES; i++)
        unit *= 10;
    size = (size + unit / 2) / unit;
    for (unit = 1; places > 0 && unit < MONEY_DOLLAR; places--)
        unit *= 10;
    sb_addf(b, "%s%llu", nano < 0 ? "-" : "", (unsigned long long)(size / unit));
    if (unit == 1)
        return;
    uint64_t rest = size % unit;
    sb_addc(b, '.');
    for (unit /= 10; unit; unit /= 10)
        sb_addc(b, (char)('0' + rest / unit % 10));
}

void sb_add_decimal(struct sb *b, int64_t nano)
{
    int     places = PLACES;
    int64_t n = nano;

    while (places > 0 && n % 10 == 0) {
        n /= 10;
        places--;
    }
    add_fixed(b, nano, places);
}

void sb_add_dollars(struct sb *b, int64_t nano)
{
    int places = 2;

    for (int64_t least = MONEY_DOLLAR; places < 6 && (nano < 0 ? -nano : nano) < least; least /= 10)
        places++;
    sb_addc(b, '$');
    add_fixed(b, nano, nano ? places : 2);
}
