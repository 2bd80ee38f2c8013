/* Runs: a request by a user, the model's and tools' turns, and an end. One run at a time
 * per agent. Every step is in the log the moment it is known; the context of the lane is
 * always the projection of the log, whether the run completed, failed or was cancelled.
 *
 * Refusals carry a reason: busy, lane_busy (another agent's run is active in the lane), request_id,
 * unknown_allowed_tools, invalid_max_iterations (start); idle, request_mismatch, empty_content,
 * queue_full, closed (steering); awaiting_tool (draining); request_mismatch, unknown_tool_call,
 * stale_event, invalid_event, event_id, tool_call_id (events). */
#ifndef HEDDLE_RUN_H
#define HEDDLE_RUN_H

#include "thread/limits.h"
#include "thread/run_state.h"

/* Who and where, in every call. */
struct run_ref {
    struct sv thread, agent; /* agent absent: "default" */
    struct sv actor;
    int64_t   at;
};

struct run_start {
    struct sv content;             /* canonical JSON: a string or a list of parts; absent: what is
                                    * answered is in the log already */
    struct sv          lane;       /* absent: the agent's active lane */
    struct sv          request_id; /* absent: one is made */
    struct sv          refs;       /* JSON object of the caller's; absent: none */
    const struct json *config;  /* model, max_iterations, tools: kept with the run; may be NULL */
    const struct json *allowed; /* list of tool names, each of which config.tools must have */
    struct sv system_prompt;    /* of the settings; absent: none. Where the lane has no snapshot of
                                 * its own it is logged first, as a replace with reason system */
};

/* "heddle run cancel T --agent A", as a shell takes it: for hints. */
struct sv run_cancel_words(struct sv thread, struct sv agent, struct arena *a);

/* With a request_id that was started before, by the same agent with the same content, nothing is
 * written and *out is the state of the agent's run; with other content ST_CONFLICT, reason
 * request_id. */
enum status run_start(struct log *l, const struct run_ref *who, const struct run_start *start,
                      struct arena *a, struct run_state *out, struct err *e) MUST_USE;

/* What a list of runtime events did. */
struct run_report {
    int64_t events, logged, duplicates;
    int64_t trace_kept; /* events remembered, at most RUN_TRACE_MAX */
    bool    trace_truncated;
};

/* Apply runtime events in order: {"kind","id"?,"seq"?,"request_id"?,"run_id"?,"iteration"?,
 * "tool_call_id"?,"tool_name"?,"data":{…}}. All or none. An id is one of its run: an event whose id
 * was logged in the run before is skipped and counted when it says the same, and is ST_CONFLICT,
 * reason event_id, when it does not. A result of a call that was really made is always recorded,
 * also when the run went on without it or is over. Kinds without an effect on log or context are
 * accepted; run_event_near() finds the kinds that no known runtime reports. */
enum status run_events(struct log *l, const struct run_ref *who, const struct json *events,
                       size_t n, struct arena *a, struct run_state *out, struct run_report *report,
                       struct err *e) MUST_USE;

/* Is this a kind of event that runtimes report? If not, returns the kind that may have been meant,
 * or NULL. */
const char *run_event_near(struct sv kind, bool *known);

struct run_steer {
    const char *kind;       /* "steer" from people, "inject" from programs */
    struct sv   text;       /* trimmed; only text */
    struct sv   request_id; /* expected; absent: any */
    struct sv   source;     /* absent: none */
    struct sv   refs;       /* JSON object; absent: none */
    struct sv   op_id;      /* a name; repeating it with the same text is harmless. It becomes the
                             * input's id; absent: one is made */
};

/* Accept steering for the active run: durable at once, part of the context when drained. */
enum status run_steer(struct log *l, const struct run_ref *who, const struct run_steer *steer,
                      struct arena *a, struct sv *input_id, struct err *e) MUST_USE;

/* Move all waiting steering into the context, oldest first, as user messages; the runtime
 * calls this before it asks the model and after a final answer. *drained is a JSON list
 * of {"content","id","seq"}. Refused while tool calls are open. */
enum status run_drain(struct log *l, const struct run_ref *who, struct arena *a, struct sv *drained,
                      struct err *e) MUST_USE;

/* End the active run. `request_id` absent: whichever is active. */
enum status run_cancel(struct log *l, const struct run_ref *who, struct sv request_id,
                       struct sv reason, struct arena *a, struct run_state *out,
                       struct err *e) MUST_USE;

/* The process that executed the run is gone: end the run as failed, reason stream_interrupted.
 * Nothing happens when no run is active. */
enum status run_recover(struct log *l, const struct run_ref *who, struct arena *a,
                        struct run_state *out, struct err *e) MUST_USE;

/* The state as a JSON document for those who execute or watch the run: what run_state_write()
 * gives, and by the seed's names active_context_ref, applied_context_ops (the last RUN_APPLIED_MAX,
 * newest first), pending_context_op with its type, lane and reason, projection_cursor_seq; each
 * waiting input with its text, each call with its arguments; runs: agent, status and active of the
 * last run of every agent in the thread. */
enum status run_describe(struct log *l, const struct run_ref *who, struct arena *a, struct sb *out,
                         struct err *e) MUST_USE;

/* The op_id of the run_started entry of a request. */
struct sv run_start_op(struct sv request_id, struct arena *a);

/* ---- in a write transaction that the caller began, and commits --------------------------------
 */

enum status run_start_in(struct log *l, const struct run_ref *who, const struct run_start *start,
                         struct arena *a, struct run_state *out, struct err *e) MUST_USE;

/* End the active run, as its runtime. */
struct run_ending {
    const char *outcome;       /* completed, failed, cancelled */
    struct sv   reason;        /* text */
    struct sv   result;        /* canonical JSON; absent: the result there is stays */
    struct sv   cancel_reason; /* text; absent: it was not cancelled */
};
enum status run_end_in(struct log *l, const struct run_ref *who, const struct run_ending *how,
                       struct arena *a, struct run_state *out, struct err *e) MUST_USE;

enum status run_status(struct log *l, const struct run_ref *who, struct arena *a,
                       struct run_state *out, struct err *e) MUST_USE;

#endif
