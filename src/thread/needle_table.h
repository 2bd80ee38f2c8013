/* The table behind a set of texts (needle.h): is one of many texts in these bytes?
 *
 * The texts form a tree of common beginnings, in which a text that begins with another one is left
 * out: the other is found first. Every node of the tree is in a hash table under the hash of one of
 * the prefixes on the edge to it, chosen so that a binary search over lengths finds the text that
 * begins at a place of the searched bytes, if there is one (a z-fast trie: Belazzougui, Boldi,
 * Pagh, Vigna 2009). A place costs at most log2 of the longest text in lookups; places where no
 * text begins with the same NEEDLE_MIN bytes, which are most, cost one. */
#ifndef HEDDLE_NEEDLE_TABLE_H
#define HEDDLE_NEEDLE_TABLE_H

#include "thread/needle.h"

struct needle_table *needle_table_new(struct arena *a);

/* Is one of the texts of `set` in these bytes, at least NEEDLE_MIN of them? */
bool needle_table_find(struct needle_table *t, const struct needles *set, struct sv bytes);

/* What all searches took so far: slots looked at, and bytes compared. */
uint64_t needle_table_work(const struct needle_table *t);

#endif
