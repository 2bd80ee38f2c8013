/* Operations that are done once: repeated with the same op_id and the same parameters they do
 * nothing, and are answered as the first time; the same op_id with anything else is ST_CONFLICT,
 * reason "op_id".
 *
 * The log remembers it forever: an `operation_done` entry with the op_id, the parameters, the
 * answer and the verdict, in the thread that the operation changes (`in_thread`) or in .global. It
 * is written by log_commit() in the transaction of what the operation did, provided that the
 * document is complete by then; of an operation with `joins`, which commits by itself first, both
 * transactions are one group of the store. So a killed process leaves all of it or nothing, and a
 * second caller at the same time gets the answer of the first. A failure is not remembered: the
 * same op_id may be tried again. */
#ifndef HEDDLE_ONCE_H
#define HEDDLE_ONCE_H

#include "api/request.h"

/* Calls op->run() by the rules above. */
enum status once_run(const struct operation *op, struct request *r, const void *params,
                     struct err *e) MUST_USE;

/* The log of the request was opened. */
void once_watch(struct request *r);

#endif
