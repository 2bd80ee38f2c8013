/* An ordered map of bytes to bytes whose versions share what they have in common: the
 * ground under the mem: store. Taking a snapshot costs one counter; a change to a version
 * that someone else holds copies the path to the changed place and leaves the other
 * version as it was. So a transaction is a version: aborting it lets it go.
 *
 *     struct tree *now = NULL;                       the empty map
 *     tree_put(&now, SV("k"), SV("v"));
 *     struct tree *before = tree_hold(now);
 *     tree_put(&now, SV("k"), SV("w"));              `before` still says v
 *     tree_drop(before); tree_drop(now);
 *
 * Versions may be held by several threads of execution; one version is changed by one. */
#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "base/sv.h"

struct tree; /* NULL is the empty map */

struct tree_item {
    struct sv key, value;
};

struct tree *tree_hold(struct tree *t);
void         tree_drop(struct tree *t);

void tree_put(struct tree **t, struct sv key, struct sv value);
void tree_del(struct tree **t, struct sv key); /* absent is fine */

/* All return false when there is none. The bytes are good while the version is held. */
bool tree_get(struct tree *t, struct sv key, struct sv *value);
bool tree_at_least(struct tree *t, struct sv key, bool or_equal, struct tree_item *out);
bool tree_at_most(struct tree *t, struct sv key, bool or_equal, struct tree_item *out);

#endif
