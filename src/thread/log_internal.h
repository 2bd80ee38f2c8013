/* What the files of the log share. */
#ifndef HEDDLE_LOG_INTERNAL_H
#define HEDDLE_LOG_INTERNAL_H

#include "thread/log.h"

/* Fold one entry into the rows of view `v` in f->store. */
enum status log_fold_view(struct fold *f, const struct view *v, const struct entry *n,
                          struct err *e) MUST_USE;

#endif
