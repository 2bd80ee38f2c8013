/* An erasure over the log and the files of the workspace.
 *
 *     share_erase(&log, root, &request, &a, &result, e)
 *
 * Finds what holds the words (thread/erase.h, and every file below .heddle, .leslie and .teddy),
 * erases the entries and appends the `erasure` entry in one transaction, and then removes the
 * files, rewrites .leslie and scrubs the store. When the process dies in between, or another one
 * holds the store, the erasure stays pending: share_erase_finish() does the rest. */
#ifndef HEDDLE_SHARE_ERASE_H
#define HEDDLE_SHARE_ERASE_H

#include "share/share.h"
#include "thread/erase.h"

enum erase_file_is {
    ERASE_FILE_COPY, /* written by heddle as a copy or a record: transcript, frozen copy, object,
                      * what a worker or a hook said; it is removed */
    ERASE_FILE_VIEW, /* made from the log: it is rewritten */
    ERASE_FILE_YOURS /* anything else: it is reported and stays */
};
struct erase_file {
    struct sv          path;
    enum erase_file_is is;
    struct sv          hash;   /* of a copy: of its bytes, as references name them */
    bool               unread; /* too large to be looked into */
    bool               packed; /* compressed, or a database that is not the log: not looked into */
    bool               named;  /* its path holds a text too; the log keeps the path of a copy */
};

/* Files below .heddle, .leslie and .teddy that hold one of the texts. */
enum status erase_files_find(const struct log *log, int root, const struct needles *texts,
                             struct arena *a, struct erase_file **out, size_t *n,
                             struct err *e) MUST_USE;

struct share_erase_request {
    struct erase_what what;
    struct erase_how  how; /* its files are filled in */
    bool              dry_run;
};

struct share_erase_result {
    struct erase_plan  plan;
    struct erase_file *files;
    size_t             n_files;
    int64_t            seq;      /* of the `erasure` entry; -1: none was written */
    bool               repeated; /* the log already has an erasure with the op_id of the request */
    size_t             pending;  /* of a dry run: erasures whose files are not clean yet */
    size_t             finished; /* erasures whose files were cleaned, also earlier ones */
    struct err         unfinished; /* .code: why the files could not be cleaned yet */
    VEC(struct sv) removed;        /* copies of older databases */
};

/* The result is filled in also with ST_CONFLICT, reason "derived": it lists what holds the words.
 * ST_NOT_FOUND: nothing holds them, and what an interrupted erasure had left is done. */
enum status share_erase(struct share *s, const struct share_erase_request *r,
                        struct share_erase_result *out, struct err *e) MUST_USE;

/* Hashes of the content of all frozen copies in the log `l`. Other content of a backup may be what
 * was erased. In a transaction on .global. */
enum status share_objects_in_use(struct log *l, struct arena *a, struct map *out,
                                 struct err *e) MUST_USE;

/* Clean up after erasures that are pending; *n is how many there were. `removed` as in
 * log_scrub(). The reason of an error is SHARE_ENTRIES_LEFT when not only files are not clean. */
#define SHARE_ENTRIES_LEFT "entries"
enum status share_erase_finish(struct share *s, int64_t at, size_t *n,
                               void (*removed)(void *ctx, struct sv name), void *ctx,
                               struct err *e) MUST_USE;

#endif
