/* Anchors: the heads of all threads, recorded in the workspace's own log. To hide that the end of a
 * log was cut off, or that a log was rewritten, one would have to change the log of the workspace
 * too, and every anchor in it. An `anchor` entry of `.global` holds
 * {"heads":[{"chain","rev","thread"}], "root"}: each thread but .global itself, by id, and the root
 * of a Merkle tree over them, so that one hash stands for all and a single head can be shown to
 * belong to it. Leaves and nodes are those of RFC 6962 with BLAKE2b-256: H(0 ‖ leaf), H(1 ‖ left ‖
 * right), where a leaf is the canonical JSON of its head. */
#ifndef HEDDLE_ANCHOR_H
#define HEDDLE_ANCHOR_H

#include "thread/limits.h"
#include "thread/pin.h"

#define ANCHOR_THREAD SV(".global")
/* The root over n leaves; without leaves it is H(""). */
struct hash anchor_root(const struct sv *leaves, size_t n);

/* Append an anchor to .global, in a write transaction. *n is how many heads it holds. */
enum status anchor_write(struct log *l, struct sv actor, int64_t at, int64_t *seq, size_t *n,
                         struct err *e) MUST_USE;

/* anchor_write() when one is due: .global had `before` entries and has `now`. */
enum status anchor_if_due(struct log *l, int64_t before, int64_t now, struct sv actor, int64_t at,
                          struct err *e) MUST_USE;

/* Compare every anchor with the logs: an anchored entry must be there, with its chain value. What
 * differs goes to `say`. In a transaction. *n is how many anchors there are. */
enum status anchor_check(struct log *l, void (*say)(void *ctx, struct sv finding), void *ctx,
                         int64_t *n, struct err *e) MUST_USE;

#endif
