/* The parameters of tokens.count, for a shell that fills some of them itself. */
#ifndef HEDDLE_API_TOKENS_COUNT_H
#define HEDDLE_API_TOKENS_COUNT_H

#include "api/operation.h"

struct tokens_count_params {
    struct sv_list files;
    struct sv      text, encoding, model;
    bool           ids, split, estimate, keep_going;
};

extern const struct operation op_tokens_count;

#endif
