/* Randomness and ids come in from outside: HEDDLE_SEED makes every draw repeatable
 * for tests, else the kernel gives it. */
#ifndef HEDDLE_RAND_H
#define HEDDLE_RAND_H

#include "base/sv.h"

void rand_bytes(void *out, size_t n);

/* Random bytes that no id is made of. Under HEDDLE_SEED they follow from the state without moving
 * it, so that how many are drawn does not change the ids that come after. */
void rand_salt(void *out, size_t n);

/* Under HEDDLE_SEED, fold `salt` into the state, so that two runs of the program
 * against different states of a log do not draw the same ids. Otherwise nothing. */
void rand_mix(struct sv salt);

/* prefix + `chars` lower-case Crockford base32 characters: 5 bits each. */
struct sv rand_id(const char *prefix, size_t chars, struct arena *a);

/* prefix + 8 lower-case hex digits, as Leslie makes its ids. */
struct sv rand_hex_id(const char *prefix, struct arena *a);

#endif
