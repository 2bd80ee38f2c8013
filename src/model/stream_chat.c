/* OpenAI Chat Completions and what speaks like it, and /v1/completions: chunks with one choice,
 * then one with the usage, then [DONE], which may be missing. */
#include "model/stream.h"

#include "base/money.h"

static const struct stream_finish finishes[] = {
    { "stop", MODEL_STOP },
    { "length", MODEL_LENGTH },
    { "tool_calls", MODEL_TOOL_USE },
    { "function_call", MODEL_TOOL_USE },
    { "content_filter", MODEL_FILTERED },
};

static void read_usage(struct stream *s, const struct json *usage)
{
    stream_count(usage, "prompt_tokens", &s->usage.input);
    stream_count(usage, "completion_tokens", &s->usage.output);
    stream_count(json_find(usage, "prompt_tokens_details"), "cached_tokens", &s->usage.cached);
    stream_count(json_find(usage, "completion_tokens_details"), "reasoning_tokens",
                 &s->usage.reasoning);
    const struct json *cost = json_find(usage, "cost"); /* OpenRouter */
    if (json_is(cost, JSON_NUMBER))
        money_parse((struct sv){ cost->s, cost->n }, &s->usage.cost);
}

/* ---- OpenRouter's reasoning_details, which are sent back unchanged ----------------------------
 */

static struct stream_detail *detail_at(struct stream *s, int64_t index)
{
    for (size_t i = 0; i < s->details.n; i++)
        if (s->details.v[i].index == index)
            return &s->details.v[i];
    struct stream_detail *d = vec_push(&s->details, s->a);
    *d = (struct stream_detail){ .index = index,
                                 .text = sb_in(s->a, 0),
                                 .summary = sb_in(s->a, 0),
                                 .data = sb_in(s->a, 0),
                                 .signature = sb_in(s->a, 0) };
    return d;
}

static void add_member(struct stream *s, struct sv *to, const struct json *v, const char *key)
{
    struct sv text = json_text(v, key);

    if (text.n)
        *to = sv_dup(text, s->a);
}

enum { DETAILS_MAX = 1000 }; /* of one answer; more is not what a provider sends */

static void add_details(struct stream *s, const struct json *list)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        const struct json *v = &list->items[i];
        int64_t            index = (int64_t)i;
        json_int(json_find(v, "index"), &index);
        if (s->details.n >= DETAILS_MAX)
            return;
        struct stream_detail *d = detail_at(s, index);
        sb_add(&d->text, json_text(v, "text"));
        sb_add(&d->summary, json_text(v, "summary"));
        sb_add(&d->data, json_text(v, "data"));
        sb_add(&d->signature, json_text(v, "signature"));
        add_member(s, &d->type, v, "type");
        add_member(s, &d->format, v, "format");
        add_member(s, &d->id, v, "id");
    }
}

static void put(struct jw *w, const char *key, struct sv text)
{
    if (text.n)
        jw_kstr(w, key, text);
}

static enum status keep_details(struct stream *s, struct err *e)
{
    for (size_t i = 0; i < s->details.n; i++) {
        struct stream_detail *d = &s->details.v[i];
        struct sb             b = sb_in(&s->scratch, 0);
        struct jw             w = jw_in(&b, 0);
        jw_open(&w, '{');
        put(&w, "data", sb_sv(&d->data));
        put(&w, "format", d->format);
        put(&w, "id", d->id);
        jw_kint(&w, "index", d->index);
        put(&w, "signature", sb_sv(&d->signature));
        put(&w, "summary", sb_sv(&d->summary));
        put(&w, "text", sb_sv(&d->text));
        put(&w, "type", d->type);
        jw_close(&w, '}');
        if (stream_keep(s, -1, sb_sv(&b), e))
            return err_code(e);
    }
    s->details.n = 0;
    return ST_OK;
}

/* ---- chunks -------------------------------------------------------------------------------------
 */

/* A string, or a list of {text}. */
static enum status add_content(struct stream *s, const struct json *content, struct err *e)
{
    if (json_is(content, JSON_STRING))
        return stream_add(s, MODEL_TEXT, 0, json_sv(content), e);
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++)
        if (stream_add(s, MODEL_TEXT, 0, json_text(&content->items[i], "text"), e))
            return err_code(e);
    return ST_OK;
}

/* Id and name come once, with the first piece. */
static enum status add_calls(struct stream *s, const struct json *calls, struct err *e)
{
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++) {
        const struct json *call = &calls->items[i], *function = json_find(call, "function");
        int64_t            key = (int64_t)i;
        json_int(json_find(call, "index"), &key);
        if (json_text(call, "id").n &&
            stream_call(s, key, json_text(call, "id"), json_text(function, "name"), e))
            return err_code(e);
        if (stream_add(s, MODEL_ARGUMENTS, key, json_text(function, "arguments"), e))
            return err_code(e);
    }
    return ST_OK;
}

/* vLLM calls it "reasoning" now, others still "reasoning_content". */
static struct sv reasoning(const struct json *delta)
{
    struct sv text = json_text(delta, "reasoning");

    return text.s ? text : json_text(delta, "reasoning_content");
}

static enum status add_choice(struct stream *s, const struct json *choice, struct err *e)
{
    const struct json *delta = json_find(choice, "delta");
    struct sv          refusal = json_text(delta, "refusal");
    struct sv          why = json_text(choice, "finish_reason");

    s->filtered = s->filtered || refusal.n;
    if (stream_add(s, MODEL_THINKING, 0, reasoning(delta), e) ||
        add_content(s, json_find(delta, "content"), e) ||
        stream_add(s, MODEL_TEXT, 0, refusal, e) ||
        stream_add(s, MODEL_TEXT, 0, json_text(choice, "text"), e) ||
        stream_logprobs(s, json_find(choice, "logprobs"), e) ||
        add_calls(s, json_find(delta, "tool_calls"), e))
        return err_code(e);
    add_details(s, json_find(delta, "reasoning_details"));
    if (why.n)
        stream_finish(s, finishes, COUNT(finishes), why);
    return why.n ? keep_details(s, e) : ST_OK;
}

enum status stream_chat(struct stream *s, const struct json *doc, struct err *e)
{
    const struct json *choices = json_find(doc, "choices");

    read_usage(s, json_find(doc, "usage"));
    for (size_t i = 0; json_is(choices, JSON_ARRAY) && i < choices->n; i++)
        if (json_number(&choices->items[i], "index") == 0 && add_choice(s, &choices->items[i], e))
            return err_code(e);
    return ST_OK;
}
