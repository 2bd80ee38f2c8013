/* JSON Schema (2020-12) of parameters and answers, made from the tables. */
#ifndef HEDDLE_SCHEMA_H
#define HEDDLE_SCHEMA_H

#include "api/operation.h"

void schema_params(struct jw *w, const struct operation *op); /* the schema of an object */
void schema_answer(struct jw *w, const struct operation *op);
void schema_param(struct jw *w, const struct param *p); /* of the value of one parameter */

/* The same without "$schema", for documents that say which dialect they mean; of the parameters
 * without those that a door does not offer. */
struct schema_choice {
    const char *const *hidden; /* names, ends with NULL; NULL: none */
    const char *optional;      /* a parameter that the door fills in when it is missing; or NULL */
};
void schema_params_chosen(struct jw *w, const struct operation *op, const struct schema_choice *c);
void schema_answer_bare(struct jw *w, const struct operation *op);
void schema_event_bare(struct jw *w, const struct operation *op); /* one that has events */

/* {"name","summary","group","needs","repeat","streams","params":SCHEMA,"answer":SCHEMA},
 * and "event":SCHEMA where there are events. */
void schema_operation(struct jw *w, const struct operation *op);

/* The schema of a failure: {"error":{"code","message","hint","reason","details"}}, with what each
 * code means. */
void schema_error(struct jw *w);

#endif
