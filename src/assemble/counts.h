/* A cache of token counts, because texts recur: most of what one turn sends was sent by the last
 * one.
 *
 *     struct counts c;
 *     counts_init(&c, tokens, 1000);
 *     n = counts_of(&c, text);           counted once, then found by the hash of the text
 *     counts_release(&c);
 *
 * Belongs to one thread of execution, like the counter behind it, and may live as long as that: its
 * size is bounded. Results do not depend on earlier calls. */
#ifndef HEDDLE_COUNTS_H
#define HEDDLE_COUNTS_H

#include "tokens/tokens.h"

struct counts_slot;
struct counts {
    struct tokens *tokens; /* the caller's; NULL: `count` counts, or a quarter of the characters */
    size_t (*count)(void *ctx, struct sv text);
    void               *ctx;
    int64_t             thousandths;
    struct counts_slot *table; /* NULL until the first text is kept */
    size_t              n;
    uint64_t            found, made; /* answers from the table, and counted ones: for tests */
};

/* Counts are scaled by `thousandths` (tokens_scale()) and rounded up; 1000 leaves them
 * unchanged. */
void counts_init(struct counts *c, struct tokens *tokens, int64_t thousandths);
/* The same over a function of the caller's; NULL: a quarter of the characters. */
void counts_init_by(struct counts *c, size_t (*count)(void *ctx, struct sv text), void *ctx);
void counts_release(struct counts *c);

size_t counts_of(struct counts *c, struct sv text);

#endif
