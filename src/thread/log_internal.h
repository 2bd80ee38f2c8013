/* What the files of the log share. */
#ifndef HEDDLE_LOG_INTERNAL_H
#define HEDDLE_LOG_INTERNAL_H

#include "store/store.h"
#include "thread/log.h"

/* What store_head.views holds: the fingerprint of all views, and in its lowest bits which of the
 * views on demand the thread keeps. */
enum { VIEWS_KEPT = 0xff };

/* The bit of a view on demand in store_head.views; 0 for the others, which every thread keeps. */
int64_t log_view_bit(const struct log *l, const struct view *v);

/* Does a thread with this store_head.views keep l->views[i]? */
bool log_keeps_view(const struct log *l, size_t i, int64_t views);

/* Fold one entry into the rows of view `v` in f->store. */
enum status log_fold_view(struct rows *f, const struct view *v, const struct entry *n,
                          struct err *e) MUST_USE;

/* ---- views that are behind: fold.c --------------------------------------------------------- */

/* The row of a view that is being folded: {"at":SEQ,"views":N}, the entry to go on with (-1: rows
 * of before are still being dropped) and the fingerprint of those who fold. No fold has such a key.
 */
#define LOG_FOLDED SV(".folded")

/* How far a view has been folded that the thread does not keep yet: the number of entries. */
enum status log_folded_to(struct log *l, struct sv thread, const struct view *v, int64_t *at,
                          struct err *e) MUST_USE;

/* One slice of what has to be folded in the thread, l->wanted included, in the open write
 * transaction: at most FOLD_SLICE entries. `slice` is zero at first and then what the last slice
 * left; the caller frees its `known`. */
struct log_slice {
    bool               done;   /* nothing is left to fold */
    int64_t            at, of; /* entries folded, of how many */
    struct store_known known;
};
enum status log_fold_slice(struct log *l, struct sv thread, struct log_slice *slice,
                           struct err *e) MUST_USE;

/* All of it, each slice in a write transaction of its own. Outside a transaction. */
enum status log_fold_behind(struct log *l, struct sv thread, struct err *e) MUST_USE;

#endif
