#include "http/url_policy.h"

#include <netinet/in.h>
#include <string.h>

/* clang-format off */
static const struct { uint32_t net; int bits; } private_v4[] = {
    { 0x00000000,  8 }, /* this network */      { 0x0a000000,  8 }, /* private */
    { 0x64400000, 10 }, /* carrier NAT */       { 0x7f000000,  8 }, /* loopback */
    { 0xa9fe0000, 16 }, /* link-local, cloud metadata */
    { 0xac100000, 12 }, /* private */           { 0xc0000000, 24 }, /* protocol assignments */
    { 0xc0a80000, 16 }, /* private */           { 0xc6120000, 15 }, /* benchmarks */
    { 0xe0000000,  4 }, /* multicast */         { 0xf0000000,  4 }, /* reserved, broadcast */
};
/* clang-format on */

static bool v4_is_private(uint32_t address)
{
    for (size_t i = 0; i < COUNT(private_v4); i++)
        if ((address ^ private_v4[i].net) >> (32 - private_v4[i].bits) == 0)
            return true;
    return false;
}

static uint32_t v4_in(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool v6_is_private(const unsigned char *b)
{
    static const unsigned char zeros[15] = { 0 };
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    static const unsigned char nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

    if (memcmp(b, zeros, 15) == 0 && b[15] <= 1)
        return true; /* :: and ::1 */
    if ((b[0] & 0xfe) == 0xfc || b[0] == 0xff || (b[0] == 0xfe && (b[1] & 0x80)))
        return true; /* unique local, multicast, link-local and site-local */
    if (memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0 || memcmp(b, zeros, 12) == 0)
        return v4_is_private(v4_in(b + 12));
    return b[0] == 0x20 && b[1] == 0x02 && v4_is_private(v4_in(b + 2)); /* 6to4 */
}

bool address_is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return v4_is_private(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof in6);
        return v6_is_private(in6.sin6_addr.s6_addr);
    }
    return true;
}
