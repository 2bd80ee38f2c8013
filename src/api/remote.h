/* Running an operation in the server of the workspace, in the place of this process: the answer,
 * the events, the bytes and the errors are the same. */
#ifndef HEDDLE_REMOTE_H
#define HEDDLE_REMOTE_H

#include "api/request.h"

/* Can the operation be sent? Operations that name files of this process (payloads), ask a person,
 * or are only for a shell are run here. */
bool remote_can(const struct operation *op, const void *params);

/* As operation_run(), by the server that runs for r->ws. What r->in reads (its descriptor, of which
 * nothing was read yet) is sent on. ST_NOT_FOUND, reason "no_server": none runs. */
enum status remote_run(const struct operation *op, struct request *r, const void *params,
                       struct err *e) MUST_USE;

#endif
