/* The tree of a thread's messages, read from the rows of the loom view.
 *
 * A node is a message. Its place in the tree is its slot: nodes that replace another in
 * place (versions) share the slot of the node they were made from, so what follows the slot
 * follows every version of it. Parent, children, depth and ancestors are facts about slots.
 *
 * Every function here reads a handful of rows, whatever the size of the tree, inside a
 * transaction begun with log_begin(). Results live in the loom's arena. */
#ifndef HEDDLE_NODE_H
#define HEDDLE_NODE_H

#include "thread/log.h"

enum author_kind { AUTHOR_HUMAN, AUTHOR_MODEL, AUTHOR_TOOL };
const char *author_kind_name(enum author_kind k); /* "human" */

#define NO_NODE ((int64_t)-1)

struct node {
    int64_t seq;               /* of its entry */
    int64_t at;                /* when it was written */
    int64_t parent;            /* slot it continues; NO_NODE for a root */
    int64_t jump;              /* an ancestor further up, for logarithmic walks */
    int64_t strand;            /* first node of its strand, a run of nodes without a fork */
    int64_t slot;              /* seq of the node whose place it takes; its own when it is not a
                                * version */
    int64_t          next;     /* the child that continues its strand, its first; or NO_NODE */
    int64_t          latest;   /* newest version of this slot; its own seq when there is none */
    int64_t          depth;    /* 0 for a root */
    int64_t          all;      /* children, hidden ones too */
    int64_t          kids;     /* children that were not pruned themselves */
    int64_t          notes;    /* annotations */
    int64_t          links;    /* links, from either end */
    int64_t          versions; /* edits in place */
    int64_t          chars;    /* characters of the path from the root up to and with it */
    enum author_kind kind;
    bool             bookmarked, pruned, excluded, withdrawn;
    struct sv        local, id, author, lane;
    struct sv        label;       /* of the bookmark, or absent */
    struct sv        edited_from; /* local id, or absent */
    struct sv        as;          /* "context", "instruction", or absent */
    struct sv        hash;        /* provenance: 64 hex digits */
    struct sv        response;    /* hash of the raw model response, or absent */
};

/* Totals over what is visible. */
struct tree {
    int64_t   nodes;    /* versions included */
    int64_t   branches; /* children that hang from branch points */
    int64_t   points;   /* nodes with two or more children */
    int64_t   leaves;
    int64_t   depth;        /* of the deepest node ever written */
    int64_t   annotations;  /* ever made: numbers the next one */
    int64_t   root;         /* the first root, or NO_NODE */
    int64_t   last;         /* time of the newest node */
    int64_t   unsummarised; /* nodes written since the tree was last summarised */
    struct sv title;        /* absent: the tree has no title of its own */
    struct sv description;  /* what a person says it is about; or absent */
    struct sv mode;         /* "dialogue" or "buffer" */
};

/* One thread as a tree, for one request. */
struct loom {
    struct log   *log;
    struct sv     thread;
    struct arena *a;
    int64_t       now;   /* for relative times and leases */
    struct sv     title; /* title in the registry, for a tree without a title of its own */
    struct sv     mode;  /* likewise */
    /* Title and mode that a registry has for a thread; NULL: there is none. */
    enum status (*describe)(void *ctx, struct sv thread, struct arena *a, struct sv *title,
                            struct sv *mode, struct err *e);
    void *ctx;
};

/* The same request, in another thread. */
enum status loom_other(const struct loom *l, struct sv thread, struct loom *out,
                       struct err *e) MUST_USE;

struct json;
extern const struct view loom_view;

/* The payload of a message with its local id written into it, where it has none: the same node is
 * folded from it, whatever its chain value is. Canonical. */
struct sv loom_with_local(const struct json *payload, struct sv local, struct arena *a);

/* An entry, which must be there, and its payload: ST_CORRUPT otherwise. */
enum status loom_entry(struct loom *l, int64_t seq, struct entry *n, struct json *payload,
                       struct err *e) MUST_USE;

enum status loom_tree(struct loom *l, struct tree *out, struct err *e) MUST_USE;

/* The tree's title: its own, the registry's, or the start of its root's text. */
enum status loom_title(struct loom *l, struct sv *out, struct err *e) MUST_USE;

