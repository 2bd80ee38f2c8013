/* Runtime events: what a harness reports while it carries a run.
 *
 *     llm_completed       an assistant message
 *     tool_completed      a tool message; results are logged in the order of the calls
 *     input_injected      a user message
 *     checkpoint          the token is remembered
 *     request_completed, request_failed, request_cancelled, worker_exit      the end
 *     llm_started         ends the run when it is over its number of iterations
 *
 * Everything else (deltas, heartbeats, unknown kinds) changes nothing that is kept. */
#include "thread/run_internal.h"

#include "base/vec.h"

#define MAX_ITERATIONS_TEXT "Maximum iterations reached without a final answer."

static enum status refuse(struct err *e, const char *reason, const char *text)
{
    err_set(e, ST_CONFLICT, "%s", text);
    return err_reason(e, reason);
}

static bool is_blank_text(const struct json *v)
{
    return !v || v->type == JSON_NULL || (v->type == JSON_STRING && !sv_trim(json_sv(v)).n);
}

/* The refs of what an event logs: its id as signal_id, its seq for fencing. */
static struct sv event_refs(const struct run_tx *t, const struct json *event,
                            const struct json *callers, struct sv source, struct sv input_id)
{
    int64_t   seq;
    struct sb b = sb_in(t->a, 0);

    if (json_int(json_find(event, "seq"), &seq))
        sb_add_int(&b, seq);
    const struct run_ref_pair more[] = { { "signal_id", json_text(event, "id") },
                                         { "event_seq", b.n ? sb_sv(&b) : (struct sv){ 0 } },
                                         { "input_id", input_id },
                                         { "source", source } };
    return run_refs(t, callers, more, COUNT(more));
}

/* An event's id, made unique among the op_ids of the thread: a second report of the same
 * event is then found in the log. */
static struct sv event_op(const struct run_tx *t, const struct json *event)
{
    struct sv id = json_text(event, "id");

    return id.n ? run_op_id("event:", id, t->a) : (struct sv){ 0 };
}

/* End the run because of an event. */
static enum status finish(struct run_tx *t, const struct json *event, struct run_end end,
                          struct err *e)
{
    end.refs = event_refs(t, event, NULL, (struct sv){ 0 }, (struct sv){ 0 });
    end.op_id = event_op(t, event);
    return run_finish(t, &end, e);
}

struct members {
    VEC(struct json_member) list;
};

static void put(struct run_tx *t, struct members *m, const char *key, struct json v)
{
    *vec_push(&m->list, t->a) = (struct json_member){ sv_of(key), v };
}

static void put_if(struct run_tx *t, struct members *m, const char *key, const struct json *v)
{
    if (v && v->type != JSON_NULL)
        put(t, m, key, *v);
}

/* The payload of an ai_message of this run. */
static struct sv message_payload(struct run_tx *t, const char *role, struct members *m)
{
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        put(t, m, "agent", json_of(t->agent));
    put(t, m, "context_ref", json_of(t->s.lane));
    put(t, m, "request_id", json_of(t->s.request_id));
    put(t, m, "role", json_of(sv_of(role)));
    put(t, m, "run_id", json_of(t->s.run_id));
    struct json payload = { JSON_OBJECT, m->list.n, { .members = m->list.v } };
    return json_canonical(&payload, t->a);
}

/* ---- the model ----------------------------------------------------------------------- */

static bool is_incomplete(const struct json *data, const struct json *content)
{
    struct sv finish = json_text(data, "finish_reason");

    return is_blank_text(content) && finish.n && !sv_is(finish, "stop") &&
           !sv_is(finish, "tool_calls");
}

static enum status on_llm_completed(struct run_tx *t, const struct json *event,
                                    const struct json *data, struct err *e)
{
    const struct json *calls = json_find(data, "tool_calls");
    const struct json *content = json_find(data, "content");
    struct members     m = { 0 };

    if (!content)
        content = json_find(data, "text");
    bool has_calls = json_is(calls, JSON_ARRAY) && calls->n;
    if (!has_calls && is_incomplete(data, content)) {
        struct sb b = sb_in(t->a, 0);
        sb_addf(&b, "{\"error\":{\"reason\":" SV_FMT ",\"type\":\"incomplete_response\"}}",
                SV_ARG(json_canonical(json_find(data, "finish_reason"), t->a)));
        return finish(t, event,
                      (struct run_end){ .outcome = "failed",
                                        .reason = SV("incomplete_response"),
                                        .result = sb_sv(&b) },
                      e);
    }
    put(t, &m, "content", content && content->type != JSON_NULL ? *content : json_of(SV("")));
    if (has_calls)
        put(t, &m, "tool_calls", *calls);
    put_if(t, &m, "thinking", json_find(data, "thinking"));
    put_if(t, &m, "reasoning_details", json_find(data, "reasoning_details"));
    put_if(t, &m, "usage", json_find(data, "usage"));
    struct sv refs = event_refs(t, event, NULL, (struct sv){ 0 }, (struct sv){ 0 });
    return run_append(t, KIND_AI_MESSAGE, t->s.lane, message_payload(t, "assistant", &m), refs,
                      event_op(t, event), NULL, e);
}

