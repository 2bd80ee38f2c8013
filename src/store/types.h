/* The structs of a store's queries and answers, without the calls. The thread room passes these to
 * the rooms above it, which never call a store themselves. */
#ifndef HEDDLE_STORE_TYPES_H
#define HEDDLE_STORE_TYPES_H

#include "store/entry.h"

struct store;
struct store_scan;
struct store_rows;

enum store_mode { STORE_READ, STORE_WRITE };

/* Reason of an ST_IO: the store may not be written, now or later. */
#define STORE_READ_ONLY "read_only"

/* Reason of an ST_CONFLICT: the log was moved to another store. */
#define STORE_MOVED "moved"

struct store_head {
    int64_t     rev;     /* number of entries; 0: the thread does not exist */
    struct hash chain;   /* of the last entry; zero when rev is 0 */
    int64_t     created; /* at of the first entry and of the last one */
    int64_t     updated;
    int64_t     views; /* as set by store_set_views(); 0 at first */
    /* rev and chain as the last append recorded them beside the entries. They differ from the two
     * above when entries were cut off or added outside heddle: store_head_agrees(). */
    int64_t     recorded_rev;
    int         version; /* of the chain: that of the first entry; 0 when rev is 0 */
    struct hash recorded_chain;
};

#define STORE_ANY_REV ((int64_t)-1)

/* Which entries of a thread: from <= seq <= to. */
struct store_query {
    struct sv       thread;
    int64_t         from, to;
    struct sv       lane; /* absent: every entry; else only those of the lane with ... */
    enum entry_mark mark; /* ... this mark (not MARK_NONE) */
    bool            backwards;
    bool            brief; /* only seq, at, payload and refs are wanted; the rest may be absent */
};
#define STORE_TO_END INT64_MAX

struct store_thread {
    struct sv         id;
    struct store_head head;
    bool              damaged; /* the head cannot be read, and is not filled in */
};

struct store_row {
    struct sv key, value;
};

/* Rows whose key starts with `prefix`, from the first key >= `after` (absent: the first;
 * backwards: from the last key <= `after`). */
struct store_row_query {
    struct sv thread, view, prefix, after;
    bool      backwards;
};

/* The bytes of a row from the struct that it is kept as: see store_put_object(). */
typedef struct sv (*store_encode_fn)(const void *object, struct arena *a);

struct store_hit {
    struct sv thread;
    int64_t   seq;
};

/* What the entries of a thread (`view` absent) or the rows of one of its views take. */
struct store_size {
    struct sv thread, view;
    int64_t n, bytes; /* entries or rows; bytes as they were given, without what the engine adds */
};

struct store_stats {
    int64_t threads, entries, rows, blobs;
    int64_t file_bytes, wal_bytes, free_bytes;
    int     schema;
};

#endif