/* The start of a text as one line: whitespace folded, cut after `max` characters. */
struct sv loom_one_line(struct sv text, size_t max, struct arena *a);

/* "love, loss": themes that a summary of the tree named, or absent. */
enum status loom_themes(struct loom *l, struct sv *out, struct err *e) MUST_USE;
enum status loom_is_buffer(struct loom *l, bool *out, struct err *e) MUST_USE;

/* By what a person or model writes: [a7x2], A7X2, a7x2', or the full id. ST_NOT_FOUND with an id of
 * this tree that differs by one typing error as a hint; ST_CROSS_TREE when there is none and
 * another tree has the node, in a workspace with few threads. The views of other threads are not
 * folded for this. */
enum status node_find(struct loom *l, struct sv text, struct node *out, struct err *e) MUST_USE;

/* By a local id from a record: a missing node is not an error, and no similar id is looked for. */
enum status node_local(struct loom *l, struct sv local, struct node *out, bool *found,
                       struct err *e) MUST_USE;

/* node_find(), and ST_NOT_FOUND with a hint when it is hidden by a prune. */
enum status node_find_visible(struct loom *l, struct sv text, struct node *out,
                              struct err *e) MUST_USE;

/* Local ids that start like this, in order, at most `max`: for completion. */
enum status loom_ids(struct loom *l, struct sv start, size_t max, struct sv **out, size_t *n,
                     struct err *e) MUST_USE;

/* Nodes with these seqs will be read soon: a hint for a distant store (store_want()). */
void loom_want(struct loom *l, const int64_t *seqs, size_t n);
/* The same hint for the totals of the tree, given before the transaction that reads them. */
void loom_want_tree(const struct loom *l);

/* By seq, which must be that of a node: ST_CORRUPT otherwise. */
enum status node_at(struct loom *l, int64_t seq, struct node *out, struct err *e) MUST_USE;

/* Is it hidden, and by the prune of which node (NO_NODE: none)? */
enum status node_hidden(struct loom *l, const struct node *n, int64_t *by, struct err *e) MUST_USE;

/* The payload of any entry, which must be there: ST_CORRUPT otherwise. */
struct json;
enum status loom_payload(struct loom *l, int64_t seq, struct json *out, struct err *e) MUST_USE;

/* What it says; `[image content]` and the like for what is not text. */
enum status node_text(struct loom *l, int64_t seq, struct sv *out, struct err *e) MUST_USE;

enum { LOOM_SUMMARY_WORDS = 30 }; /* a text of no more words is its own summary */

/* Its summary when one was made, or all of its text when that is short; else its first sentence
 * (*made is false then). A provisional extract counts as not made. */
enum status node_summary(struct loom *l, const struct node *n, struct sv *out, bool *made,
                         struct err *e) MUST_USE;

/* What stands in for a node where room is short: its summary when a model made one, else its first
 * sentence, also of a text that is its own summary. */
enum status node_brief(struct loom *l, const struct node *n, struct sv *out,
                       struct err *e) MUST_USE;

/* Visible children in order of creation, from the first after slot `after` (NO_NODE: from
 * the start), at most `max`. */
enum status node_children(struct loom *l, int64_t slot, int64_t after, size_t max,
                          struct node **out, size_t *n, struct err *e) MUST_USE;
enum status loom_roots(struct loom *l, size_t max, struct node **out, size_t *n,
                       struct err *e) MUST_USE;

/* The ancestor at `depth` (its own slot at its own depth), in logarithmic time. */
enum status node_ancestor(struct loom *l, const struct node *n, int64_t depth, struct node *out,
                          struct err *e) MUST_USE;

/* The nearest slot of the path to `n` whose seq is at most `seq`, in logarithmic time; *found is
 * false when all of them are younger. */
enum status node_before(struct loom *l, const struct node *n, int64_t seq, struct node *out,
                        bool *found, struct err *e) MUST_USE;

/* The nodes of the path to `n` with from <= depth <= n's own, oldest first, each in the
 * version that `agent` sees (absent: the newest). */
enum status node_path(struct loom *l, struct sv agent, const struct node *n, int64_t from,
                      struct node **out, size_t *count, struct err *e) MUST_USE;

/* The version of a slot that an agent sees. */
enum status node_version(struct loom *l, struct sv agent, const struct node *slot, struct node *out,
                         struct err *e) MUST_USE;

