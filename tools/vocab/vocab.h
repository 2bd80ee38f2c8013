/* The vocabulary at rest in the repository, and what is made of it.
 *
 *   published ranks (.tiktoken)  --pack-->  vocab/NAME.merges  --table-->  share/heddle/NAME.tok
 *
 * A merge list is all a byte-pair vocabulary consists of: token 256 + i is the two older tokens of
 * the i-th merge, put together. Packed file:
 *
 *   "hdl-merges 1\n"   13 bytes
 *   name               18 bytes, filled up with NUL
 *   bits               1 byte: b, the width of an id
 *   count              4 bytes, little-endian: m, the number of merges
 *   bytes              256 bytes: the byte that id 0..255 stands for
 *   merges             m x (b bits left, b bits right), lowest bit first, filled up with 0 bits
 *   sum                32 bytes: SHA-256 of everything before                                    */
#ifndef HEDDLE_VOCAB_TOOL_H
#define HEDDLE_VOCAB_TOOL_H

#include "base/sb.h"
#include "tokens/table.h"
#include "tokens/tokens.h"

struct merges {
    enum tokens_encoding encoding;
    uint8_t              byte_of[256];
    uint32_t             n;     /* number of merges; tokens are 256 more */
    uint32_t            *left;  /* [n] */
    uint32_t            *right; /* [n] */
    struct sv           *text;  /* [256 + n]: the bytes of each token */
};

/* From the published file: lines of base64, blank, rank. ST_INVALID_SYNTAX when a rank is missing
 * or a token is not made of exactly two older ones. */
enum status merges_from_ranks(enum tokens_encoding enc, struct sv ranks, struct arena *a,
                              struct merges *out, struct err *e) MUST_USE;

enum status merges_unpack(struct sv packed, struct arena *a, struct merges *out,
                          struct err *e) MUST_USE;
struct sv   merges_pack(const struct merges *m, struct arena *a);

/* The published form again: what the ranks file must be, byte for byte. */
struct sv merges_to_ranks(const struct merges *m, struct arena *a);

/* classes: lines "FIRST..LAST NAME" with code points in hexadecimal, as vocab/classes.txt. */
enum status table_make(const struct merges *m, struct sv classes, struct arena *a, struct sv *out,
                       struct err *e) MUST_USE;

#endif
