/* The rows of the loom view, shared by the folds that write them and the functions that
 * read them. For the files of this room and its tests. SEQ and N below are 16 digits.
 *
 *     tree                      totals, title, mode (struct tree)
 *     kept, kept/file           what an imported tree had beside its nodes, and its file
 *     n/SEQ                     a node (struct node)
 *     l/LOCAL                   seq of the node with this local id, in lower case
 *     i/ID                      seq of the node with this full id
 *     c/PARENT/SEQ              a child; PARENT is "root" for roots
 *     s/STRAND                  its last node, prunes above it and on it (struct strand)
 *     f/STRAND/PARENT/CHILD     a strand that forks off this one at PARENT
 *     q/STRAND/SEQ              a prune of the node SEQ on this strand
 *     v/STRAND/SLOT/SEQ         a version
 *     b/SEQ, e/SEQ              a node that is bookmarked, excluded
 *     eh/SEQ/ENTRY              the entry excluded the node ("1") or included it again ("0")
 *     t/LANE                    the lane's end (struct lane_end)
 *     a/SLOT/N                  the annotation ann-N is on this node
 *     ann/N                     an annotation
 *     x/SLOT/N, y/NAME/N        links of a node, of a document (by entry seq)
 *     sum/SEQ, sum/tree         summary of a node, of the tree (by its entry)
 *     todo/SEQ                  a node that waits for its summary; "provisional": has an extract
 *     resp/HASH                 raw answer of a model (by its entry)
 *     pos/AGENT                 where an agent is and when it was last seen (struct place)
 *     sel/AGENT/SLOT            the version of a slot that an agent chose
 *     lease/SLOT                who may extend this node, until when
 *     pin/AGENT/N  st/AGENT/LABEL  act/AGENT/N  acts/AGENT
 *     undo/AGENT/SEQ  turn/AGENT  doc/AGENT/PATH       memory (see memory.h)
 *     late/AGENT/SEQ            an undo that was refused once
 *     said/AGENT                seqs of the last messages it said, with blanks between
 *     res/AGENT/SEQ             a result that is still seen (see results.h)
 */
#ifndef HEDDLE_LOOM_INTERNAL_H
#define HEDDLE_LOOM_INTERNAL_H

#include "base/json.h"
#include "loom/node.h"

struct loom_rows {
    struct store *store;
    struct sv     thread, view;
    struct arena *a;
    struct fold  *fold; /* the fold that asks, for its cache; NULL when reading */
};

struct loom_rows rows_of_fold(struct fold *f);
struct loom_rows rows_of_loom(const struct loom *l);

enum status row_get(struct loom_rows *r, struct sv key, struct sv *value, bool *found,
                    struct err *e) MUST_USE;
enum status row_put(struct loom_rows *r, struct sv key, struct sv value, struct err *e) MUST_USE;
enum status row_del(struct loom_rows *r, struct sv key, struct err *e) MUST_USE;

/* A row that holds JSON, or a whole number (`otherwise` when it is missing). */
enum status row_json(struct loom_rows *r, struct sv key, struct json *out, bool *found,
                     struct err *e) MUST_USE;
enum status row_int(struct loom_rows *r, struct sv key, int64_t otherwise, int64_t *out,
                    struct err *e) MUST_USE;
enum status row_put_int(struct loom_rows *r, struct sv key, int64_t n, struct err *e) MUST_USE;

/* prefix/SEQ, prefix/name/SEQ, prefix/SEQ/SEQ ... */
struct sv key1(const char *prefix, int64_t n, struct arena *a);
struct sv key2(const char *prefix, int64_t n, int64_t m, struct arena *a);
struct sv key3(const char *prefix, int64_t n, int64_t m, int64_t o, struct arena *a);
struct sv key_name1(const char *prefix, struct sv name, int64_t n, struct arena *a);
struct sv key_name2(const char *prefix, struct sv name, struct sv second, struct arena *a);
struct sv key_agent(const char *prefix, struct sv agent, struct arena *a); /* "prefix/agent/" */

/* "key/": the prefix of the keys below it. */
struct sv key_below(struct sv key, struct arena *a);

/* The number at the end of a key. */
int64_t key_last(struct sv key);

/* Keys with a prefix, in order, each handed to `each` until it says stop. */
enum status row_each(struct loom_rows *r, struct sv prefix, struct sv after, bool backwards,
                     bool (*each)(void *ctx, const struct store_row *row), void *ctx,
                     struct err *e) MUST_USE;

/* The keys with a prefix, from `after` on, at most max; the rows live in r->a. */
enum status row_list(struct loom_rows *r, struct sv prefix, struct sv after, size_t max,
                     struct store_row **out, size_t *n, struct err *e) MUST_USE;
enum status row_last(struct loom_rows *r, struct sv prefix, struct store_row *out, bool *found,
                     struct err *e) MUST_USE;

/* ---- nodes and totals ---- */

