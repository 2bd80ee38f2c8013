#include "base/hash.h"

#include <errno.h>
#include <sodium.h>
#include <unistd.h>

static void ready(void)
{
    /* Chooses the fastest code for this CPU; cheap and harmless when repeated. */
    if (sodium_init() < 0)
        die("libsodium does not start");
}

struct hash hash_blake2b(const struct sv *parts, size_t n)
{
    struct hash              h;
    crypto_generichash_state st;

    ready();
    crypto_generichash_init(&st, NULL, 0, sizeof h.b);
    for (size_t i = 0; i < n; i++)
        crypto_generichash_update(&st, (const unsigned char *)parts[i].s, parts[i].n);
    crypto_generichash_final(&st, h.b, sizeof h.b);
    return h;
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

struct hash hash_sha256(struct sv v)
{
    struct hash h;

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
    return sodium_memcmp(a->b, b->b, sizeof a->b) == 0;
}

struct sv hash_hex(const struct hash *h, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_hex(&b, h->b, sizeof h->b);
    return sb_sv(&b);
}

enum { B64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING };

void sb_add_base64url(struct sb *b, struct sv v)
{
    struct arena scratch = { 0 };
    size_t       n = sodium_base64_encoded_len(v.n, B64);
    char        *text = ARENA_NEW(&scratch, char, n);

    sodium_bin2base64(text, n, (const unsigned char *)v.s, v.n, B64);
    sb_adds(b, text);
    arena_free(&scratch);
}

static bool is_base64url(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool base64url_read(struct sv text, struct arena *a, struct sv *out)
{
    /* libsodium takes some bytes over 0x7f for letters; a signed text must have one form only. */
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
