/* Threads that run requests for a door that must not wait itself, such as a server.
 *
 *     struct crew *crew = crew_open(4, 4, 1000);
 *     if (!crew_run(crew, &mine->job)) refuse;                  mine->job.run is set
 *     ...
 *     crew_close(crew);                                         runs what waits, joins every thread
 *
 * Up to `usual` jobs run at the same time, each on its thread. When all of these take longer than
 * CREW_PATIENCE_US, a further thread takes what waits, up to `most`: many short jobs share a few
 * threads, and a few long ones do not block the others. A thread that has nothing to do for a while
 * ends. Jobs that never end by themselves (a model is asked, a log is followed) belong in a crew of
 * their own. */
#ifndef HEDDLE_CREW_H
#define HEDDLE_CREW_H

#include "base/base.h"

enum { CREW_PATIENCE_US = 20000 };

struct crew;

struct crew_job {
    void (*run)(struct crew_job *job); /* called once, on a thread of the crew; may free the job */
    struct crew_job *next;             /* of the crew, and since when it waits */
    int64_t          since_us;
};

struct crew_counts {
    int threads, idle, queued;
};

/* When `most` threads are busy, `queue` jobs may wait. */
struct crew *crew_open(int usual, int most, int queue);
void         crew_close(struct crew *crew);

/* False: all threads are busy and the queue is full, or no thread can be started; the job was not
 * taken. */
bool crew_run(struct crew *crew, struct crew_job *job);

struct crew_counts crew_counts(struct crew *crew);

#endif
