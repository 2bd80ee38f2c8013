/* A vocabulary, mapped and checked: what a counter looks things up in. Shared by all counters of
 * the process; the table itself is never written. */
#ifndef HEDDLE_TOKENS_VOCAB_H
#define HEDDLE_TOKENS_VOCAB_H

#include "base/status.h"
#include "base/sv.h"
#include "tokens/table.h"
#include "tokens/tokens.h"

struct vocab {
    const uint8_t        *class_block, *class_of;
    const uint32_t       *byte_id, *bigram;
    const uint64_t       *pairs, *shorts, *middles;
    const struct borders *borders;
    size_t                pair_lines, short_lines, middle_lines;
    uint32_t              n_tokens;

    /* owned by vocab.c */
    enum tokens_encoding encoding;
    const uint8_t       *map;
    size_t               map_size;
    unsigned             users;
    const char          *path;
    char         *dir;  /* the directory that was asked for; NULL: the one it is installed in */
    struct vocab *next; /* of all that are mapped */
    _Atomic bool  texts_whole; /* the `texts` section was checked */
};

/* One mapping per encoding, directory and process, counted. Statuses as tokens_open(). */
enum status vocab_open(enum tokens_encoding enc, struct sv dir, struct vocab **out,
                       struct err *e) MUST_USE;
void        vocab_close(struct vocab *v);

/* Look into the bytes of a table; they must stay where they are. `path` is for messages. */
enum status vocab_read(struct vocab *v, enum tokens_encoding enc, const uint8_t *map, size_t size,
                       const char *path, struct err *e) MUST_USE;

/* A token's bytes; absent when there is no such id. Checks its section on the first call. */
enum status vocab_text(struct vocab *v, uint32_t id, struct sv *out, struct err *e) MUST_USE;

static inline enum class vocab_class(const struct vocab *v, uint32_t cp) {
    return (enum class)v->class_of[(size_t)v->class_block[cp >> 7] << 7 | (cp & 127)];
}

static inline size_t next_line(size_t line, size_t lines)
{
    return line + 1 < lines ? line + 1 : 0;
}

/* The token that `left` and `right` merge into, or TOKEN_NONE. */
static inline uint32_t vocab_pair(const struct vocab *v, uint32_t left, uint32_t right)
{
    uint64_t key = ((uint64_t)left << TOKEN_BITS | right) + 1;

    for (size_t line = line_of(pair_hash(key), v->pair_lines);;
         line = next_line(line, v->pair_lines)) {
        const uint64_t *slot = v->pairs + line * 8;
        for (int i = 0; i < 8; i++)
            if (slot[i] >> TOKEN_BITS == key)
                return (uint32_t)(slot[i] & (((uint32_t)1 << TOKEN_BITS) - 1));
        if (!slot[7])
            return TOKEN_NONE;
    }
}

#endif
