/* A request while it is put together: what was collected, and what of it is to be sent. For the
 * files of this room: collect.c fills it, prune.c decides with the help of choose.c, assemble.c
 * writes it out. */
#ifndef HEDDLE_DRAFT_H
#define HEDDLE_DRAFT_H

#include "assemble/assemble.h"
#include "assemble/talk.h"
#include "loom/results.h"

#define DRAFT_TRUNCATED "[... earlier messages truncated ...]\n\n"

/* What of the conversation is sent. Places are counted without the input, 0 for the newest item. */
struct assembly_choice {
    size_t full;                 /* how many of the newest are sent in full */
    size_t summed;               /* how many older ones are sent as summaries */
    VEC(struct talk_item) heads; /* of the oldest, sent in full, oldest first */
    VEC(struct talk_item) kept;  /* pinned ones between them, likewise */
    struct sv earlier;           /* text about those that are not sent in full; empty: none */
    bool      truncated;         /* DRAFT_TRUNCATED stands before the first of the newest */
    size_t    tokens;            /* of all of that, exact */
    size_t    pinned;            /* tokens of pinned items that have to stay in any case */
};

struct assembly_draft {
    const struct assembly_request *q;
    struct assembly               *x;
    struct arena                  *a;
    struct viewer                  viewer;
    struct viewer                  chooser; /* whose versions are sent */
    struct loom                    loom;
    bool                           has_here;
    enum assembly_strategy         strategy; /* never ASSEMBLY_AUTO */
    struct talk                    talk;
    struct pin                    *pins;
    size_t                         n_pins;
    size_t                         input_items; /* 1: the newest item is the input, else 0 */

    /* The parts, as they would be sent now. */
    struct sv       system, instructions, addendum, memory;
    struct visible *results;
    struct sv      *result_texts;
    bool           *result_dropped;
    size_t          n_results;
    struct sv       loom_block;
    struct sv       resources;
    VEC(struct assembly_section) resource_parts;
    VEC(struct assembly_cut) resource_cuts;
    struct sv block, injected, input; /* absent: none */
    bool      wants_block;            /* the block stands before the input */
    bool      recorded;               /* what stands before the input is in the log */

    struct memory_show     memory_how;
    bool                   only_counted;  /* older messages get no summaries any more */
    size_t                 memory_tokens; /* as it was collected */
    struct assembly_choice choice;
};

/* ---- collect.c ---- */

enum status draft_collect(struct assembly_draft *d, struct err *e) MUST_USE;

/* Write these parts again, after what they depend on has changed. */
enum status draft_memory(struct assembly_draft *d, struct err *e) MUST_USE;
enum status draft_loom(struct assembly_draft *d, struct err *e) MUST_USE;

/* The system prompt and the texts of the messages that are not conversation: the one with the loom
 * block, and the last one. Empty: there is none. */
struct sv draft_system_text(struct assembly_draft *d);
struct sv draft_tail_text(struct assembly_draft *d);
struct sv draft_last_text(struct assembly_draft *d);

/* The pictures of the input: JSON parts with commas between, or absent. */
struct sv draft_input_media(const struct assembly_draft *d);

/* Tokens of everything except the conversation, ASSEMBLY_MESSAGE_TOKENS included. */
size_t draft_fixed(struct assembly_draft *d);

/* ---- choose.c ---- */

/* The items of the conversation beside the input: how many there are, how many were read, and one
 * that was read. */
size_t                  draft_items(const struct assembly_draft *d);
size_t                  draft_items_read(const struct assembly_draft *d);
const struct talk_item *draft_item(const struct assembly_draft *d, size_t i);

/* How many items at the end stay as they are where possible. */
size_t draft_recent(const struct assembly_draft *d);

/* In buffer mode the conversation is one text: that of the newest `n` items. */
struct sv draft_prose(struct assembly_draft *d, size_t n);

/* Choose everything, if it has at most `room` tokens. */
enum status draft_choose_all(struct assembly_draft *d, size_t room, bool *fits,
                             struct err *e) MUST_USE;

/* Choose by the strategy as much as fits in `room` tokens; *fits is false when the newest `least`
 * items and the pinned ones have more. */
enum status draft_choose(struct assembly_draft *d, size_t room, size_t least, bool *fits,
                         struct err *e) MUST_USE;

/* Tokens of the newest `least` items and all pinned ones, and of saying what is left out. */
enum status draft_least(struct assembly_draft *d, size_t least, size_t *tokens,
                        struct err *e) MUST_USE;

/* Does a message that is sent in full show the <thread_context> block? */
bool draft_shows_block(const struct assembly_draft *d);

/* ---- prune.c ---- */

/* Decide what is sent, so that it fits. ST_LIMIT_EXCEEDED. */
enum status draft_fit(struct assembly_draft *d, struct err *e) MUST_USE;

/* ---- cuts.c ---- */

/* Name everything that is not sent as it stands in the log: x->cuts. */
enum status draft_cuts(struct assembly_draft *d, struct err *e) MUST_USE;

#endif
