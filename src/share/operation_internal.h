/* What the operations share with each other. */
#ifndef HEDDLE_OPERATION_INTERNAL_H
#define HEDDLE_OPERATION_INTERNAL_H

#include "share/asset.h"
#include "share/operation.h"
#include "share/share_internal.h"

/* Begin the payload of an operation with {"operation":…,"operator":…; and end it. */
struct jw   share_op_start(struct share *s, struct sb *b, const char *operation);
enum status share_op_finish(struct share *s, struct jw *w, struct sb *b, struct err *e);
void        share_op_list(struct jw *w, const char *key, const struct sv *v, size_t n);
enum status share_op_text(struct sv text, const char *what, struct err *e);

/* A free id: made from `title`, or drawn when that is absent or has no letters or digits. */
struct id_kind {
    const char *prefix;
    enum status (*is_taken)(struct share *s, struct sv id, bool *taken, struct err *e);
};
enum status id_draw(struct share *s, const struct id_kind *kind, struct sv title, struct sv *out,
                    struct err *e) MUST_USE;

/* Where the texts are that a merge overwrote, below the target's directory. */
#define MERGE_KEPT ".meta/replaced"

/* Store the content of the files that the reference covers now and list them in r->files, with a
 * place for each. `old` (or NULL) is the reference that this one replaces: a source file that
 * cannot be read keeps its old copy. */
enum status snapshot_take(struct share *s, struct share_ref *r, const struct share_ref *old,
                          struct err *e) MUST_USE;

/* Fill in what .refs.json lists for a live reference: the present names, and the directory
 * itself. */
enum status reference_live_names(struct share *s, struct share_ref *r, struct err *e) MUST_USE;

/* The same target, scope and binding: the newer one takes the row of the older. */
bool share_ref_repeats(const struct share_ref *a, const struct share_ref *b);

/* Write "gone", "gone_was" and "gone_hashes": what `old` has and `now` does not have. */
void share_op_gone(struct jw *w, const struct share_ref *old, const struct share_ref *now,
                   struct arena *a, size_t *removed);

/* Is there no thread with that id, or no directory of it? */
enum status share_source_is_gone(struct share *s, struct sv target, bool has_row, bool *out,
                                 struct err *e) MUST_USE;

#endif
