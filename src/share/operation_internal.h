/* What the operations share with each other. */
#ifndef HEDDLE_OPERATION_INTERNAL_H
#define HEDDLE_OPERATION_INTERNAL_H

#include "share/asset.h"
#include "share/operation.h"
#include "share/share_internal.h"

/* {"operation":…,"operator":… and the end of it. */
struct jw   op_start(struct share *s, struct sb *b, const char *operation);
enum status op_finish(struct share *s, struct jw *w, struct sb *b, struct err *e);
void        op_list(struct jw *w, const char *key, const struct sv *v, size_t n);
enum status op_text(struct sv text, const char *what, struct err *e);

/* Where the texts are that a merge overwrote, below the target's folder. */
#define MERGE_KEPT ".meta/replaced"

/* Store what the reference covers now and list it in r->files, with a place for each. `old` (or
 * NULL) is what it replaces: a source that cannot be read keeps its old copy. */
enum status snapshot_take(struct share *s, struct share_ref *r, const struct share_ref *old,
                          struct err *e) MUST_USE;

/* What .refs.json says of a live reference: its names now, and the folder itself. */
enum status live_names(struct share *s, struct share_ref *r, struct err *e) MUST_USE;

/* The same target, scope and binding: the newer one takes the row of the older. */
bool ref_repeats(const struct share_ref *a, const struct share_ref *b);

/* "gone", "gone_was" and "gone_hashes": what of `old` is not in `now`. */
void op_gone(struct jw *w, const struct share_ref *old, const struct share_ref *now,
             struct arena *a, size_t *removed);

/* No thread of that id, or no folder of it. */
enum status source_is_gone(struct share *s, struct sv target, bool has_row, bool *out,
                           struct err *e) MUST_USE;

#endif
