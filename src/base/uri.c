/* Percent-encoding and its reverse. */
#include "base/uri.h"

static bool is_plain(char c, const char *keep)
{
    char small = byte_lower(c);

    return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') ||
           (c && (strchr("-._~", c) || (keep && strchr(keep, c))));
}

void sb_add_uri(struct sb *b, struct sv v, const char *keep)
{
    for (size_t i = 0; i < v.n; i++)
        if (is_plain(v.s[i], keep))
            sb_addc(b, v.s[i]);
        else
            sb_addf(b, "%%%02X", (unsigned char)v.s[i]);
}

static int hex_digit(char c)
{
    char small = byte_lower(c);

    if (c >= '0' && c <= '9')
        return c - '0';
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

bool uri_read(struct sv part, struct arena *a, struct sv *out)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < part.n; i++) {
        char c = part.s[i];
        if (c == '%') {
            int high = i + 2 < part.n ? hex_digit(part.s[i + 1]) : -1;
            int low = i + 2 < part.n ? hex_digit(part.s[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (!c)
            return false;
        sb_addc(&b, c);
    }
    *out = sb_sv(&b);
    return true;
}
