/* Processes that work on threads, as the log knows them.
 *
 * A supervisor in a session of its own gives an executor its prompt, keeps what it prints, and
 * records how it ended; the thread's state follows: done, or suspended while children are open, and
 * a parent that waited for its children goes on when the last of them has ended. */
#ifndef HEDDLE_SHARE_WORKER_H
#define HEDDLE_SHARE_WORKER_H

#include "share/operation.h"

/* The last worker of a thread. */
struct worker {
    struct sv thread, executor, log;
    struct sv state; /* running, exited, lost, waiting */
    int64_t   pid, ticks, started, ended, code;
    struct sv changed;   /* paths that it may only read and changed, a JSON array; or absent */
    struct sv uncertain; /* the same, where another worker may have done it */
    size_t    n_changed;
    bool      alive;
};

enum status worker_find(struct share *s, struct sv thread, struct worker *out, bool *found,
                        struct err *e) MUST_USE;
enum status worker_list(struct share *s, struct worker **out, size_t *n, struct err *e) MUST_USE;

/* Where the output of a thread's worker goes, below the workspace. */
struct sv worker_log(struct sv thread, struct arena *a);

/* When a process began, in clock ticks since boot; -1: there is none. */
int64_t worker_ticks(int64_t pid);

/* ST_OK when it ended well. Else what was wrong: it failed, was lost, or changed what it may only
 * read. */
enum status worker_verdict(const struct worker *w, struct err *e) MUST_USE;

/* Append the new state of a worker. In a write transaction. */
enum status worker_note(struct share *s, const struct worker *w, struct err *e) MUST_USE;

/* Record as lost the workers that are running according to the log but whose process is gone. In a
 * write transaction. */
enum status worker_note_lost(struct share *s, struct err *e) MUST_USE;

/* A change of state made by heddle itself: the actor is `system`. `reason` may be NULL. In a write
 * transaction. */
enum status worker_lifecycle(struct share *s, struct sv thread, const char *action,
                             const char *reason, struct err *e) MUST_USE;

enum status worker_open_children(struct share *s, struct sv parent, bool *any,
                                 struct err *e) MUST_USE;

/* A child has ended: resume a parent that waits for it and has no other open child. *resumed is its
 * id, or absent. In a write transaction. */
enum status worker_child_ended(struct share *s, const struct share_thread *child,
                               struct sv *resumed, struct err *e) MUST_USE;

/* SIGTERM to the session that was started for it, SIGKILL after `patience_ms`. ST_IO: it does not
 * end. ST_PERMISSION_DENIED: the process with this number is not a worker of heddle; no signal was
 * sent. */
enum status worker_kill(const struct worker *w, int patience_ms, struct err *e) MUST_USE;

#endif
