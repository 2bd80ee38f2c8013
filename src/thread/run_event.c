/* Runtime events: what a harness reports while it carries a run.
 *
 *     llm_completed       an assistant message
 *     tool_completed      a tool message; results are logged in the order of the calls
 *     input_injected      a user message
 *     checkpoint          the token is remembered
 *     request_completed, request_failed, request_cancelled, worker_exit      the end
 *     llm_started         ends the run when it is over its number of iterations
 *
 * Everything else (deltas, heartbeats, unknown kinds) changes nothing that is kept.
 *
 * An event is first made into what its entry must say, from the event alone; so a second report of
 * it can be compared with the entry of the first, whatever became of the run meanwhile. */
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

/* The run an event speaks of: the one it names, else the agent's last. */
static struct sv run_of(const struct run_tx *t, const struct json *event)
{
    struct sv run = json_text(event, "run_id"), request = json_text(event, "request_id");

    return run.n ? run : request.n ? request : t->s.run_id;
}

/* An event's id, made unique among the op_ids of the thread by its run: a second report of the
 * same event is then found in the log, and two runs may number theirs alike. */
static struct sv event_op(const struct run_tx *t, const struct json *event)
{
    struct sv id = json_text(event, "id");
    struct sb b = sb_in(t->a, 0);

    if (!id.n)
        return (struct sv){ 0 };
    sb_add(&b, run_of(t, event));
    sb_addc(&b, '/');
    sb_add(&b, id);
    return run_op_id("event:", sb_sv(&b), t->a);
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

/* What an event is to become. */
struct made {
    enum kind          kind; /* of its entry; KIND_OTHER: none that could be told from the event */
    const char        *role; /* of a message */
    struct members     m;    /* what the entry says because the event says it */
    struct run_end     end;  /* of a run_finished */
    const struct json *refs; /* of the caller */
    struct sv          source, input_id;
    struct sv          call; /* of a tool's message: the id of its call */
};

static enum status invalid(struct err *e, const char *what, const char *hint)
{
    refuse(e, "invalid_event", what);
    return err_hint(e, "%s", hint);
}

static bool is_there(const struct json *v)
{
    return v && v->type != JSON_NULL;
}

/* A value that is JSON text already. */
static void put_raw(struct run_tx *t, struct members *m, const char *key, struct sv raw)
{
    struct json v;
    struct err  ignored;

    if (raw.s && json_parse(raw, 0, t->a, &v, &ignored) == ST_OK)
        put(t, m, key, v);
}

/* A run_finished, with the members by which it is known again. */
static void make_end(struct run_tx *t, struct made *out, struct run_end end)
{
    out->kind = KIND_RUN_FINISHED;
    out->end = end;
    put(t, &out->m, "outcome", json_of(sv_of(end.outcome)));
    put(t, &out->m, "reason", json_of(end.reason));
    put_raw(t, &out->m, "result", end.result);
    put_raw(t, &out->m, "usage", end.usage);
    put_raw(t, &out->m, "usage_total", end.usage_total);
}

/* ---- the model ----------------------------------------------------------------------- */

static bool is_incomplete(const struct json *data, const struct json *content)
{
    struct sv finish = json_text(data, "finish_reason");

    return is_blank_text(content) && finish.n && !sv_is(finish, "stop") &&
           !sv_is(finish, "tool_calls");
}

static enum status check_calls(const struct json *calls, struct err *e)
{
    static const char hint[] = "tool_calls is a list of {\"id\",\"name\",\"arguments\"}";

