/* The answer of all operations that change a context. */
#ifndef HEDDLE_OP_RESULT_H
#define HEDDLE_OP_RESULT_H

#include "api/request.h"
#include "api/term.h"
#include "thread/op.h"

extern const struct field op_result_fields[];

void op_result_write(struct jw *w, const struct op_result *r);

/* A line that opens with `what` ("replace"). */
void op_result_print(const struct json *doc, const char *what, struct term *t);

#endif
