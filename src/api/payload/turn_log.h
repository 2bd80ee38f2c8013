/* A session may be bound to a thread: its turns are then entries of that thread's log,
 * of the kind "turn". */
#ifndef HEDDLE_TURN_LOG_H
#define HEDDLE_TURN_LOG_H

#include "api/request.h"
#include "payload/session.h"

/* Append an entry for every turn of the session that has none yet, in order; nothing when it is not
 * bound. Each turn has one op_id, so a turn whose entry could not be written is appended by the
 * next call. */
enum status turn_log(struct request *r, const struct session_dir *s, struct err *e) MUST_USE;

#endif
