/* What a backend provides. For the files of this room and its tests. The calls of store.h
 * (store.c, store_log.c, store_rows.c, store_care.c) check what is true for all backends (limits,
 * names, revs, the chain, open transactions) before they call. */
#ifndef HEDDLE_STORE_INTERNAL_H
#define HEDDLE_STORE_INTERNAL_H

#include "base/path.h"
#include "store/store.h"

/* Why a sleep ended. */
enum pause_end { PAUSE_TIME, PAUSE_HINT, PAUSE_PEER_GONE, PAUSE_SIGNAL };

struct store_ops {
    const char *scheme;

    void (*close)(struct store *);
    /* `thread`: what the transaction is about (store_begin_on()), or absent. */
    enum status (*begin)(struct store *, enum store_mode, struct sv thread, struct err *);
    enum status (*commit)(struct store *, struct err *); /* failure leaves it open */
    void (*abort)(struct store *);
    /* Of a group: a part of the write transaction that `begin` opened (without a thread) which can
     * be undone by itself, as with a savepoint; `thread` as for begin. `part_end` keeps it or
     * undoes it. An error of either means that the transaction as a whole is lost, except
     * ST_CONFLICT "busy" of part_begin: a thread is locked, and there is no part. NULL for both: no
     * groups. */
    enum status (*part_begin)(struct store *, struct sv thread, struct err *);
    enum status (*part_end)(struct store *, bool keep, struct err *);

    /* Hints: what will be asked for soon; NULL for all when the engine has no use for them. */
    void (*group_want)(struct store *, const struct store_part *, size_t n);
    void (*want)(struct store *, const struct store_key *, size_t n);
    void (*want_op)(struct store *, struct sv thread, struct sv op_id);
    void (*want_scan)(struct store *, const struct store_query *);
    void (*bulk)(struct store *, bool on);

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
    /* As store_erase(), for entries of version 2 that are not erased and not damaged. */
    enum status (*erase)(struct store *, struct sv thread, const struct entry *, size_t n,
                         struct err *);
    /* Store id, payload, salt and chain value of an entry; after the last entry also version 2 and
     * the new head of the thread. */
    enum status (*rechain)(struct store *, struct sv thread, const struct entry *, bool last,
                           struct err *);
    enum status (*threads)(struct store *, struct arena *, struct store_thread **, size_t *n,
                           struct err *);
    /* NULL: reading the ids alone would not be cheaper than `threads`. */
    enum status (*thread_ids)(struct store *, struct arena *, struct sv **, size_t *n,
                              struct err *);

    /* As the calls for staged threads; both NULL where a transaction locks single threads. */
    enum status (*staged)(struct store *, struct arena *, struct sv **, size_t *n, struct err *);
    enum status (*rename)(struct store *, struct sv from, struct sv to, struct err *);

    /* A number that changes with each commit of a write transaction, also by other processes. */
    enum status (*version)(struct store *, int64_t *, struct err *);
    /* Sleep until something may have been committed, at most `ms` milliseconds; store_pause() does
     * the sleeping. NULL: the engine cannot tell, and is asked for its version more often. */
    enum status (*pause)(struct store *, int ms, int peer, enum pause_end *, struct err *);
    /* As store_let_others(); NULL: nobody waits for the whole store. */
    void (*let_others)(struct store *);

    /* As store_mark(); NULL: there are none. As store_in_place(); NULL: always. */
    bool (*mark)(struct store *, struct store_mark *);
    bool (*in_place)(struct store *);

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

    enum status (*views)(struct store *, struct sv thread, struct arena *, struct sv **, size_t *n,
                         struct err *);

    /* Words of entries; NULL for all three when the engine has no index of words. */
    enum status (*text_last)(struct store *, struct sv thread, int64_t *seq, struct err *);
    enum status (*text_put)(struct store *, struct sv thread, int64_t seq, struct sv text,
                            struct err *);
    enum status (*text_find)(struct store *, struct sv thread, const struct sv *words, size_t n,
                             size_t max, struct arena *, struct store_hit **, size_t *count,
                             struct err *);

