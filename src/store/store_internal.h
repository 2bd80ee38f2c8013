/* What a backend provides. For the files of this room and its tests. store.c checks what
 * is true for all backends (limits, names, revs, the chain, open transactions) before it calls. */
#ifndef HEDDLE_STORE_INTERNAL_H
#define HEDDLE_STORE_INTERNAL_H

#include "base/path.h"
#include "store/store.h"

struct store_ops {
    const char *scheme;

    void (*close)(struct store *);
    enum status (*begin)(struct store *, enum store_mode, struct err *);
    enum status (*commit)(struct store *, struct err *); /* failure leaves it open */
    void (*abort)(struct store *);

    enum status (*head)(struct store *, struct sv thread, struct store_head *, struct err *);

    /* Entries with seq and chain filled in, of which the first has seq `rev`. A thread
     * with rev 0 is made. ST_CONFLICT "op_id" when one is taken; ST_CONFLICT "rev" when
     * another writer got there first, where the engine can tell only now. */
    enum status (*insert)(struct store *, struct sv thread, int64_t rev, const struct entry *,
                          size_t n, struct err *);

    enum status (*scan)(struct store *, const struct store_query *, struct store_scan **,
                        struct err *);
    enum status (*next)(struct store_scan *, struct entry *, bool *more, struct err *);
    void (*scan_close)(struct store_scan *);
    enum status (*find_op)(struct store *, struct sv thread, struct sv op_id, struct arena *,
                           struct entry *, bool *found, struct err *);
    /* The chain value of one entry. *found is false when it is missing or damaged. */
    enum status (*chain_at)(struct store *, struct sv thread, int64_t seq, struct hash *,
                            bool *found, struct err *);
    enum status (*set_mark)(struct store *, struct sv thread, int64_t seq, enum entry_mark,
                            struct err *);
    /* What store_erase() says, of entries that are of version 2, not erased, and whole. */
    enum status (*erase)(struct store *, struct sv thread, const struct entry *, size_t n,
                         struct err *);
    /* Give an entry its id, payload, salt and chain value; after the last one the thread version 2
     * and the head. */
    enum status (*rechain)(struct store *, struct sv thread, const struct entry *, bool last,
                           struct err *);
    enum status (*threads)(struct store *, struct arena *, struct store_thread **, size_t *n,
                           struct err *);

    enum status (*row_get)(struct store *, const struct store_key *, struct arena *, struct sv *,
                           bool *found, struct err *);
    enum status (*row_put)(struct store *, const struct store_key *, struct sv, struct err *);
    enum status (*row_del)(struct store *, const struct store_key *, struct err *);
    enum status (*rows)(struct store *, const struct store_row_query *, struct store_rows **,
                        struct err *);
    enum status (*rows_next)(struct store_rows *, struct store_row *, bool *more, struct err *);
    void (*rows_close)(struct store_rows *);
    enum status (*rows_clear)(struct store *, struct sv thread, struct sv view, struct err *);
    enum status (*set_views)(struct store *, struct sv thread, int64_t views, struct err *);

    /* Words of entries; NULL for all three when the engine has no index of words. */
    enum status (*text_last)(struct store *, struct sv thread, int64_t *seq, struct err *);
    enum status (*text_put)(struct store *, struct sv thread, int64_t seq, struct sv text,
                            struct err *);
    enum status (*text_find)(struct store *, struct sv thread, const struct sv *words, size_t n,
                             size_t max, struct arena *, struct store_hit **, size_t *count,
                             struct err *);

    enum status (*stats)(struct store *, struct store_stats *, struct err *);
    enum status (*check)(struct store *, void (*say)(void *, struct sv), void *ctx, struct err *);
    enum status (*adopt_lost)(struct store *, int64_t *n, struct err *); /* NULL: never any */
    enum status (*compact)(struct store *, struct err *);
    enum status (*scrub)(struct store *, void (*removed)(void *, struct sv), void *ctx,
                         struct err *);
};

/* First member of each backend's own struct; likewise store_scan and store_rows. */
struct store {
    const struct store_ops *ops;
    int                     open;       /* 0: no transaction, 1: reading, 2: writing */
    bool                    rows_apart; /* rows are in memory: they may be put while reading */
};
struct store_scan {
    struct store *store;
    char          thread[NAME_MAX_BYTES + 1];
    int64_t       lost; /* entries passed over, counted by the backend */
    int64_t       last; /* of store_prove(): the seq it was asked last, and its chain value */
    struct hash   last_chain;
};
struct store_rows {
    struct store *store;
};

/* The smallest key that no key with this prefix reaches; absent when there is none. */
struct sv store_prefix_end(struct sv prefix, struct arena *a);

/* One open function per scheme; `rest` is what follows "scheme:". */
enum status sqlite_open(struct sv rest, const struct store_options *, struct store **,
                        struct err *);
enum status mem_open(struct sv rest, const struct store_options *, struct store **, struct err *);
enum status fault_open(struct sv rest, const struct store_options *, struct store **, struct err *);

/* Of a store opened as fault:K:URL: the calls it has had; let the k-th from now fail, and
 * count from 0 again (k = 0: none fails). */
int64_t fault_calls(const struct store *s);
void    fault_arm(struct store *s, int64_t k);

#endif
