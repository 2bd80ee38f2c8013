/* What a counter is made of; for the files of this room and its tests. */
#ifndef HEDDLE_TOKENS_COUNTER_H
#define HEDDLE_TOKENS_COUNTER_H

#include "tokens/count.h"
#include "tokens/merge.h"
#include "tokens/split.h"
#include "tokens/tokens.h"

struct tokens {
    struct vocab *v; /* NULL: a counter that only estimates; the members below are not used */
    const struct kernel *kernel;
    struct merge_state   merge;
    struct cache         cache;
    uint64_t             split_steps; /* as merge.steps, for tests of how cost grows */
};

/* Counts the pieces of `text`, which starts at a piece border. Stops at the first piece that holds
 * invalid UTF-8 (*bad) and, unless `whole`, at the first whose end depends on text to come. *used
 * is where. */
size_t counter_count(struct tokens *t, struct sv text, bool whole, size_t *used, bool *bad);

/* tokens_count_until() by the estimate. */
size_t counter_estimate_until(struct sv text, size_t limit, size_t *offset);

#endif
