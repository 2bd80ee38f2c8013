/* OpenAI Responses: events named by "type", of which the last holds the whole response. */
#include "model/stream.h"

#include "model/provider_error.h"

/* Status of the response; of an incomplete one, the reason. */
static const struct stream_finish finishes[] = {
    { "completed", MODEL_STOP },
    { "max_output_tokens", MODEL_LENGTH },
    { "content_filter", MODEL_FILTERED },
};

static void read_usage(struct stream *s, const struct json *usage)
{
    stream_count(usage, "input_tokens", &s->usage.input);
    stream_count(usage, "output_tokens", &s->usage.output);
    stream_count(json_find(usage, "input_tokens_details"), "cached_tokens", &s->usage.cached);
    stream_count(json_find(usage, "output_tokens_details"), "reasoning_tokens",
                 &s->usage.reasoning);
}

static enum status end(struct stream *s, const struct json *response, struct err *e)
{
    struct sv status = json_text(response, "status");

    read_usage(s, json_find(response, "usage"));
    if (sv_is(status, "failed"))
        return provider_error_of(0, response, &s->retry, NULL, e);
    if (sv_is(status, "incomplete"))
        status = json_text(json_find(response, "incomplete_details"), "reason");
    bool called = s->kind == MODEL_CALL;
    stream_finish(s, finishes, COUNT(finishes), status);
    if (called && s->finish == MODEL_STOP)
        s->finish = MODEL_TOOL_USE;
    s->over = true;
    return ST_OK;
}

static enum status add_delta(struct stream *s, struct sv type, int64_t key, struct sv delta,
                             struct err *e)
{
    static const struct {
        const char           *type;
        enum model_event_type event;
    } rows[] = {
        { "response.output_text.delta", MODEL_TEXT },
        { "response.refusal.delta", MODEL_TEXT },
        { "response.reasoning_summary_text.delta", MODEL_THINKING },
        { "response.reasoning_text.delta", MODEL_THINKING },
        { "response.function_call_arguments.delta", MODEL_ARGUMENTS },
    };

    s->filtered = s->filtered || sv_is(type, "response.refusal.delta");
    for (size_t i = 0; i < COUNT(rows); i++)
        if (sv_is(type, rows[i].type))
            return stream_add(s, rows[i].event, key, delta, e);
    return ST_OK;
}

/* A reasoning item is sent back unchanged, without the members that only its stream needed. */
static enum status keep(struct stream *s, int64_t key, const struct json *item, struct err *e)
{
    const struct json *summary = json_find(item, "summary");
    struct sb          b = sb_in(&s->scratch, 0);
    struct jw          w = jw_in(&b, 0);

    if (!json_text(item, "encrypted_content").n)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "encrypted_content", json_text(item, "encrypted_content"));
    if (json_text(item, "id").n)
        jw_kstr(&w, "id", json_text(item, "id"));
    jw_key(&w, "summary");
    jw_raw(&w, json_is(summary, JSON_ARRAY) ? json_canonical(summary, &s->scratch) : SV("[]"));
    jw_kstr(&w, "type", SV("reasoning"));
    jw_close(&w, '}');
    return stream_keep(s, key, sb_sv(&b), e);
}

/* The phase of a message (commentary or final answer) has to be sent back with it. */
static enum status keep_phase(struct stream *s, struct sv phase, struct err *e)
{
    struct sb b = sb_in(&s->scratch, 0);
    struct jw w = jw_in(&b, 0);

    if (!phase.n)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "phase", phase);
    jw_kstr(&w, "type", SV("message"));
    jw_close(&w, '}');
    return stream_keep(s, -1, sb_sv(&b), e);
}

enum status stream_responses(struct stream *s, const struct json *doc, struct err *e)
{
    struct sv          type = json_text(doc, "type");
    int64_t            key = json_number(doc, "output_index");
    const struct json *item = json_find(doc, "item");

    if (sv_is(type, "response.completed") || sv_is(type, "response.incomplete") ||
        sv_is(type, "response.failed"))
        return end(s, json_find(doc, "response"), e);
    if (sv_is(type, "response.output_item.added") &&
        sv_is(json_text(item, "type"), "function_call"))
        return stream_call(s, key, json_text(item, "call_id"), json_text(item, "name"), e);
    if (sv_is(type, "response.output_item.done") && sv_is(json_text(item, "type"), "reasoning"))
        return keep(s, key, item, e);
    if (sv_is(type, "response.output_item.done") && sv_is(json_text(item, "type"), "message"))
        return keep_phase(s, json_text(item, "phase"), e);
    return add_delta(s, type, key, json_text(doc, "delta"), e);
}
