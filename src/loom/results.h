/* What an agent's commands showed, and what of it the agent still sees.
 *
 * A result is seen in the turn of its command. It is seen for one more turn when that turn names
 * something it showed, in its prose or in a later command; as long as it is pinned itself (`→ pin
 * result`); and, if it is the newest result about its subject, as long as the subject is pinned.
 * After that it is no longer shown; it stays in the log, and can be read and pinned there by its
 * number. The result of a repeated command replaces the older one, unless that is pinned.
 *
 *     struct visible *list;
 *     if (loom_results_visible(&loom, agent, &list, &n, e)) return err_code(e);
 *     for (size_t i = 0; i < n; i++) print(list[i].line, list[i].text); */
#ifndef HEDDLE_RESULTS_H
#define HEDDLE_RESULTS_H

#include "loom/limits.h"
#include "loom/node.h"

/* A node by its local id, or a document by its name: one of them is absent. */
struct shown_item {
    struct sv node, doc;
};

struct visible {
    struct sv          line; /* the command, without its arrow */
    struct sv          text; /* what was shown */
    struct shown_item *items;
    size_t             n;     /* items[0], when there is one, is the result's subject */
    int64_t            entry; /* of the command's tool_action */
    bool pinned;              /* stays until it or its subject is dropped, else to the turn's end */
};

/* The newest result that the agent was shown in a turn; *found is false when there is none. */
enum status loom_result_last(struct loom *l, struct sv agent, int64_t *entry, bool *found,
                             struct err *e) MUST_USE;

/* A result by the entry of its command. `full` is the text before it was shortened. Those of other
 * agents are ST_NOT_FOUND, too: they may show what this one may not read. */
struct kept_result {
    struct sv line, text, full;
};
enum status loom_result(struct loom *l, struct sv agent, int64_t entry, struct kept_result *out,
                        struct err *e) MUST_USE;

/* What the agent sees in its next turn of what it was shown before, oldest first. Inside a turn:
 * what is still seen from earlier turns. The list lives in the loom's arena. */
enum status loom_results_visible(struct loom *l, struct sv agent, struct visible **out, size_t *n,
                                 struct err *e) MUST_USE;

/* What a result shows: the nodes in `ids` (as they were written), then `doc` unless absent, then
 * the nodes that `text` names in brackets. Names of no node are passed over. One of the ids may be
 * `known` to exist: if that is a local id, it is not looked up. */
enum status shown_items(struct loom *l, struct sv known, const struct sv *ids, size_t n_ids,
                        struct sv doc, struct sv text, struct shown_item **out, size_t *n,
                        struct err *e) MUST_USE;

/* Is one of the items named in this text, as a word of its own? The text is in lower case
 * (sv_lower()). */
bool shown_named(const struct shown_item *items, size_t n, struct sv lower, struct arena *a);

/* Is the subject of these items among the agent's pins? */
enum status shown_pinned(struct loom *l, struct sv agent, const struct shown_item *items, size_t n,
                         bool *out, struct err *e) MUST_USE;

#endif
