/* What erase, retain and thread delete have in common: each says that a text is gone, and looks in
 * all places of the workspace's log for it. */
#ifndef HEDDLE_REMOVAL_H
#define HEDDLE_REMOVAL_H

#include "api/care/former.h"

/* Before anything is looked for. What imports that were interrupted had read is in no thread, where
 * nobody would find it: it is appended or dropped (staged_sweep()); a dry run only warns of it.
 * *former is for former_clean(), afterwards. What imports that go on will append is refused by
 * erase_run(). */
enum status removal_begin(struct request *r, bool dry_run, struct former **former, size_t *n,
                          struct err *e) MUST_USE;

#endif
