/* Conditions of a request, as HTTP has them:
 *
 *     Idempotency-Key: ID          the parameter that makes repeating harmless (op_id)
 *     If-Match: "12"               the parameter `expect`; failing is 412
 *     If-None-Match: "12-3f…"      304 when the answer at hand is still right
 *
 * An answer that follows from the log alone has an ETag: the revision of its thread, and a hash of
 * what else it depends on. So the tag of what was read can be sent as If-Match of what is written.
 */
#ifndef HEDDLE_FRONT_CONDITION_H
#define HEDDLE_FRONT_CONDITION_H

#include "front/http/call.h"

/* Copy the header fields, which belong to the connection, before another thread runs the call. */
void condition_keep(struct serve_call *c);

/* After the parameters are read: apply those that are header fields. ST_USAGE: the operation has no
 * such parameter, or it was given with another value. */
enum status condition_apply(struct serve_call *c, struct err *e) MUST_USE;

/* Gives the answer its ETag, if it has one. True: the client already has this answer (304). */
bool condition_tag(struct serve_call *c, struct request *r);

/* The status of an error: that of the table, or 412 when the caller's condition failed. */
int condition_status(const struct serve_call *c, const struct err *e);

#endif
