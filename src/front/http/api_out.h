/* Sends the output of an operation. All functions are called in the thread that runs it. */
#ifndef HEDDLE_FRONT_API_OUT_H
#define HEDDLE_FRONT_API_OUT_H

#include "front/http/call.h"

/* For a request: takes an event, and bytes (see sb_to_sink()). The first one begins a stream. */
enum status api_out_event(void *call, struct sv document, struct err *e);
int         api_out_bytes(void *call, struct sv bytes);

/* The operation is over: sends its document or its error, with the warnings. The call must not be
   used afterwards. */
void api_out_end(struct serve_call *c, struct request *r, enum status s, const struct err *e);

#endif
