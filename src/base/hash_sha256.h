/* SHA-256 by the instructions that many processors have for it: for hash_sha256() and its tests. */
#ifndef HEDDLE_HASH_SHA256_H
#define HEDDLE_HASH_SHA256_H

#include "base/hash.h"

/* False: this processor has no such instructions, and *out is as it was. */
bool hash_sha256_by_processor(struct sv v, struct hash *out);

#endif
