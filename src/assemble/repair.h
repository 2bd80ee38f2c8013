/* Calls and results in the order every provider demands: each call is followed at once by
 * its one result. A log need not be so (a run was interrupted, a snapshot was made by hand,
 * an event was reported twice); what a model is sent must be.
 *
 * Pure: turns in, turns out, and one line in the report for each thing done:
 *     added      {"ok":false,"error":{"type":"interrupted",…}} for a call without a result
 *     moved      a result that stood elsewhere, to right behind its call, in call order
 *     dropped    a result without a call, or a second result of a call
 *     renamed    a call whose id was empty or used before, together with its result */
#ifndef HEDDLE_REPAIR_H
#define HEDDLE_REPAIR_H

#include "assemble/parsed.h"

/* The result lives in `a`; turns are copied, what they point to is shared. */
void repair_all(const struct parsed_message *turns, size_t n, struct arena *a,
                struct parsed_message **out, size_t *n_out, struct render_report *r);

#endif
