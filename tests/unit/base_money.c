/* Amounts of money are read and written exactly. */
#include "base/money.h"
#include "tap.h"

static struct arena a;

static struct sv decimal(int64_t nano)
{
    struct sb b = sb_in(&a, 0);

    sb_add_decimal(&b, nano);
    return sb_sv(&b);
}

static struct sv dollars(int64_t nano)
{
    struct sb b = sb_in(&a, 0);

    sb_add_dollars(&b, nano);
    return sb_sv(&b);
}

static void what_is_written_is_read_back(void)
{
    static const int64_t amounts[] = { 0,          1,        10,        999999999, 1000000000,
                                       1000000001, 12500000, INT64_MAX, 37,        420000000000 };
    int64_t              n;

    for (size_t i = 0; i < COUNT(amounts); i++) {
        CHECK(money_parse(decimal(amounts[i]), &n));
        CHECK_INT(n, amounts[i]);
    }
    CHECK_SV(decimal(12500000), SV("0.0125"));
    CHECK_SV(decimal(0), SV("0"));
    CHECK_SV(decimal(-2500000000), SV("-2.5"));
}

static void what_is_too_fine_is_rounded(void)
{
    int64_t n;

    CHECK(money_parse(SV("0.00000000049"), &n));
    CHECK_INT(n, 0);
    CHECK(money_parse(SV("0.0000000005"), &n));
    CHECK_INT(n, 1);
    CHECK(money_parse(SV("4"), &n));
    CHECK_INT(n, 4000000000);
}

static void what_is_no_amount_is_refused(void)
{
    static const char *const wrong[] = { "",    ".",  ".5",         "1.",    "-1",          "1e3",
                                         "0x1", "1 ", "9223372037", "1.2.3", "1.000000000x" };
    int64_t                  n;

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(!money_parse(sv_of(wrong[i]), &n));
}

static void people_see_a_few_digits(void)
{
    CHECK_SV(dollars(0), SV("$0.00"));
    CHECK_SV(dollars(1234567890), SV("$1.23"));
    CHECK_SV(dollars(123456789), SV("$0.123"));
    CHECK_SV(dollars(1234567), SV("$0.00123"));
    CHECK_SV(dollars(1234), SV("$0.000001"));
    CHECK_SV(dollars(99999999999), SV("$100.00"));
}

TAP_MAIN(T(what_is_written_is_read_back), T(what_is_too_fine_is_rounded),
         T(what_is_no_amount_is_refused), T(people_see_a_few_digits), )
