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

/* Store what the reference covers now and list it in r->files, with a place for each. */
enum status snapshot_take(struct share *s, struct share_ref *r, struct err *e);

#endif
