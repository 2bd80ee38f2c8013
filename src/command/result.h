/* The result of a command inside a turn: for the session. */
#ifndef HEDDLE_COMMAND_RESULT_H
#define HEDDLE_COMMAND_RESULT_H

#include "command/session.h"

/* Before the record is written: cut it when it is over the threshold, and find out what it shows
 * and whether the agent goes on seeing it (loom/results.h). May pause the transaction, to ask for
 * a summary. */
enum status result_settle(struct session *s, const struct call *c, struct result *r,
                          struct err *e) MUST_USE;

/* In the write transaction in which it is recorded: `entry` will be that of its command. Of a text
 * that was shortened the last line says how long it was and how to read the rest. */
void result_finish(struct session *s, struct result *r, int64_t entry);

/* The members of a tool_action: the text before it was shortened, which comes before "kind", and
 * those that come after "outcome": its result, what it shows, and how it is undone. */
void result_record_full(struct jw *w, const struct result *r);
void result_record(struct jw *w, const struct session *s, const struct result *r);

#endif
