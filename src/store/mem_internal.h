/* Shared by the files of the store in memory; mem.c describes it. */
#ifndef HEDDLE_MEM_INTERNAL_H
#define HEDDLE_MEM_INTERNAL_H

#include "store/store_internal.h"
#include "store/tree.h"

#include <pthread.h>

/* What the opens of one name share. */
struct mem_db {
    struct mem_db     *next;
    char              *name; /* "": private */
    pthread_mutex_t    lock; /* guards what follows */
    pthread_cond_t     freed;
    struct store_tree *now;
    bool               writing;
    int64_t            commits; /* of transactions that wrote */
};

struct mem_store {
    struct store       base;
    struct mem_db     *db;
    int                busy_ms;
    bool               in, writing; /* a transaction is open; it writes */
    struct store_tree *seen;        /* the version the transaction works on */
    struct store_tree *before_part; /* what an undone part of a group goes back to */
    struct arena       scratch;     /* for keys; emptied after each call */
};

static inline struct mem_store *mem_of(struct store *s)
{
    return (struct mem_store *)s;
}

/* ---- transactions (mem.c) ------------------------------------------------------------ */

/* The version a call reads: that of the transaction, else the newest. Held for the caller. */
struct store_tree *mem_look(struct mem_store *m);

static inline struct arena_mark mem_scratch_mark(struct mem_store *m)
{
    return arena_mark(&m->scratch);
}

/* ---- keys, and entries at rest (mem_keys.c) ------------------------------------------- */

int64_t   mem_seq_at_end(struct sv key);
struct sb mem_table_key(char table, struct sv thread, struct arena *a);
struct sv mem_thread_key(struct sv thread, struct arena *a);
struct sv mem_key_of_entry(struct sv thread, int64_t seq, struct arena *a);
struct sv mem_lane_key(struct sv thread, enum entry_mark mark, struct sv lane, int64_t seq,
                       struct arena *a);
struct sv mem_op_key(struct sv thread, struct sv op_id, struct arena *a);
struct sv mem_row_key(struct sv thread, struct sv view, struct sv key, struct arena *a);

/* A text with its length in front, as keys have it; *rest is what follows. */
struct sv mem_counted(struct sv from, struct sv *rest);

/* An entry at rest: this, then the bytes of its texts one after another. */
enum { MEM_TEXTS = 7, MEM_ABSENT = -1 };
struct mem_entry {
    int64_t         at;
    enum entry_mark mark;
    int32_t         n[MEM_TEXTS]; /* MEM_ABSENT: the text is not there */
    struct hash     chain;
    bool            salted, erased;
    unsigned char   salt[ENTRY_SALT_SIZE];
    struct hash     content; /* of an erased entry */
};
struct sv    mem_pack(const struct entry *n, struct arena *a);
struct entry mem_unpack(struct sv value, int64_t seq);

/* Items with low <= key <= high (high_open: key < high) of a version, either way. */
struct mem_range {
    struct store_tree *in;
    struct sv          low, high, last;
    bool               high_open, backwards, started;
};
bool             mem_range_next(struct mem_range *r, struct tree_item *out);
struct mem_range mem_range_of_prefix(struct store_tree *t, struct sv prefix, struct arena *a);

/* ---- the log (mem_log.c) -------------------------------------------------------------- */

bool mem_read_head(struct store_tree *t, struct sv thread, struct arena *a, struct store_head *out);
void mem_write_head(struct mem_store *m, struct sv thread, const struct store_head *h);
enum status mem_head(struct store *s, struct sv thread, struct store_head *out, struct err *e);
enum status mem_insert(struct store *s, struct sv thread, int64_t rev, const struct entry *entries,
                       size_t n, struct err *e);
enum status mem_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                     struct err *e);
enum status mem_next(struct store_scan *base, struct entry *out, bool *more, struct err *e);
void        mem_scan_close(struct store_scan *base);
enum status mem_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                        struct entry *out, bool *found, struct err *e);
enum status mem_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                         bool *found, struct err *e);
enum status mem_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark want,
                         struct err *e);
enum status mem_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                      struct err *e);
enum status mem_rechain(struct store *s, struct sv thread, const struct entry *n, bool last,
                        struct err *e);
enum status mem_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                        struct err *e);

/* ---- rows (mem_rows.c) ---------------------------------------------------------------- */

enum status mem_row_get(struct store *s, const struct store_key *k, struct arena *a,
                        struct sv *value, bool *found, struct err *e);
enum status mem_row_put(struct store *s, const struct store_key *k, struct sv value, struct err *e);
enum status mem_row_del(struct store *s, const struct store_key *k, struct err *e);
enum status mem_rows(struct store *s, const struct store_row_query *q, struct store_rows **out,
                     struct err *e);
enum status mem_rows_next(struct store_rows *base, struct store_row *out, bool *more,
                          struct err *e);
void        mem_rows_close(struct store_rows *base);
enum status mem_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e);
enum status mem_set_views(struct store *s, struct sv thread, int64_t views, struct err *e);

/* ---- care (mem_care.c) ---------------------------------------------------------------- */

enum status mem_version(struct store *s, int64_t *out, struct err *e);
enum status mem_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                      struct err *e);
enum status mem_stats(struct store *s, struct store_stats *out, struct err *e);
enum status mem_check(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e);
enum status mem_compact(struct store *s, struct err *e);
const char *mem_unreached(const struct store *s, bool *waits);
enum status mem_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                      struct err *e);
enum status mem_drop(struct store *s, struct sv thread, struct err *e);
enum status mem_views(struct store *s, struct sv thread, struct arena *a, struct sv **out,
                      size_t *n, struct err *e);
enum status mem_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                      struct err *e);
enum status mem_moved_get(struct store *s, struct arena *a, struct sv *moved, struct sv *came,
                          struct err *e);
enum status mem_moved_set(struct store *s, struct sv moved, struct sv came, struct err *e);

#endif
