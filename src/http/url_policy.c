/* The tables of private addresses and of metadata services. */
#include "http/url_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

/* clang-format off */
static const struct { uint32_t net; int bits; } private_v4[] = {
    { 0x00000000,  8 }, /* this network */      { 0x0a000000,  8 }, /* private */
    { 0x64400000, 10 }, /* carrier NAT */       { 0x7f000000,  8 }, /* loopback */
    { 0xa9fe0000, 16 }, /* link-local */        { 0xac100000, 12 }, /* private */
    { 0xc0000000, 24 }, /* protocols */         { 0xc0000200, 24 }, /* documentation */
    { 0xc0586300, 24 }, /* 6to4 relays */       { 0xc0a80000, 16 }, /* private */
    { 0xc6120000, 15 }, /* benchmarks */        { 0xc6336400, 24 }, /* documentation */
    { 0xcb007100, 24 }, /* documentation */     { 0xe0000000,  4 }, /* multicast */
    { 0xf0000000,  4 }, /* reserved, broadcast */
};

/* AWS, Google, Azure and most others; its neighbours for containers; Alibaba, Oracle, Azure. */
static const struct { uint32_t net; int bits; } metadata_v4[] = {
    { 0xa9fe0000, 16 }, { 0x646464c8, 32 }, { 0xc00000c0, 32 }, { 0xa83f8110, 32 },
};

/* Global unicast is 2000::/3; of that, these are not. */
static const struct { unsigned char net[8]; int bits; } private_v6[] = {
    { { 0x20, 0x01, 0x00, 0x00 }, 23 },             /* protocols: Teredo, benchmarks, ORCHID … */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 },             /* documentation */
    { { 0x3f, 0xff, 0x00, 0x00 }, 20 },             /* documentation */
};

static const unsigned char metadata_v6[][16] = {
    { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54 },            /* AWS: fd00:ec2::254 */
    { 0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23 },                         /* AWS: fd00:ec2::23 */
    { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54 },            /* Google: fd20:ce::254 */
    { 0xfe, 0x80, [12] = 0xa9, [13] = 0xfe, [14] = 0xa9, [15] = 0xfe }, /* fe80::a9fe:a9fe */
};
/* clang-format on */

static bool in_v4(uint32_t address, uint32_t net, int bits)
{
    return (address ^ net) >> (32 - bits) == 0;
}

static enum address_kind kind_of_v4(uint32_t address)
{
    for (size_t i = 0; i < COUNT(metadata_v4); i++)
        if (in_v4(address, metadata_v4[i].net, metadata_v4[i].bits))
            return ADDRESS_METADATA;
    for (size_t i = 0; i < COUNT(private_v4); i++)
        if (in_v4(address, private_v4[i].net, private_v4[i].bits))
            return ADDRESS_PRIVATE;
    return ADDRESS_PUBLIC;
}

static uint32_t v4_in(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool in_v6(const unsigned char *b, const unsigned char *net, int bits)
{
    int whole = bits / 8, rest = bits % 8;

    return memcmp(b, net, (size_t)whole) == 0 &&
           (!rest || (b[whole] ^ net[whole]) >> (8 - rest) == 0);
}

/* The IPv4 address that an IPv6 one stands for, by the forms that translate between the two. */
static bool carries_v4(const unsigned char *b, uint32_t *v4, bool *reachable)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    static const unsigned char translated[12] = { [8] = 0xff, [9] = 0xff };
    static const unsigned char nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
    static const unsigned char local_nat64[6] = { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 };
    static const unsigned char zeros[12] = { 0 };
    bool isatap = (b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe;

    *reachable = memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0;
    *v4 = v4_in(b + 12);
    if (*reachable || memcmp(b, translated, 12) == 0 || memcmp(b, zeros, 12) == 0 ||
        memcmp(b, local_nat64, 6) == 0)
        return true;
    *reachable = (b[0] & 0xe0) == 0x20;
    if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
        *v4 = v4_in(b + 2);
    return isatap || (b[0] == 0x20 && b[1] == 0x02);
}

static enum address_kind kind_of_v6(const unsigned char *b)
{
    uint32_t v4;
    bool     reachable;

    for (size_t i = 0; i < COUNT(metadata_v6); i++)
        if (memcmp(b, metadata_v6[i], 16) == 0)
            return ADDRESS_METADATA;
    if (carries_v4(b, &v4, &reachable)) {
        enum address_kind inside = kind_of_v4(v4);
        return inside || reachable ? inside : ADDRESS_PRIVATE;
    }
    if ((b[0] & 0xe0) != 0x20)
        return ADDRESS_PRIVATE;
    for (size_t i = 0; i < COUNT(private_v6); i++)
        if (in_v6(b, private_v6[i].net, private_v6[i].bits))
            return ADDRESS_PRIVATE;
    return ADDRESS_PUBLIC;
}

enum address_kind address_kind_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return kind_of_v4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof in6);
        return kind_of_v6(in6.sin6_addr.s6_addr);
    }
    return ADDRESS_PRIVATE;
}