    if (!is_there(calls))
        return ST_OK;
    if (calls->type != JSON_ARRAY)
        return invalid(e, "data.tool_calls is not a list", hint);
    for (size_t i = 0; i < calls->n; i++) {
        struct sv id = json_text(&calls->items[i], "id");
        if (!id.n)
            return invalid(e, "a tool call has no id", hint);
        for (size_t k = 0; k < i; k++)
            if (sv_eq(json_text(&calls->items[k], "id"), id))
                return invalid(e, "two tool calls have the same id", hint);
    }
    return ST_OK;
}

/* Calls that stand among the parts of the content, as Anthropic gives them, as tool_calls. */
static struct json calls_in_parts(struct run_tx *t, const struct json *content)
{
    VEC(struct json) calls = { 0 };

    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        const struct json *part = &content->items[i], *input = json_find(part, "input");
        struct members     m = { 0 };
        if (!sv_is(json_text(part, "type"), "tool_use"))
            continue;
        put(t, &m, "arguments", input ? *input : (struct json){ .type = JSON_OBJECT });
        put_if(t, &m, "id", json_find(part, "id"));
        put_if(t, &m, "name", json_find(part, "name"));
        *vec_push(&calls, t->a) = (struct json){ JSON_OBJECT, m.list.n, { .members = m.list.v } };
    }
    return (struct json){ JSON_ARRAY, calls.n, { .items = calls.v } };
}

static struct run_end incomplete_end(struct run_tx *t, const struct json *data)
{
    const struct json *usage = json_find(data, "usage");
    struct sb          b = sb_in(t->a, 0);

    sb_addf(&b, "{\"error\":{\"reason\":" SV_FMT ",\"type\":\"incomplete_response\"}}",
            SV_ARG(json_canonical(json_find(data, "finish_reason"), t->a)));
    return (struct run_end){ .outcome = "failed",
                             .reason = SV("incomplete_response"),
                             .result = sb_sv(&b),
                             .usage = json_is(usage, JSON_OBJECT) ? json_canonical(usage, t->a)
                                                                  : (struct sv){ 0 } };
}

static enum status make_llm_completed(struct run_tx *t, const struct json *event,
                                      const struct json *data, struct made *out, struct err *e)
{
    const struct json *calls = json_find(data, "tool_calls");
    const struct json *content = json_find(data, "content"),
                      *thinking = json_find(data, "thinking");
    struct json among_parts;

    (void)event;
    if (!content)
        content = json_find(data, "text");
    if (!is_there(calls)) {
        among_parts = calls_in_parts(t, content);
        calls = &among_parts;
    }
    if (!is_there(thinking))
        thinking = json_find(data, "thinking_content");
    if (check_calls(calls, e))
        return err_code(e);
    bool has_calls = json_is(calls, JSON_ARRAY) && calls->n;
    if (!content && !has_calls)
        return invalid(e, "llm_completed has no answer",
                       "data needs \"content\" or \"text\" (\"\" for an empty one), or tool_calls");
    if (is_there(content) && content->type != JSON_STRING && content->type != JSON_ARRAY)
        return invalid(e, "data.content is neither text nor a list of parts",
                       "give the answer as text or as a list of parts");
    if (is_there(thinking) && thinking->type != JSON_STRING)
        return invalid(e, "data.thinking is not text", "other forms go into reasoning_details");
    if (!has_calls && is_incomplete(data, content)) {
        make_end(t, out, incomplete_end(t, data));
        return ST_OK;
    }
    out->kind = KIND_AI_MESSAGE;
    out->role = "assistant";
    put(t, &out->m, "content", is_there(content) ? *content : json_of(SV("")));
    if (has_calls)
        put(t, &out->m, "tool_calls", *calls);
    put_if(t, &out->m, "thinking", thinking);
    put_if(t, &out->m, "reasoning_details", json_find(data, "reasoning_details"));
    if (json_is(json_find(data, "usage"), JSON_OBJECT))
        put(t, &out->m, "usage", *json_find(data, "usage"));
    return ST_OK;
}

static enum status make_llm_started(struct run_tx *t, const struct json *event,
                                    const struct json *data, struct made *out, struct err *e)
{
    int64_t iteration = t->s.iteration;

    (void)data;
    (void)e;
    json_int(json_find(event, "iteration"), &iteration);
    if (iteration > t->s.max_iterations)
        make_end(t, out,
                 (struct run_end){ .outcome = "completed",
                                   .reason = SV("max_iterations"),
                                   .result = SV("\"" MAX_ITERATIONS_TEXT "\"") });
    return ST_OK;
}

/* ---- tools ----------------------------------------------------------------------------- */

/* What the model is told: the content as given, another value than text or parts as its JSON text;
 * else {"ok":…} around result or error. */
