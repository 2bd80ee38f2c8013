/* What render.c hands to each renderer: turns after repair and limit. */
#ifndef HEDDLE_RENDER_INTERNAL_H
#define HEDDLE_RENDER_INTERNAL_H

#include "assemble/parsed.h"
#include "assemble/render.h"

struct rendering {
    struct sv                    system_prompt; /* absent: none */
    const struct parsed_message *turns;
    size_t                       n;
    struct arena                *a;
    struct sb                   *out;
    struct render_report        *r;
    bool                         cut; /* earlier turns were left out by the limit */
    struct render_cache          cache;
    bool                         merge; /* neighbours of one role are one message */
    bool details;   /* reasoning_details are sent, where the format has a place for them */
    bool user_last; /* a user's message follows a last one of the assistant */
};

void render_anthropic(const struct rendering *x);
void render_openai(const struct rendering *x);
void render_text(const struct rendering *x);
void render_markdown(const struct rendering *x);

/* The name of a call as the APIs take it: letters, digits, _ and -, at most `max` of them. Any
 * other character becomes _, which is reported. */
struct sv render_call_name(const struct tool_call *c, size_t max, struct repair_place at,
                           const struct rendering *x);

/* The plain bytes of standard or URL base64, padded or not. False when it is neither. */
bool render_base64(struct sv text, struct arena *a, struct sv *out);

#endif
