/* Deleting a thread: its registry row, its log, its directory. References of other threads to it
 * are then broken, as if another program had removed the thread (W202). Frozen copies of its files
 * stay in the threads that made them. */
#ifndef HEDDLE_SHARE_DELETE_H
#define HEDDLE_SHARE_DELETE_H

#include "share/share.h"

struct delete_request {
    struct sv thread, reason;
    int64_t   at;
    bool      keep_files;                       /* leave .leslie/threads/ID */
    void (*removed)(void *ctx, struct sv name); /* as in store_scrub(); may be NULL */
    void *ctx;                                  /* of removed() */
};

struct delete_result {
    bool       before;     /* it was deleted already: only what was left of that is done */
    size_t     finished;   /* deletions and erasures whose files were cleaned, this one included */
    int64_t    seq;        /* of the entry of .global */
    int64_t    entries;    /* how many entries the log had */
    bool       listed;     /* it was in the registry */
    size_t     broken;     /* references of others to it */
    struct err unfinished; /* .code: why the files could not be cleaned yet */
};

/* ST_NOT_FOUND: there is no such thread. When the process dies after the commit, or another one
 * holds the store, the files are cleaned by share_erase_finish(), which a repeated call does. */
enum status share_delete(struct share *s, const struct delete_request *r, struct delete_result *out,
                         struct err *e) MUST_USE;

/* In a write transaction of a log: delete what another log says was deleted. */
enum status share_delete_again(struct log *l, struct sv thread, struct sv actor, int64_t at,
                               struct err *e) MUST_USE;

#endif
