/* The log of a workspace. Every change is made by appending entries here; the views are updated in
 * the same transaction.
 *
 *     struct log l = log_of(store, views);
 *     if (log_begin(&l, thread, STORE_WRITE, e)) return err_code(e);
 *     if (log_append(&l, thread, LOG_ANY_REV, entries, n, &head, e) || log_commit(&l, e)) {
 *         log_abort(&l);
 *         return err_code(e);
 *     }
 *
 * Reading works the same way with STORE_READ and thread/rows.h, thread/scan.h. */
#ifndef HEDDLE_LOG_H
#define HEDDLE_LOG_H

#include "base/path.h"
#include "thread/view.h"

struct log {
    struct store             *store;
    const struct view *const *views;    /* ends with NULL */
    int64_t                   views_id; /* fingerprint of the views and their versions */
    const struct view        *wanted;   /* a view on demand that log_begin() folds, or NULL */
    bool only_current; /* outdated views are refused instead of being folded again */
    bool writing;      /* a write transaction is open */
    bool repeated;     /* the last append found its entries in the log: nothing was written */
    bool repeats;      /* the caller repeats transactions that log_again() says to */
    char behind[NAME_MAX_BYTES + 1]; /* the thread that log_again() folds; empty: none */
    bool past; /* between log_at() and log_at_end(): l->store shows an earlier state */
    /* Called while views are folded, between two transactions, with the entries done; an error ends
     * it, and the next one who needs the views goes on. NULL: nothing. */
    enum status (*folding)(void *ctx, struct sv thread, int64_t done, int64_t of, struct err *e);
    void *folding_ctx;
    /* Called by log_commit() of a write transaction, inside of it: it may append. An error is that
     * of the commit. NULL: nothing. */
    enum status (*before_commit)(void *ctx, struct err *e);
    void *before_commit_ctx;
    /* The next write transaction begins only if this thread has `expected` entries
     * (log_check_rev()); absent: whatever it has. */
    struct sv expects;
    int64_t   expected;
};

#define LOG_ANY_REV STORE_ANY_REV

struct log log_of(struct store *store, const struct view *const *views);

/* Begin a transaction whose subject is `thread` (absent: none in particular, as for reading what is
 * left of a damaged one). ST_CORRUPT: its log does not end where its last append left it. Views of
 * that thread that another version of the program folded are first folded again, and so is
 * l->wanted when the thread does not keep it yet: those of a long thread in transactions of their
 * own, between which others write. Where the store may not be written they are
 * folded into memory: l->store is then a store in front of the original one (store_beside()) and
 * owns it, so the log must be closed by closing l->store. With l->only_current nothing is folded:
 * ST_CONFLICT, reason "rebuild", for a caller that must not take long. */
enum status log_begin(struct log *l, struct sv thread, enum store_mode mode,
                      struct err *e) MUST_USE;

/* Begin a reading transaction in which the thread ends with entry `seq` (-1: it has none): entries,
 * rows of the views and the head are what they were then. Other threads are as they are now. Views
 * are folded in memory, from the first entry to `seq`, unless that is the thread's last: the cost
 * is that of the entries. Further transactions of the log, until log_at_end(), see the same; none
 * may write. ST_NOT_FOUND: there is no such thread. */
enum status log_at(struct log *l, struct sv thread, int64_t seq, struct err *e) MUST_USE;
void        log_at_end(struct log *l); /* also ends the transaction; harmless without log_at() */

/* In a write transaction: bring the views of another thread up to date as log_begin() does for its
 * own, if the thread has at most `most` entries. Longer threads are left alone, and in a reading
 * transaction nothing is done. With l->repeats a thread that is too long for one transaction is not
 * folded in this one: ST_CONFLICT, reason "behind", and the caller, having aborted, calls
 * log_again(). It folds in slices; true: the transaction is to be run again. */
enum status log_catch_up(struct log *l, struct sv thread, int64_t most, struct err *e) MUST_USE;
bool        log_is_behind(const struct log *l, const struct err *e); /* did it end that way? */
bool        log_again(struct log *l, struct err *e);

/* The time of the machine that the log is on, in milliseconds: see store_now(). For times that one
 * process writes and another compares. */
int64_t log_now(struct log *l);

/* The head of a thread; rev 0: there is no such thread. Asked of the store once a transaction. */
enum status log_head(struct log *l, struct sv thread, struct store_head *out,
                     struct err *e) MUST_USE;

/* Does the thread with this head have rows of `v`, folded by this version of the program? */
bool log_keeps(const struct log *l, const struct store_head *h, const struct view *v);

