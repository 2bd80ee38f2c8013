/* Runtime events: what an event is to become, made from the event alone; a function for each kind.
 */
#include "thread/run_event_internal.h"

#define MAX_ITERATIONS_TEXT "Maximum iterations reached without a final answer."

void run_made_put(struct run_tx *t, struct run_members *m, const char *key, struct json v)
{
    *vec_push(&m->list, t->a) = (struct json_member){ sv_of(key), v };
}

static bool is_blank_text(const struct json *v)
{
    return !v || v->type == JSON_NULL || (v->type == JSON_STRING && !sv_trim(json_sv(v)).n);
}

static void put_if(struct run_tx *t, struct run_members *m, const char *key, const struct json *v)
{
    if (v && v->type != JSON_NULL)
        run_made_put(t, m, key, *v);
}

/* A value that is JSON text already. */
static void put_raw(struct run_tx *t, struct run_members *m, const char *key, struct sv raw)
{
    struct json v;
    struct err  ignored;

    if (raw.s && json_parse(raw, 0, t->a, &v, &ignored) == ST_OK)
        run_made_put(t, m, key, v);
}

/* A run_finished, with the members by which a repeated event is recognised. */
static void make_end(struct run_tx *t, struct run_made *out, struct run_end end)
{
    out->kind = KIND_RUN_FINISHED;
    out->end = end;
    run_made_put(t, &out->m, "outcome", json_of(sv_of(end.outcome)));
    run_made_put(t, &out->m, "reason", json_of(end.reason));
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

    if (!run_value_is_there(calls))
        return ST_OK;
    if (calls->type != JSON_ARRAY)
        return run_event_invalid(e, "data.tool_calls is not a list", hint);
    for (size_t i = 0; i < calls->n; i++) {
        struct sv id = json_text(&calls->items[i], "id");
        if (!id.n)
            return run_event_invalid(e, "a tool call has no id", hint);
        for (size_t k = 0; k < i; k++)
            if (sv_eq(json_text(&calls->items[k], "id"), id))
                return run_event_invalid(e, "two tool calls have the same id", hint);
    }
    return ST_OK;
}

/* Calls that stand among the parts of the content, as Anthropic gives them, as tool_calls. */
static struct json calls_in_parts(struct run_tx *t, const struct json *content)
{
    VEC(struct json) calls = { 0 };

    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        const struct json *part = &content->items[i], *input = json_find(part, "input");
        struct run_members m = { 0 };
        if (!sv_is(json_text(part, "type"), "tool_use"))
            continue;
        run_made_put(t, &m, "arguments", input ? *input : (struct json){ .type = JSON_OBJECT });
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

enum status run_make_llm_completed(struct run_tx *t, const struct json *event,
                                   const struct json *data, struct run_made *out, struct err *e)
{
    const struct json *calls = json_find(data, "tool_calls");
    const struct json *content = json_find(data, "content"),
                      *thinking = json_find(data, "thinking");
    struct json among_parts;

    (void)event;
    if (!content)
        content = json_find(data, "text");
    if (!run_value_is_there(calls)) {
        among_parts = calls_in_parts(t, content);
        calls = &among_parts;
    }
    if (!run_value_is_there(thinking))
        thinking = json_find(data, "thinking_content");
    if (check_calls(calls, e))
        return err_code(e);
    bool has_calls = json_is(calls, JSON_ARRAY) && calls->n;
    if (!content && !has_calls)
        return run_event_invalid(
            e, "llm_completed has no answer",
            "data needs \"content\" or \"text\" (\"\" for an empty one), or tool_calls");
    if (run_value_is_there(content) && content->type != JSON_STRING && content->type != JSON_ARRAY)
        return run_event_invalid(e, "data.content is neither text nor a list of parts",
                                 "give the answer as text or as a list of parts");
    if (run_value_is_there(thinking) && thinking->type != JSON_STRING)
        return run_event_invalid(e, "data.thinking is not text",
                                 "other forms go into reasoning_details");
    if (!has_calls && is_incomplete(data, content)) {
        make_end(t, out, incomplete_end(t, data));
        return ST_OK;
    }
    out->kind = KIND_AI_MESSAGE;
    out->role = "assistant";
    run_made_put(t, &out->m, "content", run_value_is_there(content) ? *content : json_of(SV("")));
    if (has_calls)
        run_made_put(t, &out->m, "tool_calls", *calls);
    put_if(t, &out->m, "thinking", thinking);
    put_if(t, &out->m, "reasoning_details", json_find(data, "reasoning_details"));
    if (json_is(json_find(data, "usage"), JSON_OBJECT))
        run_made_put(t, &out->m, "usage", *json_find(data, "usage"));
    return ST_OK;
}

enum status run_make_llm_started(struct run_tx *t, const struct json *event,
                                 const struct json *data, struct run_made *out, struct err *e)
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

/* ---- tools --------------------------------------------------------------------------- */

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
    if (run_value_is_there(content))
        sb_add(&b, json_canonical(content, t->a));
    else if (run_value_is_there(error))
        sb_addf(&b, "{\"error\":" SV_FMT ",\"ok\":false}", SV_ARG(json_canonical(error, t->a)));
    else if (result)
        sb_addf(&b, "{\"ok\":true,\"result\":" SV_FMT "}", SV_ARG(json_canonical(result, t->a)));
    else
        return run_event_invalid(e, "tool_completed has no result",
                                 "data needs \"content\", \"result\" (null for none) or \"error\"");
    *out = json_of(sb_sv(&b));
    return ST_OK;
}

