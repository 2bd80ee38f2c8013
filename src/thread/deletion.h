/* Threads that were deleted. A `thread_deletion` entry of .global says which one, when, by whom and
 * why, and how its log ended; with the same transaction the log is gone for everybody. The id is
 * never given again: log_append() and log_import() refuse it (ST_CONFLICT, reason "deleted").
 *
 * Files are cleaned after the commit, as after an erasure, and what the thread had is removed from
 * the store, in slices: the entry counts as one that is pending (erase_pending()) until an
 * `erasure_done` follows. */
#ifndef HEDDLE_DELETION_H
#define HEDDLE_DELETION_H

#include "thread/erase.h"

typedef bool deletion_about_fn(const struct entry *n, struct sv thread);

/* What a deletion needs to know and takes as long to find as there are entries: looked for while
 * others write. */
struct deletion_found {
    struct erase_known known; /* of erasures in the thread */
    struct store_head  head;  /* of .global */
    VEC(int64_t) about;       /* entries of .global about the thread, up to that head */
};
enum status deletion_look(struct log *l, struct sv thread, deletion_about_fn *is_about,
                          struct arena *a, struct deletion_found *out, struct err *e) MUST_USE;

struct deletion {
    struct sv                    thread, reason, actor;
    int64_t                      at;
    const struct sv             *files; /* to be removed afterwards: the directory of the thread */
    size_t                       n_files;
    deletion_about_fn           *is_about; /* NULL: none of .global */
    const struct deletion_found *found;    /* in an earlier transaction; NULL: look now */
    bool                         later;    /* what the thread had is removed by store_scrub(), in
                                            * slices; else in this transaction */
};

/* Append the entry, take the thread out of the store, keep the chain values of what was erased in
 * it (erase_remember()), and erase the content of every entry of .global for which `is_about`
 * returns true; the views of .global are folded again. In a write transaction. A thread that has no
 * log can be deleted too. *seq is that of the entry. */
enum status deletion_run(struct log *l, const struct deletion *d, int64_t *seq,
                         struct err *e) MUST_USE;

/* Was it deleted? In a transaction. */
enum status deletion_find(struct log *l, struct sv thread, bool *deleted, struct err *e) MUST_USE;

/* The error for an id that belongs to a deleted thread. */
enum status deletion_refuse(struct sv thread, struct err *e);

/* The ids of all deleted threads, in order. In a transaction. */
enum status deletion_list(struct log *l, struct arena *a, struct sv **out, size_t *n,
                          struct err *e) MUST_USE;

#endif
