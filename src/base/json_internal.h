/* Shared by json_read.c, json_walk.c and json_write.c. The short functions are here because reader
 * and writer call them for every string and object. */
#ifndef HEDDLE_JSON_INTERNAL_H
#define HEDDLE_JSON_INTERNAL_H

#include "base/json.h"

#include <string.h>

/* The length of the quoted string at the start of v, quotes included (json_walk.c). */
size_t json_string_length(struct sv v);

/* Marks which of the eight bytes of w, the first one lowest, need attention in a JSON string:
 * quotes, backslashes, control characters, and 0xed, the first byte of an encoded surrogate. The
 * result has the high bit of such a byte set: (x - 1) & ~x has it set when the byte x is 0, and (x
 * - 0x20) & ~x when it is below 0x20. Only the lowest bit that is set can be relied on: the bits
 * above it may be wrong because of the borrow. */
static inline uint64_t json_special_in(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    uint64_t       quote = w ^ ones * '"', slash = w ^ ones * '\\', half = w ^ ones * 0xed;

    return (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
            ((half - ones) & ~half)) &
           high;
}

/* The same of the eight bytes at s. */
static inline uint64_t json_special_bytes(const char *s)
{
    uint64_t w;

    memcpy(&w, s, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return json_special_in(w);
}

/* The order of members, for qsort(). */
static inline int json_by_key(const void *a, const void *b)
{
    return sv_cmp(((const struct json_member *)a)->key, ((const struct json_member *)b)->key);
}

/* Do the keys of an object rise? */
static inline bool json_is_sorted(const struct json *v)
{
    for (size_t i = 1; i < v->n; i++)
        if (sv_cmp(v->members[i - 1].key, v->members[i].key) >= 0)
            return false;
    return true;
}

#endif
