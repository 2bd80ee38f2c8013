/* The one way in. Every change of anything is entries appended here; every view is kept
 * in step in the same transaction.
 *
 *     struct log l = log_of(store, views);
 *     if (log_begin(&l, thread, STORE_WRITE, e)) return err_code(e);
 *     if (log_append(&l, thread, LOG_ANY_REV, entries, n, &head, e) || log_commit(&l, e)) {
 *         log_abort(&l);
 *         return err_code(e);
 *     }
 *
 * Reading views works the same way with STORE_READ and log_row_get() / store_rows(). */
#ifndef HEDDLE_LOG_H
#define HEDDLE_LOG_H

#include "thread/view.h"

struct log {
    struct store             *store;
    const struct view *const *views;    /* ends with NULL */
    int64_t                   views_id; /* which views in which versions */
    const struct view        *wanted;   /* a view on demand that log_begin() sees to, or NULL */
    bool                      writing;  /* a write transaction is open */
    bool                      repeated; /* the last append was there already: nothing was written */
};

#define LOG_ANY_REV STORE_ANY_REV

struct log log_of(struct store *store, const struct view *const *views);

/* Begin a transaction whose subject is `thread` (absent: none in particular). Views of
 * that thread that another version of the program folded are folded anew first, and so is
 * l->wanted when the thread does not keep it yet. Where the store may not be written they are
 * folded into memory: l->store is then a store in front of the one it was, and closes it with
 * itself (store_beside()), so that whoever closes the log closes l->store. */
enum status log_begin(struct log *l, struct sv thread, enum store_mode mode,
                      struct err *e) MUST_USE;
/* In a write transaction: what log_begin() does for its thread, for another one of at most
 * `most` entries. A longer thread, or any while reading, is left as it is. */
enum status log_catch_up(struct log *l, struct sv thread, int64_t most, struct err *e) MUST_USE;

/* Has the thread with this head rows of `v`, as this version of the program folds it? */
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

/* log_append() for records that come from elsewhere: one that its kind does not allow is kept as
 * it is, is not folded, and is told to `kept` (may be NULL) with its seq and the reason. An op_id
 * that is in the log already is ST_CONFLICT, whatever the content. */
typedef void (*log_kept_fn)(void *ctx, const struct entry *n, const struct err *why);
enum status log_import(struct log *l, struct sv thread, struct entry *entries, size_t n,
                       struct store_head *head, log_kept_fn kept, void *ctx,
                       struct err *e) MUST_USE;

/* One row of a view, copied into `a`. */
enum status log_row_get(struct log *l, struct sv thread, const struct view *v, struct sv key,
                        struct arena *a, struct sv *value, bool *found, struct err *e) MUST_USE;

/* Fold all entries of a thread into empty rows of `views`, in a write transaction. `progress`
 * (may be NULL) is called now and then with the number of entries done. */
enum status log_rebuild(struct log *l, struct sv thread, void (*progress)(void *ctx, int64_t done),
                        void *ctx, struct err *e) MUST_USE;

/* Check one thread: the chain over all entries, what kind_prepare() says of each against
 * what is stored, and every view folded again beside the live rows and compared row by row (unless
 * another version of the program folded them: then they are folded anew on first use
 * anyway). Each difference goes to `damage`, with the thread and the seq or key; an entry that is
 * whole but not what its kind demands, and so is kept and not acted on, goes to `ignored` (may be
 * NULL). *entries is how many were read. Outside a transaction; leaves no trace in the store, and
 * takes memory for the rows of the views, not for the entries. ST_OK also when there are
 * findings. */
struct log_findings {
    void (*damage)(void *ctx, struct sv finding);
    void (*ignored)(void *ctx, struct sv finding);
    void    *ctx;
    int64_t *erased; /* grows by the entries whose content was erased; may be NULL */
};
enum status log_examine(struct log *l, struct sv thread, const struct log_findings *to,
                        int64_t *entries, struct err *e) MUST_USE;

/* The same, of damage alone. */
enum status log_verify(struct log *l, struct sv thread, void (*say)(void *ctx, struct sv finding),
                       void *ctx, int64_t *entries, struct err *e) MUST_USE;

#endif
