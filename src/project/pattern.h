/* Patterns as people type them, taken apart into lines of an ignore file. Pure.
 *
 *     *.c,*.h          two patterns
 *     src/a.{c,h}      the same for two files; a comma in braces or behind a backslash
 *                      separates nothing
 *     ./main.c         from the current directory, as ../README.md; others are found from the
 *                      root, as in a .gitignore at the root */
#ifndef HEDDLE_PATTERN_H
#define HEDDLE_PATTERN_H

#include "base/sb.h"
#include "base/vec.h"

enum { PATTERN_MAX = 1024 }; /* that one value may become */

typedef VEC(struct sv) pattern_list;

/* The parts of a value between its commas; empty ones are left out. */
pattern_list pattern_split(struct sv value, struct arena *a);

/* Does it hold braces with a comma in them? */
bool pattern_has_braces(struct sv pattern);

/* Every pattern that the braces stand for, in order, added to `out`. ST_LIMIT_EXCEEDED: more than
 * PATTERN_MAX. */
enum status pattern_expand(struct sv pattern, struct arena *a, pattern_list *out,
                           struct err *e) MUST_USE;

/* A pattern that starts with ./ or ../, as one from the root; others as they are. `here` is the
 * current directory below the root. ST_INVALID_SYNTAX: it leads out. */
enum status pattern_from(struct sv pattern, struct sv here, struct arena *a, struct sv *out,
                         struct err *e) MUST_USE;

#endif
