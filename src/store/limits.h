/* All limits of this room. Input beyond one of the first group is refused with
 * ST_LIMIT_EXCEEDED. */
#ifndef HEDDLE_STORE_LIMITS_H
#define HEDDLE_STORE_LIMITS_H

enum {
    /* An entry, and one append. */
    ENTRY_KIND_MAX = 64,
    ENTRY_ID_MAX = 128,
    ENTRY_PAYLOAD_MAX = 16 << 20,
    ENTRY_REFS_MAX = 64 << 10,
    BATCH_ENTRIES_MAX = 10000,
    BATCH_BYTES_MAX = 64 << 20,

    /* What is put into the place of a log in one write transaction. */
    REPLACE_ENTRIES = 4000,
    REPLACE_BYTES = 8 << 20,
    REPLACE_ROWS = 20000,

    STORE_BUSY_MS = 30000,          /* how long a writer waits for another */
    STORE_PROVE_MAX = 16,           /* entries whose hashes are computed together */
    STORE_WANT_MAX = 64,            /* keys of one store_want() */
    STORE_KNOWN_BITS_MAX = 1 << 26, /* of a filter of rows: see struct store_known */
    SQLITE_SKIP_MAX = 1 << 20, /* entries behind damage among which a readable one is looked for */
    STORE_OBJECT_MAX = 64 << 20, /* bytes of content that machines share */
    STORE_DROP_SLICE = 4000,     /* entries or rows of a dropped thread removed at once */
    STORE_BLOB_MIN = 4096,       /* payloads from here on are stored once, by their hash */

    /* PostgreSQL: see postgres_url.h. Its identifiers have at most 63 bytes, the id of a workspace
     * WORKSPACE_ID_MAX of them. */
    POSTGRES_NAME_MAX = 63,
    WORKSPACE_ID_MAX = 40,
    POSTGRES_PREFIX_MAX = POSTGRES_NAME_MAX - WORKSPACE_ID_MAX - 1,
    POSTGRES_PARTITIONS = 16,
    POSTGRES_PARTITIONS_MAX = 256,
    POSTGRES_POOL = 32,
    POSTGRES_POOL_MAX = 1000,
    POSTGRES_STATEMENT_MS = 60000,
    POSTGRES_COMMIT_MS = 30000,

    /* What a transaction remembers: see seen.c. */
    SEEN_HEADS = 4,
    SEEN_ROWS = 256,
    SEEN_ROW_BYTES = 1000,
};

#endif