bool http_address_is_private(const struct sockaddr *address)
{
    return address_kind_of(address) != ADDRESS_PUBLIC;
}

static bool is_loopback_v6(const unsigned char *b)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

    if (memcmp(b, mapped, sizeof mapped) == 0)
        return b[12] == 127;
    return memcmp(b, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

bool http_address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof in6);
        return is_loopback_v6(in6.sin6_addr.s6_addr);
    }
    return false;
}

/* scheme://user@HOST:port/path; without the brackets of IPv6. */
static struct sv host_of(struct sv url)
{
    ptrdiff_t at = sv_find(url, SV("://"));
    struct sv host = at < 0 ? url : sv_skip(url, (size_t)at + 3);
    size_t    n = 0;

    while (n < host.n && !strchr("/?#\\", host.s[n]))
        n++;
    host = sv_first(host, n);
    struct sv_cut user = sv_cut_last(host, '@');
    host = user.found ? user.tail : host;
    if (host.n && host.s[0] == '[')
        return sv_cut(sv_skip(host, 1), ']').head;
    return sv_cut(host, ':').head;
}

/* The host in small letters, without dots at its end. False when it is too long for a name. */
static bool plain_host(struct sv url, char *name, size_t size, struct sv *out)
{
    struct sv host = host_of(url);

    if (host.n >= size)
        return false;
    for (size_t i = 0; i < host.n; i++)
        name[i] = byte_lower(host.s[i]);
    while (host.n && name[host.n - 1] == '.')
        host.n--;
    name[host.n] = 0;
    *out = (struct sv){ name, host.n };
    return true;
}

static bool is_localhost(struct sv host)
{
    return sv_is(host, "localhost") || sv_ends(host, SV(".localhost"));
}

enum address_kind address_kind_of_host(struct sv url)
{
    struct sv       host;
    char            name[256];
    struct in_addr  v4;
    struct in6_addr v6;

    if (!plain_host(url, name, sizeof name, &host))
        return ADDRESS_PUBLIC;
    if (is_localhost(host))
        return ADDRESS_PRIVATE;
    if (sv_is(host, "metadata.google.internal") || sv_is(host, "metadata"))
        return ADDRESS_METADATA;
    if (inet_aton(name, &v4)) /* 127.1, 0x7f000001 and 2130706433 too */
        return kind_of_v4(ntohl(v4.s_addr));
    char *zone = strchr(name, '%');
    if (zone)
        *zone = 0;
    return inet_pton(AF_INET6, name, &v6) == 1 ? kind_of_v6(v6.s6_addr) : ADDRESS_PUBLIC;
}

bool http_url_is_loopback(struct sv url)
{
    struct sv       host;
    char            name[256];
    struct in_addr  v4;
    struct in6_addr v6;

    if (!plain_host(url, name, sizeof name, &host))
        return false;
    if (inet_aton(name, &v4))
        return ntohl(v4.s_addr) >> 24 == 127;
    return is_localhost(host) ||
           (inet_pton(AF_INET6, name, &v6) == 1 && is_loopback_v6(v6.s6_addr));
}
