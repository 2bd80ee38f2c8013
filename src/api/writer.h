/* One thread that writes for many callers: what waits is run in one group (store/store.h) and
 * becomes durable with one sync; then all of it is answered. There is no timer: while one group is
 * being synced, the next one gathers.
 *
 *     struct group_writer *w = writer_open(ws, WRITER_GROUP_US);
 *     mine->job = (struct writer_job){ .op = op, .params = params, .a = &arena,
 *                                      .prepare = my_prepare, .done = my_done };
 *     if (!writer_put(w, &mine->job)) refuse;     the writer's thread calls my_done()
 *     writer_close(w);                            returns when all waiting jobs were written
 *
 * Only operations whose row says `joins` may be put. One that is to be done once (api/once.h) is
 * run by itself, since it makes a group of its own. The failure or conflict of one does not affect
 * the others. Where a group cannot be written as a whole (the disk is full, a rebuild of views is
 * due), each of its members is run again by itself. */
#ifndef HEDDLE_WRITER_H
#define HEDDLE_WRITER_H

#include "api/request.h"

enum {
    WRITER_GROUP_MAX = 512, /* requests in one group */
    WRITER_GROUP_US = 5000, /* the usual value of `group_us`, see writer_open() */
    WRITER_QUEUE_MAX = 65536,
};

struct group_writer;

struct writer_job {
    const struct operation *op;
    const void             *params;
    struct arena           *a;                                  /* of the request */
    void (*prepare)(struct writer_job *job, struct request *r); /* actor and the like */
    void (*done)(struct writer_job *job);                       /* may free the job */
    struct request     r; /* the result, when done() is called: the document, warnings */
    enum status        status;
    struct err         e;
    struct writer_job *next; /* of the writer */
    struct arena_mark  mark;
    bool               ran; /* in the group that is being written */
};

struct writer_counts {
    int64_t queued, groups, jobs, largest,
        alone; /* alone: run by themselves after a group failed */
};

/* After `group_us` microseconds a group begins no further request: so that requests that are done
 * do not wait for all the others. */
struct group_writer *writer_open(struct workspace *ws, int64_t group_us);
void                 writer_close(struct group_writer *w);

/* False: too many wait, or no thread can be started. */
bool writer_put(struct group_writer *w, struct writer_job *job);

struct writer_counts writer_counts(struct group_writer *w);

#endif
