/* The result of a command inside a turn: for the session. */
#ifndef HEDDLE_COMMAND_RESULT_H
#define HEDDLE_COMMAND_RESULT_H

#include "command/session.h"

/* Before the record is written: cut it when it is over the threshold, and find out what it shows
 * and whether the agent goes on seeing it (loom/results.h). May pause the transaction, to ask for
 * a summary. */
enum status result_settle(struct session *s, const struct call *c, struct result *r,
                          struct err *e) MUST_USE;

/* Its members of a tool_action: shows, and referenced and result when it is kept. */
void result_record(struct jw *w, const struct result *r, struct arena *a);

#endif
