/* Trees of other looms, in and out.
 *
 * In: Open Loom 2.x (flat nodes and edges), socketteer/loom (nested children) and loomsidian (flat
 * nodes with parent pointers). Members that heddle does not use are kept with the node and written
 * again on export. Nodes get new ids; a tree with several roots gets an empty one above them; nodes
 * that no root reaches are left out and counted. Hashes of other programs are never recomputed:
 * they are kept unchanged.
 *
 * Out: Open Loom 2.0, Markdown of one path, or heddle's own JSON. */
#ifndef HEDDLE_EXCHANGE_H
#define HEDDLE_EXCHANGE_H

#include "base/json.h"
#include "loom/node.h"

struct foreign_node {
    struct sv          id, text;
    struct sv          author; /* a usable name */
    enum author_kind   kind;
    int64_t            at;     /* 0: unknown */
    int64_t            parent; /* index in the list; -1: a root */
    struct sv          as;     /* role of the edge that leads to it, or absent */
    struct sv          edited_from;
    struct sv          local; /* local id it had, or absent */
    struct sv          label; /* of its bookmark, or absent */
    bool               bookmarked, pruned, excluded, version;
    bool               annotation;             /* a note on its parent, not a continuation */
    struct sv          summary, summary_model; /* or absent */
    const struct json *links;                  /* as export_open_loom() writes them, or NULL */
    struct sv kept; /* JSON object of the members that heddle does not use, or absent; those of its
                       author, meta and edges under these names */
};

struct foreign_tree {
    struct sv            title, mode;
    struct sv            kept;    /* likewise, of the tree */
    struct sv            file;    /* and of the file around it */
    struct sv            current; /* id of the node that was selected, or absent */
    struct foreign_node *nodes;   /* parents before children, siblings in order */
    size_t               n, left_out;
};

/* All trees of a file. ST_INVALID_SYNTAX: not a known loom format; the hint lists the known
 * ones. */
enum status import_read(struct sv text, struct arena *a, struct foreign_tree **out, size_t *n,
                        const char **format, struct err *e) MUST_USE;

/* ST_CONFLICT: the thread has nodes already. In a transaction on it. */
enum status import_check(struct loom *l, struct err *e) MUST_USE;

/* Append a tree to a thread that import_check() accepts, in an open write transaction; `actor` did
 * it, and is put on the node that was selected. Unknown times become l->now. `step` is called
 * whenever a few entries were appended, with the node that they are about when it was added by
 * them, else NULL; it may commit and begin another transaction. An error of it ends the import. */
struct import_steps {
    enum status (*step)(void *ctx, const struct foreign_node *added, struct err *e);
    void *ctx;
};
enum status import_write(struct loom *l, const struct foreign_tree *t, struct sv actor,
                         const struct import_steps *steps, struct err *e) MUST_USE;

/* Everything, pruned branches marked as such; the current node is where `agent` is. In an open
 * transaction. */
enum status export_open_loom(struct loom *l, struct sv agent, struct sb *out,
                             struct err *e) MUST_USE;
enum status export_json(struct loom *l, struct sb *out, struct err *e) MUST_USE;

/* The path to one node, in the versions that `agent` sees, without what is excluded. */
enum status export_markdown(struct loom *l, struct sv agent, const struct node *n, struct sb *out,
                            struct err *e) MUST_USE;

#endif
