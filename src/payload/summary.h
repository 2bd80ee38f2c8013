/* Section 4 as lines, whatever the format: what each scope lists, and what a budget cut.
 *
 * Naming thousands of cut files one by one can cost more than the budget has. Then they are
 * folded: one line for a directory says how many files, bytes and tokens of it were left out. */
#ifndef HEDDLE_SUMMARY_H
#define HEDDLE_SUMMARY_H

#include "payload/payload.h"

struct summary_line {
    const struct resource *r;     /* NULL: a directory of cut files */
    struct sv              name;  /* of the resource, or the directory with a slash: "src/", "./" */
    size_t                 files; /* cut ones in the directory; 0 for a resource */
    uint64_t               bytes; /* of what was cut */
    size_t                 tokens;
};
typedef VEC(struct summary_line) summary_lines;

/* The lines of one scope, in the order of its list; a directory has the position of the first of
 * its files. */
summary_lines summary_of_scope(const struct payload *p, enum resource_scope s, struct arena *a);

/* What was cut, in any scope, each once. */
summary_lines summary_of_cuts(const struct payload *p, struct arena *a);

/* Is this resource named by a directory once cuts are folded? */
bool summary_folds(const struct resource *r);

/* The directory that names a cut file when those deeper than `depth` are folded into one. */
struct sv summary_directory(struct sv path, size_t depth);

#endif
