/* Randomness and ids come in from outside: a door may set a seed (HEDDLE_SEED), which makes every
 * draw repeatable for tests; else the kernel gives it. */
#ifndef HEDDLE_RAND_H
#define HEDDLE_RAND_H

#include "base/sv.h"

/* Begin a repeatable sequence; empty: back to the kernel. Draws of several threads after this are
 * safe, but which thread draws what is not repeatable. */
void rand_seed(struct sv seed);

void rand_bytes(void *out, size_t n);

/* Bytes of a secret: from the kernel, whatever the seed. */
void rand_secret(void *out, size_t n);

/* Random bytes that are not used in ids. With a seed they are computed from the state without
 * changing it, so that the ids drawn later do not depend on how many bytes were drawn here. */
void rand_salt(void *out, size_t n);

/* With a seed, fold `salt` into the state, so that two runs of the program
 * against different states of a log do not draw the same ids. Otherwise nothing. */
void rand_mix(struct sv salt);

/* prefix + `chars` lower-case Crockford base32 characters: 5 bits each. */
struct sv rand_id(const char *prefix, size_t chars, struct arena *a);

/* The same without a prefix, always from the kernel: for ids that no two machines may have in
 * common, whatever seed a test has set. */
struct sv rand_unique_id(size_t chars, struct arena *a);

/* prefix + 8 lower-case hex digits, as Leslie makes its ids. */
struct sv rand_hex_id(const char *prefix, struct arena *a);

#endif
