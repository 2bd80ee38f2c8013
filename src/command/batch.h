/* The commands of one turn, one after another: lists of nodes, places, and what a switch that
 * failed means for the commands after it. For the session. */
#ifndef HEDDLE_COMMAND_BATCH_H
#define HEDDLE_COMMAND_BATCH_H

#include "command/scan.h"
#include "command/session.h"

/* Runs what a scan has found. out->results and out->n grow as it goes on, so that what was done
 * before trouble came is there to be shown. */
enum status batch_run(struct session *s, const struct scan *scan, struct turn *out,
                      struct err *e) MUST_USE;

/* Inside the transaction of a command, before it runs: places become ids (here, parent, root), and
 * what would act at a position that the agent tried to leave is ST_CONFLICT. */
enum status batch_settle(struct session *s, struct call *c, struct err *e) MUST_USE;

#endif
