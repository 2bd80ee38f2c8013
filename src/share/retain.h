/* Erasing what is old and not in use (thread/retain.h), in the log and on the disk.
 *
 *     for each thread: share_retain(&s, &request, &out, e)        a transaction of its own
 *     share_erase_finish(&s, …)                                   once, when anything was erased
 *
 * A thread that was processed stays so if a later one fails. share_erase_finish() cleans files and
 * database, at the end or with a later command. */
#ifndef HEDDLE_SHARE_RETAIN_H
#define HEDDLE_SHARE_RETAIN_H

#include "share/erase.h"
#include "thread/retain.h"

struct share_retain_request {
    struct retain_what what; /* its max is 0: all of it is planned at once */
    struct sv          reason;
    int64_t            at;
    bool               dry_run;
    bool with_history; /* the lines typed into `heddle loom` go too, when they are old */
};

struct share_retain_result {
    struct retain_plan plan;
    struct sv         *files; /* transcripts older than the limit, which are removed */
    size_t             n_files;
    int64_t            seq; /* of the (first) `erasure` entry; -1: none was written */
};

/* Statuses of retain_find(). ST_OK also when there is nothing to erase. */
enum status share_retain(struct share *s, const struct share_retain_request *r,
                         struct share_retain_result *out, struct err *e) MUST_USE;

#endif
