/* A table from the hash of a text to its number of tokens. */
#include "assemble/counts.h"

#include "base/failure.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Half of the hash is enough to tell texts apart: 128 bits. A count of 0 marks a free slot; a text
 * that is kept has at least one token. */
struct counts_slot {
    uint64_t key[2];
    size_t   count;
};

enum {
    COUNTS_SLOTS = 1 << 15, /* a power of two; 768 KB */
    COUNTS_MAX = COUNTS_SLOTS / 4 * 3,
    COUNTS_SHORT = 64, /* bytes; counting these is faster than hashing them */
};

void counts_init(struct counts *c, struct tokens *tokens, int64_t thousandths)
{
    *c = (struct counts){ .tokens = tokens, .thousandths = thousandths };
}

void counts_init_by(struct counts *c, size_t (*count)(void *ctx, struct sv text), void *ctx)
{
    *c = (struct counts){ .count = count, .ctx = ctx, .thousandths = 1000 };
}

void counts_release(struct counts *c)
{
    free(c->table);
    c->table = NULL;
    c->n = 0;
}

/* When the table is full it is emptied: recent texts are likely to recur. */
static void make_room(struct counts *c)
{
    if (!c->table) {
        c->table = calloc(COUNTS_SLOTS, sizeof *c->table);
        if (!c->table)
            failure_memory(COUNTS_SLOTS * sizeof *c->table);
    }
    if (c->n < COUNTS_MAX)
        return;
    memset(c->table, 0, COUNTS_SLOTS * sizeof *c->table);
    c->n = 0;
}

static struct counts_slot *slot_of(struct counts *c, const uint64_t key[2])
{
    size_t i = key[0] % COUNTS_SLOTS;

    while (c->table[i].count && memcmp(c->table[i].key, key, sizeof c->table[i].key) != 0)
        i = (i + 1) % COUNTS_SLOTS;
    return &c->table[i];
}

static size_t count_now(const struct counts *c, struct sv text)
{
    if (c->tokens)
        return tokens_count(c->tokens, text);
    return c->count ? c->count(c->ctx, text) : tokens_estimate(text);
}

static size_t looked_up(struct counts *c, struct sv text)
{
    struct hash h = hash_blake2b(&text, 1);
    uint64_t    key[2];

    memcpy(key, h.b, sizeof key);
    make_room(c);
    struct counts_slot *s = slot_of(c, key);
    c->found += s->count > 0;
    if (s->count)
        return s->count;
    c->made++;
    c->n++;
    memcpy(s->key, key, sizeof key);
    return s->count = count_now(c, text);
}

size_t counts_of(struct counts *c, struct sv text)
{
    size_t n = text.n <= COUNTS_SHORT ? count_now(c, text) : looked_up(c, text);

    return c->thousandths == 1000 ? n : tokens_scale(n, c->thousandths);
}
