/* Sealing: bytes that only the holder of a key can read, and that cannot be changed without being
 * noticed. XChaCha20-Poly1305 over libsodium. */
#ifndef HEDDLE_SEAL_H
#define HEDDLE_SEAL_H

#include "base/hash.h"

enum { SEAL_NONCE = 24, SEAL_TAG = 16 };

/* Returns the nonce, then the sealed bytes with their tag. A nonce must never be used for two
 * different texts under one key. `beside` is authenticated but not in the result; seal_open() needs
 * it again. */
struct sv seal_text(struct sv plain, struct sv beside, const unsigned char nonce[SEAL_NONCE],
                    const struct hash *key, struct arena *a);

/* False when `sealed` was not made by seal_text() with this key and these bytes beside it. */
bool seal_open(struct sv sealed, struct sv beside, const struct hash *key, struct arena *a,
               struct sv *plain);

#endif
