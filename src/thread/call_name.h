/* Gives a tool's message without a name the name of the call that it answers. */
#ifndef HEDDLE_CALL_NAME_H
#define HEDDLE_CALL_NAME_H

#include "thread/project.h"

/* How far back, in messages, the call of a result is looked for. */
enum { CALL_NAME_FAR = 256 };

/* `m` is the next message of the projection, in order or after any cursor: a tool's message without
 * a name gets the name of the nearest call before it that has its tool_call_id, in the messages
 * that are folded and then in the snapshot, at most CALL_NAME_FAR messages back. When no call is
 * found, the message stays without a name. Nothing is read unless the name is missing and the call
 * is not in the last assistant message that was given to this function. */
enum status call_name(struct projection *p, struct message *m, struct err *e) MUST_USE;

#endif
