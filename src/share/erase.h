/* An erasure over the log and the files of the workspace.
 *
 *     share_erase(&log, root, &request, &a, &result, e)
 *
 * Finds what holds the words (thread/erase.h, and every file below .heddle, .leslie and .teddy),
 * erases the entries in one transaction with the entry that says so, and then removes the files,
 * writes .leslie anew and scrubs the store. When the process dies in between, or another one holds
 * the store, the erasure stays pending: share_erase_finish() does the rest. */
#ifndef HEDDLE_SHARE_ERASE_H
#define HEDDLE_SHARE_ERASE_H

#include "share/share.h"
#include "thread/erase.h"

enum erase_file_is {
    ERASE_FILE_COPY, /* made by heddle as a copy: transcript, frozen copy, object; it is removed */
    ERASE_FILE_VIEW, /* made from the log: it is written anew */
    ERASE_FILE_YOURS /* anything else: it is named and stays */
};
struct erase_file {
    struct sv          path;
    enum erase_file_is is;
    bool               unread; /* too large to be looked into */
};

/* Files below .heddle, .leslie and .teddy that hold one of the texts. */
enum status erase_files_find(int root, const struct needles *texts, struct arena *a,
                             struct erase_file **out, size_t *n, struct err *e) MUST_USE;

struct share_erase_request {
    struct erase_what what;
    struct erase_how  how; /* its files are filled in */
    bool              dry_run;
};

struct share_erase_result {
    struct erase_plan  plan;
    struct erase_file *files;
    size_t             n_files;
    int64_t            seq;        /* of the `erasure` entry; -1: none was written */
    struct err         unfinished; /* .code: why the files could not be cleaned yet */
    VEC(struct sv) removed;        /* copies of older databases */
};

/* The result is filled in also with ST_CONFLICT, reason "derived": it says what holds the words. */
enum status share_erase(struct share *s, const struct share_erase_request *r,
                        struct share_erase_result *out, struct err *e) MUST_USE;

/* Clean up after erasures that are pending; *n is how many there were. `removed` as in
 * store_scrub(). */
enum status share_erase_finish(struct share *s, int64_t at, size_t *n,
                               void (*removed)(void *ctx, struct sv name), void *ctx,
                               struct err *e) MUST_USE;

#endif
