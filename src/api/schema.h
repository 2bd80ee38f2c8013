/* JSON Schema (2020-12) of parameters and answers, made from the tables. */
#ifndef HEDDLE_SCHEMA_H
#define HEDDLE_SCHEMA_H

#include "api/operation.h"

void schema_params(struct jw *w, const struct operation *op); /* the schema of an object */
void schema_answer(struct jw *w, const struct operation *op);

/* {"name","summary","group","needs","repeat","params":SCHEMA,"answer":SCHEMA} */
void schema_operation(struct jw *w, const struct operation *op);

#endif
