/* Between worker.c (what is known, starting, stopping) and supervise.c (the supervisor). */
#ifndef HEDDLE_WORKER_INTERNAL_H
#define HEDDLE_WORKER_INTERNAL_H

#include "front/share/worker.h"

/* The command of an executor, or NULL; *name is what it is called. */
const struct json *worker_command(struct app *app, struct sv with, struct sv *name);

/* Where its output goes, below the workspace. */
struct sv worker_log(struct sv thread, struct arena *a);

/* A change of state that nobody asked for: the actor is `system`. `reason` may be NULL. */
enum status worker_lifecycle(struct share *s, struct sv thread, const char *action,
                             const char *reason, struct err *e);

enum status worker_open_children(struct share *s, struct sv parent, bool *any, struct err *e);

#endif
