/* Contexts for APIs that get only text and pictures: OpenAI Responses and Gemini. Calls of tools
 * and their results become text, since no tools are offered; what the API cannot represent is left
 * out. Both are reported. For the files of this room. */
#ifndef HEDDLE_BODY_FLAT_H
#define HEDDLE_BODY_FLAT_H

#include "assemble/render.h"

/* {"include":[…],"input":[…],"instructions":TEXT,"store":false}: nothing is kept at the provider.
 */
enum status body_flat_responses(const struct context *c, struct arena *a, struct sb *out,
                                struct render_report *r, struct err *e) MUST_USE;

/* {"contents":[…],"systemInstruction":{"parts":[{"text":TEXT}]}} */
enum status body_flat_gemini(const struct context *c, struct arena *a, struct sb *out,
                             struct render_report *r, struct err *e) MUST_USE;

#endif
