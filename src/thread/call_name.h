/* The name of a tool's message that has none: it is that of the call it answers. */
#ifndef HEDDLE_CALL_NAME_H
#define HEDDLE_CALL_NAME_H

#include "thread/project.h"

/* How far back, in messages, the call of a result is looked for. */
enum { CALL_NAME_FAR = 256 };

/* `m` is the next message of the projection, in order or after any cursor: a tool's message
 * without a name gets the name of the nearest call before it that has its tool_call_id, in the
 * messages that are folded and then in the snapshot, at most CALL_NAME_FAR messages back. Where
 * none is found it stays without. Cost: nothing, unless the name is missing and the call is not
 * that of the last assistant's message this was called with. */
enum status call_name(struct projection *p, struct message *m, struct err *e) MUST_USE;

#endif