static enum status tool_content(struct run_tx *t, const struct json *data, struct json *out,
                                struct err *e)
{
    const struct json *content = json_find(data, "content"), *error = json_find(data, "error");
    const struct json *result = json_find(data, "result");
    struct sb          b = sb_in(t->a, 0);

    if (json_is(content, JSON_STRING) || json_is(content, JSON_ARRAY)) {
        *out = *content;
        return ST_OK;
    }
    if (is_there(content))
        sb_add(&b, json_canonical(content, t->a));
    else if (is_there(error))
        sb_addf(&b, "{\"error\":" SV_FMT ",\"ok\":false}", SV_ARG(json_canonical(error, t->a)));
    else if (result)
        sb_addf(&b, "{\"ok\":true,\"result\":" SV_FMT "}", SV_ARG(json_canonical(result, t->a)));
    else
        return invalid(e, "tool_completed has no result",
                       "data needs \"content\", \"result\" (null for none) or \"error\"");
    *out = json_of(sb_sv(&b));
    return ST_OK;
}

static enum status make_tool_completed(struct run_tx *t, const struct json *event,
                                       const struct json *data, struct made *out, struct err *e)
{
    struct sv   name = json_text(event, "tool_name");
    struct json content;

    out->call = json_text(event, "tool_call_id");
    if (!out->call.n)
        out->call = json_text(data, "tool_call_id");
    if (!out->call.n)
        return invalid(e, "tool_completed names no call", "it needs \"tool_call_id\"");
    if (tool_content(t, data, &content, e))
        return err_code(e);
    out->kind = KIND_AI_MESSAGE;
    out->role = "tool";
    out->refs = json_find(data, "refs");
    put(t, &out->m, "content", content);
    put(t, &out->m, "tool_call_id", json_of(out->call));
    if (name.n)
        put(t, &out->m, "name", json_of(name));
    return ST_OK;
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
static enum status release_next(struct run_tx *t, struct err *e)
{
    for (;;) {
        struct run_call *next = next_call(&t->s);
        if (!next || next->held < 0)
            return ST_OK;
        struct store_query q = { .thread = t->thread, .from = next->held, .to = next->held };
        struct entry       n;
        bool               found = false;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (!found)
            return err_set(e, ST_CORRUPT, "entry %lld, a result that is held, is missing",
                           (long long)next->held);
        if (run_append(t, KIND_AI_MESSAGE, n.lane, n.payload, n.refs, (struct sv){ 0 }, NULL, e))
            return err_code(e);
    }
}

static struct sv made_refs(const struct run_tx *t, const struct json *event, const struct made *m)
{
    return event_refs(t, event, m->refs, m->source, m->input_id);
}

static bool has_member(const struct made *m, struct sv key)
{
    for (size_t i = 0; i < m->m.list.n; i++)
        if (sv_eq(m->m.list.v[i].key, key))
            return true;
    return false;
}

/* Does the entry hold something that only an event could have said, and this one does not? */
static bool says_more(const struct json *payload, const struct made *m)
{
    static const char *const said[] = { "content", "reasoning_details", "result", "thinking",
                                        "token",   "tool_calls",        "usage",  "usage_total" };

    for (size_t i = 0; i < COUNT(said); i++)
        if (json_find(payload, said[i]) && !has_member(m, sv_of(said[i])))
            return true;
    return false;
}

/* Does the entry say what the event says, and nothing else? */
static enum status says_so(struct run_tx *t, const struct entry *n, const struct made *m,
                           bool *same, struct err *e)
{
    struct json p;

    if (json_parse(n->payload, 0, t->a, &p, e))
        return err_code(e);
    *same =
        m->kind == kind_of(n->kind) || (m->call.s && sv_is(n->kind, kind_name(KIND_RUN_TOOL_HELD)));
    if ((m->role && !sv_is(json_text(&p, "role"), m->role)) || says_more(&p, m))
        *same = false;
    for (size_t i = 0; i < m->m.list.n && *same; i++) {
        const struct json *is = json_find_sv(&p, m->m.list.v[i].key);
        *same = is && sv_eq(json_canonical(is, t->a), json_canonical(&m->m.list.v[i].value, t->a));
    }
    return ST_OK;
}

/* A second result of a call: the same is a duplicate, another one is not taken. */
static enum status answered(struct run_tx *t, const struct entry *n, const struct made *m,
                            struct err *e)
{
    bool same;

    if (says_so(t, n, m, &same, e))
        return err_code(e);
    if (!same) {
        refuse(e, "tool_call_id", "the call has another result already");
        return err_hint(e, "entry %lld holds it", (long long)n->seq);
    }
    t->report->duplicates++;
    return ST_OK;
}

/* What an entry of the run has to do with a call. */
enum relation { UNRELATED, ASKS, ANSWERS };

static enum relation relation_of(const struct entry *n, struct sv run, struct sv call,
                                 struct arena *a)
{
    struct json        p, refs;
    struct err         ignored;
    const struct json *calls;

    if (sv_find(n->refs, SV("\"run_id\"")) < 0 || json_parse(n->payload, 0, a, &p, &ignored) ||
        json_parse(n->refs, 0, a, &refs, &ignored) || !sv_eq(json_text(&refs, "run_id"), run))
        return UNRELATED;
    if (sv_is(json_text(&p, "role"), "tool") && sv_eq(json_text(&p, "tool_call_id"), call))
        return ANSWERS;
    calls = json_find(&p, "tool_calls");
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++)
        if (sv_eq(json_text(&calls->items[i], "id"), call))
            return ASKS;
    return UNRELATED;
}

