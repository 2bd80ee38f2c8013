/* The guide for agents in AGENTS.md: the work of guide.write and of `init --agents-md`. */
#ifndef HEDDLE_API_SHARE_GUIDE_WRITE_H
#define HEDDLE_API_SHARE_GUIDE_WRITE_H

#include "api/request.h"
#include "share/guide.h"

extern const struct operation op_guide_write;

struct guide_write_params {
    bool replace;
};

/* What was done with a guide: the statuses of struct guide, and "skipped". Ends with NULL. */
extern const char *const guide_states[];

/* Write it. One of another major version is replaced only with `replace` or when a person agrees;
 * else out->status is "skipped". */
enum status guide_write(struct request *r, bool replace, struct guide *out, struct err *e) MUST_USE;

#endif
