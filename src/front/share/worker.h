/* Processes that work on threads.
 *
 * `executors.NAME` in the config is a command. A supervisor (the hidden command `_worker`) in a
 * session of its own gives it the prompt on stdin, keeps what it prints, and writes down how it
 * ended; the thread's state follows: done, or suspended while children are open, and a parent
 * that waited for its children goes on when the last of them has ended. */
#ifndef HEDDLE_WORKER_H
#define HEDDLE_WORKER_H

#include "front/share/door.h"

/* The last worker of a thread; false: there was none. */
struct worker {
    struct sv thread, executor, log;
    struct sv state; /* running, exited, lost, waiting */
    int64_t   pid, ticks, started, ended, code;
    struct sv changed;   /* paths that it may only read and changed, a JSON array; or absent */
    struct sv uncertain; /* the same, where another worker may have done it */
    size_t    n_changed;
    bool      alive;
};
/* Start the executor of a thread, if one is configured; else say that nothing was started. In the
 * answer: run_mode, worker_log_path. `with` names the executor; absent: agent. With `foreground` it
 * waits, and *ended is what became of it (its state absent: nothing was started). */
enum status worker_start(struct door *d, const struct share_thread *t, struct sv with,
                         bool foreground, struct worker *ended, struct err *e) MUST_USE;

/* ST_OK when it ended well. Else what was wrong: it failed, was lost, or changed what it may only
 * read. */
enum status worker_verdict(const struct worker *w, struct err *e) MUST_USE;

enum status worker_find(struct share *s, struct sv thread, struct worker *out, bool *found,
                        struct err *e) MUST_USE;
enum status worker_list(struct share *s, struct worker **out, size_t *n, struct err *e) MUST_USE;
void        worker_line(struct door *d, struct sv thread);

/* Append that a worker is in another state now. Writing. */
enum status worker_note(struct share *s, const struct worker *w, struct err *e) MUST_USE;

/* A child has ended: resume a parent that waits for it and has no other open child.
 * *resumed is its id, or absent. Writing. */
enum status worker_child_ended(struct share *s, const struct share_thread *child,
                               struct sv *resumed, struct err *e) MUST_USE;

/* Start the worker of a resumed thread again, outside of any answer. */
enum status worker_restart(struct app *app, struct sv thread, struct err *e) MUST_USE;

/* What `_worker T` does: run it to its end. */
enum status worker_supervise(struct app *app, struct sv thread, struct sv with,
                             struct err *e) MUST_USE;

/* SIGTERM to the session that was started for it, SIGKILL after `patience_ms`. ST_IO: it does not
 * end. ST_PERMISSION_DENIED: the process with this number is not a worker of ours; nothing was
 * signalled. */
enum status worker_kill(const struct worker *w, int patience_ms, struct err *e) MUST_USE;

#endif
