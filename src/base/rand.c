#include "base/rand.h"

#include "base/sb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* splitmix64; only under HEDDLE_SEED, where quality matters less than repeatability. */
static struct {
    bool     ready, fixed;
    uint64_t state;
} seed;

static void absorb(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        seed.state = (seed.state ^ (unsigned char)v.s[i]) * 0x100000001b3u;
}

static bool is_seeded(void)
{
    if (!seed.ready) {
        struct sv given = sv_of(getenv("HEDDLE_SEED"));
        seed.ready = true;
        seed.fixed = given.n > 0;
        seed.state = 0xcbf29ce484222325u;
        absorb(given);
    }
    return seed.fixed;
}

static uint64_t next(void)
{
    uint64_t z = seed.state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void rand_bytes(void *out, size_t n)
{
    unsigned char *p = out;

    if (is_seeded()) {
        for (size_t i = 0; i < n; i++)
            p[i] = (unsigned char)next();
        return;
    }
    while (n) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno != EINTR)
            die("the kernel gives no random bytes");
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}

void rand_salt(void *out, size_t n)
{
    bool     seeded = is_seeded();
    uint64_t before = seed.state;

    rand_bytes(out, n);
    if (seeded)
        seed.state = before;
}

void rand_mix(struct sv salt)
{
    if (is_seeded())
        absorb(salt);
}

struct sv rand_id(const char *prefix, size_t chars, struct arena *a)
{
    size_t         n = strlen(prefix);
    char          *s = ARENA_NEW(a, char, n + chars + 1);
    unsigned char *raw = ARENA_NEW(a, unsigned char, chars);

    memcpy(s, prefix, n);
    rand_bytes(raw, chars);
    for (size_t i = 0; i < chars; i++)
        s[n + i] = "0123456789abcdefghjkmnpqrstvwxyz"[raw[i] & 31];
    return (struct sv){ s, n + chars };
}

struct sv rand_hex_id(const char *prefix, struct arena *a)
{
    unsigned char raw[4];
    struct sb     b = sb_in(a, 0);

    rand_bytes(raw, sizeof raw);
    sb_adds(&b, prefix);
    sb_add_hex(&b, raw, sizeof raw);
    return sb_sv(&b);
}
