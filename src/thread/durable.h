/* Keeps the output of skills that were loaded durably when a context is compacted. */
#ifndef HEDDLE_DURABLE_H
#define HEDDLE_DURABLE_H

#include "thread/context.h"

/* `snapshot` with the durable entries of `current` in front of it: a tool result of
 * load_skill whose refs say {"durable":true,"kind":"skill_activation","skill_name":TEXT}
 * and whose call an assistant message of `current` really made, together with that call. Refs
 * claimed by other tools or roles, and results without their call, are not honoured. A call that
 * the snapshot holds itself stays there, with the original result behind it. Only messages with
 * seq <= upto are put in (later ones are folded on top anyway). */
struct context durable_keep(const struct context *current, const struct context *snapshot,
                            int64_t upto, struct arena *a);

#endif
