/* All limits of this room: how much is kept, shown or searched. */
#ifndef HEDDLE_LOOM_LIMITS_H
#define HEDDLE_LOOM_LIMITS_H

enum {
    LOCAL_ID_MIN = 4, /* characters */
    LOCAL_ID_MAX = 64,

    LEASE_MS = 120 * 1000, /* how long a node is kept for the agent that extends it */

    /* Memory of an agent. */
    TRACE_KEPT = 10, /* actions kept one by one; older ones become counts */
    TRACE_SHORT = 3, /* of those, what is left when a context is too long */
    PINS_MAX = 50,   /* beyond it a pin is refused */
    STASH_LABEL_MAX = 200,
    PREAMBLES_MAX = 64,    /* nodes whose preambles are shown again */
    RESULTS_MAX = 20,      /* results kept; the oldest go first */
    RESULT_ITEMS_MAX = 50, /* items remembered of one result */

    /* What is shown. */
    LIST_MAX = 50, /* lines; what is beyond is counted */
    TREE_DEPTH = 5,
    TREE_DEPTH_MAX = 50,
    TREE_LINES_MAX = 200,
    BRANCH_NODES_MAX = 2000,

    /* Finding. */
    NEAR_IDS_MAX = 256, /* local ids that are compared with a mistyped one */
    ELSEWHERE_MAX = 64, /* with more threads an id is not looked for in the others */
    QUERY_WORDS_MAX = 32,
    INDEX_SLICE = 2000,          /* entries that one transaction puts into the index of words ... */
    INDEX_SLICE_BYTES = 1 << 20, /* ... and bytes */
    QUERY_WORDLESS_MAX = 64,     /* entries without words behind the last indexed one */
};

#endif
