/* `init --agents-md`, and `init` under the name leslie: the guide in AGENTS.md. */
#ifndef HEDDLE_AGENTS_MD_H
#define HEDDLE_AGENTS_MD_H

#include "front/app.h"
#include "share/guide.h"

/* Write it; a block of another major version only with `yes`, or when a person at the
 * terminal agrees. out->status is "skipped" when they do not. */
enum status agents_md_write(struct app *app, bool yes, struct guide *out, struct err *e) MUST_USE;

#endif
