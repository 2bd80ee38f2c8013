/* Which summaries are still to be made. A node has none when it is written; the loom view keeps a
 * row for each that waits, and counts the nodes written since the tree as a whole was summarised.
 * A provisional summary does not end the wait. */
#ifndef HEDDLE_PENDING_H
#define HEDDLE_PENDING_H

#include "loom/node.h"

struct pending {
    int64_t node;        /* its seq */
    bool    provisional; /* it has a provisional extract */
};

/* Up to `max` nodes that wait, with seq > after (NO_NODE: from the start), oldest first: a parent
 * comes before its children. The list lives in the loom's arena. */
enum status loom_pending(struct loom *l, int64_t after, size_t max, struct pending **out, size_t *n,
                         struct err *e) MUST_USE;

enum { TREE_SUMMARY_EVERY = 10 };

struct pending_tree {
    int64_t   nodes;     /* written since it was last summarised */
    bool      closed;    /* an agent left it since then */
    bool      has_any;   /* it has at least a provisional summary */
    struct sv of, model; /* the hash of the text its summary was made from, and the model that made
                            it; or absent */
};
enum status loom_pending_tree(struct loom *l, struct pending_tree *out, struct err *e) MUST_USE;

/* Up to `max` documents that were written since a model last summarised them, by their paths. */
struct pending_doc {
    struct sv path, name; /* name: as an agent calls it */
    int64_t   entry;      /* of its last write */
};
enum status loom_pending_docs(struct loom *l, size_t max, struct pending_doc **out, size_t *n,
                              struct err *e) MUST_USE;

/* The newest summary of a document. */
struct doc_summary {
    struct sv text; /* absent: there is none */
    struct sv of;   /* the hash of the text that it was made of */
    bool      provisional;
    int64_t   written; /* the entry of its last write, while it waits for a summary; else 0 */
};
enum status loom_doc_summary(struct loom *l, struct sv path, struct doc_summary *out,
                             struct err *e) MUST_USE;

/* Visible nodes from which the tree branches, oldest branch first, at most `max`. */
enum status loom_branch_points(struct loom *l, size_t max, struct node **out, size_t *n,
                               struct err *e) MUST_USE;

#endif