/* The newest message of the run that asks for or answers a call, from the end of the lane back to
 * the start of the run. */
static enum status find_call(struct run_tx *t, const struct entry *started, struct sv run,
                             struct sv call, struct entry *out, enum relation *is, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = t->thread,
                                                   .from = started->seq,
                                                   .to = STORE_TO_END,
                                                   .lane = started->lane,
                                                   .mark = MARK_MESSAGE,
                                                   .backwards = true };
    struct entry                             n;
    bool                                     more = true;

    *is = UNRELATED;
    if (store_scan(t->l->store, &q, &scan, e))
        return err_code(e);
    while (*is == UNRELATED) {
        struct arena_mark mark = arena_mark(t->a);
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        *is = relation_of(&n, run, call, t->a);
        arena_reset(t->a, mark);
    }
    *out = entry_dup(&n, t->a);
    return ST_OK;
}

static enum status unknown_call(struct err *e)
{
    refuse(e, "unknown_tool_call", "no tool call of the run has this tool_call_id");
    return err_hint(e, "a result of an earlier run needs that run's run_id; `heddle run status "
                       "--json` lists the open calls");
}

/* A result that came when the run no longer waited for it: the model answered without it, or the
 * run is over. What really happened can always be recorded. */
static enum status late_result(struct run_tx *t, const struct json *event, struct made *m,
                               struct err *e)
{
    struct run_tx late = *t;
    struct sv     run = run_of(t, event);
    struct entry  started, n;
    struct json   p;
    enum relation is;
    bool          found = false;

    if (store_find_op(t->l->store, t->thread, run_op_id("run:", run, t->a), t->a, &started, &found,
                      e))
        return err_code(e);
    if (!found || !sv_is(started.kind, kind_name(KIND_RUN_STARTED)) ||
        json_parse(started.payload, 0, t->a, &p, e))
        return refuse(e, "request_mismatch", "the event belongs to a run that is not in the log");
    struct sv agent = json_text(&p, "agent");
    if (!sv_eq(agent.n ? agent : AGENT_DEFAULT, t->agent))
        return refuse(e, "request_mismatch", "the event belongs to a run of another agent");
    if (find_call(t, &started, run, m->call, &n, &is, e))
        return err_code(e);
    if (is == UNRELATED)
        return unknown_call(e);
    if (is == ANSWERS)
        return answered(t, &n, m, e);
    late.s.lane = started.lane;
    late.s.run_id = json_text(&p, "run_id");
    late.s.request_id = json_text(&p, "request_id");
    if (run_append(&late, KIND_AI_MESSAGE, started.lane, message_payload(&late, "tool", &m->m),
                   made_refs(&late, event, m), event_op(t, event), NULL, e))
        return err_code(e);
    t->s = late.s;
    return ST_OK;
}

