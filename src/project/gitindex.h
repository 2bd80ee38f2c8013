/* Reads git's index to find out whether a path is tracked. Versions 2 to 4, SHA-1 and SHA-256, and
 * an index that is split into a shared part and its changes. Pure, except gitindex_read().
 *
 * git lists a tracked file even when a pattern ignores it, so the patterns alone do not say what
 * belongs to a project. */
#ifndef HEDDLE_GITINDEX_H
#define HEDDLE_GITINDEX_H

#include "base/sb.h"
#include "base/vec.h"

struct gitindex {
    VEC(struct sv) paths; /* from the top of the work tree, sorted by bytes, each once */
    struct sv shared;     /* hex of the shared part it builds on; absent: none */
    VEC(bool) deleted;    /* entries of the shared part that are gone, by their number */
};

/* The paths of an index; they live in `a` or in `bytes`. `hash_size` is 20 or 32. Of what follows
 * the paths only `shared` and `deleted` are read. ST_CORRUPT: it is not such a file, or ends too
 * early. */
enum status gitindex_parse(struct sv bytes, size_t hash_size, struct arena *a, struct gitindex *out,
                           struct err *e) MUST_USE;

/* The index of a file, together with the shared part that lies in `git_dir`. ST_NOT_FOUND,
 * ST_CORRUPT, ST_IO. */
enum status gitindex_read(struct sv file, struct sv git_dir, size_t hash_size, struct arena *a,
                          struct gitindex *out, struct err *e) MUST_USE;

/* Is the path tracked; is any path below the directory? A binary search. */
bool gitindex_has(const struct gitindex *x, struct sv path);
bool gitindex_has_below(const struct gitindex *x, struct sv dir);

#endif
