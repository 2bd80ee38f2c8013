/* Anthropic Messages: message_start, blocks of content, message_delta, message_stop. */
#include "model/stream.h"

#include "base/utf8.h"

static const struct stream_finish finishes[] = {
    { "end_turn", MODEL_STOP },     { "stop_sequence", MODEL_STOP },
    { "max_tokens", MODEL_LENGTH }, { "model_context_window_exceeded", MODEL_LENGTH },
    { "tool_use", MODEL_TOOL_USE }, { "refusal", MODEL_FILTERED },
    { "pause_turn", MODEL_PAUSE },
};

/* Input is what was not cached, what was read from the cache and what was written to it. A later
 * usage replaces an earlier one, member by member. */
static void read_usage(struct stream *s, const struct json *usage)
{
    static const char *const parts[] = { "input_tokens", "cache_creation_input_tokens",
                                         "cache_read_input_tokens" };
    int64_t                  input = 0, n;
    bool                     told = false;

    for (size_t i = 0; i < COUNT(parts); i++)
        if (json_int(json_find(usage, parts[i]), &n) && n >= 0 && n < INT64_MAX / 4) {
            input += n;
            told = true;
        }
    if (told && json_find(usage, "input_tokens"))
        s->usage.input = input;
    stream_count(usage, "output_tokens", &s->usage.output);
    stream_count(usage, "cache_read_input_tokens", &s->usage.cached);
    stream_count(usage, "cache_creation_input_tokens", &s->usage.written);
    stream_count(json_find(usage, "output_tokens_details"), "thinking_tokens", &s->usage.reasoning);
}

/* {"data":…,"type":"redacted_thinking"}: thinking that only the provider can read. */
static enum status keep_redacted(struct stream *s, int64_t key, struct sv data, struct err *e)
{
    struct sb b = sb_in(&s->scratch, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "data", data);
    jw_kstr(&w, "type", SV("redacted_thinking"));
    jw_close(&w, '}');
    return data.n ? stream_keep(s, key, sb_sv(&b), e) : ST_OK;
}

/* A block of thinking has ended. One without a signature cannot be sent back. */
static enum status keep_thought(struct stream *s, int64_t key, struct err *e)
{
    struct sb b = sb_in(&s->scratch, 0);
    struct jw w = jw_in(&b, 0);

    if (!s->signature.n)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "signature", sb_sv(&s->signature));
    jw_kstr(&w, "thinking", sb_sv(&s->thought));
    jw_kstr(&w, "type", SV("thinking"));
    jw_close(&w, '}');
    return stream_keep(s, key, sb_sv(&b), e);
}

static enum status add_thought(struct stream *s, int64_t key, struct sv text, struct err *e)
{
    sb_add(&s->thought, text);
    return stream_add(s, MODEL_THINKING, key, text, e);
}

/* ---- unchanged blocks: a paused answer continues when they are sent back ------------------------
 */

static void open_block(struct stream *s, const struct json *block)
{
    struct stream_block *b = &s->block;

    b->start = block ? json_canonical(block, s->a) : (struct sv){ 0 };
    b->foreign = false;
    b->text.n = b->signature.n = b->input.n = b->citations.n = 0;
}

/* A delta belongs to the block that is open. */
static void note_delta(struct stream *s, const struct json *delta)
{
    struct stream_block *b = &s->block;
    const struct json   *citation = json_find(delta, "citation");

    sb_add(&b->text, json_text(delta, "text"));
    sb_add(&b->text, json_text(delta, "thinking"));
    sb_add(&b->signature, json_text(delta, "signature"));
    sb_add(&b->input, json_text(delta, "partial_json"));
    if (citation) {
        sb_adds(&b->citations, b->citations.n ? "," : "");
        json_write(&b->citations, citation);
    }
}

/* Put a value into an object that has room for one more member. */
static void set_member(struct json *object, const char *key, struct json value)
{
    for (size_t i = 0; i < object->n; i++)
        if (sv_is(object->members[i].key, key)) {
            object->members[i].value = value;
            return;
        }
    object->members[object->n++] = (struct json_member){ sv_of(key), value };
}

/* A text that began in the first event and went on in others. */
static void set_grown(struct stream *s, struct json *block, const char *key, struct sb *more)
{
    struct sb all = sb_in(&s->scratch, 0);

    if (!more->n)
        return;
    sb_add_lossy(&all, json_text(block, key));
    sb_add_lossy(&all, sb_sv(more));
    set_member(block, key, json_of(sb_sv(&all)));
}

/* A value that came in pieces; what is not JSON changes nothing. */
static void set_parsed(struct stream *s, struct json *block, const char *key, struct sv text)
{
    struct json v;
    struct err  ignored;

    if (text.n && json_parse(text, 0, &s->scratch, &v, &ignored) == ST_OK)
        set_member(block, key, v);
}

