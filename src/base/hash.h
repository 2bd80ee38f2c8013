/* Hashes and encodings, over libsodium. */
#ifndef HEDDLE_HASH_H
#define HEDDLE_HASH_H

#include "base/sb.h"

enum { HASH_SIZE = 32 };
struct hash {
    unsigned char b[HASH_SIZE];
};

/* BLAKE2b with 32 bytes of output: fast, used for the log's chain and for content
 * addresses. `parts` are hashed as one message: separate them yourself. */
struct hash hash_blake2b(const struct sv *parts, size_t n);

/* The same of each of `n` messages, of one part each; several at a time where the processor can. */
void hash_blake2b_each(const struct sv *messages, size_t n, struct hash *out);

/* BLAKE2b-256 of everything that is left to read from a descriptor, in pieces. */
enum status hash_blake2b_fd(int fd, struct hash *out, uint64_t *size, struct err *e) MUST_USE;

/* BLAKE2b-256 of what comes in parts. */
struct hash_blake2b {
    _Alignas(64) unsigned char state[384];
};
void        hash_blake2b_init(struct hash_blake2b *h);
void        hash_blake2b_add(struct hash_blake2b *h, struct sv v);
struct hash hash_blake2b_end(struct hash_blake2b *h);

/* SHA-256, where a format asks for it. */
struct hash hash_sha256(struct sv v);

/* SHA-256 of what comes in parts. */
struct hash_sha256 {
    _Alignas(max_align_t) unsigned char state[128];
};
void        hash_sha256_init(struct hash_sha256 *h);
void        hash_sha256_add(struct hash_sha256 *h, struct sv v);
struct hash hash_sha256_end(struct hash_sha256 *h);

struct hash hash_hmac_sha256(struct sv key, struct sv message);

bool      hash_eq(const struct hash *a, const struct hash *b); /* constant time */
bool      hash_same_text(struct sv a, struct sv b);            /* the same for hashes as text */
struct sv hash_hex(const struct hash *h, struct arena *a);

/* Base64 with the URL alphabet and no padding. Reading is strict: false on any
 * other character or on left-over bits. */
void sb_add_base64url(struct sb *b, struct sv v);
bool base64url_read(struct sv text, struct arena *a, struct sv *out);

/* Base64 with the standard alphabet and padding (RFC 4648, section 4). */
void sb_add_base64(struct sb *b, struct sv v);

#endif
