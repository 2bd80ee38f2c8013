/* The vocabulary table: one file per encoding, made by tools/vocab from the packed merge list and
 * mapped as it is. Numbers are native, sections aligned to 64 bytes, each with its own sum.
 *
 *   section   content
 *   classes   uint8_t[CLASS_BLOCKS]: block of 128 code points -> block number; then the blocks,
 *             one enum class per code point
 *   bytes     uint32_t[256]: byte -> id
 *   bigrams   uint32_t[65536]: first byte << 8 | second -> id of the two merged, or TOKEN_NONE
 *   pairs     lines of 8 uint64_t: ((left << 18 | right) + 1) << 18 | merged id; 0 is empty
 *   short     lines of 8 uint64_t: tokens of 1 to 7 bytes; the length is the top byte
 *   middle    lines of 4 pairs of uint64_t: tokens of 8 to 15 bytes, likewise
 *   borders   struct borders: between which characters of three bytes a token can reach
 *   texts     uint32_t[n_tokens + 1]: where each token's bytes start; then the bytes
 *
 * A line that is full runs over into the next one, so a search stops at a line whose last slot is
 * empty. The sections up to `borders` are checked when the table is opened; `texts`, which
 * counting does not need, when it is first used. docs/FORMATS.md describes the same for users of
 * the file. */
#ifndef HEDDLE_TOKENS_TABLE_H
#define HEDDLE_TOKENS_TABLE_H

#include "base/base.h"

#include <string.h>

enum {
    TABLE_VERSION = 1,
    TABLE_ORDER = 0x01020304, /* a machine of another byte order reads another value */
    TOKEN_BITS = 18,
    TOKEN_MAX_BYTES = 128,
    CLASS_BLOCKS = 0x110000 / 128,
    LINE_BYTES = 64,
};
#define TABLE_MAGIC "hdl-tok\n"
#define TOKEN_NONE UINT32_MAX

enum section_kind {
    SECTION_CLASSES,
    SECTION_BYTES,
    SECTION_BIGRAMS,
    SECTION_PAIRS,
    SECTION_SHORT,
    SECTION_MIDDLE,
    SECTION_BORDERS,
    SECTION_TEXTS,
    SECTION_COUNT,
};

struct table_section {
    uint64_t offset, size, sum;
};
struct table_head {
    char                 magic[8];
    uint32_t             version, order;
    uint32_t             encoding, n_tokens;
    uint64_t             size; /* of the whole file */
    struct table_section sections[SECTION_COUNT];
    uint64_t             sum; /* of the head up to here */
};

/* The classes of characters that the splitting rules distinguish: see split.h. */
enum class {
    CLASS_OTHER,
    CLASS_UPPER,  /* Lu, Lt */
    CLASS_LOWER,  /* Ll */
    CLASS_LETTER, /* Lm, Lo: counts as upper and as lower */
    CLASS_MARK,   /* M */
    CLASS_NUMBER, /* N */
    CLASS_SPACE,  /* White_Space except the next two */
    CLASS_NEWLINE /* CR, LF */
};

/* Eight bytes as a little-endian word, and back: keys are the same on every machine. */
static inline uint64_t load64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void store64(void *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

/* ---- where things are in the hashed sections ---- */

static inline uint64_t pair_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u;
}

static inline uint64_t short_hash(uint64_t key)
{
    return key * 0xd6e8feb86659fd93u;
}

static inline uint64_t middle_hash(uint64_t low, uint64_t high)
{
    return (low * 0x9e3779b97f4a7c15u ^ high) * 0xd6e8feb86659fd93u;
}

/* A section need not have a power of two lines: the hash is taken as a fraction of all of them. */
static inline size_t line_of(uint64_t hash, size_t lines)
{
    __extension__ typedef unsigned __int128 product;

    return (size_t)((product)hash * lines >> 64);
}

/* Where a token can reach from one character of three bytes (most of Asia's) into the next. Such
 * characters are identified by their 16-bit code point; the first is U+0800. A border that none of
 * the four sets names is one no merge ever crosses, so text may be cut there before it is encoded.
 * `pairs` is hashed and may name too many, which costs time and nothing else. */
enum { BORDER_PAIR_BITS = 18 };
struct borders {
    uint64_t after[65536 / 64];  /* by first character: some token continues into a part of a next
                                    character */
    uint64_t before[65536 / 64]; /* by second character: some token comes from a part of a previous
                                    character */
    uint64_t edge[1024 / 64];    /* by last byte of the first and first byte of the second */
    uint64_t pairs[(1 << BORDER_PAIR_BITS) / 64]; /* by both */
};

static inline uint32_t border_pair(uint32_t first, uint32_t second)
{
    return (uint32_t)((uint64_t)(first << 16 | second) * 0x9e3779b97f4a7c15u >>
                      (64 - BORDER_PAIR_BITS));
}

/* From the lowest six bits of the last byte and the lowest four of the first. */
static inline uint32_t border_edge(uint32_t last, uint32_t first)
{
    return (last & 63) << 4 | (first & 15);
}

/* A checksum against damage, not against attacks: eight running products, as fast as memory is
 * read. */
uint64_t table_sum(const void *bytes, size_t n);

#endif