static enum status apply_tool(struct run_tx *t, const struct json *event, struct made *m,
                              struct err *e)
{
    bool             current = t->s.active && sv_eq(run_of(t, event), t->s.run_id);
    struct run_call *call = current ? call_of(&t->s, m->call) : NULL;

    if (call && call->held >= 0) {
        struct store_query q = { .thread = t->thread, .from = call->held, .to = call->held };
        struct entry       n;
        bool               found = false;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (found)
            return answered(t, &n, m, e);
    }
    if (!call || call->done)
        return late_result(t, event, m, e);
    if (!json_text(event, "tool_name").n && call->name.n)
        put(t, &m->m, "name", json_of(call->name));
    bool early = call != next_call(&t->s);
    if (run_append(t, early ? KIND_RUN_TOOL_HELD : KIND_AI_MESSAGE, t->s.lane,
                   message_payload(t, "tool", &m->m), made_refs(t, event, m), event_op(t, event),
                   NULL, e))
        return err_code(e);
    return early ? ST_OK : release_next(t, e);
}

/* ---- steering, tokens, ends -------------------------------------------------------------- */

static enum status make_input_injected(struct run_tx *t, const struct json *event,
                                       const struct json *data, struct made *out, struct err *e)
{
    const struct json *content = json_find(data, "content");

    (void)event;
    if (!json_is(content, JSON_STRING) && !json_is(content, JSON_ARRAY))
        return invalid(e, "input_injected needs data.content",
                       "give it as text or a list of parts");
    out->kind = KIND_AI_MESSAGE;
    out->role = "user";
    out->refs = json_find(data, "refs");
    out->source = json_text(data, "source");
    out->input_id = json_text(data, "input_id");
    put(t, &out->m, "content", *content);
    return ST_OK;
}

static enum status make_checkpoint(struct run_tx *t, const struct json *event,
                                   const struct json *data, struct made *out, struct err *e)
{
    (void)event;
    if (!json_text(data, "token").n)
        return invalid(e, "checkpoint needs data.token", "`heddle checkpoint` makes one");
    out->kind = KIND_RUN_CHECKPOINT;
    put(t, &out->m, "token", *json_find(data, "token"));
    return ST_OK;
}

static struct sv raw(const struct run_tx *t, const struct json *v)
{
    return is_there(v) ? json_canonical(v, t->a) : (struct sv){ 0 };
}

/* A runtime that ends a run may say what all of it used. */
static struct sv total_of(const struct run_tx *t, const struct json *data)
{
    const struct json *usage = json_find(data, "usage");

    return json_is(usage, JSON_OBJECT) ? json_canonical(usage, t->a) : (struct sv){ 0 };
}

static enum status make_completed(struct run_tx *t, const struct json *event,
                                  const struct json *data, struct made *out, struct err *e)
{
    struct sv reason = json_text(data, "termination_reason");

    (void)event;
    (void)e;
    make_end(t, out,
             (struct run_end){ .outcome = "completed",
                               .reason = reason.n ? reason : SV("final_answer"),
                               .result = raw(t, json_find(data, "result")),
                               .usage_total = total_of(t, data) });
    return ST_OK;
}

static enum status make_failed(struct run_tx *t, const struct json *event, const struct json *data,
                               struct made *out, struct err *e)
{
    struct sv type = json_text(data, "error_type");
    struct sv error = raw(t, json_find(data, "error"));

    (void)event;
    (void)e;
    make_end(t, out,
             (struct run_end){ .outcome = "failed",
                               .reason = type.n ? type : SV("error"),
                               .result = error.s ? error : SV("null"),
                               .usage_total = total_of(t, data) });
    return ST_OK;
}

