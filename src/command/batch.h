/* The commands of one turn, one after another: lists of nodes, places, and what a switch that
 * failed means for the commands after it. For the session. */
#ifndef HEDDLE_COMMAND_BATCH_H
#define HEDDLE_COMMAND_BATCH_H

#include "command/scan.h"
#include "command/session.h"

/* Runs what a scan has found. out->results and out->n grow with each command that was recorded, so
 * that after an error the earlier results can be shown. ST_CONFLICT, reason "cancelled": the rest
 * was not run. */
enum status batch_run(struct session *s, const struct scan *scan, struct turn *out,
                      struct err *e) MUST_USE;

/* Inside the transaction of a command, before it runs: places (here, parent, root) become ids, and
 * a command that would act at a position that the agent tried to leave is refused with
 * ST_CONFLICT. */
enum status batch_settle(struct session *s, struct call *c, struct err *e) MUST_USE;

#endif
