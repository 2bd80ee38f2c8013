/* What operations on projections have in common. */
#ifndef HEDDLE_PROJECT_CALL_H
#define HEDDLE_PROJECT_CALL_H

#include "api/request.h"

/* The lane that was named, which must be one of the thread, else the agent's active one. A lane
 * that no entry names is taken for a typing error; "default" always exists. In a transaction.
 * ST_NOT_FOUND. */
enum status project_call_lane(struct request *r, struct sv thread, struct sv named, struct sv agent,
                              struct sv *out, struct err *e) MUST_USE;

/* Warns when the caller asked for the state after an entry that does not exist yet: the state after
 * the last entry is shown instead. `asked` may be PARAM_UNSET. */
void project_call_warn_end(struct request *r, struct sv thread, int64_t asked, int64_t last);

#endif