/* The first event of the block, with room for what later ones add. False: none is open. */
static bool take_start(struct stream *s, struct json *out)
{
    enum { ADDED = 4 }; /* text or thinking, signature, input, citations */
    struct err          ignored;
    struct json_member *room;

    if (!s->block.start.n || json_parse(s->block.start, 0, &s->scratch, out, &ignored) ||
        !json_is(out, JSON_OBJECT))
        return false;
    room = ARENA_NEW(&s->scratch, struct json_member, out->n + ADDED);
    for (size_t i = 0; i < out->n; i++)
        room[i] = out->members[i];
    out->members = room;
    s->block.start = (struct sv){ 0 };
    return true;
}

/* Append the block that ends to s->resend. An empty text block is left out: the API refuses one. */
static void close_block(struct stream *s)
{
    struct stream_block *b = &s->block;
    struct sb            citations = sb_in(&s->scratch, 0);
    struct json          block;

    if (!take_start(s, &block))
        return;
    bool thinking = sv_is(json_text(&block, "type"), "thinking");
    set_grown(s, &block, thinking ? "thinking" : "text", &b->text);
    set_grown(s, &block, "signature", &b->signature);
    set_parsed(s, &block, "input", sb_sv(&b->input));
    if (b->citations.n) {
        sb_addf(&citations, "[" SV_FMT "]", SV_ARG(sb_sv(&b->citations)));
        set_parsed(s, &block, "citations", sb_sv(&citations));
    }
    if (sv_is(json_text(&block, "type"), "text") && !json_text(&block, "text").n)
        return;
    sb_addc(&s->resend, s->resend.n ? ',' : '[');
    json_write(&s->resend, &block);
}

static enum status begin_block(struct stream *s, int64_t key, const struct json *block,
                               struct err *e)
{
    struct sv type = json_text(block, "type");

    s->thought.n = s->signature.n = 0;
    if (sv_is(type, "text"))
        return stream_add(s, MODEL_TEXT, key, json_text(block, "text"), e);
    if (sv_is(type, "thinking")) {
        sb_add(&s->signature, json_text(block, "signature"));
        return add_thought(s, key, json_text(block, "thinking"), e);
    }
    if (sv_is(type, "redacted_thinking"))
        return keep_redacted(s, key, json_text(block, "data"), e);
    if (sv_is(type, "tool_use"))
        return stream_call(s, key, json_text(block, "id"), json_text(block, "name"), e);
    s->block.foreign = true; /* such as the provider's own tools */
    return ST_OK;
}

static enum status add_delta(struct stream *s, int64_t key, const struct json *delta, struct err *e)
{
    static const struct {
        const char           *type, *member;
        enum model_event_type event;
    } rows[] = {
        { "text_delta", "text", MODEL_TEXT },
        { "input_json_delta", "partial_json", MODEL_ARGUMENTS },
    };
    struct sv type = json_text(delta, "type");

    if (s->block.foreign)
        return ST_OK;
    if (sv_is(type, "signature_delta")) {
        sb_add(&s->signature, json_text(delta, "signature"));
        return ST_OK;
    }
    if (sv_is(type, "thinking_delta"))
        return add_thought(s, key, json_text(delta, "thinking"), e);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (sv_is(type, rows[i].type))
            return stream_add(s, rows[i].event, key, json_text(delta, rows[i].member), e);
    return ST_OK;
}

enum status stream_anthropic(struct stream *s, const struct json *doc, struct err *e)
{
    struct sv type = json_text(doc, "type");
    int64_t   key = json_number(doc, "index");

    if (sv_is(type, "message_start")) {
        read_usage(s, json_find(json_find(doc, "message"), "usage"));
    } else if (sv_is(type, "content_block_start")) {
        open_block(s, json_find(doc, "content_block"));
        return begin_block(s, key, json_find(doc, "content_block"), e);
    } else if (sv_is(type, "content_block_delta")) {
        note_delta(s, json_find(doc, "delta"));
        return add_delta(s, key, json_find(doc, "delta"), e);
    } else if (sv_is(type, "content_block_stop")) {
        close_block(s);
        enum status st = keep_thought(s, key, e);
        s->thought.n = s->signature.n = 0;
        return st;
    } else if (sv_is(type, "message_delta")) {
        struct sv why = json_text(json_find(doc, "delta"), "stop_reason");
        read_usage(s, json_find(doc, "usage"));
        if (why.s)
            stream_finish(s, finishes, COUNT(finishes), why);
        s->complete = false; /* until message_stop */
    } else if (sv_is(type, "message_stop")) {
        sb_adds(&s->resend, s->resend.n ? "]" : "");
        s->complete = s->over = true;
    }
    return ST_OK;
}
