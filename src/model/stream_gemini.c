/* Gemini: each event is a part of the response; the end of the stream ends it, and is only right
 * after a finishReason or a blockReason. */
#include "model/stream.h"

static const struct stream_finish finishes[] = {
    { "STOP", MODEL_STOP },
    { "MAX_TOKENS", MODEL_LENGTH },
    { "CONTINUATION", MODEL_PAUSE },
    { "FUNCTION_CALL", MODEL_TOOL_USE },
    { "SAFETY", MODEL_FILTERED },
    { "RECITATION", MODEL_FILTERED },
    { "BLOCKLIST", MODEL_FILTERED },
    { "PROHIBITED_CONTENT", MODEL_FILTERED },
    { "SPII", MODEL_FILTERED },
    { "LANGUAGE", MODEL_FILTERED },
    { "IMAGE_SAFETY", MODEL_FILTERED },
    { "IMAGE_PROHIBITED_CONTENT", MODEL_FILTERED },
    { "IMAGE_RECITATION", MODEL_FILTERED },
    { "IMAGE_OTHER", MODEL_FILTERED },
    { "NO_IMAGE", MODEL_FILTERED },
};

/* Thinking is counted beside the answer, not in it. */
static void read_usage(struct stream *s, const struct json *usage)
{
    int64_t answer = -1;

    stream_count(usage, "promptTokenCount", &s->usage.input);
    stream_count(usage, "cachedContentTokenCount", &s->usage.cached);
    stream_count(usage, "thoughtsTokenCount", &s->usage.reasoning);
    stream_count(usage, "candidatesTokenCount", &answer);
    if (answer >= 0 && answer < INT64_MAX / 2)
        s->usage.output =
            answer +
            (s->usage.reasoning > 0 && s->usage.reasoning < INT64_MAX / 2 ? s->usage.reasoning : 0);
}

static enum status add_call(struct stream *s, const struct json *call, struct err *e)
{
    int64_t            key = (int64_t)s->parts; /* each comes whole */
    const struct json *args = json_find(call, "args");

    if (stream_call(s, key, json_text(call, "id"), json_text(call, "name"), e))
        return err_code(e);
    return stream_add(s, MODEL_ARGUMENTS, key, args ? json_canonical(args, &s->scratch) : SV("{}"),
                      e);
}

/* {"text":T,"thought":true,"thoughtSignature":S} of thinking, {"thoughtSignature":S} of an answer's
 * text. */
static enum status keep(struct stream *s, struct sv signature, bool thought, struct err *e)
{
    struct sb b = sb_in(&s->scratch, 0);
    struct jw w = jw_in(&b, 0);

    if (!signature.n)
        return ST_OK;
    jw_open(&w, '{');
    if (thought) {
        jw_kstr(&w, "text", sb_sv(&s->thought));
        jw_kbool(&w, "thought", true);
        s->thought.n = 0;
    }
    jw_kstr(&w, "thoughtSignature", signature);
    jw_close(&w, '}');
    return stream_keep(s, -1, sb_sv(&b), e);
}

static enum status add_part(struct stream *s, const struct json *part, struct err *e)
{
    const struct json    *call = json_find(part, "functionCall");
    const struct json    *data = json_find(part, "inlineData");
    bool                  thought = json_truth(json_find(part, "thought"));
    enum model_event_type type = thought ? MODEL_THINKING : MODEL_TEXT;

    if (thought)
        sb_add(&s->thought, json_text(part, "text"));
    if (stream_add(s, type, 0, json_text(part, "text"), e) || (call && add_call(s, call, e)) ||
        (data && stream_data(s, json_text(data, "mimeType"), json_text(data, "data"), e)))
        return err_code(e);
    return keep(s, json_text(part, "thoughtSignature"), thought, e);
}

/* A later token replaces an earlier one. */
static void keep_token(struct stream *s, struct sv token)
{
    struct jw w = jw_in(&s->resend, 0);

    s->resend.n = 0;
    jw_str(&w, token);
}

enum status stream_gemini(struct stream *s, const struct json *doc, struct err *e)
{
    const struct json *candidates = json_find(doc, "candidates");
    const struct json *first =
        json_is(candidates, JSON_ARRAY) && candidates->n ? &candidates->items[0] : NULL;
    const struct json *parts = json_find(json_find(first, "content"), "parts");
    struct sv          why = json_text(first, "finishReason");

    read_usage(s, json_find(doc, "usageMetadata"));
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++)
        if (add_part(s, &parts->items[i], e))
            return err_code(e);
    if (json_text(first, "continuationToken").n)
        keep_token(s, json_text(first, "continuationToken"));
    if (why.n)
        stream_finish(s, finishes, COUNT(finishes), why);
    if (why.n && s->kind == MODEL_CALL && s->finish == MODEL_STOP)
        s->finish = MODEL_TOOL_USE;
    if (!first && json_text(json_find(doc, "promptFeedback"), "blockReason").n)
        s->complete = s->filtered = true;
    return ST_OK;
}
