/* Lanes: named paths through a thread. A lane shares its ancestors' entries up to the
 * point where it was forked; nothing is copied. */
#ifndef HEDDLE_LANE_H
#define HEDDLE_LANE_H

#include "thread/log.h"

struct lane {
    struct sv name;
    struct sv from; /* absent: not forked from another lane */
    int64_t   at;   /* last seq it shares with `from`; -1 when it shares nothing */
    int64_t   seq;  /* of the entry that created the lane */
};

/* The view that knows lanes, active lanes and runs. */
extern const struct view thread_view;

#define KEY_MARKED SV("marked") /* its row that says that a context needs the loom view */

/* All in a transaction begun with log_begin(). */
enum status lane_find(struct log *l, struct sv thread, struct sv name, struct arena *a,
                      struct lane *out, bool *found, struct err *e) MUST_USE;

/* Returns ST_NOT_FOUND: the thread has no lane of that name. */
enum status lane_not_found(struct sv thread, struct sv name, struct err *e);
enum status lane_list(struct log *l, struct sv thread, struct arena *a, struct lane **out,
                      size_t *n, struct err *e) MUST_USE;

/* The stretches of log that make up a lane's path, oldest first: the messages of path[i].lane with
 * path[i].from <= seq <= path[i].to. The path of a lane is that of the lane it was forked from, up
 * to the shared point, and then its own entries; up to a given point it is the part of that path
 * which lies at or before the point, even if the lane was made later. So a fork of a lane at a
 * point shows what the lane shows at that point. */
struct stretch {
    struct sv lane;
    int64_t   from, to;
};
enum status lane_path(struct log *l, struct sv thread, struct sv lane, int64_t upto,
                      struct arena *a, struct stretch **out, size_t *n, struct err *e) MUST_USE;

/* How far the path of a lane belongs to the message `seq` of it: to the entry before the next
 * message of the lane, or to STORE_TO_END when it is the last. A snapshot between the two replaces
 * the context that ends with `seq`, and belongs to what follows. */
enum status lane_reach(struct log *l, struct sv thread, struct sv lane, int64_t seq, int64_t *upto,
                       struct err *e) MUST_USE;

/* Where an agent is: the lane of its last replace or switch, or of what it said last as a node;
 * "default" when it did none of these. After entry `at`, or now (STORE_TO_END). */
struct lane_place {
    struct sv lane;
    struct sv node;  /* local id of the node it switched to; absent: the end of the lane */
    int64_t   since; /* the entry that put it there; -1: none did */
};
enum status lane_place(struct log *l, struct sv thread, struct sv agent, int64_t at,
                       struct arena *a, struct lane_place *out, struct err *e) MUST_USE;

/* The lane alone, now. */
enum status lane_active(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                        struct sv *out, struct err *e) MUST_USE;

#endif
