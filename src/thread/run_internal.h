/* Shared by run.c (calls) and run_event.c (runtime events), with the parts of the latter. */
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
    bool               is_new; /* the thread had no entry when it began */
    struct run_state   s;      /* as of the last append */
    struct run_report *report;
};

/* Append one entry and read the state again. */
enum status run_append(struct run_tx *t, enum kind kind, struct sv lane, struct sv payload,
                       struct sv refs, struct sv op_id, int64_t *seq, struct err *e) MUST_USE;

/* How a run ends. What is absent is left out. */
struct run_end {
    const char *outcome;       /* completed, failed, cancelled */
    struct sv   reason;        /* text */
    struct sv   result;        /* canonical JSON; absent: the result there is stays */
    struct sv   cancel_reason; /* text */
    struct sv   refs, op_id;   /* of the event that ends it */
    struct sv   usage;         /* JSON object, to be added to the run's */
    struct sv   usage_total;   /* JSON object, the runtime's sum over the run */
};

/* The op_id under which an entry of heddle is found again: prefix and id, or a hash of the id when
 * it is too long or not text. */
struct sv run_op_id(const char *prefix, struct sv id, struct arena *a);

/* Write the results that are held, because those of earlier calls were missing, as messages in the
 * order of the calls. Called before anything that ends the waiting. */
enum status run_release_held(struct run_tx *t, struct err *e) MUST_USE;

/* Write what is held, end the run, then apply the parked context operation. One that cannot be
 * applied any more is named in run_finished, and does not keep the run from ending. */
enum status run_finish(struct run_tx *t, const struct run_end *end, struct err *e) MUST_USE;

/* The caller's refs without the names that heddle uses, then request_id and run_id, then whatever
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
