/* A context: what a model is shown of a lane. Two shapes come in:
 *
 *     {"system_prompt": TEXT|null, "messages": [ … oldest first … ]}
 *     {"id": TEXT, "system_prompt": TEXT|null, "entries": [ … newest first … ]}
 *
 * The second is how a snapshot is kept in the log. */
#ifndef HEDDLE_CONTEXT_H
#define HEDDLE_CONTEXT_H

#include "thread/message.h"

struct context {
    struct sv       id;            /* absent, or plain text */
    struct sv       system_prompt; /* plain text; absent: none */
    struct message *messages;      /* oldest first */
    size_t          n;
};

/* Read either shape. A leading system message becomes the prompt when none is given; a
 * message whose content begins with one bare thinking part gets it as `thinking`, so that
 * what message_write() printed reads back. ST_INVALID_SYNTAX says what is wrong. */
enum status context_read(struct sv text, struct arena *a, struct context *out,
                         struct err *e) MUST_USE;

/* The snapshot form as canonical JSON; `id` is used when the context has none. */
struct sv context_stored(const struct context *c, struct sv id, struct arena *a);

/* The id a lane's context has by itself: 16 hex digits. */
struct sv context_id(struct sv lane, struct arena *a);

#endif
