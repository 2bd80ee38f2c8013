/* Nodes by their words. */
#ifndef HEDDLE_LOOM_SEARCH_H
#define HEDDLE_LOOM_SEARCH_H

#include "loom/node.h"

struct found {
    struct sv   thread, title;
    struct node node;
    struct sv   text;
};

/* Visible nodes of this tree (or of every tree, when `everywhere`) that hold every word of
 * the query, newest first, at most `max`. Words between single quotes are a phrase.
 * ST_INVALID_SYNTAX: the query has no word. */
enum status loom_find(struct loom *l, struct sv query, bool everywhere, size_t max,
                      struct found **out, size_t *n, struct err *e) MUST_USE;

/* A stretch of the text around the first word of the query, on one line, in quotes. */
void found_excerpt(struct sb *b, struct sv text, struct sv query);

#endif
