/* Identifies the caller of a request, and checks whether it may use the path. */
#ifndef HEDDLE_FRONT_WHO_H
#define HEDDLE_FRONT_WHO_H

#include "front/http/call.h"

/* Fills c->caller. False: 401, 403 or 429. */
bool who_asks(struct serve_call *c, struct serve_refusal *why);

/* May the caller run this operation? And, once the parameters are known, on this thread? */
bool        who_may(const struct serve_call *c, struct serve_refusal *why);
enum status who_reaches(const struct serve_call *c, struct err *e) MUST_USE;

/* Both, of a caller that is known. */
enum status who_allows(const struct serve_caller *who, const struct operation *op,
                       const void *params, struct err *e) MUST_USE;

/* The name of the cookie. It contains the port, because browsers share cookies between ports. */
struct sv who_cookie_name(const struct serve_call *c);

#endif
