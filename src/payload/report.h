/* What a turn's report.md says was done: its action log. Understands both forms in use,
 * "#### READ" with `- **Resource:** [path](/path)` below it, and "### `READ`: path". */
#ifndef HEDDLE_TURN_REPORT_H
#define HEDDLE_TURN_REPORT_H

#include "base/sb.h"
#include "base/vec.h"

enum report_kind { ACTION_OTHER, ACTION_READ, ACTION_CREATE, ACTION_EDIT, ACTION_PRUNE };
enum report_outcome { ACTION_UNKNOWN, ACTION_DONE, ACTION_FAILED, ACTION_SKIPPED };

struct report_action {
    enum report_kind    kind;
    enum report_outcome outcome;
    struct sv           target;   /* path or URL as written, without a leading slash */
    bool                is_range; /* only some lines were read */
};
struct report_actions {
    VEC(struct report_action) actions;
    bool has_user_request; /* a heading "User Request" */
};

void report_read(struct sv text, struct arena *a, struct report_actions *out);

/* Does a plan carry a message to the user (a heading "Message")? */
bool report_plan_has_message(struct sv text);

#endif