/* All versions of a slot: the original, then the edits, oldest first. */
enum status node_versions(struct loom *l, const struct node *n, struct node **out, size_t *count,
                          struct err *e) MUST_USE;

/* A node and what editing has made of it, oldest first: versions in its place, or branches beside
 * it. Withdrawn ones are left out, pruned ones are not. */
enum status node_edits(struct loom *l, const struct node *n, struct node **out, size_t *count,
                       struct err *e) MUST_USE;

/* The nodes with a mark, hidden ones too; for NODE_PRUNED those that were pruned themselves. Costs
 * what it returns. */
enum node_mark { NODE_BOOKMARKED, NODE_EXCLUDED, NODE_PRUNED };
enum status loom_marked(struct loom *l, enum node_mark mark, struct node **out, size_t *count,
                        struct err *e) MUST_USE;

/* What of a lane is seen after entry `at` (STORE_TO_END: now): a lane is a path through the tree,
 * which ends before the first node on it that is pruned. Contexts, requests and exports are made of
 * this, so that none shows what another hides. In: lane and, if not absent, the node at which it
 * ends. */
struct loom_seen_of {
    struct sv lane, node;
    int64_t   since; /* when the lane had been chosen; what came after it is seen, too */
    int64_t   at;
    struct sv agent; /* whose versions; absent: the newest */
};
/* A message that is not shown as it is in the log. */
struct loom_change {
    int64_t   seq;
    int64_t   by;    /* the entry of the version in its place; NO_NODE: it is excluded */
    struct sv local; /* of an excluded one: a snapshot names it so */
};
struct loom_seen {
    struct sv           lane;    /* of its last node: another one, when the given lane is hidden */
    int64_t             upto;    /* and its last entry that counts; STORE_TO_END: all */
    struct sv           hidden;  /* the pruned node before which it ends; absent: none */
    struct loom_change *changes; /* by seq */
    size_t              n;
};
enum status loom_seen(struct loom *l, const struct loom_seen_of *of, struct loom_seen *out,
                      struct err *e) MUST_USE;

/* Where an agent is: the node it wrote or switched to last, whatever others wrote after it. An
 * agent that has done neither and has issued no command is at the tip of its lane. When others have
 * pruned its node, the position is the node from which the hidden branch continues. It is the
 * version that the agent sees, also when others have edited the node since. *found is false in an
 * empty tree. */
enum status loom_position(struct loom *l, struct sv agent, struct node *out, bool *found,
                          struct err *e) MUST_USE;

/* Does the agent have a position of its own? If not, it counts as being at the tip of its lane. */
enum status loom_is_placed(struct loom *l, struct sv agent, bool *out, struct err *e) MUST_USE;

/* Its position, even if the node is hidden or withdrawn by now. */
enum status loom_last_place(struct loom *l, struct sv agent, struct node *out, bool *found,
                            struct err *e) MUST_USE;

/* The last node of a lane; *found is false when it has none. */
enum status loom_lane_tip(struct loom *l, struct sv lane, struct node *out, bool *found,
                          struct err *e) MUST_USE;

/* The end of an agent's branch, where a message to it goes when no node is named: the last node of
 * its lane, even if others wrote it, or its position when that is hidden. */
enum status loom_branch_end(struct loom *l, struct sv agent, struct node *out, bool *found,
                            struct err *e) MUST_USE;

/* The entry that put the agent where it is; -1: it has no position of its own. */
enum status loom_placed_by(struct loom *l, struct sv agent, int64_t *out, struct err *e) MUST_USE;

/* Has the conversation gone on from `n`, the agent's position, since the agent came there? *out is
 * the child of `n` that leads to the lane's tip. Generated continuations that nobody has replied to
 * do not count. */
enum status loom_went_on(struct loom *l, struct sv agent, const struct node *n, struct node *out,
                         bool *found, struct err *e) MUST_USE;

/* Everyone seen in the last five minutes other than `agent`. An agent that waits for a model is
 * listed at the node that the model continues, once for each such node. */
enum { PRESENCE_MS = 5 * 60 * 1000 };
struct presence {
    struct sv        agent;
    enum author_kind kind;
    struct node      node;
};
enum status loom_presence(struct loom *l, struct sv agent, struct presence **out, size_t *n,
                          struct err *e) MUST_USE;

#endif