enum status log_commit(struct log *l, struct err *e) MUST_USE;
void        log_abort(struct log *l);

/* Prepare (kind_prepare), append, and fold entries[0..n) into every view. In a write
 * transaction; several threads may be appended to in one. Statuses of store_append() and
 * kind_prepare(); after an error the transaction must be aborted.
 *
 * Repeating is harmless: when the first op_id of the entries is in the log, and the entries there
 * say the same as these (kind, lane, op_id, payload, refs), nothing is written, whatever `expect`
 * is; seq and chain are those of the log, *head is the head, and l->repeated is true. When they say
 * something else: ST_CONFLICT, reason "op_id". */
enum status log_append(struct log *l, struct sv thread, int64_t expect, struct entry *entries,
                       size_t n, struct store_head *head, struct err *e) MUST_USE;

/* The check that log_append() makes before it writes, for callers that need the result earlier: are
 * entries[0..n), found by their first op_id, in the log already? Statuses and what is filled in are
 * those of log_append(). log_op_id_taken() is its ST_CONFLICT. */
enum status log_find_repeated(struct log *l, struct sv thread, struct entry *entries, size_t n,
                              bool *repeated, struct err *e) MUST_USE;
enum status log_op_id_taken(struct sv op_id, struct err *e);

/* A request of many entries, each in a transaction of its own, begins with an entry that has the
 * op_id of the request and a hash of what was asked for (`asked`). This is the op_id of another
 * entry of that request, `what`: "do:HASH/WHAT", whose length does not depend on the caller's
 * op_id. Erasure uses it to find the first entry, which has the hash of the erased request. */
struct sv log_part_op_id(struct sv op_id, const char *what, struct arena *a);

/* ST_CONFLICT, reason "rev": the thread has not exactly `expect` entries. For callers that look
 * before they append, in the transaction in which they do. */
enum status log_check_rev(struct log *l, struct sv thread, int64_t expect, struct err *e) MUST_USE;

/* Much will be appended until this is taken back: see store_bulk(). */
void log_bulk(struct log *l, bool on);

/* Between two write transactions of long work: see store_let_others(). */
void log_let_others(struct log *l);

/* ST_NOT_FOUND reason "thread": there is no entry in it. */
enum status log_no_thread(struct sv thread, struct err *e);

/* log_append() for records that come from elsewhere: one that breaks the rules of its kind is kept
 * unchanged, is not folded, and is reported to `kept` (may be NULL) with its seq and the reason. An
 * op_id that is in the log already is ST_CONFLICT, whatever the content. */
typedef void (*log_kept_fn)(void *ctx, const struct entry *n, const struct err *why);
enum status log_import(struct log *l, struct sv thread, struct entry *entries, size_t n,
                       struct store_head *head, log_kept_fn kept, void *ctx,
                       struct err *e) MUST_USE;

/* Fold all entries of a thread into empty rows of `views`, in a write transaction or where rows are
 * in memory. The cost is that of the entries. */
enum status log_rebuild(struct log *l, struct sv thread, struct err *e) MUST_USE;

/* In a write transaction: the rows of the thread's views hold what the entries no longer do. A
 * short thread is folded again at once; of a long one it is noted that it has to be, and the next
 * log_begin() on it does so in slices. */
enum status log_refold(struct log *l, struct sv thread, struct err *e) MUST_USE;

/* Check one thread: the chain over all entries, what kind_prepare() says of each against what is
 * stored, and every view folded again beside the live rows and compared row by row (unless another
 * version of the program folded them: then they are folded again on first use anyway). Each
 * difference goes to `damage`, with the thread and the seq or key; an entry that is intact but
 * breaks the rules of its kind, and so has no effect, goes to `ignored` (may be NULL). *entries is
 * how many were read. Outside a transaction; writes nothing to the store, and needs memory for the
 * rows of the views, not for the entries. ST_OK also when there are findings. */
struct log_findings {
    void (*damage)(void *ctx, struct sv finding);
    void (*ignored)(void *ctx, struct sv finding);
    void    *ctx;
    int64_t *erased; /* grows by the entries whose content was erased; may be NULL */
};
enum status log_examine(struct log *l, struct sv thread, const struct log_findings *to,
                        int64_t *entries, struct err *e) MUST_USE;

/* The same, reporting only damage. */
enum status log_verify(struct log *l, struct sv thread, void (*say)(void *ctx, struct sv finding),
                       void *ctx, int64_t *entries, struct err *e) MUST_USE;

#endif
