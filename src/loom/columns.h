/* The shape of a tree as columns: what a program that draws all of it needs, a few bytes for each
 * node. Texts are read by range afterwards.
 *
 *     struct tree_columns c;
 *     if (loom_columns(l, -1, &c, e)) return err_code(e);       all nodes, in order of seq
 *     if (loom_columns(l, c.rev - 1, &c, e)) return err_code(e) what is new or marked since
 */
#ifndef HEDDLE_LOOM_COLUMNS_H
#define HEDDLE_LOOM_COLUMNS_H

#include "loom/node.h"

#define COLUMN_NO_PARENT UINT32_MAX

/* The two lowest bits are enum author_kind. */
enum column_flags {
    COLUMN_BOOKMARKED = 4,
    COLUMN_PRUNED = 8, /* the node itself is pruned; the nodes below it are hidden with it */
    COLUMN_EXCLUDED = 16,
    COLUMN_WITHDRAWN = 32, /* a version that was taken back */
    COLUMN_VERSION = 64,   /* a version: its parent is the node whose place it takes */
};

enum { COLUMN_LOCAL = 4 }; /* bytes of a local id; a longer one is left empty: ask for the node */

struct tree_columns {
    int64_t   rev; /* entries of the thread */
    size_t    n;
    uint32_t *seq, *parent;
    uint8_t  *flags;
    char (*local)[COLUMN_LOCAL]; /* filled up with NUL */
};

/* First the older nodes that were marked after entry `since`, then the nodes after it (-1: all
 * nodes). In a transaction; in l->a. The cost is that of the entries since, or of all nodes.
 * ST_LIMIT_EXCEEDED: the thread has more entries than 32 bits can number. */
enum status loom_columns(struct loom *l, int64_t since, struct tree_columns *out,
                         struct err *e) MUST_USE;

#endif