    /* NULL for all three where only one machine uses the store. */
    enum status (*object_put)(struct store *, const struct hash *, struct sv, struct err *);
    enum status (*object_get)(struct store *, const struct hash *, struct arena *, struct sv *,
                              bool *found, struct err *);
    enum status (*object_drop)(struct store *, const struct hash *, struct err *);

    enum status (*stats)(struct store *, struct store_stats *, struct err *);
    enum status (*facts)(struct store *, struct arena *, struct store_fact **, size_t *n,
                         struct err *);
    /* NULL: there is never anything to say. */
    enum status (*advise)(struct store *, void (*say)(void *, struct sv), void *ctx, struct err *);
    bool (*is_new)(const struct store *);   /* NULL: struct store has it */
    int64_t (*clock_ahead)(struct store *); /* milliseconds; NULL: the clock is this machine's */
    enum status (*check)(struct store *, void (*say)(void *, struct sv), void *ctx, struct err *);
    enum status (*adopt_lost)(struct store *, int64_t *n, struct err *); /* NULL: never any */
    enum status (*compact)(struct store *, struct err *);
    enum status (*scrub)(struct store *, void (*removed)(void *, struct sv), void *ctx,
                         struct err *);
    const char *(*unreached)(const struct store *, bool *waits);
    /* As store_scrub_waits(); NULL: nothing ever does. */
    enum status (*scrub_waits)(struct store *, int64_t *threads, struct err *);
    enum status (*drop)(struct store *, struct sv thread, struct err *);
    /* Drop the thread for everybody; drop_some() then removes what it had, about `max` entries and
     * rows, of any thread that was dropped so. *n is how many there were, *left whether there may
     * be more; with a max of 0 nothing is removed. `narrow`: there may be no room to write much.
     * Both NULL: drop() is used. */
    enum status (*drop_later)(struct store *, struct sv thread, struct err *);
    enum status (*drop_some)(struct store *, int64_t max, bool narrow, int64_t *n, bool *left,
                             struct err *);
    enum status (*sizes)(struct store *, struct arena *, struct store_size **, size_t *n,
                         struct err *);

    /* The texts of moved.c, absent or empty when there is none; reading them may be asked for
     * inside and outside a transaction, writing them in one of store_begin_alone(). A text `moved`
     * keeps out the transactions that began before it was committed, too. */
    enum status (*moved_get)(struct store *, struct arena *, struct sv *moved, struct sv *came,
                             struct err *);
    enum status (*moved_set)(struct store *, struct sv moved, struct sv came, struct err *);
    struct store *(*behind)(struct store *); /* of a store in front of another; else NULL */

    /* NULL for all three where there is no file. `attach` names the copy for `replace`, which puts
     * all it has here, in the open transaction; with an absent path the copy is released. */
    enum status (*backup)(struct store *, struct sv path, struct err *);
    enum status (*attach)(struct store *, struct sv path, struct err *);
    enum status (*replace)(struct store *, struct err *);
};

/* Of a store: whether a transaction is open. */
enum { TX_CLOSED, TX_READING, TX_WRITING };

/* First member of each backend's own struct; likewise store_scan and store_rows. */
struct store {
    const struct store_ops *ops;
    int                     open;       /* TX_CLOSED, TX_READING or TX_WRITING */
    int                     group;      /* 0: none, 1: open, 2: broken */
    bool                    rows_apart; /* rows are in memory: they may be put while reading */
    bool                    is_new;     /* the log was made by this store */
    bool                    past_move;  /* as in struct store_options */
    bool                    staged;     /* ids of staged threads are allowed */
    bool                    alone;      /* the transaction is one of store_begin_alone() */
    const char             *gone;       /* where the log went, as the last transaction saw it */
    struct arena            gone_a;     /* ... the text */
    bool                    looked;     /* ... since store_gone_to() was last asked */
    struct store_seen      *seen;       /* only in the outermost store; see seen.c */
    struct store_held      *held;       /* likewise; NULL: none. See held.c */
};

/* What the open transaction has read or written (seen.c). A row or a head that is noted there is
 * what the backend would return. seen_note_row() with `found` false notes that there is no such
 * row. */