static enum status on_llm_started(struct run_tx *t, const struct json *event,
                                  const struct json *data, struct err *e)
{
    int64_t iteration = t->s.iteration;

    (void)data;
    json_int(json_find(event, "iteration"), &iteration);
    if (iteration <= t->s.max_iterations)
        return ST_OK;
    return finish(t, event,
                  (struct run_end){ .outcome = "completed",
                                    .reason = SV("max_iterations"),
                                    .result = SV("\"" MAX_ITERATIONS_TEXT "\"") },
                  e);
}

/* ---- tools ----------------------------------------------------------------------------- */

/* What the model is told: the content as given, else {"ok":…} around result or error. */
static struct json tool_content(struct run_tx *t, const struct json *data)
{
    const struct json *content = json_find(data, "content"), *error = json_find(data, "error");
    const struct json *result = json_find(data, "result");
    struct sb          b = sb_in(t->a, 0);

    if (json_is(content, JSON_STRING) || json_is(content, JSON_ARRAY))
        return *content;
    if (error && error->type != JSON_NULL)
        sb_addf(&b, "{\"error\":" SV_FMT ",\"ok\":false}", SV_ARG(json_canonical(error, t->a)));
    else
        sb_addf(&b, "{\"ok\":true,\"result\":" SV_FMT "}",
                SV_ARG(result ? json_canonical(result, t->a) : SV("null")));
    return json_of(sb_sv(&b));
}

/* The next call whose result may be logged: all before it are done. */
static struct run_call *next_call(struct run_state *s)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (!s->calls[i].done)
            return &s->calls[i];
    return NULL;
}

static struct run_call *call_of(struct run_state *s, struct sv id)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (sv_eq(s->calls[i].id, id))
            return &s->calls[i];
    return NULL;
}

/* Results that came early and whose turn it is now. */
static enum status release_held(struct run_tx *t, struct err *e)
{
    for (;;) {
        struct run_call *next = next_call(&t->s);
        if (!next || next->held < 0)
            return ST_OK;
        struct store_query q = { .thread = t->thread, .from = next->held, .to = next->held };
        struct entry       n;
        bool               found;
        if (store_first(t->l->store, &q, t->a, &n, &found, e) ||
            run_append(t, KIND_AI_MESSAGE, n.lane, n.payload, n.refs, (struct sv){ 0 }, NULL, e))
            return err_code(e);
    }
}

static enum status on_tool_completed(struct run_tx *t, const struct json *event,
                                     const struct json *data, struct err *e)
{
    struct sv      id = json_text(event, "tool_call_id"), name = json_text(event, "tool_name");
    struct members m = { 0 };

    if (!id.n)
        id = json_text(data, "tool_call_id");
    struct run_call *call = call_of(&t->s, id);
    if (!call)
        return refuse(e, "unknown_tool_call", "no open tool call has this tool_call_id");
    if (call->done || call->held >= 0) {
        t->report->duplicates++;
        return ST_OK;
    }
    if (!name.n)
        name = call->name;
    put(t, &m, "content", tool_content(t, data));
    put(t, &m, "name", json_of(name));
    put(t, &m, "tool_call_id", json_of(id));
    bool      early = call != next_call(&t->s);
    struct sv refs =
        event_refs(t, event, json_find(data, "refs"), (struct sv){ 0 }, (struct sv){ 0 });
    if (run_append(t, early ? KIND_RUN_TOOL_HELD : KIND_AI_MESSAGE, t->s.lane,
                   message_payload(t, "tool", &m), refs, event_op(t, event), NULL, e))
        return err_code(e);
    return early ? ST_OK : release_held(t, e);
}

/* ---- steering, tokens, ends -------------------------------------------------------------- */

static enum status on_input_injected(struct run_tx *t, const struct json *event,
                                     const struct json *data, struct err *e)
{
    const struct json *content = json_find(data, "content");
    struct members     m = { 0 };

    if (!json_is(content, JSON_STRING) && !json_is(content, JSON_ARRAY))
        return refuse(e, "invalid_event", "input_injected needs data.content");
    put(t, &m, "content", *content);
    struct sv refs = event_refs(t, event, json_find(data, "refs"), json_text(data, "source"),
                                json_text(data, "input_id"));
    return run_append(t, KIND_AI_MESSAGE, t->s.lane, message_payload(t, "user", &m), refs,
                      event_op(t, event), NULL, e);
}

static enum status on_checkpoint(struct run_tx *t, const struct json *event,
                                 const struct json *data, struct err *e)
{
    struct members m = { 0 };

    if (!json_text(data, "token").n)
        return refuse(e, "invalid_event", "checkpoint needs data.token");
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        put(t, &m, "agent", json_of(t->agent));
    put(t, &m, "run_id", json_of(t->s.run_id));
    put(t, &m, "token", *json_find(data, "token"));
    struct json payload = { JSON_OBJECT, m.list.n, { .members = m.list.v } };
    return run_append(t, KIND_RUN_CHECKPOINT, t->s.lane, json_canonical(&payload, t->a),
                      event_refs(t, event, NULL, (struct sv){ 0 }, (struct sv){ 0 }),
                      event_op(t, event), NULL, e);
}

