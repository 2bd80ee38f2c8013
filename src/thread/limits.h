/* All limits of this room: how much is kept, read or searched. */
#ifndef HEDDLE_THREAD_LIMITS_H
#define HEDDLE_THREAD_LIMITS_H

enum {
    /* Runs. */
    RUN_QUEUE_MAX = 64,    /* inputs that wait */
    RUN_TRACE_MAX = 2000,  /* events that a report remembers */
    RUN_APPLIED_MAX = 128, /* op_ids that a status lists, the newest first */

    /* Checkpoint tokens. */
    TOKEN_PAYLOAD_MAX = 16 << 20, /* of the unsealed payload */
    TOKEN_MAX = 32 << 20,         /* of the token's text: a sealed payload is encoded twice */
    TOKEN_KEYS_MAX = 16,
    TOKEN_SECRET_MIN = 16, /* bytes; a secret that can be guessed lets others sign */

    /* Anchors of heads in .global: one is written automatically after ANCHOR_EVERY entries of
     * .global, unless there are too many threads to read all their heads at once. */
    ANCHOR_EVERY = 256,
    ANCHOR_THREADS_MAX = 1000,

    /* Erasing. Words shorter than NEEDLE_MIN would be found everywhere; of a text of several lines
     * its long lines are looked for too, because quotations consist of lines. */
    ERASE_BATCH = 1024, /* entries at once, and bytes of them */
    ERASE_BATCH_BYTES = 16 << 20,
    ERASE_SLICE = 4000, /* entries whose content is taken out in one transaction */
    ERASE_TAIL = 4000,  /* entries behind a plan that are looked through while others wait */
    NEEDLE_MIN = 8,
    NEEDLE_LINE_MIN = 24,
    NEEDLE_UNPACK_MAX = 6, /* levels of packing (JSON in strings, tokens) that are searched */

    /* Folding views again: of one write transaction (fold.c). The rows are those of before that are
     * dropped. */
    FOLD_SLICE = 4000,
    FOLD_SLICE_BYTES = 8 << 20,
    FOLD_SLICE_ROWS = 20000,
    FOLD_ROWS_AN_ENTRY = 6, /* about, for the size of a filter */

    /* Following: of one follow_take(). */
    FOLLOW_ENTRIES = 256,
    FOLLOW_BYTES = 1 << 20,
};

#endif
