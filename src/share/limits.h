/* All limits of this room: how large the input of other programs may be, and how far it is
 * followed. */
#ifndef HEDDLE_SHARE_LIMITS_H
#define HEDDLE_SHARE_LIMITS_H

enum {
    SHARE_TEXT_MAX = 1 << 20, /* bytes of a text that a command is given */

    /* Files of a thread: how deep and how many. */
    SCOPE_DEPTH_MAX = 64,
    SCOPE_FILES_MAX = 20000,
    COPIES_MAX = 20000, /* frozen copies that are looked for on disk */
    COPIES_DEPTH = 64,
    PLACE_TRIES = 1000,   /* names that are tried for a copy */
    ERASE_DEPTH_MAX = 64, /* when words are looked for in files */
    ERASE_FILE_MAX = 64 << 20,

    /* Files that are read. */
    FROZEN_MAX_BYTES = 16 << 20,
    BLOCK_BYTES_MAX = 16 << 20, /* of an asset block, and its items */
    BLOCK_ITEMS_MAX = 100000,
    STAMP_MAX = 1 << 16,

    /* Beyond these a file is written as a whole, a text is not merged line by line. */
    PATCH_ENTRIES_MAX = 64,
    MERGE_LINES_MAX = 20000,
    MERGE_STEPS_MAX = 4000,

    SHARE_UNDONE_MAX = 64, /* effects that failed and are remembered */
};

#endif
