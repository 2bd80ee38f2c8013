/* Every entry of a thread that can be read, for log.show and log.export. */
#ifndef HEDDLE_LOG_WALK_H
#define HEDDLE_LOG_WALK_H

#include "api/request.h"

struct log_walk {
    struct sv thread;
    int64_t   from, to; /* seqs */
    /* Its bytes are good until it returns; `intact` is false when they may be anything. */
    enum status (*each)(void *ctx, const struct entry *n, bool intact, struct err *e);
    void   *ctx;
    int64_t given; /* entries so far; the sum over several walks unless it is reset */
};

/* Damage gives a warning when it is found, and ST_CORRUPT after the last entry. Ends early when
 * r->out has no reader any more. */
enum status log_walk(struct request *r, struct log_walk *w, struct err *e) MUST_USE;

#endif
