/* Bringing many entries into a log while others write to it. They are first appended to staged
 * threads (store.h), slice by slice, which nobody sees; then one short transaction shows them:
 *
 *     log_allow_staged(l, true);
 *     each slice: log_begin(), log_stage_after() once, log_import(staged, ...), log_commit()
 *     log_begin(), log_publish() or log_stage_decide(), log_commit()
 *     log_stage_move() of each staged thread that was decided, until it is done
 *     log_drop_staged(), log_allow_staged(l, false)
 *
 * A thread that had no entries is shown as a whole: it only gets its name. So is one that had few,
 * which are copied first. Other entries for a thread that has some are decided, and then moved
 * behind those, in slices too: readers may see the first of them alone, and another writer's
 * entries may come in between. When the process is killed before it was decided, nothing of it is
 * in the log; afterwards all of it will be, once somebody moves the rest. */
#ifndef HEDDLE_STAGE_H
#define HEDDLE_STAGE_H

#include "thread/log.h"

enum { LOG_STAGE_TOKEN = 12 }; /* bytes, of which the names of those who stage consist */

bool log_stages(const struct log *l); /* can it? */
void log_allow_staged(struct log *l, bool on);

/* The id for the n-th thread of a token, and the token of an id (absent: it has none). */
struct sv log_staged_id(struct sv token, struct sv thread, size_t n, struct arena *a);
struct sv log_staged_token(struct sv staged);
bool      log_is_staged(struct sv thread);

/* Is it .global, or a staged thread that will be? For folds. */
bool log_is_global(struct sv thread);

enum status log_staged(struct log *l, struct arena *a, struct sv **out, size_t *n,
                       struct err *e) MUST_USE;

/* Before the first append, in the same transaction: seqs and chain values go on after `head`. */
void log_stage_after(struct log *l, struct sv staged, const struct store_head *head);

/* Outside a transaction, for a thread that is to be shown with its entries and others behind them:
 * copy these to a staged thread that has none, each slice in a transaction of its own. *head is
 * then the head of both. ST_CONFLICT, reason "busy": the thread was written to meanwhile. */
enum status log_stage_copy(struct log *l, struct sv thread, struct sv staged,
                           struct store_head *head, struct err *e) MUST_USE;

/* In a write transaction: the staged thread becomes `thread`, which has no entry, or those that the
 * staged thread begins with (log_stage_copy()); else ST_CONFLICT, reason "busy". Statuses of a
 * first log_append() to it. */
enum status log_publish(struct log *l, struct sv staged, struct sv thread, struct err *e) MUST_USE;

/* What is to be done with a staged thread whose entries belong behind those of another one. */
struct log_stage {
    struct sv into;    /* the thread */
    struct sv lines;   /* what was imported, as a hash: the same import is known by it */
    int64_t   first;   /* seq of the first entry in the staged thread ... */
    int64_t   at, end; /* ... the next one to be moved, and behind the last */
    int64_t   moved;   /* seq in `into` of the first one that was moved; -1: none was ... */
    int64_t   rev;     /* ... and behind the last: between them may be entries of others */
    bool      exact;   /* they must keep their seqs: the lines say which they have */
};

/* In a write transaction: from now on it will be moved. */
enum status log_stage_decide(struct log *l, struct sv staged, const struct log_stage *g,
                             struct err *e) MUST_USE;

/* Was it decided, and how far is it? In a transaction. */
enum status log_stage_find(struct log *l, struct sv staged, struct arena *a, struct log_stage *out,
                           bool *decided, struct err *e) MUST_USE;

/* A thread of which entries are decided and not moved yet, by this process or another; absent:
 * none. In a transaction. */
enum status log_stage_unfinished(struct log *l, struct arena *a, struct sv *into,
                                 struct err *e) MUST_USE;

/* In a write transaction that must not leave such entries behind: ST_CONFLICT, reason "busy". */
enum status log_stage_refuse(struct log *l, struct err *e) MUST_USE;

/* In a write transaction: move one slice of it, FOLD_SLICE entries at most; `g` is what
 * log_stage_find() gave and is kept up to date. *n_erased grows as for erase_replay().
 * ST_CONFLICT: others have appended to the thread, and what is left must not follow. */
enum status log_stage_slice(struct log *l, struct sv staged, struct log_stage *g, int64_t *n_erased,
                            struct err *e) MUST_USE;

/* Outside a transaction: all that is left of it, each slice in a transaction of its own. */
enum status log_stage_move(struct log *l, struct sv staged, struct log_stage *g, int64_t *n_erased,
                           struct err *e) MUST_USE;

/* In the transaction that shows or goes on with what was staged. ST_CONFLICT, reason "busy": the
 * thread has another head than `before`; or the staged one has not `head`, which this process left
 * it with: one who does not see the file of the token, in another workspace with the same store,
 * takes it for left behind, and drops it. `thread` is for the message. */
enum status log_stage_unmoved(struct log *l, struct sv thread, const struct store_head *before,
                              struct err *e) MUST_USE;
enum status log_stage_is_there(struct log *l, struct sv staged, struct sv thread,
                               const struct store_head *head, struct err *e) MUST_USE;

/* Outside a transaction: drop all staged threads of a token, in slices; `narrow`: there may be no
 * room to write much. */
enum status log_drop_staged(struct log *l, struct sv token, bool narrow, struct err *e) MUST_USE;

#endif
