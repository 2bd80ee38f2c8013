/* The rows of the loom view, shared by the folds that write them and the functions that
 * read them (thread/rows.h). For the files of this room and its tests. SEQ and N below are 16
 * digits.
 *
 *     tree                      totals, title, description, mode (struct tree)
 *     kept, kept/file           what an imported tree had beside its nodes, and its file
 *     n/SEQ                     a node (struct node)
 *     l/LOCAL                   seq of the node with this local id, in lower case
 *     i/ID                      seq of the node with this full id
 *     root/SEQ                  a node without a parent
 *     s/STRAND                  its last node, prunes above it and on it (struct strand)
 *     f/STRAND/PARENT/CHILD     a strand that forks off this one at PARENT
 *     q/STRAND/SEQ              a prune of the node SEQ on this strand
 *     v/STRAND/SLOT/SEQ         a version
 *     b/SEQ, e/SEQ              a node that is bookmarked, excluded
 *     eh/SEQ/ENTRY              the entry excluded the node ("1") or included it again ("0")
 *     qh/SEQ/ENTRY              the entry pruned the slot ("1") or restored it ("0")
 *     t/LANE                    the lane's end (struct lane_end)
 *     a/SLOT/N                  the annotation ann-N is on this node
 *     ann/N                     an annotation
 *     x/SLOT/N, y/NAME/N        links of a node, of a document (by entry seq)
 *     sum/SEQ, sum/tree         summary of a node, of the tree (by its entry)
 *     todo/SEQ                  which entries from SEQ on wait for a summary (summary_wait)
 *     closed                    an agent left the tree since it was last summarised
 *     dsum/PATH, dtodo/PATH     summary of a document (by its entry); one that waits for a summary
 *     resp/HASH                 raw answer of a model (by its entry)
 *     pos/AGENT                 where an agent is and when it was last seen (struct place)
 *     sel/AGENT/SLOT            the version of a slot that an agent chose
 *     lease/SLOT                who may extend this node, until when
 *     pin/AGENT/N  st/AGENT/LABEL  act/AGENT/N  acts/AGENT
 *     undo/AGENT/SEQ  turn/AGENT  doc/AGENT/PATH       memory (see memory.h)
 *     late/AGENT/SEQ            an undo that was refused once
 *     pre/AGENT/SEQ             what stood before a node (by its entry; see memory.h)
 *     said/AGENT                seqs of the last messages it said, with spaces between
 *     res/AGENT/SEQ             a result that is still seen (see results.h)
 *     last/AGENT                its newest result (by the entry of the command) */
#ifndef HEDDLE_LOOM_INTERNAL_H
#define HEDDLE_LOOM_INTERNAL_H

#include "base/json.h"
#include "loom/limits.h"
#include "loom/node.h"

struct rows rows_of_loom(const struct loom *l);

/* ---- nodes and totals ---- */

enum status rows_node(struct rows *r, int64_t seq, struct node *out, struct err *e) MUST_USE;
/* The nodes whose seqs end the keys of list[0..n), read together. */
enum status rows_nodes(struct rows *r, const struct store_row *list, size_t n, struct node *out,
                       struct err *e) MUST_USE;
enum status rows_put_node(struct rows *r, const struct node *n, struct err *e) MUST_USE;
enum status rows_tree(struct rows *r, struct tree *out, struct err *e) MUST_USE;
enum status rows_put_tree(struct rows *r, const struct tree *t, struct err *e) MUST_USE;

/* The node with this local id (any spelling of it); *found false when there is none. */
enum status rows_find(struct rows *r, struct sv text, struct node *out, bool *found,
                      struct err *e) MUST_USE;

/* Brackets, case and typographic quotes taken away. */
struct sv loom_local_key(struct sv text, struct arena *a);

/* Does a node wait for its summary? A row todo/SEQ has this letter for each of WAITING_BLOCK
 * entries, less those at its end that do not wait. */
enum summary_wait { WAITS_NOT = '-', WAITS = 'w', WAITS_WITH_EXTRACT = 'e' };
enum { WAITING_BLOCK = 256 };
enum status rows_set_waiting(struct rows *r, int64_t seq, enum summary_wait how,
                             struct err *e) MUST_USE;

struct strand {
    int64_t first, end;
    int64_t cover;  /* prunes of nodes above it, on other strands */
    int64_t prunes; /* of its own nodes */
};
enum status rows_strand(struct rows *r, int64_t first, struct strand *out, struct err *e) MUST_USE;
enum status rows_put_strand(struct rows *r, const struct strand *s, struct err *e) MUST_USE;

/* How many active prunes hide this slot; *by is the nearest of them on its own strand, or
 * NO_NODE. */
enum status rows_cover(struct rows *r, const struct node *n, int64_t *cover, int64_t *by,
                       struct err *e) MUST_USE;

/* The nearest ancestor-or-self whose depth (seq) is at most the bound. */
enum status rows_up_to_depth(struct rows *r, struct node n, int64_t depth, struct node *out,
                             struct err *e) MUST_USE;
