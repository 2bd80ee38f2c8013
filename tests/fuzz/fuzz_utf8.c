/* UTF-8: decoding always advances and agrees with the validator; what was made clean is
 * clean, and cleaning what is clean changes nothing; a prefix never cuts a character. */
#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct sv lossy(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_lossy(&b, v);
    return sb_sv(&b);
}

static void check_decoding(struct sv text)
{
    struct sv rest = text;
    ptrdiff_t first_bad = -1;
    size_t    parts = 0, len;

    for (; rest.n; rest = sv_skip(rest, len), parts++) {
        int32_t cp = utf8_decode(rest, &len);
        require(len >= 1 && len <= 4 && len <= rest.n);
        require(cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff));
        if (cp < 0 && first_bad < 0)
            first_bad = (ptrdiff_t)(text.n - rest.n);
    }
    require(first_bad == utf8_invalid(text));
    require(parts == utf8_count(text));
}

static void check_prefixes(struct sv clean)
{
    for (size_t max = 0; max <= clean.n + 1 && max < 64; max++) {
        struct sv first = utf8_first(clean, max);
        require(first.n <= max && utf8_invalid(first) < 0);
        require(first.n == clean.n || max - first.n < 4);
    }
}

static void check_plain(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_plain_line(&b, text);
    struct sv shown = sb_sv(&b);
    require(utf8_invalid(shown) < 0);
    for (size_t i = 0; i < shown.n; i++)
        require((unsigned char)shown.s[i] >= 0x20 && shown.s[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct sv    text = { (const char *)data, size };

    check_decoding(text);
    struct sv clean = lossy(text, &a);
    require(utf8_invalid(clean) < 0);
    require(sv_eq(lossy(clean, &a), clean));
    require(utf8_count(clean) == utf8_count(text));
    require(utf8_invalid(text) >= 0 || sv_eq(clean, text));
    check_prefixes(clean);
    require(utf8_first(text, size / 2).n <= size / 2);
    check_plain(text, &a);
    arena_free(&a);
    return 0;
}
