/* The conversation that leads to a node, message by message from its end, each as a model is shown
 * it. What is hidden by a snapshot of the lane (a compaction) is not read; the snapshot's own
 * messages come last. For the files of this room.
 *
 *     struct talk t;
 *     if (talk_open(&t, &setup, &here, a, e)) ...
 *     if (talk_read(&t, 20000, SIZE_MAX, e)) ...      newest first, until they have 20,000 tokens
 *     for (size_t i = 0; i < t.items.n; i++) use(&t.items.v[i]);
 *
 * Cost: what is read, however long the conversation is. */
#ifndef HEDDLE_TALK_H
#define HEDDLE_TALK_H

#include "assemble/counts.h"
#include "base/map.h"
#include "base/vec.h"
#include "loom/memory.h"
#include "loom/show.h"
#include "thread/project.h"

struct talk_item {
    struct node node; /* node.seq is NO_NODE: a message that is not a node */
    bool        of_snapshot;
    size_t      index;        /* place in the conversation, 0 for the newest */
    const char *role;         /* "user" or "assistant"; NULL: nothing of it is sent */
    struct sv   block;        /* <thread_context> that was put before it, or absent */
    struct sv   text;         /* metadata and content, without the block */
    struct sv   media;        /* pictures: JSON parts with commas between, or absent */
    size_t      media_tokens; /* of the pictures, which is a guess */
    struct sv   details;      /* thinking that may go back with it (thinking.h); or absent */
    size_t      tokens;       /* of block, text, media and details, and for the message */
    struct sv  *calls;        /* ids of calls that it makes, then of calls that it answers */
    size_t      n_calls, n_answers;
    size_t      thoughts; /* parts of thinking that are not sent */
    bool        pinned, excluded;
    bool        instruction;  /* for the prompt of an agent that sees no nodes: it has no role */
    bool        has_preamble; /* its preamble was recorded */
};

/* Who is shown what. */
struct talk_setup {
    struct loom           *loom;
    const struct viewer   *viewer;
    struct counts         *counts;
    bool                   aware;
    bool                   no_block; /* blocks that were put in before are not shown */
    const struct pin      *pins;
    size_t                 n_pins;
    const struct preamble *preambles;
    size_t                 n_preambles;
};

struct talk {
    struct talk_setup setup;
    struct arena     *a;
    struct projection p;
    bool              buffer;
    struct node       here;
    VEC(struct talk_item) items; /* newest first */
    VEC(bool) parted;            /* by item: a cut before (newer than) it parts a call and result */
    struct map  answered;      /* id of a call that was not met → 1 + index of what answers it */
    size_t      open, open_at; /* number of such calls, and the index of the last */
    size_t      total;         /* how many there are in all */
    struct node next;          /* slot of the next node to read, when there is one */
    int64_t     first;         /* depth of the oldest node that no snapshot hides */
    int64_t     block_at;      /* the node whose message shows the block, or NO_NODE */
    size_t      tokens;        /* of all items read */
};

/* In a transaction; `here` may be NULL: the tree is empty. */
enum status talk_open(struct talk *t, const struct talk_setup *setup, const struct node *here,
                      struct arena *a, struct err *e) MUST_USE;

/* Read on until the items have more than `tokens` tokens, are `count`, or are all. */
enum status talk_read(struct talk *t, size_t tokens, size_t count, struct err *e) MUST_USE;

/* One item by its place, whether or not those before it were read. */
enum status talk_item_at(struct talk *t, size_t index, struct talk_item *out,
                         struct err *e) MUST_USE;

/* The index of a node in the conversation; *found is false when it is on another branch, another
 * version, or hidden by the snapshot. */
enum status talk_place_of(struct talk *t, struct sv local, size_t *index, bool *found,
                          struct err *e) MUST_USE;

/* The node that a message of a snapshot was, when its refs name one. */
enum status talk_node_of(struct loom *l, const struct message *m, struct node *out, bool *found,
                         struct err *e) MUST_USE;

/* What a message says as text, without metadata: calls and results of tools too. */
enum status talk_plain(const struct message *m, struct arena *a, struct sv *out,
                       struct err *e) MUST_USE;

enum { TALK_SUMMARY_CHARS = 300 };

/* One line: who, when and the node's summary, at most TALK_SUMMARY_CHARS characters of it. */
enum status talk_summary(struct talk *t, const struct talk_item *x, struct sb *b,
                         struct err *e) MUST_USE;

/* May the conversation be cut so that items[0..n) stay together and the older ones do not: is no
 * call parted from its result? Of what was read. */
bool talk_can_cut(const struct talk *t, size_t n);

#endif
