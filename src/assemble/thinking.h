/* Thinking that goes back to the model that made it.
 *
 * Some providers require the signed thinking of an earlier answer, unchanged, and refuse it when
 * anything before it has changed or another model is asked. So the kept record names the model and
 * has a hash of the context before the answer:
 *
 *     {"model":"anthropic:claude-…","parts":[…],"prefix":HEX}     reasoning_details of a message
 *
 * `parts` are in the provider's own shape (MODEL_KEEP of model.h). thinking_settle() looks at every
 * message before a request is made: what may be sent stays, everything else is left out and
 * reported. An edit in the tree changes the prefix of all later messages, so their thinking is left
 * out too. What is not thinking ("type":"message", which says what a message was for) is not bound
 * to what stands before it, and goes back to every model of its provider. */
#ifndef HEDDLE_THINKING_H
#define HEDDLE_THINKING_H

#include "assemble/report.h"
#include "thread/context.h"

/* What is kept of an answer to the context `asked`, which was settled for this model; absent when
 * `parts` (a JSON list, or absent) is. */
struct sv thinking_keep(struct sv model, struct sv parts, const struct context *asked,
                        struct arena *a);

/* The context as it may be sent to `model` ("provider:identifier"): reasoning_details of its
 * messages are absent, or the list of parts. ST_CORRUPT: a message is not JSON. */
enum status thinking_settle(const struct context *c, struct sv model, struct arena *a,
                            struct context *out, struct render_report *r, struct err *e) MUST_USE;

#endif