static enum status make_cancelled(struct run_tx *t, const struct json *event,
                                  const struct json *data, struct made *out, struct err *e)
{
    struct sv reason = json_text(data, "reason");
    struct sb b = sb_in(t->a, 0);

    (void)event;
    (void)e;
    if (!reason.n)
        reason = SV("user_cancelled");
    sb_adds(&b, "{\"cancelled\":");
    sb_add_json_string(&b, reason);
    sb_addc(&b, '}');
    make_end(t, out,
             (struct run_end){ .outcome = "cancelled",
                               .reason = SV("cancelled"),
                               .result = sb_sv(&b),
                               .cancel_reason = reason,
                               .usage_total = total_of(t, data) });
    return ST_OK;
}

static enum status make_worker_exit(struct run_tx *t, const struct json *event,
                                    const struct json *data, struct made *out, struct err *e)
{
    const struct json *reason = json_find(data, "reason");
    struct sb          b = sb_in(t->a, 0);

    (void)event;
    (void)e;
    sb_addf(&b, "{\"react_worker_exit\":" SV_FMT "}",
            SV_ARG(reason ? json_canonical(reason, t->a) : SV("null")));
    make_end(t, out,
             (struct run_end){ .outcome = "failed",
                               .reason = SV("error"),
                               .result = sb_sv(&b),
                               .usage_total = total_of(t, data) });
    return ST_OK;
}

/* ---- dispatch --------------------------------------------------------------------------- */

typedef enum status (*make_fn)(struct run_tx *, const struct json *event, const struct json *data,
                               struct made *, struct err *);

/* clang-format off */
static const struct handler {
    const char *kind;
    make_fn     make;
    bool        needs_active; /* else it may also come after the end */
    bool        needs_order;  /* not after an event with a higher seq; a result has its call's place */
} handlers[] = {
    { "llm_started",       make_llm_started,    true,  true },
    { "llm_completed",     make_llm_completed,  true,  true },
    { "tool_completed",    make_tool_completed, false, false },
    { "input_injected",    make_input_injected, true,  true },
    { "checkpoint",        make_checkpoint,     false, false },
    { "request_completed", make_completed,      true,  true },
    { "request_failed",    make_failed,         true,  true },
    { "request_cancelled", make_cancelled,      true,  true },
    { "worker_exit",       make_worker_exit,    true,  true },
};
/* clang-format on */

static enum status idle(struct err *e, const char *what)
{
    refuse(e, "idle", what);
    return err_hint(e, "`heddle run start` begins one; only results of calls are recorded after "
                       "the end of a run");
}

/* Of this run, and not older than what was logged already? */
static enum status fence(const struct run_tx *t, const struct json *event, const struct handler *h,
                         struct err *e)
{
    struct sv request = json_text(event, "request_id"), run = json_text(event, "run_id");
    int64_t   seq;

    if (!t->s.run_id.n)
        return idle(e, "no run was ever started");
    if (h->make == make_tool_completed)
        return ST_OK; /* whichever run made the call */
    if ((request.n && !sv_eq(request, t->s.request_id)) || (run.n && !sv_eq(run, t->s.run_id)))
        return refuse(e, "request_mismatch", "the event belongs to another run");
    if (h->needs_active && !t->s.active)
        return idle(e, "no run is active");
    if (h->needs_order && json_int(json_find(event, "seq"), &seq) && seq <= t->s.event_seq)
        return refuse(e, "stale_event", "an event with a higher seq was logged already");
    return ST_OK;
}

/* Under the id of the event in its run; before ids were of a run, under the id alone. */
static enum status find_event(struct run_tx *t, const struct json *event, struct entry *n,
                              bool *found, struct err *e)
{
    struct sv   id = json_text(event, "id");
    struct json refs;

    *found = false;
    if (!id.n)
        return ST_OK;
    if (store_find_op(t->l->store, t->thread, event_op(t, event), t->a, n, found, e))
        return err_code(e);
    if (*found)
        return ST_OK;
    if (store_find_op(t->l->store, t->thread, run_op_id("event:", id, t->a), t->a, n, found, e) ||
        (*found && json_parse(n->refs.n ? n->refs : SV("{}"), 0, t->a, &refs, e)))
        return err_code(e);
    *found = *found && sv_eq(json_text(&refs, "run_id"), run_of(t, event));
    return ST_OK;
}

