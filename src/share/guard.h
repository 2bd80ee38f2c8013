/* The files that a thread may only read, and whether they changed. A worker is told not to change
 * the files of its references; only this check notices when it does. */
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

/* ---- for an agent that somebody else runs (guard_mark.c) ----------------------------------- */

/* Why a thread may not write a path. What is neither its own nor somebody else's is its own affair.
 */
enum guard_why {
    GUARD_ALLOWED,
    GUARD_REFERENCE, /* it belongs to a thread that this one may only read */
    GUARD_COPY,      /* a frozen copy, or a pointer to a live original */
    GUARD_CONTROL,   /* heddle writes it itself: .heddle/, .leslie/ *.json, the registry */
};
struct guard_refusal {
    enum guard_why why;
    struct sv      owner; /* the thread whose directory it is in, or absent */
};

/* `path` is below the workspace, in its normal form; it need not exist, and may be a directory.
 * After share_begin(). */
enum status guard_path(struct share *s, struct sv thread, struct sv path, struct guard_refusal *out,
                       struct err *e) MUST_USE;

/* A place that a thread may not write: guard_path() refuses it and what is below. */
struct guard_place {
    struct sv            path;
    struct guard_refusal refusal;
    bool                 holds; /* only because of what is in it */
    bool                 is_file;
};
struct guard_place_list {
    VEC(struct guard_place) list;
};

/* For those who write more than one path, or have a pattern and not a path: an operation on `path`
 * that removes, moves or replaces what is below touches each of these that is below. Directories
 * for copies that hold none are left out. With `files` also the files in them that the thread
 * may only read. After share_begin(). */
enum status guard_places(struct share *s, struct sv thread, struct sv path, bool files,
                         struct guard_place_list *out, struct err *e) MUST_USE;

/* A file that a thread may only read, by attributes that change when it is written; and by its
 * hash, which the log has of copies and which was computed of others while at most `hash_bytes` had
 * been read. */
struct guard_mark {
    struct sv      path, owner;
    struct sv      hash; /* absent: not known */
    struct fs_mark mark; /* all zero: there is no such file */
};
struct guard_mark_list {
    VEC(struct guard_mark) list;
};
enum status guard_marks(struct share *s, struct sv thread, uint64_t hash_bytes,
                        struct guard_mark_list *out, struct err *e) MUST_USE;

/* Those that are different now, came or went. One whose hash was known is different only when its
 * hash is. */
enum status guard_marks_changed(struct share *s, struct sv thread,
                                const struct guard_mark_list *before, struct guard_mark_list *out,
                                struct err *e) MUST_USE;

#endif