enum status rows_node(struct loom_rows *r, int64_t seq, struct node *out, struct err *e) MUST_USE;
enum status rows_put_node(struct loom_rows *r, const struct node *n, struct err *e) MUST_USE;
enum status rows_tree(struct loom_rows *r, struct tree *out, struct err *e) MUST_USE;
enum status rows_put_tree(struct loom_rows *r, const struct tree *t, struct err *e) MUST_USE;

/* The node with this local id (any spelling of it); *found false when there is none. */
enum status rows_find(struct loom_rows *r, struct sv text, struct node *out, bool *found,
                      struct err *e) MUST_USE;

/* Brackets, case and typographic quotes taken away. */
struct sv local_key(struct sv text, struct arena *a);

struct strand {
    int64_t first, end;
    int64_t cover;  /* prunes of nodes above it, on other strands */
    int64_t prunes; /* of its own nodes */
};
enum status rows_strand(struct loom_rows *r, int64_t first, struct strand *out,
                        struct err *e) MUST_USE;
enum status rows_put_strand(struct loom_rows *r, const struct strand *s, struct err *e) MUST_USE;

/* How many active prunes hide this slot; *by is the nearest of them on its own strand, or
 * NO_NODE. */
enum status rows_cover(struct loom_rows *r, const struct node *n, int64_t *cover, int64_t *by,
                       struct err *e) MUST_USE;

/* The nearest ancestor-or-self whose depth (seq) is at most the bound. */
enum status rows_up_to_depth(struct loom_rows *r, struct node n, int64_t depth, struct node *out,
                             struct err *e) MUST_USE;
enum status rows_up_to_seq(struct loom_rows *r, struct node n, int64_t seq, struct node *out,
                           bool *found, struct err *e) MUST_USE;

/* ---- folds, one file each; they act on the kinds they know ---- */

/* Message or lane operation: fold_node.c. */
enum status fold_message(struct loom_rows *r, const struct entry *n, const struct json *p,
                         struct err *e) MUST_USE;
enum status fold_lane_op(struct loom_rows *r, const struct entry *n, const struct json *p,
                         struct err *e) MUST_USE;
/* fold_mark.c */
enum status fold_annotation(struct loom_rows *r, const struct entry *n, const struct json *p,
                            struct err *e) MUST_USE;
enum status fold_link(struct loom_rows *r, const struct entry *n, const struct json *p,
                      struct err *e) MUST_USE;
enum status fold_mark(struct loom_rows *r, const struct entry *n, const struct json *p,
                      struct err *e) MUST_USE;
/* fold_prune.c */
enum status fold_prune(struct loom_rows *r, struct node *n, bool hide, struct err *e) MUST_USE;
/* fold_memory.c */
enum status fold_memory(struct loom_rows *r, const struct entry *n, const struct json *p,
                        struct err *e) MUST_USE;
enum status fold_said(struct loom_rows *r, struct sv agent, int64_t seq, struct err *e) MUST_USE;
enum status fold_action(struct loom_rows *r, const struct entry *n, const struct json *p,
                        struct err *e) MUST_USE;

/* fold_result.c: a command's result, and the end of a turn. */
enum status fold_result(struct loom_rows *r, const struct entry *n, const struct json *p,
                        struct sv agent, struct err *e) MUST_USE;
enum status fold_results_turn(struct loom_rows *r, struct sv agent, struct err *e) MUST_USE;

/* What prune and restore of a slot would hide or show: visible nodes below and with it. */
struct tally {
    int64_t nodes, branches, points, leaves;
};
enum status rows_tally(struct loom_rows *r, const struct node *n, struct tally *out,
                       struct err *e) MUST_USE;

/* Where an agent is: the node it wrote or went to last, whatever others have written since.
 * NO_NODE: it went to a lane that had no node yet. */
struct place {
    enum author_kind kind;
    int64_t          node, at; /* at: when it was last seen */
    int64_t          since;    /* the entry that put it there */
    struct sv        lane;
};
enum status rows_place(struct loom_rows *r, struct sv agent, struct place *out, bool *found,
                       struct err *e) MUST_USE;
enum status rows_put_place(struct loom_rows *r, struct sv agent, const struct place *p,
                           struct err *e) MUST_USE;

/* A lane's last node, and the one up to which the talk on it went: nodes that a model was
 * asked for (continue) lie between them until someone goes on from there. */
struct lane_end {
    int64_t tip, talk;
};
enum status rows_lane(struct loom_rows *r, struct sv lane, struct lane_end *out,
                      struct err *e) MUST_USE;

/* A free local id: four characters or more, at least one letter and one digit, so that it
 * can be neither a word of the language nor a number. `draw` fills bytes. */
enum status local_id_new(struct loom_rows *r, void (*draw)(void *ctx, unsigned char *out, size_t n),
                         void *ctx, struct sv *out, struct err *e) MUST_USE;
bool        local_id_is_valid(struct sv id);

/* One side of a link, whether or not it is there already. */
struct link;
enum status link_append(struct loom *l, struct sv agent, const struct node *from,
                        const struct link *link, int64_t *entry, struct err *e) MUST_USE;

/* The text of a message's content, which is a string or an array of parts. */
struct sv content_text(const struct json *content, struct arena *a);

#endif
