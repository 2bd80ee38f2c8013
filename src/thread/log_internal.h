/* What the files of the log share. */
#ifndef HEDDLE_LOG_INTERNAL_H
#define HEDDLE_LOG_INTERNAL_H

#include "thread/log.h"

/* Rows that folds asked for lately, found or not. One cache serves one thread within one write
 * transaction, in which nobody else can change a row; fold_put() and fold_del() keep it in step. */
enum { FOLD_SLOTS = 16, FOLD_SLOT_BYTES = 480 };
struct fold_slot {
    bool     used, found;
    uint32_t view_n, key_n, value_n;
    char     bytes[FOLD_SLOT_BYTES]; /* view, key and value, one after another */
};
struct fold_cache {
    struct fold_slot slots[FOLD_SLOTS];
};

/* What store_head.views holds: the fingerprint of all views, and in its lowest bits which of the
 * views on demand the thread keeps. */
enum { VIEWS_KEPT = 0xff };

/* Does a thread with this store_head.views keep l->views[i]? */
bool log_keeps_view(const struct log *l, size_t i, int64_t views);

/* Fold one entry into the rows of view `v` in f->store. */
enum status log_fold_view(struct fold *f, const struct view *v, const struct entry *n,
                          struct err *e) MUST_USE;

#endif
