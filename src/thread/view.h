/* A view: ordered rows of one thread, folded from its entries in the transaction that
 * appends them, so that no view is ever behind its log. A fold is a pure function of the rows it
 * reads and the entry it is given: no clock, no randomness, no other thread.
 *
 *     static enum status fold(struct fold *f, const struct entry *n, struct err *e)
 *     {
 *         if (kind_of(n->kind) != KIND_LOOM_MARK) return ST_OK;
 *         return fold_put(f, key, value, e);
 *     }
 *     const struct view loom_view = { .name = "loom", .version = 1, .fold = fold };
 *
 * A new view, or a new version of one, is folded from entry 0 on first use. A view on
 * demand costs a thread nothing until somebody wants it there, and is kept in step from then on.
 * `heddle verify` folds every view again beside the live rows and compares. */
#ifndef HEDDLE_VIEW_H
#define HEDDLE_VIEW_H

#include "store/store.h"

struct fold_cache;

struct fold {
    struct store      *store;
    struct sv          thread, view;
    struct arena      *a;     /* emptied after each entry */
    struct fold_cache *cache; /* of the log's; NULL: none */
};

struct view {
    const char *name;
    int         version; /* raise it when the fold changes */
    enum status (*fold)(struct fold *f, const struct entry *n, struct err *e);
    bool on_demand; /* kept only for threads it was wanted for: see struct log */
};

/* Rows of the view being folded. */
enum status fold_get(struct fold *f, struct sv key, struct sv *value, bool *found,
                     struct err *e) MUST_USE;
enum status fold_put(struct fold *f, struct sv key, struct sv value, struct err *e) MUST_USE;
enum status fold_del(struct fold *f, struct sv key, struct err *e) MUST_USE;

/* prefix/name and prefix/0000000000000042: keys whose order is that of the numbers. */
struct sv key_of_name(const char *prefix, struct sv name, struct arena *a);
struct sv key_of_seq(const char *prefix, int64_t seq, struct arena *a);

#endif