enum status rows_up_to_seq(struct rows *r, struct node n, int64_t seq, struct node *out,
                           bool *found, struct err *e) MUST_USE;

/* ---- folds, one file each; they act on the kinds they know ---- */

/* Message or lane operation: fold_node.c. */
enum status fold_message(struct rows *r, const struct entry *n, const struct json *p,
                         struct err *e) MUST_USE;
enum status fold_lane_op(struct rows *r, const struct entry *n, const struct json *p,
                         struct err *e) MUST_USE;
/* fold_mark.c */
enum status fold_annotation(struct rows *r, const struct entry *n, const struct json *p,
                            struct err *e) MUST_USE;
enum status fold_link(struct rows *r, const struct entry *n, const struct json *p,
                      struct err *e) MUST_USE;
enum status fold_mark(struct rows *r, const struct entry *n, const struct json *p,
                      struct err *e) MUST_USE;
/* fold_prune.c */
/* `by`: the entry that says so. */
enum status fold_prune(struct rows *r, struct node *n, bool hide, int64_t by,
                       struct err *e) MUST_USE;
/* fold_memory.c */
enum status fold_memory(struct rows *r, const struct entry *n, const struct json *p,
                        struct err *e) MUST_USE;
enum status fold_said(struct rows *r, struct sv agent, int64_t seq, struct err *e) MUST_USE;
enum status fold_action(struct rows *r, const struct entry *n, const struct json *p,
                        struct err *e) MUST_USE;

/* fold_result.c: a command's result, and the end of a turn. */
enum status fold_result(struct rows *r, const struct entry *n, const struct json *p,
                        struct sv agent, struct err *e) MUST_USE;
enum status fold_result_pinned(struct rows *r, struct sv agent, int64_t seq, const struct json *p,
                               struct err *e) MUST_USE;
/* `later`: entries of results that a later round named, or NULL. */
enum status fold_results_turn(struct rows *r, struct sv agent, const struct json *later,
                              struct err *e) MUST_USE;

/* What prune or restore of a slot would hide or show: the slot and the visible nodes below it. */
struct tally {
    int64_t nodes, branches, points, leaves;
};
enum status rows_tally(struct rows *r, const struct node *n, struct tally *out,
                       struct err *e) MUST_USE;

/* Where an agent is: the node it wrote or went to last, whatever others have written since.
 * NO_NODE: it went to a lane that had no node yet. */
struct place {
    enum author_kind kind;
    int64_t          node, at; /* at: when it was last seen */
    int64_t          since;    /* the entry that put it there */
    struct sv        lane;
};
enum status rows_has_place(struct rows *r, struct sv agent, bool *found, struct err *e) MUST_USE;
enum status rows_place(struct rows *r, struct sv agent, struct place *out, bool *found,
                       struct err *e) MUST_USE;
enum status rows_put_place(struct rows *r, struct sv agent, const struct place *p,
                           struct err *e) MUST_USE;

/* A lane's last node, and the last node of its conversation. Between them are continuations that
 * were generated (continue) and that nobody has replied to yet. */
struct lane_end {
    int64_t tip, talk;
};
enum status rows_lane(struct rows *r, struct sv lane, struct lane_end *out, struct err *e) MUST_USE;
enum status rows_put_lane(struct rows *r, struct sv lane, const struct lane_end *end,
                          struct err *e) MUST_USE;

/* Draw the bytes of the next local id early, and hint to the store that the row of that id will be
 * looked up, so that one answer of a distant store holds this row and what is asked before it. */
struct drawn {
    unsigned char raw[LOCAL_ID_MAX];
    size_t        n; /* 0: used up */
};
enum status loom_local_id_want(struct rows *r,
                               void (*draw)(void *ctx, unsigned char *out, size_t n), void *ctx,
                               struct drawn *out, struct err *e) MUST_USE;

/* A free local id: four characters or more, at least one letter and one digit, so that it can be
 * neither a word of the language nor a number. `draw` fills bytes. After three draws that are taken
 * or do not spell an id, the id gets one character longer. Ids derived from the chain of an entry
 * depend on this rule, and must stay the same when a view is folded again. */
enum status loom_local_id_new(struct rows *r, void (*draw)(void *ctx, unsigned char *out, size_t n),
                              void *ctx, struct sv *out, struct err *e) MUST_USE;
bool        loom_local_id_is_valid(struct sv id);
bool        loom_local_id_is_spelled(const unsigned char *raw, size_t n); /* by drawn bytes */

/* One side of a link, which may exist already. */
struct link;
enum status link_append(struct loom *l, struct sv agent, const struct node *from,
                        const struct link *link, int64_t *entry, struct err *e) MUST_USE;

/* The text of a message's content, which is a string or an array of parts. */
struct sv loom_content_text(const struct json *content, struct arena *a);

/* The text of a message: its content or, for a message that only calls tools, the calls with their
 * arguments. */
struct sv loom_message_text(const struct json *payload, struct arena *a);

#endif
