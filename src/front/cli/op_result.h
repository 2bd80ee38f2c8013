/* What an operation on a context did, as every command that makes one prints it. */
#ifndef HEDDLE_OP_RESULT_H
#define HEDDLE_OP_RESULT_H

#include "front/app.h"
#include "thread/op.h"

/* A line that opens with `what` ("replace"), or with --json an object {"applied","deferred",
 * "duplicate","lane","op_id","seq"}, with "superseded" when it displaced a parked one. */
void op_result_print(struct app *app, const struct op_result *r, const char *what);

#endif
