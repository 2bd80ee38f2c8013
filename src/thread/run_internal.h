/* Shared by run.c (calls) and run_event.c (runtime events). */
#ifndef HEDDLE_RUN_INTERNAL_H
#define HEDDLE_RUN_INTERNAL_H

#include "thread/kind.h"
#include "thread/run.h"

/* One call in its write transaction. */
struct run_tx {
    struct log        *l;
    struct sv          thread, agent, actor;
    int64_t            at;
    struct arena      *a;
    struct run_state   s; /* as of the last append */
    struct run_report *report;
};

/* Append one entry and read the state again. */
enum status run_append(struct run_tx *t, enum kind kind, struct sv lane, struct sv payload,
                       struct sv refs, struct sv op_id, int64_t *seq, struct err *e) MUST_USE;

/* End the run, then apply the parked context operation. `result` is canonical JSON or
 * absent (keep what is there). */
enum status run_finish(struct run_tx *t, const char *outcome, struct sv reason, struct sv result,
                       struct sv cancel_reason, struct err *e) MUST_USE;

/* Caller's refs less the names that are ours, then request_id and run_id, then whatever
 * `more` ("key", value pairs ended by NULL) holds that is not absent. */
struct run_ref_pair {
    const char *key;
    struct sv   value; /* text; absent: left out */
};
struct sv run_refs(const struct run_tx *t, const struct json *callers,
                   const struct run_ref_pair *more, size_t n);

/* One runtime event. */
enum status run_event(struct run_tx *t, const struct json *event, struct err *e) MUST_USE;

#endif
