/* One file of ignore patterns, compiled: exactly git's rules. Pure. The result of a match is the
 * number of the last line that matches; this line decides whether the path is ignored or included
 * again. Most lines (names, *.ext, whole paths) are found by hash, so that a long file costs as
 * little as a short one. */
#ifndef HEDDLE_IGNORE_H
#define HEDDLE_IGNORE_H

#include "base/sv.h"

struct ignore;

enum { IGNORE_NO_LINE = -1 };

/* The compiled patterns live in `a` and point into `text`. NULL when no line matters. */
const struct ignore *ignore_in(struct sv text, struct arena *a);

/* The same, for names whose case does not count (git's core.ignoreCase). */
const struct ignore *ignore_in_folded(struct sv text, struct arena *a);

/* The last pattern that matches `path` (relative to the directory of the file, "/" between parts),
 * counted from 0, or IGNORE_NO_LINE. Parents are not looked at. g may be NULL. */
int ignore_match(const struct ignore *g, struct sv path, bool is_dir);

/* Does that pattern include again what earlier ones excluded? */
bool ignore_is_negated(const struct ignore *g, int line);

/* Could a pattern with ! match something below the directory `dir`? With `only_paths` only patterns
 * that contain a slash are considered, which name a place. */
bool ignore_may_bring_back(const struct ignore *g, struct sv dir, bool only_paths);

#endif
