/* What of an entry can be erased.
 *
 * The *skeleton* of an entry is what happened: the members of its payload that the table of its
 * kind keeps (thread/kind_check.h): role, place in the tree, lane, ids, type of operation. The
 * *content* is the rest, what was said: every other member, and refs. As text the skeleton is the
 * payload with the value of each content member replaced by null, so that it has the shape of the
 * payload and is canonical JSON; splitting a skeleton gives the same skeleton. A value that does
 * not have the type of its row, which can only come from an import, becomes false (0 where the row
 * is a truth value), so that the rules of the kind still refuse the entry.
 *
 * In chain version 2 an entry is chained by its skeleton and by a commitment to its content: the
 * BLAKE2b-256 of 16 bytes of salt, the replaced values in their order, each followed by a line
 * feed, and refs. Without the salt nobody can tell from the commitment what the content was. */
#ifndef HEDDLE_SKELETON_H
#define HEDDLE_SKELETON_H

#include "store/types.h"

/* The skeleton of a payload, in `a`. */
struct sv skeleton_of(struct sv kind, struct sv payload, struct arena *a);

/* Fill in skeleton and commitment of each of entries[0..n) that has a salt, or the skeleton of one
 * that is erased; an entry of chain version 1 is not changed. Commitments are computed several at a
 * time. */
void skeleton_fill(struct entry *entries, size_t n, struct arena *a);

/* Placeholders for a text that was erased and for the hash of such a text. No content has this
 * hash.
 */
#define ERASED_TEXT "[erased]"
#define ERASED_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* The payload to show: that of the entry, or, for an erased entry, its skeleton with ERASED_TEXT
 * for each erased text and, in a thread_operation, ERASED_HASH for each hash of a file, so that
 * readers and folds find the members they need. Only for reading: the chain is computed from the
 * entry itself. */
struct sv skeleton_shown(const struct entry *n, struct arena *a);

/* Does the entry hold anything that can be erased? */
bool skeleton_has_content(const struct entry *n, struct arena *a);

/* store_prove() of entries as a scan gave them. `scratch` is left as it was. */
enum status skeleton_prove(struct store_scan *scan, const struct entry *entries, size_t n,
                           struct arena *scratch, enum entry_proof *out, struct err *e) MUST_USE;

/* Draw a salt for each of entries[0..n) that has none, unless it is erased or comes from an
 * export of chain version 1. */
void skeleton_salt(struct entry *entries, size_t n);

#endif
