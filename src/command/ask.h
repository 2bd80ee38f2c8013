/* Asking a model from a session: a context becomes the body that the model's provider takes. */
#ifndef HEDDLE_COMMAND_ASK_H
#define HEDDLE_COMMAND_ASK_H

#include "assemble/body.h"
#include "command/session.h"

/* What a body says beside the context: the model as its provider knows it, and the settings. */
struct body_settings ask_settings(struct sv model, const struct agent_settings *settings);

/* A request, to be sent with s->env.ask once or more often. It lives in the session's arena. *asked
 * is the context with the thinking that is sent back (assemble/thinking.h); `r` gets what of it had
 * to be changed. */
enum status ask_request(struct session *s, struct sv model, const struct context *c,
                        const struct agent_settings *settings, struct model_request *out,
                        struct context *asked, struct render_report *r, struct err *e) MUST_USE;

/* Ask about one text, with a system prompt or without (absent). s->env.ask must be there. */
enum status ask_text(struct session *s, struct sv model, struct sv system, struct sv text,
                     int64_t max_tokens, struct model_response *out, struct err *e) MUST_USE;

#endif
