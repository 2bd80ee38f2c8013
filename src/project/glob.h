/* Wildcards as git has them, compiled once and matched without backtracking blow-up:
 * the time is at most the product of the two lengths.
 *
 *     ?        one byte          [a-z] [!x] [[:digit:]]   one byte of a set
 *     *        any bytes         \x                       the byte x
 *     **       whole components, when it stands alone between slashes
 *
 * None of them matches a slash, except ** between slashes. */
#ifndef HEDDLE_GLOB_H
#define HEDDLE_GLOB_H

#include "base/sv.h"

struct glob;

/* The pattern lives in `a`. NULL when it can never match (an open bracket, an unknown
 * [:class:], a lone backslash at the end). */
const struct glob *glob_in(struct sv pattern, struct arena *a);

/* The same for texts in lower case (ASCII), as git matches where case does not count: an
 * escaped capital and a capital by itself in brackets match nothing. */
const struct glob *glob_in_folded(struct sv pattern, struct arena *a);

bool glob_match(const struct glob *g, struct sv text);

/* Does the text hold a byte that means something to a glob? */
bool glob_is(struct sv text);

/* Length of the part in front of the first such byte. */
size_t glob_literal(struct sv text);

#endif
