/* What the files of the log share. */
#ifndef HEDDLE_LOG_INTERNAL_H
#define HEDDLE_LOG_INTERNAL_H

#include "store/store.h"
#include "thread/log.h"

/* What store_head.views holds: the fingerprint of all views, and in its lowest bits which of the
 * views on demand the thread keeps. */
enum { VIEWS_KEPT = 0xff };

/* Does a thread with this store_head.views keep l->views[i]? */
bool log_keeps_view(const struct log *l, size_t i, int64_t views);

/* Fold one entry into the rows of view `v` in f->store. */
enum status log_fold_view(struct rows *f, const struct view *v, const struct entry *n,
                          struct err *e) MUST_USE;

#endif
