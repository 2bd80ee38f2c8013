/* BLAKE2b-256 of several messages at a time: for hash_blake2b_each() and its tests.
 *
 * A vector register holds the same word of several messages, so that one instruction works for all
 * of them. Each message has a lane; when it ends, the next one takes its lane, so that messages may
 * differ in length. */
#ifndef HEDDLE_HASH_LANES_H
#define HEDDLE_HASH_LANES_H

#include "base/hash.h"

typedef void (*hash_lanes_fn)(const struct sv *messages, size_t n, struct hash *out);

/* One message after the other, over libsodium: for every processor. */
void hash_lanes_plain(const struct sv *messages, size_t n, struct hash *out);

#ifdef __x86_64__
void hash_lanes_avx2(const struct sv *messages, size_t n, struct hash *out);   /* 4 lanes */
void hash_lanes_avx512(const struct sv *messages, size_t n, struct hash *out); /* 8 lanes */
#endif

/* The fastest one that this processor has. */
hash_lanes_fn hash_lanes_best(void);

#endif
