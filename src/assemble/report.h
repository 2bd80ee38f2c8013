/* What had to be changed so that a request is one its receiver accepts. Nothing is ever
 * changed without a line here. */
#ifndef HEDDLE_REPORT_H
#define HEDDLE_REPORT_H

#include "base/sb.h"
#include "base/vec.h"

/*    kind                   word        when */
#define REPAIR_TABLE(X)                                                                            \
    X(REPAIR_ADDED, "added")     /* something the log does not hold */                             \
    X(REPAIR_MOVED, "moved")     /* it stands elsewhere than in the log */                         \
    X(REPAIR_DROPPED, "dropped") /* the target has no place for it */                              \
    X(REPAIR_RENAMED, "renamed") /* a call id the target would refuse */                           \
    X(REPAIR_CHANGED, "changed") /* it is sent in another shape */                                 \
    X(REPAIR_KEPT, "kept")       /* not understood, and passed on unchanged */

enum repair_kind {
#define X(kind, word) kind,
    REPAIR_TABLE(X)
#undef X
};

enum { REPAIR_NO_ENTRY = -2 }; /* the seq of a message that is not one entry of the log */

struct repair {
    enum repair_kind kind;
    int64_t          seq;          /* of the entry; -1: out of a snapshot; REPAIR_NO_ENTRY */
    struct sv        tool_call_id; /* absent: not about a call */
    struct sv        what;         /* plain text */
    size_t           at;           /* where in the rendered turns */
};

struct render_report {
    struct arena *a;
    VEC(struct repair) list;
};

struct render_report report_in(struct arena *a);

/* Where a repair belongs. */
struct repair_place {
    int64_t   seq;
    struct sv tool_call_id;
    size_t    at;
};

/* The whole request. */
#define REPAIR_OF_ALL ((struct repair_place){ REPAIR_NO_ENTRY, { 0 }, SIZE_MAX })

void report_add(struct render_report *r, enum repair_kind kind, struct repair_place place,
                const char *fmt, ...) PRINTF(4, 5);

/* Forget repairs of turns before `start`, which will not be rendered. */
void report_cut(struct render_report *r, size_t start);

/* "entry 4, call t1: added an interrupted result", safe for a terminal, without a newline. */
void repair_write(struct sb *b, const struct repair *repair);

#endif
