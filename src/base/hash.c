/* BLAKE2b, SHA-256, hexadecimal and base64, over libsodium. */
#include "base/hash.h"

#include "base/failure.h"
#include "base/hash_lanes.h"
#include "base/hash_sha256.h"

#include <errno.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* sodium_init() chooses the fastest code for this CPU. It may be repeated, but takes a lock. */
static void ready(void)
{
    static atomic_bool done;

    if (atomic_load_explicit(&done, memory_order_acquire))
        return;
    if (sodium_init() < 0)
        failure_system("libsodium does not start");
    atomic_store_explicit(&done, true, memory_order_release);
}

struct hash hash_blake2b(const struct sv *parts, size_t n)
{
    struct hash              h;
    crypto_generichash_state st;
    unsigned char            small[1024];
    size_t                   used = 0, i = 0;

    ready();
    if (n == 1) {
        crypto_generichash_blake2b(h.b, sizeof h.b, (const unsigned char *)parts[0].s, parts[0].n,
                                   NULL, 0);
        return h;
    }
    /* Short parts are copied together: a call for each would cost more. */
    for (; i < n && parts[i].n <= sizeof small - used; i++) {
        if (parts[i].n)
            memcpy(small + used, parts[i].s, parts[i].n);
        used += parts[i].n;
    }
    if (i == n) {
        crypto_generichash_blake2b(h.b, sizeof h.b, small, used, NULL, 0);
        return h;
    }
    crypto_generichash_init(&st, NULL, 0, sizeof h.b);
    crypto_generichash_update(&st, small, used);
    for (; i < n; i++)
        crypto_generichash_update(&st, (const unsigned char *)parts[i].s, parts[i].n);
    crypto_generichash_final(&st, h.b, sizeof h.b);
    return h;
}

void hash_blake2b_each(const struct sv *messages, size_t n, struct hash *out)
{
    enum { WORTH_IT = 3 }; /* fewer leave most lanes empty */

    (n < WORTH_IT ? hash_lanes_plain : hash_lanes_best())(messages, n, out);
}

enum status hash_blake2b_fd(int fd, struct hash *out, uint64_t *size, struct err *e)
{
    crypto_generichash_state st;
    unsigned char            piece[64 * 1024];
    uint64_t                 n = 0;

    ready();
    crypto_generichash_init(&st, NULL, 0, sizeof out->b);
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read");
        if (got == 0)
            break;
        crypto_generichash_update(&st, piece, (size_t)got);
        n += (uint64_t)got;
    }
    crypto_generichash_final(&st, out->b, sizeof out->b);
    *size = n;
    return ST_OK;
}

static crypto_generichash_state *blake_of(struct hash_blake2b *h)
{
    _Static_assert(sizeof(crypto_generichash_state) <= sizeof h->state, "the state fits");
    return (crypto_generichash_state *)(void *)h->state;
}

void hash_blake2b_init(struct hash_blake2b *h)
{
    ready();
    crypto_generichash_init(blake_of(h), NULL, 0, HASH_SIZE);
}

void hash_blake2b_add(struct hash_blake2b *h, struct sv v)
{
    crypto_generichash_update(blake_of(h), (const unsigned char *)v.s, v.n);
}

struct hash hash_blake2b_end(struct hash_blake2b *h)
{
    struct hash out;

    crypto_generichash_final(blake_of(h), out.b, sizeof out.b);
    return out;
}

struct hash hash_sha256(struct sv v)
{
    struct hash h;

    if (hash_sha256_by_processor(v, &h))
        return h;
    ready();
    crypto_hash_sha256(h.b, (const unsigned char *)v.s, v.n);
    return h;
}

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct hash_sha256), "room for it");

static crypto_hash_sha256_state *state_of(struct hash_sha256 *h)
{
    return (crypto_hash_sha256_state *)(void *)h->state;
}

void hash_sha256_init(struct hash_sha256 *h)
{
    ready();
    crypto_hash_sha256_init(state_of(h));
}

void hash_sha256_add(struct hash_sha256 *h, struct sv v)
{
    crypto_hash_sha256_update(state_of(h), (const unsigned char *)v.s, v.n);
}

struct hash hash_sha256_end(struct hash_sha256 *h)
{
    struct hash out;

    crypto_hash_sha256_final(state_of(h), out.b);
    return out;
}

struct hash hash_hmac_sha256(struct sv key, struct sv message)
{
    struct hash                  h;
    crypto_auth_hmacsha256_state st;

    ready();
    crypto_auth_hmacsha256_init(&st, (const unsigned char *)key.s, key.n);
    crypto_auth_hmacsha256_update(&st, (const unsigned char *)message.s, message.n);
    crypto_auth_hmacsha256_final(&st, h.b);
    return h;
}

bool hash_eq(const struct hash *a, const struct hash *b)
{
    uint64_t x[HASH_SIZE / 8], y[HASH_SIZE / 8], differ = 0;

    memcpy(x, a->b, sizeof x);
    memcpy(y, b->b, sizeof y);
    for (size_t i = 0; i < COUNT(x); i++)
        differ |= x[i] ^ y[i];
    __asm__("" : "+r"(differ)); /* no early return: all bytes must be compared */
    return differ == 0;
}

bool hash_same_text(struct sv a, struct sv b)
{
    return a.n == b.n && a.n && sodium_memcmp(a.s, b.s, a.n) == 0;
}

struct sv hash_hex(const struct hash *h, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_hex(&b, h->b, sizeof h->b);
    return sb_sv(&b);
}

enum { B64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

static void add_base64(struct sb *b, struct sv v, int variant)
{
    struct arena scratch = { 0 };
    size_t       n = sodium_base64_encoded_len(v.n, variant);
    char        *text = ARENA_NEW(&scratch, char, n);

    sodium_bin2base64(text, n, (const unsigned char *)v.s, v.n, variant);
    sb_adds(b, text);
    arena_free(&scratch);
}

void sb_add_base64url(struct sb *b, struct sv v)
{
    add_base64(b, v, B64);
}

void sb_add_base64(struct sb *b, struct sv v)
{
    add_base64(b, v, sodium_base64_VARIANT_ORIGINAL);
}

static bool is_base64url(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool base64url_read(struct sv text, struct arena *a, struct sv *out)
{
    /* libsodium accepts some bytes over 0x7f as letters; a signed text must have only one form. */
    for (size_t i = 0; i < text.n; i++)
        if (!is_base64url(text.s[i]))
            return false;

    char       *bytes = ARENA_NEW(a, char, text.n + 1);
    size_t      n = 0;
    const char *end = text.s;

    if (text.n && (sodium_base642bin((unsigned char *)bytes, text.n + 1, text.s, text.n, NULL, &n,
                                     &end, B64) != 0 ||
                   end != text.s + text.n))
        return false;
    *out = (struct sv){ bytes, n };
    return true;
}