static struct sv raw(const struct run_tx *t, const struct json *v)
{
    return v && v->type != JSON_NULL ? json_canonical(v, t->a) : (struct sv){ 0 };
}

static enum status on_completed(struct run_tx *t, const struct json *event, const struct json *data,
                                struct err *e)
{
    struct sv reason = json_text(data, "termination_reason");

    return finish(t, event,
                  (struct run_end){ .outcome = "completed",
                                    .reason = reason.n ? reason : SV("final_answer"),
                                    .result = raw(t, json_find(data, "result")) },
                  e);
}

static enum status on_failed(struct run_tx *t, const struct json *event, const struct json *data,
                             struct err *e)
{
    struct sv type = json_text(data, "error_type");

    struct sv error = raw(t, json_find(data, "error"));
    return finish(t, event,
                  (struct run_end){ .outcome = "failed",
                                    .reason = type.n ? type : SV("error"),
                                    .result = error.s ? error : SV("null") },
                  e);
}

static enum status on_cancelled(struct run_tx *t, const struct json *event, const struct json *data,
                                struct err *e)
{
    struct sv reason = json_text(data, "reason");
    struct sb b = sb_in(t->a, 0);

    if (!reason.n)
        reason = SV("user_cancelled");
    sb_adds(&b, "{\"cancelled\":");
    sb_add_json_string(&b, reason);
    sb_addc(&b, '}');
    return finish(t, event,
                  (struct run_end){ .outcome = "cancelled",
                                    .reason = SV("cancelled"),
                                    .result = sb_sv(&b),
                                    .cancel_reason = reason },
                  e);
}

static enum status on_worker_exit(struct run_tx *t, const struct json *event,
                                  const struct json *data, struct err *e)
{
    const struct json *reason = json_find(data, "reason");
    struct sb          b = sb_in(t->a, 0);

    sb_addf(&b, "{\"react_worker_exit\":" SV_FMT "}",
            SV_ARG(reason ? json_canonical(reason, t->a) : SV("null")));
    return finish(
        t, event,
        (struct run_end){ .outcome = "failed", .reason = SV("error"), .result = sb_sv(&b) }, e);
}

/* ---- dispatch --------------------------------------------------------------------------- */

typedef enum status (*event_fn)(struct run_tx *, const struct json *event, const struct json *data,
                                struct err *);

/* clang-format off */
static const struct {
    const char *kind;
    event_fn    run;
    bool        needs_active; /* else it may also come after the end */
} handlers[] = {
    { "llm_started",       on_llm_started,    true },
    { "llm_completed",     on_llm_completed,  true },
    { "tool_completed",    on_tool_completed, true },
    { "input_injected",    on_input_injected, true },
    { "checkpoint",        on_checkpoint,     false },
    { "request_completed", on_completed,      true },
    { "request_failed",    on_failed,         true },
    { "request_cancelled", on_cancelled,      true },
    { "worker_exit",       on_worker_exit,    true },
};
/* clang-format on */

/* Of this run, and not older than what was logged already? */
static enum status fence(const struct run_tx *t, const struct json *event, bool needs_active,
                         struct err *e)
{
    struct sv request = json_text(event, "request_id"), run = json_text(event, "run_id");
    int64_t   seq;

    if (!t->s.run_id.n)
        return refuse(e, "idle", "no run was ever started");
    if ((request.n && !sv_eq(request, t->s.request_id)) || (run.n && !sv_eq(run, t->s.run_id)))
        return refuse(e, "request_mismatch", "the event belongs to another run");
    if (needs_active && !t->s.active)
        return refuse(e, "idle", "no run is active");
    if (needs_active && json_int(json_find(event, "seq"), &seq) && seq <= t->s.event_seq)
        return refuse(e, "stale_event", "an event with a higher seq was logged already");
    return ST_OK;
}

static enum status was_logged(struct run_tx *t, const struct json *event, bool *found,
                              struct err *e)
{
    struct sv    op = event_op(t, event);
    struct entry n;

    *found = false;
    return op.n ? store_find_op(t->l->store, t->thread, op, t->a, &n, found, e) : ST_OK;
}

enum status run_event(struct run_tx *t, const struct json *event, struct err *e)
{
    struct sv   kind = json_text(event, "kind");
    struct json none = { .type = JSON_OBJECT };
    bool        seen;

    if (!kind.n) {
        err_set(e, ST_INVALID_SYNTAX, "a runtime event needs a \"kind\"");
        return err_reason(e, "invalid_event");
    }
    const struct json *data = json_find(event, "data");
    for (size_t i = 0; i < COUNT(handlers); i++) {
        if (!sv_is(kind, handlers[i].kind))
            continue;
        if (was_logged(t, event, &seen, e))
            return err_code(e);
        if (seen) {
            t->report->duplicates++;
            return ST_OK;
        }
        if (fence(t, event, handlers[i].needs_active, e))
            return err_code(e);
        return handlers[i].run(t, event, json_is(data, JSON_OBJECT) ? data : &none, e);
    }
    return ST_OK;
}
