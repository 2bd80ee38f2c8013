/* Changing the tree: each function checks, appends its entries in the open write transaction, and
 * returns the result. Permissions were checked before (agent.h).
 *
 *     if (log_begin(log, thread, STORE_WRITE, e)) return err_code(e);
 *     if (loom_add(&loom, &(struct new_node){ .text = text, .author = SV("ada"),
 *                                             .parent = &tip }, &made, e) ||
 *         log_commit(log, e)) { log_abort(log); return err_code(e); } */
#ifndef HEDDLE_WRITE_H
#define HEDDLE_WRITE_H

#include "base/json.h"
#include "loom/limits.h"
#include "loom/node.h"

/* A run (thread/run.h), as entries of the tree name it. */
struct loom_run {
    struct sv id, agent;
};

struct new_node {
    struct sv          text;
    struct sv          author;
    enum author_kind   kind;
    const struct node *parent; /* NULL: a root */
    const char        *via;    /* "say", "turn", "respond", "edit", "carry", "continue", "import" */
    struct sv          as;     /* "context", "instruction"; absent: continuation */
    const struct node *edited_from; /* or NULL */
    bool               version;     /* takes the place of edited_from */
    struct sv          local;       /* wanted local id; absent: drawn */
    struct sv          response;    /* hash of the raw model response, or absent */
    struct sv          asked_by;    /* agent for which a model generated it, or absent */
    struct sv          extensions;  /* imported JSON, kept for exports; or absent */
    int64_t            at;          /* 0: now */
    struct sv          thinking;    /* text of the model's thinking, or absent */
    struct sv          details;     /* JSON: thinking to be sent back, or absent */
    struct loom_run    run;         /* whose message it is; run.id absent: of none */
    struct sv          input;       /* id of the steering that it is, or absent */
    struct sv          op_id;       /* under which a repetition is recognised, or absent */
};

/* A node after `parent`: at the end of the parent's lane, or on a lane forked there. A text
 * that is empty or not UTF-8 is ST_INVALID_SYNTAX; ST_CONFLICT when another agent holds the parent
 * (answers of models and imported nodes are kept even so). */
enum status loom_add(struct loom *l, const struct new_node *n, struct node *out,
                     struct err *e) MUST_USE;

/* Edit a node: in buffer mode a version in its place, in dialogue mode a sibling. ST_CONFLICT when
 * another agent holds the node or, for a version, one below it. */
enum status loom_edit(struct loom *l, const struct node *target, struct sv text, struct sv author,
                      enum author_kind kind, struct node *out, bool *in_place,
                      struct err *e) MUST_USE;

/* Put an agent on a node. */
enum status loom_switch(struct loom *l, struct sv agent, enum author_kind kind,
                        const struct node *to, struct err *e) MUST_USE;

/* *number is the N of ann-N. */
enum status loom_annotate(struct loom *l, struct sv agent, enum author_kind kind,
                          const struct node *on, struct sv text, int64_t *number,
                          struct err *e) MUST_USE;

/* What a link leads to: a node, a document (perhaps a section), or a tree (perhaps a node). */
struct link_target {
    struct sv node;
    struct sv doc, section;
    struct sv tree, tree_title; /* thread id, and how it is called */
};
struct link {
    struct link_target target;
    struct sv          note;     /* or absent */
    bool               incoming; /* it was made at the other end */
    int64_t            entry;
};
/* {"node":…,"type":…} of a target, and back. */
void               link_target_json(struct jw *w, const struct link_target *t);
struct link_target link_target_of(const struct json *v);

/* An existing link is not made again; *entry is then -1. A link to another tree is written in both
 * logs. */
enum status loom_link(struct loom *l, struct sv agent, const struct node *from,
                      const struct link_target *to, struct sv note, int64_t *entry,
                      struct err *e) MUST_USE;
enum status loom_links(struct loom *l, const struct node *n, struct link **out, size_t *count,
                       struct err *e) MUST_USE;
enum status loom_doc_links(struct loom *l, struct sv doc, struct link **out, size_t *count,
                           struct err *e) MUST_USE;

/* bookmark, unbookmark, prune, restore, exclude, include, withdraw. `label` may be absent. All but
 * bookmarks change the path to every node below: ST_CONFLICT when another agent holds one of them.
 */
enum status loom_mark(struct loom *l, struct sv agent, const char *mark, const struct node *n,
                      struct sv label, struct err *e) MUST_USE;

/* How many nodes below `n` are visible (hidden by its prune, if it is pruned). */
enum status loom_below(struct loom *l, const struct node *n, int64_t *out, struct err *e) MUST_USE;

enum status loom_unannotate(struct loom *l, struct sv agent, int64_t number,
                            struct err *e) MUST_USE;
enum status loom_unlink(struct loom *l, struct sv agent, const struct node *n, int64_t entry,
                        struct err *e) MUST_USE;

/* Set the tree's own title, description and mode; absent ones are not changed. */
struct tree_words {
    struct sv title, description, mode;
};
enum status loom_describe(struct loom *l, struct sv agent, const struct tree_words *words,
                          struct err *e) MUST_USE;

/* An agent leaves the tree: a summary of it is due, unless it was made since the last node was
 * written. */
enum status loom_close(struct loom *l, struct sv agent, struct err *e) MUST_USE;

/* One entry: its payload is any JSON object text. */
struct loom_record {
    struct sv       agent; /* who did it */
    const char     *kind;
    struct sv       payload;
    struct loom_run run;   /* that it is a step of; run.id absent: of none */
    struct sv       op_id; /* or absent */
};
enum status loom_put(struct loom *l, const struct loom_record *r, int64_t *seq,
                     struct err *e) MUST_USE;

/* One entry of this kind with this payload, and nothing else. */
enum status loom_append(struct loom *l, struct sv agent, const char *kind, struct sv payload,
                        int64_t *seq, struct err *e) MUST_USE;

/* ---- annotations, as read back ---- */

struct annotation {
    int64_t          number, at, node; /* node: slot it is on */
    struct sv        author, text;
    enum author_kind kind;
};
enum status loom_annotations(struct loom *l, const struct node *n, struct annotation **out,
                             size_t *count, struct err *e) MUST_USE;
enum status loom_annotation(struct loom *l, int64_t number, struct annotation *out, bool *found,
                            struct err *e) MUST_USE;

/* ---- leases: one agent at a time extends a node ---- */

struct lease {
    struct sv   agent;
    struct node node; /* the slot that is held */
    int64_t     at, until;
};

/* Those that have not run out. */
enum status lease_list(struct loom *l, struct lease **out, size_t *n, struct err *e) MUST_USE;

/* ST_CONFLICT when another agent's lease on the node has not run out. */
enum status lease_check(struct loom *l, struct sv agent, const struct node *n,
                        struct err *e) MUST_USE;

/* ST_CONFLICT when another agent holds the node or one below it: the node is on the path that a
 * model is being sent, and must not change. */
enum status lease_check_path(struct loom *l, struct sv agent, const struct node *n,
                             struct err *e) MUST_USE;
enum status lease_take(struct loom *l, struct sv agent, const struct node *n,
                       struct err *e) MUST_USE; /* checks first; taking it again renews it */
enum status lease_release(struct loom *l, struct sv agent, const struct node *n,
                          struct err *e) MUST_USE;

#endif