bool seen_head(struct store *s, struct sv thread, struct store_head *out);
void seen_note_head(struct store *s, struct sv thread, const struct store_head *head);
void seen_forget_head(struct store *s, struct sv thread);
bool seen_row(struct store *s, const struct store_key *k, struct arena *a, struct sv *value,
              bool *found);
bool seen_has_row(struct store *s, const struct store_key *k);
void seen_note_row(struct store *s, const struct store_key *k, struct sv value, bool found);
void seen_forget(struct store *s);  /* all of it */
void seen_release(struct store *s); /* also frees the memory */

/* Rows that are held (held.c). held_get(): false when the row is not among them. held_note(): false
 * when rows of this thread are not held. held_write() hands the changed ones to the engine and goes
 * on holding all; held_forget() drops those of a thread, held_drop() ends holding without writing.
 */
bool        held_get(struct store *s, const struct store_key *k, struct sv *value, bool *found);
bool        held_note(struct store *s, const struct store_key *k, struct sv value, bool found,
                      bool changed);
void        held_forget(struct store *s, struct sv thread);
void        held_drop(struct store *s);
enum status held_write(struct store *s, struct sv thread, struct err *e) MUST_USE;

struct store_scan {
    struct store *store;
    char          thread[NAME_MAX_BYTES + 1];
    int64_t       lost; /* entries passed over, counted by the backend */
    int64_t last; /* of store_prove(): the last seq it was called with, and the chain value of that
                     entry */
    struct hash last_chain;
};
struct store_rows {
    struct store *store;
    bool          backwards, given; /* given: `last` is a key */
    struct arena  a;
    struct sb     last; /* the last key of store_rows_next() */
};

/* moved.c, for the backends: `moved` is what the transaction that begins has read; may it write?
 * store_note_moved(s, SV("")) frees what is kept. */
void        store_note_moved(struct store *s, struct sv moved);
enum status store_check_moved(const struct store *s, struct err *e) MUST_USE;

/* The smallest key that is greater than every key with this prefix; absent when there is none. */
struct sv store_prefix_end(struct sv prefix, struct arena *a);

/* Sleep until `fd` (-1: none) can be read (PAUSE_HINT), `peer` (-1: none) has lost its other end, a
 * signal comes or the time is over. */
enum pause_end store_pause(int fd, int peer, int ms);

/* store_copy() in which the caller says whether a transaction is open in `to`. */
enum status store_copy_in(struct store *from, struct store *to, struct store_copy *how, bool in_one,
                          struct err *e) MUST_USE;

/* store_drop_rest(); `narrow`: there may be no room to write much, which is found out otherwise. */
enum status store_drop_slices(struct store *s, bool narrow, bool *any, struct err *e) MUST_USE;

/* One open function per scheme; `rest` is what follows "scheme:". */
enum status sqlite_open(struct sv rest, const struct store_options *, struct store **,
                        struct err *);
enum status postgres_open(struct sv url, const struct store_options *, struct store **,
                          struct err *); /* the whole URL */
enum status mem_open(struct sv rest, const struct store_options *, struct store **, struct err *);
enum status fault_open(struct sv rest, const struct store_options *, struct store **, struct err *);

/* Of a store opened as fault:K:URL: the calls it has had; let the k-th from now fail, and
 * count from 0 again (k = 0: none fails). */
int64_t fault_calls(const struct store *s);
/* How many of them were calls of this operation ("head", "row_get"), hints ("want") included,
 * which never fail and are not among the calls. */
int64_t fault_calls_of(const struct store *s, const char *call);
void    fault_arm(struct store *s, int64_t k);
/* The same, and all calls behind the k-th fail until it is armed again. */
void fault_break(struct store *s, int64_t k);
/* What is called where the call fails, before it does: a test may end the process there. */
void fault_then(struct store *s, void (*then)(void));
/* The most entries that were read, appended or erased in one write transaction ("begin_write"
 * counts those transactions): how much work was done while others had to wait. */
int64_t fault_most_in_write(const struct store *s);

#endif
