/* An ordered map of bytes to bytes whose versions share what they have in common: the base of the
 * mem: store. Taking a snapshot costs one counter; a change to a version that someone else holds
 * copies the path to the changed place and leaves the other version as it was. So a transaction is
 * a version, and to abort is to drop it.
 *
 *     struct store_tree *now = NULL;                       the empty map
 *     tree_put(&now, SV("k"), SV("v"));
 *     struct store_tree *before = tree_hold(now);
 *     tree_put(&now, SV("k"), SV("w")); `before` still has v
 *     tree_drop(before); tree_drop(now);
 *
 * Versions may be held by several threads of execution; one version is changed by one. */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "base/sv.h"

struct store_tree; /* NULL is the empty map */

struct tree_item {
    struct sv key, value;
};

struct store_tree *tree_hold(struct store_tree *t);
void               tree_drop(struct store_tree *t);

void tree_put(struct store_tree **t, struct sv key, struct sv value);
void tree_del(struct store_tree **t, struct sv key); /* absent is fine */

/* All return false when there is none. The bytes are good while the version is held. */
bool tree_get(struct store_tree *t, struct sv key, struct sv *value);
bool tree_at_least(struct store_tree *t, struct sv key, bool or_equal, struct tree_item *out);
bool tree_at_most(struct store_tree *t, struct sv key, bool or_equal, struct tree_item *out);

#endif
