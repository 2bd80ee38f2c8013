/* The first prompt of an agent: the block, the pending injections, the task. */
#ifndef HEDDLE_PROMPT_H
#define HEDDLE_PROMPT_H

#include "share/block.h"
#include "share/operation.h"

struct prompt {
    struct sv         text;
    struct injection *pending; /* the injections in the text: acknowledge them once it was sent */
    size_t            n_pending;
};

/* `flags` are those of block_write(); `task` absent: the block alone. */
enum status prompt_make(struct share *s, struct sv thread, unsigned flags, struct sv task,
                        struct prompt *out, struct err *e) MUST_USE;

#endif
