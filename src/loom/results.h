/* What an agent's commands showed, and what of it the agent still sees.
 *
 * A result is seen in the turn of its command. It is seen for one more turn when that turn names
 * something it showed, in its prose or in a later command, and, if it is the newest that shows its
 * subject, as long as that is pinned; then it is gone. A command that is repeated replaces its
 * older result.
 *
 *     struct visible *list;
 *     if (loom_results_visible(&loom, agent, &list, &n, e)) return err_code(e);
 *     for (size_t i = 0; i < n; i++) print(list[i].line, list[i].text);                     */
#ifndef HEDDLE_RESULTS_H
#define HEDDLE_RESULTS_H

#include "loom/node.h"

/* A node by its local id, or a document by its name: one of them is absent. */
struct shown_item {
    struct sv node, doc;
};

enum {
    SHOWN_MAX = 50,   /* items remembered of one result */
    RESULTS_MAX = 20, /* results kept per agent; the oldest go first */
};

struct visible {
    struct sv          line; /* the command, without its arrow */
    struct sv          text; /* what was shown */
    struct shown_item *items;
    size_t             n;      /* items[0], when there is one, is the result's subject */
    int64_t            entry;  /* of the command's tool_action */
    bool               pinned; /* stays until its subject is dropped, else to the turn's end */
};

/* What the agent sees in its next turn of what it was shown before, oldest first. Inside a
 * turn: what was left from the turns before it. The list lives in the loom's arena. */
enum status loom_results_visible(struct loom *l, struct sv agent, struct visible **out, size_t *n,
                                 struct err *e) MUST_USE;

/* What a result shows: the nodes in `ids` (as they were written), then `doc` unless absent, then
 * the nodes that `text` names in brackets. Names of no node are passed over. */
enum status shown_items(struct loom *l, const struct sv *ids, size_t n_ids, struct sv doc,
                        struct sv text, struct shown_item **out, size_t *n, struct err *e) MUST_USE;

/* Is one of the items named in this text, as a word of its own? The text is in lower case
 * (sv_lower()). */
bool shown_named(const struct shown_item *items, size_t n, struct sv lower, struct arena *a);

/* Is the subject of these items among the agent's pins? */
enum status shown_pinned(struct loom *l, struct sv agent, const struct shown_item *items, size_t n,
                         bool *out, struct err *e) MUST_USE;

#endif