enum status run_make_tool_completed(struct run_tx *t, const struct json *event,
                                    const struct json *data, struct run_made *out, struct err *e)
{
    struct sv   name = json_text(event, "tool_name");
    struct json content;

    out->call = json_text(event, "tool_call_id");
    if (!out->call.n)
        out->call = json_text(data, "tool_call_id");
    if (!out->call.n)
        return run_event_invalid(e, "tool_completed names no call", "it needs \"tool_call_id\"");
    if (tool_content(t, data, &content, e))
        return err_code(e);
    out->kind = KIND_AI_MESSAGE;
    out->role = "tool";
    out->refs = json_find(data, "refs");
    run_made_put(t, &out->m, "content", content);
    run_made_put(t, &out->m, "tool_call_id", json_of(out->call));
    if (name.n)
        run_made_put(t, &out->m, "name", json_of(name));
    return ST_OK;
}

/* ---- steering, tokens, ends ---------------------------------------------------------- */

enum status run_make_input_injected(struct run_tx *t, const struct json *event,
                                    const struct json *data, struct run_made *out, struct err *e)
{
    const struct json *content = json_find(data, "content");

    (void)event;
    if (!json_is(content, JSON_STRING) && !json_is(content, JSON_ARRAY))
        return run_event_invalid(e, "input_injected needs data.content",
                                 "give it as text or a list of parts");
    out->kind = KIND_AI_MESSAGE;
    out->role = "user";
    out->refs = json_find(data, "refs");
    out->source = json_text(data, "source");
    out->input_id = json_text(data, "input_id");
    run_made_put(t, &out->m, "content", *content);
    return ST_OK;
}

enum status run_make_checkpoint(struct run_tx *t, const struct json *event, const struct json *data,
                                struct run_made *out, struct err *e)
{
    (void)event;
    if (!json_text(data, "token").n)
        return run_event_invalid(e, "checkpoint needs data.token", "`heddle checkpoint` makes one");
    out->kind = KIND_RUN_CHECKPOINT;
    run_made_put(t, &out->m, "token", *json_find(data, "token"));
    return ST_OK;
}

static struct sv raw(const struct run_tx *t, const struct json *v)
{
    return run_value_is_there(v) ? json_canonical(v, t->a) : (struct sv){ 0 };
}

/* A runtime that ends a run may say what all of it used. */
static struct sv total_of(const struct run_tx *t, const struct json *data)
{
    const struct json *usage = json_find(data, "usage");

    return json_is(usage, JSON_OBJECT) ? json_canonical(usage, t->a) : (struct sv){ 0 };
}

enum status run_make_completed(struct run_tx *t, const struct json *event, const struct json *data,
                               struct run_made *out, struct err *e)
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

enum status run_make_failed(struct run_tx *t, const struct json *event, const struct json *data,
                            struct run_made *out, struct err *e)
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

enum status run_make_cancelled(struct run_tx *t, const struct json *event, const struct json *data,
                               struct run_made *out, struct err *e)
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

enum status run_make_worker_exit(struct run_tx *t, const struct json *event,
                                 const struct json *data, struct run_made *out, struct err *e)
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
