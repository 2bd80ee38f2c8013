/* What a thread may only read, and whether it is still as it was: a worker is asked to leave the
 * files of its references alone, and nothing but this finds out that it did not. */
#ifndef HEDDLE_SHARE_GUARD_H
#define HEDDLE_SHARE_GUARD_H

#include "share/share.h"

struct guarded {
    struct sv path;  /* below the workspace */
    struct sv owner; /* the thread it comes from */
    struct sv hash;  /* absent: there is no such file */
    bool      frozen;
};
struct guarded_list {
    VEC(struct guarded) list;
};

/* Frozen copies, and the files that live references cover, as they are now. After share_begin(). */
enum status guard_take(struct share *s, struct sv thread, struct guarded_list *out,
                       struct err *e) MUST_USE;

/* Those that are different now, came or went since `before` was taken. A frozen copy that the log
 * gives this content (a refresh meanwhile) is not one of them. */
enum status guard_changed(struct share *s, struct sv thread, const struct guarded_list *before,
                          struct guarded_list *out, struct err *e) MUST_USE;

#endif
