/* How the tree is shown: to a model as the results of its tools, to a person by `heddle
 * tree`, and around a conversation as the blocks of a loom-aware context. Every function
 * adds text to `b` and reads only the rows it shows. */
#ifndef HEDDLE_LOOM_SHOW_H
#define HEDDLE_LOOM_SHOW_H

#include "loom/agent.h"
#include "loom/limits.h"
#include "loom/memory.h"
#include "loom/write.h"

/* For whom the tree is shown: decides which versions are shown and where the star is. */
struct viewer {
    struct sv          agent;
    enum author_kind   kind;
    unsigned           permissions;
    const struct node *here; /* where it is taken to be; NULL: its position */
};

/* ---- one node ---- */

enum show_flags { SHOW_FULL = 1, SHOW_ANNOTATIONS = 2 };
enum status show_node(struct loom *l, const struct node *n, enum show_flags flags, struct sb *b,
                      struct err *e) MUST_USE;
enum status show_annotation(struct loom *l, const struct annotation *n, struct sb *b,
                            struct err *e) MUST_USE;

/* `[a7x2] human · 3m ago`, counts, `---`, content: the block of one node. Within a
 * conversation times are absolute, so that what was sent once stays the same. */
enum status show_metadata(struct loom *l, const struct node *n, bool relative, struct sb *b,
                          struct err *e) MUST_USE;

/* The same up to and including `---`, for code that adds the content itself. */
enum status show_metadata_head(struct loom *l, const struct node *n, bool relative, struct sb *b,
                               struct err *e) MUST_USE;

/* `[a7x2] human · 2026-11-15 21:36 · `: what stands before the summary of a node. */
void show_summary_head(const struct node *n, struct sb *b);

/* ---- lists ---- */

enum status show_continuations(struct loom *l, const struct viewer *v, const struct node *n,
                               struct sb *b, struct err *e) MUST_USE;
enum status show_annotations(struct loom *l, const struct node *n, struct sb *b,
                             struct err *e) MUST_USE;
enum status show_links(struct loom *l, const struct node *n, struct sb *b, struct err *e) MUST_USE;
enum status show_doc_links(struct loom *l, struct sv doc, struct sb *b, struct err *e) MUST_USE;

/* Nodes of the whole tree that can be seen and are bookmarked or excluded; prunes; a node and its
 * edits. */
enum status show_marked(struct loom *l, enum node_mark mark, struct sb *b, struct err *e) MUST_USE;
enum status show_pruned(struct loom *l, struct sb *b, struct err *e) MUST_USE;
enum status show_versions(struct loom *l, const struct viewer *v, const struct node *n,
                          struct sb *b, struct err *e) MUST_USE;

void show_head(struct sb *b, size_t n, const char *one,
               const char *many);             /* "2 bookmarks:", or "bookmarks: none" */
void show_more(struct sb *b, int64_t hidden); /* "  ... 3 more"; nothing for none */
void show_target(struct sb *b, const struct link_target *t, bool brackets);

/* ` (note: "text")` behind a line of a list; nothing when there is no text. */
void show_remark(struct sb *b, const char *what, struct sv text);

/* ---- the tree ---- */

enum status show_tree(struct loom *l, const struct viewer *v, const struct node *from,
                      int64_t depth, struct sb *b, struct err *e) MUST_USE;
enum status show_tree_summary(struct loom *l, struct sb *b, struct err *e) MUST_USE;

/* `r001 → ... → a7x2 → b3k9` (switch), or with brackets and a star (Position). */
enum status show_short_path(struct loom *l, struct sv agent, const struct node *n, struct sb *b,
                            struct err *e) MUST_USE;

/* ---- branches ---- */

enum status show_prose(struct loom *l, const struct viewer *v, const struct node *n, struct sb *b,
                       struct err *e) MUST_USE;
enum status show_branch_nodes(struct loom *l, const struct viewer *v, const struct node *n,
                              struct sb *b, struct err *e) MUST_USE;

/* ---- the blocks of a loom-aware context ---- */

void show_addendum(struct sb *b, unsigned permissions);
struct memory_show {
    /* Tells how long a pinned document is; NULL, or failing: it is "(unavailable)". */
    enum status (*doc_words)(void *ctx, struct sv doc, struct sv section, int64_t *words,
                             struct err *);
    void   *ctx;
    bool    short_trace; /* only the last TRACE_SHORT actions one by one */
    bool    no_recalled; /* show only the names of recalled stashes that are longer than that */
    int64_t actions;     /* out: how many more actions became counts */
    int64_t stashes;     /* out: how many texts were left out */
};
enum status show_memory_block(struct loom *l, const struct viewer *v, struct memory_show *how,
                              struct sb *b, struct err *e) MUST_USE;
/* `pruned` is the notice about what was cut to fit the budget, or absent. */
enum status show_context_block(struct loom *l, const struct viewer *v, struct sv pruned,
                               struct sb *b, struct err *e) MUST_USE;

/* The prompts for summaries. `parent` and `grandparent` may be absent. */
void show_node_summary_prompt(struct sb *b, struct sv title, struct sv grandparent,
                              struct sv parent, struct sv message);
/* `cut`: only the beginning of its text is there. */
void show_doc_summary_prompt(struct sb *b, struct sv name, struct sv text, bool cut);
void show_tree_summary_prompt(struct sb *b, struct sv description, const struct sv *summaries,
                              size_t n, int64_t points);

#endif
