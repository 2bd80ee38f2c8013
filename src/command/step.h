/* Commands as steps of a run. The record of a command that an agent gives in a turn of a run has an
 * op_id by which it is found again: a turn that was killed is gone through once more from its
 * start, and what was done is taken from the log instead of being done again. For the session. */
#ifndef HEDDLE_COMMAND_STEP_H
#define HEDDLE_COMMAND_STEP_H

#include "base/json.h"
#include "command/session.h"

/* Begin the next command: s->op_id, absent when it is neither of a run nor of a turn that is done
 * once (once.h). */
void step_begin(struct session *s);

/* What the record of a command says of it. */
enum status step_read(struct session *s, const struct entry *n, struct result *out,
                      struct err *e) MUST_USE;

/* Was the command done before? Then *out is what it showed. In a transaction of its own. */
enum status step_done(struct session *s, struct result *out, bool *done, struct err *e) MUST_USE;

/* What a command that was done leaves in the session: a switch into another tree leads there
 * again. */
enum status step_restore(struct session *s, const struct result *r, struct err *e) MUST_USE;

/* "shown": what the agent was shown, where the record does not hold it already. */
void step_record(struct jw *w, const struct session *s, const struct result *r);

#endif
