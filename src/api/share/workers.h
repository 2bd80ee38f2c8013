/* Starting and supervising the processes that work on threads. `executors.NAME` in the settings is
 * a command; the supervisor is the program of the workspace (workspace.program), started as
 * `PROGRAM _worker THREAD --with NAME --root DIR`. */
#ifndef HEDDLE_API_SHARE_WORKERS_H
#define HEDDLE_API_SHARE_WORKERS_H

#include "api/share/share_call.h"
#include "share/worker.h"

/* The command of an executor, or NULL; *name is what it is called. Absent `with`: agent. */
const struct json *worker_command(struct request *r, struct sv with, struct sv *name);

/* The result of starting one. */
struct worker_started {
    const char   *run_mode; /* "record": no executor is set; "background", "foreground" */
    struct sv     log;      /* absolute path of what it prints; absent: nothing was started */
    struct worker ended;    /* after "foreground": how it ended */
};

/* ST_NOT_FOUND, reason "executor": no such executor is set, so that worker_start() would only
 * remark on it. */
enum status worker_must_start(struct request *r, struct sv with, struct err *e) MUST_USE;

/* Start the executor of a thread, if one is configured; else warn that nothing was started. With
 * `foreground` it waits for its end. No transaction may be open. */
enum status worker_start(struct request *r, struct share *s, struct sv thread, struct sv with,
                         bool foreground, struct worker_started *out, struct err *e) MUST_USE;

/* What the supervisor does: run the executor to its end, and record how it ended. */
enum status worker_supervise(struct request *r, struct sv thread, struct sv with,
                             struct worker *out, struct err *e) MUST_USE;

/* A worker in answers. */
extern const struct field worker_fields[];
void                      worker_members(struct jw *w, const struct worker *x);

#endif
