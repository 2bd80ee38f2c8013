/* Random bytes and the ids that are made of them. */
#include "base/rand.h"

#include "base/failure.h"
#include "base/sb.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

/* splitmix64; only with a seed, where quality matters less than repeatability. */
static _Atomic bool     seeded;
static _Atomic uint64_t state;

static uint64_t absorbed(uint64_t into, struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        into = (into ^ (unsigned char)v.s[i]) * 0x100000001b3u;
    return into;
}

void rand_seed(struct sv seed)
{
    atomic_store(&state, absorbed(0xcbf29ce484222325u, seed));
    atomic_store(&seeded, seed.n > 0);
}

static const uint64_t step = 0x9e3779b97f4a7c15u;

static unsigned char mixed(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned char)(z ^ z >> 31);
}

static void kernel_bytes(unsigned char *p, size_t n)
{
    while (n) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno != EINTR)
            failure_system("the kernel gives no random bytes");
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
}

void rand_bytes(void *out, size_t n)
{
    unsigned char *p = out;

    if (!seeded) {
        kernel_bytes(p, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = mixed(atomic_fetch_add(&state, step) + step);
}

void rand_secret(void *out, size_t n)
{
    kernel_bytes(out, n);
}

void rand_salt(void *out, size_t n)
{
    unsigned char *p = out;
    uint64_t       at = state;

    if (!seeded) {
        kernel_bytes(p, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = mixed(at += step);
}

void rand_mix(struct sv salt)
{
    uint64_t before = state;

    while (seeded && !atomic_compare_exchange_weak(&state, &before, absorbed(before, salt)))
        ;
}

static struct sv id_from(const char *prefix, const unsigned char *raw, size_t chars,
                         struct arena *a)
{
    size_t n = strlen(prefix);
    char  *s = ARENA_NEW(a, char, n + chars + 1);

    memcpy(s, prefix, n);
    for (size_t i = 0; i < chars; i++)
        s[n + i] = "0123456789abcdefghjkmnpqrstvwxyz"[raw[i] & 31];
    return (struct sv){ s, n + chars };
}

struct sv rand_id(const char *prefix, size_t chars, struct arena *a)
{
    unsigned char *raw = ARENA_NEW(a, unsigned char, chars);

    rand_bytes(raw, chars);
    return id_from(prefix, raw, chars, a);
}

struct sv rand_unique_id(size_t chars, struct arena *a)
{
    unsigned char *raw = ARENA_NEW(a, unsigned char, chars);

    kernel_bytes(raw, chars);
    return id_from("", raw, chars, a);
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
