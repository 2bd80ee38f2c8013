/* Shared by run_event.c (which event is applied, and how), run_event_make.c (what an event is to
 * become) and run_event_result.c (results of calls). */
#ifndef HEDDLE_RUN_EVENT_INTERNAL_H
#define HEDDLE_RUN_EVENT_INTERNAL_H

#include "base/vec.h"
#include "thread/run_internal.h"

struct run_members {
    VEC(struct json_member) list;
};

/* What an event is to become. */
struct run_made {
    enum kind          kind; /* of its entry; KIND_OTHER: the event alone does not determine one */
    const char        *role; /* of a message */
    struct run_members m;    /* members of the entry that come from the event */
    struct run_end     end;  /* of a run_finished */
    const struct json *refs; /* of the caller */
    struct sv          source, input_id;
    struct sv          call; /* of a tool's message: the id of its call */
};

/* Says what an event of one kind is to become. */
typedef enum status run_make_fn(struct run_tx *t, const struct json *event, const struct json *data,
                                struct run_made *out, struct err *e);

run_make_fn run_make_llm_started, run_make_llm_completed, run_make_tool_completed,
    run_make_input_injected, run_make_checkpoint, run_make_completed, run_make_failed,
    run_make_cancelled, run_make_worker_exit;

/* Add a member. */
void run_made_put(struct run_tx *t, struct run_members *m, const char *key, struct json v);

/* Neither absent nor null. */
static inline bool run_value_is_there(const struct json *v)
{
    return v && v->type != JSON_NULL;
}

/* ST_CONFLICT: with this reason; with the reason "invalid_event" and a hint. */
enum status run_refuse(struct err *e, const char *reason, const char *text);
enum status run_event_invalid(struct err *e, const char *what, const char *hint);

/* The run an event belongs to: the one it names, else the agent's last. */
struct sv run_event_run_of(const struct run_tx *t, const struct json *event);

/* An event's id, made unique among the op_ids of the thread by its run: a second report of the
 * same event is then found in the log, and two runs may number theirs alike. */
struct sv run_event_op(const struct run_tx *t, const struct json *event);

/* The payload of an ai_message of this run. */
struct sv run_message_payload(struct run_tx *t, const char *role, struct run_members *m);

/* The refs of the entry of an event: those of the caller, and the id and seq of the event. */
struct sv run_made_refs(const struct run_tx *t, const struct json *event, const struct run_made *m);

/* Does the entry say what the event says, and nothing else? */
enum status run_made_says_so(struct run_tx *t, const struct entry *n, const struct run_made *m,
                             bool *same, struct err *e) MUST_USE;

/* Log the result of a call: now, held until its turn, or late. */
enum status run_apply_tool(struct run_tx *t, const struct json *event, struct run_made *m,
                           struct err *e) MUST_USE;

#endif
