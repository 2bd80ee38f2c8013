/* Nodes by their words. */
#ifndef HEDDLE_LOOM_SEARCH_H
#define HEDDLE_LOOM_SEARCH_H

#include "loom/node.h"

struct found {
    struct sv   thread, title;
    struct node node;
    struct sv   text;
};

/* Words are put into the index when someone looks for them, not when they are written: a long log
 * that nobody searches pays nothing for it. In a write transaction: index what was written to the
 * thread since the last time, at most INDEX_SLICE entries of it. With `more` the caller commits,
 * gives others the lock (log_let_others()) and goes on in another transaction. */
struct loom_indexed {
    bool    more;
    int64_t at, of; /* entries done, of how many */
};
enum status loom_index(struct log *log, struct sv thread, struct loom_indexed *out,
                       struct err *e) MUST_USE;

/* Is there something to index, or are there so many entries without words that the index should
 * record how far it has read? In any transaction. */
enum status loom_index_is_due(struct log *log, struct sv thread, bool *due, struct err *e) MUST_USE;

/* Visible nodes of this tree (or of every tree, when `everywhere`) that hold every word of
 * the query, newest first, at most `max`; *more when there may be others. Words between single
 * quotes are a phrase. However common the words are, at most FIND_LOOKED_AT nodes are looked at:
 * those that are hidden do not count. ST_INVALID_SYNTAX: the query has no word. */
enum { FIND_LOOKED_AT = 2000 };
enum status loom_find(struct loom *l, struct sv query, bool everywhere, size_t max,
                      struct found **out, size_t *n, bool *more, struct err *e) MUST_USE;

/* A stretch of the text around the first word of the query, on one line, in quotes. */
void found_excerpt(struct sb *b, struct sv text, struct sv query);

#endif
