/* Who stages (thread/stage.h), and what is left of those who were killed. A token belongs to a
 * process for as long as it holds the file of that name in .heddle (base/scratch.h). */
#ifndef HEDDLE_STAGED_H
#define HEDDLE_STAGED_H

#include "api/request.h"
#include "thread/stage.h"

struct staged {
    struct sv token; /* absent: nothing is held */
    int       root, fd;
};

/* Take a token. *out is to be released, also after an error. */
enum status staged_take(int root, struct arena *a, struct staged *out, struct err *e) MUST_USE;
void        staged_release(struct staged *s);

/* Drop what was staged and is not shown, as far as the disk allows. What stays is said in the hint
 * of *e, when that is an error, else in a warning. Outside a transaction. */
void staged_drop(struct request *r, struct log *l, const struct staged *s, struct err *e);

/* Entries of an import that was interrupted after it was decided, and that were moved now. */
struct staged_moved {
    struct sv into, lines;
    int64_t   first, end; /* seqs in `into`, between which may be entries of others */
};

/* What others left behind: what was decided is moved, the rest dropped, as is what is left of
 * threads that were deleted or exchanged; the request is warned of what is moved. Outside a
 * transaction; `moved` may be NULL. */
struct staged_swept {
    VEC(struct staged_moved) moved;
};
enum status staged_sweep(struct request *r, struct log *l, int root, struct staged_swept *out,
                         struct err *e) MUST_USE;

/* The same, and what imports that go on have decided is moved with them, so that no thread has a
 * part of one. */
enum status staged_finish(struct request *r, struct log *l, int root, struct err *e) MUST_USE;

/* Only look: calls back for each import that was left. `into` is absent when it will be dropped. */
enum status staged_each_left(struct log *l, int root, struct arena *a,
                             void (*each)(void *ctx, struct sv token, struct sv into), void *ctx,
                             struct err *e) MUST_USE;

#endif