/* A second report of an event; *done when it is one. */
static enum status repeat(struct run_tx *t, const struct json *event, const struct made *m,
                          bool *done, struct err *e)
{
    struct entry n;
    bool         same = true;

    if (find_event(t, event, &n, done, e))
        return err_code(e);
    if (!*done)
        return ST_OK;
    if (m->kind != KIND_OTHER && says_so(t, &n, m, &same, e))
        return err_code(e);
    if (!same) {
        err_set(e, ST_CONFLICT, "event '" SV_FMT "' was reported before, with other content",
                SV_ARG(json_text(event, "id")));
        err_reason(e, "event_id");
        return err_hint(e, "entry %lld holds it; give each event of a run an id of its own",
                        (long long)n.seq);
    }
    t->report->duplicates++;
    return ST_OK;
}

static enum status apply_checkpoint(struct run_tx *t, const struct json *event, struct made *m,
                                    struct err *e)
{
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        put(t, &m->m, "agent", json_of(t->agent));
    put(t, &m->m, "run_id", json_of(t->s.run_id));
    struct json payload = { JSON_OBJECT, m->m.list.n, { .members = m->m.list.v } };
    return run_append(t, KIND_RUN_CHECKPOINT, t->s.lane, json_canonical(&payload, t->a),
                      made_refs(t, event, m), event_op(t, event), NULL, e);
}

static enum status apply_made(struct run_tx *t, const struct json *event, struct made *m,
                              struct err *e)
{
    if (m->kind == KIND_RUN_FINISHED)
        return finish(t, event, m->end, e);
    if (m->kind == KIND_RUN_CHECKPOINT)
        return apply_checkpoint(t, event, m, e);
    if (m->kind == KIND_OTHER)
        return ST_OK;
    if (m->call.s)
        return apply_tool(t, event, m, e);
    /* The model went on: nothing will be waited for any more. */
    if (sv_is(sv_of(m->role), "assistant") && run_release_held(t, e))
        return err_code(e);
    return run_append(t, m->kind, t->s.lane, message_payload(t, m->role, &m->m),
                      made_refs(t, event, m), event_op(t, event), NULL, e);
}

static enum status run_known_event(struct run_tx *t, const struct handler *h,
                                   const struct json *event, struct err *e)
{
    const struct json *data = json_find(event, "data");
    struct json        none = { .type = JSON_OBJECT };
    struct made        m = { .kind = KIND_OTHER };
    bool               done;

    if (is_there(data) && data->type != JSON_OBJECT)
        return invalid(e, "data of an event is an object", "{\"kind\":…,\"data\":{…}}");
    if (h->make(t, event, is_there(data) ? data : &none, &m, e) || repeat(t, event, &m, &done, e))
        return err_code(e);
    if (done)
        return ST_OK;
    return fence(t, event, h, e) ? err_code(e) : apply_made(t, event, &m, e);
}

const char *run_event_near(struct sv kind, bool *known)
{
    static const char *const without_effect[] = { "request_started", "llm_delta", "tool_started",
                                                  "keepalive", "heartbeat" };
    const char              *near = NULL;
    size_t                   least = 3; /* two slips of the pen */

    *known = sv_starts(kind, SV("output_"));
    for (size_t i = 0; i < COUNT(without_effect); i++)
        *known = *known || sv_is(kind, without_effect[i]);
    for (size_t i = 0; i < COUNT(handlers); i++) {
        size_t d = sv_distance(kind, sv_of(handlers[i].kind));
        *known = *known || !d;
        near = d < least ? handlers[i].kind : near;
        least = d < least ? d : least;
    }
    return near;
}

enum status run_event(struct run_tx *t, const struct json *event, struct err *e)
{
    struct sv kind = json_text(event, "kind");

    if (!kind.n) {
        err_set(e, ST_INVALID_SYNTAX, "a runtime event needs a \"kind\"");
        return err_reason(e, "invalid_event");
    }
    for (size_t i = 0; i < COUNT(handlers); i++)
        if (sv_is(kind, handlers[i].kind))
            return run_known_event(t, &handlers[i], event, e);
    return ST_OK;
}
