/* What an agent is given to begin with: the block, what was injected, the task. */
#ifndef HEDDLE_PROMPT_H
#define HEDDLE_PROMPT_H

#include "share/block.h"
#include "share/operation.h"

struct prompt {
    struct sv         text;
    struct injection *pending; /* those in the text: acknowledge them once it is out */
    size_t            n_pending;
};

/* `flags` are those of block_write(); `task` absent: the block alone. */
enum status prompt_make(struct share *s, struct sv thread, unsigned flags, struct sv task,
                        struct prompt *out, struct err *e) MUST_USE;

#endif
