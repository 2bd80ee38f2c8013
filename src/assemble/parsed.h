/* A message (thread/message.h), parsed for rendering: role, parts, calls. A message keeps its
 * fields as slices of JSON, so that nothing is lost and folding a log copies nothing; a renderer
 * needs them decoded. Only this room uses this form: code that makes a context for a model makes
 * messages. What vendors write inside the content (tool_use and tool_result blocks) is lifted out,
 * so that repair and limits see every call and every result in one form. */
#ifndef HEDDLE_PARSED_H
#define HEDDLE_PARSED_H

#include "assemble/part.h"
#include "thread/context.h"

struct tool_call {
    struct sv   id, name;  /* "" when it was not given */
    struct json arguments; /* an object, or text that should hold one; as logged */
};

struct parsed_message {
    int64_t           seq;     /* -1: out of a snapshot, or made by a repair */
    size_t            message; /* index in the context */
    struct sv         role;
    bool              is_text; /* the content is one string: parts[0], or no part when "" */
    struct part      *parts;
    size_t            n_parts;
    struct sv         thinking;           /* absent: none */
    struct json       details;            /* reasoning_details; null: none */
    struct tool_call *calls;              /* of an assistant */
    size_t            n_calls;            /* */
    struct sv         tool_call_id, name; /* of a tool's result; name also of others */
    bool              failed;             /* a result that says it is an error */
};

/* All messages of a context, parsed, oldest first; one that holds results of tools becomes several.
 * A tool call that is not an object is dropped and reported. ST_CORRUPT: a stored field is not
 * JSON. */
enum status parsed_of(const struct context *c, struct arena *a, struct parsed_message **out,
                      size_t *n, struct render_report *r, struct err *e) MUST_USE;

bool parsed_is(const struct parsed_message *t, const char *role);
bool parsed_is_system(const struct parsed_message *t); /* system or developer */

/* Where a repair of this turn belongs. */
struct repair_place parsed_place(const struct parsed_message *t, size_t at);

/* The arguments as an object. False when they are neither an object nor text that holds one
 * (nothing and "" count as {}): then *out is {"arguments": what was there}. */
bool tool_call_object(const struct tool_call *c, struct arena *a, struct json *out);

#endif
