/* Authenticated encryption of small texts, over libsodium. */
#include "base/seal.h"

#include "base/failure.h"

#include <sodium.h>
#include <string.h>

_Static_assert(SEAL_NONCE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonce");
_Static_assert(SEAL_TAG == crypto_aead_xchacha20poly1305_ietf_ABYTES, "tag");
_Static_assert(HASH_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key");

static void ready(void)
{
    if (sodium_init() < 0)
        failure_system("libsodium does not start");
}

static const unsigned char *bytes(struct sv v)
{
    return (const unsigned char *)v.s;
}

struct sv seal_text(struct sv plain, struct sv beside, const unsigned char nonce[SEAL_NONCE],
                    const struct hash *key, struct arena *a)
{
    size_t         n = SEAL_NONCE + plain.n + SEAL_TAG;
    unsigned char *out = ARENA_NEW(a, unsigned char, n);

    ready();
    memcpy(out, nonce, SEAL_NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(out + SEAL_NONCE, NULL, bytes(plain), plain.n,
                                               bytes(beside), beside.n, NULL, nonce, key->b);
    return (struct sv){ (char *)out, n };
}

bool seal_open(struct sv sealed, struct sv beside, const struct hash *key, struct arena *a,
               struct sv *plain)
{
    if (sealed.n < SEAL_NONCE + SEAL_TAG)
        return false;
    size_t         n = sealed.n - SEAL_NONCE - SEAL_TAG;
    unsigned char *out = ARENA_NEW(a, unsigned char, n + 1);
    ready();
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, bytes(sealed) + SEAL_NONCE,
                                                   sealed.n - SEAL_NONCE, bytes(beside), beside.n,
                                                   bytes(sealed), key->b) != 0)
        return false;
    *plain = (struct sv){ (char *)out, n };
    return true;
}
