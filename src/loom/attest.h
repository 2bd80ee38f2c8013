/* Checks that a path is unchanged since it was written. Each node's hash is computed again, root
 * first, and a model's text is compared with the bytes its provider sent. A node whose ancestor
 * does not verify does not verify either. */
#ifndef HEDDLE_ATTEST_H
#define HEDDLE_ATTEST_H

#include "loom/node.h"

enum attested {
    ATTEST_VALID,
    ATTEST_HASH,    /* the content, its time or author, or one of its ancestors was changed */
    ATTEST_RAW,     /* the raw answer was changed */
    ATTEST_MISSING, /* the raw answer it names is not in the log */
};
const char *attested_name(enum attested x); /* "valid", "hash mismatch", … */

struct attestation {
    struct node   node;
    enum attested is;
};

/* The path to `n`, root first. ST_OK whatever is found. */
enum status attest_path(struct loom *l, const struct node *n, struct attestation **out,
                        size_t *count, struct err *e) MUST_USE;

#endif
