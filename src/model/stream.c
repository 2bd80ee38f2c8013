/* What the streams of all providers have in common: events, parts, halves of characters, the end.
 */
#include "model/stream.h"

#include "base/utf8.h"
#include "model/provider_error.h"

struct stream stream_in(stream_read *read, stream_emit *emit, void *ctx, struct arena *a)
{
    return (struct stream){ .a = a,
                            .thought = sb_in(a, 0),
                            .signature = sb_in(a, 0),
                            .block = { .text = sb_in(a, 0),
                                       .signature = sb_in(a, 0),
                                       .input = sb_in(a, 0),
                                       .citations = sb_in(a, 0) },
                            .resend = sb_in(a, 0),
                            .read = read,
                            .emit = emit,
                            .ctx = ctx,
                            .sse = sse_in(a, STREAM_EVENT_MAX),
                            .kind = -1,
                            .strange = true,
                            .usage = MODEL_USAGE_NONE };
}

void stream_free(struct stream *s)
{
    arena_free(&s->scratch);
}

/* ---- parts -------------------------------------------------------------------------------------
 */

static enum status emit(struct stream *s, enum model_event_type type, struct sv text, struct err *e)
{
    struct model_event ev = { .type = type, .part = s->parts - 1, .text = text };

    return s->emit(s->ctx, &ev, e);
}

/* The first half of a surrogate pair that is not followed by a second one. */
static enum status flush_half(struct stream *s, struct err *e)
{
    if (!s->half)
        return ST_OK;
    s->half = 0;
    return emit(s, (enum model_event_type)s->kind, SV("\xef\xbf\xbd"), e);
}

static enum status open_part(struct stream *s, enum model_event_type kind, int64_t key,
                             struct err *e)
{
    if (s->kind == (int)kind && s->key == key)
        return ST_OK;
    if (flush_half(s, e))
        return err_code(e);
    s->parts++;
    s->kind = (int)kind;
    s->key = key;
    return ST_OK;
}

/* UTF-16 halves come out of the JSON parser as three bytes each; 0: none begins at s. */
static uint32_t half_at(struct sv text, size_t at, unsigned char low, unsigned char high)
{
    const unsigned char *b = (const unsigned char *)text.s + at;

    if (at + 3 > text.n || b[0] != 0xed || b[1] < low || b[1] > high)
        return 0;
    return 0xd000u | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
}

/* The text with whole characters only: a half at its end waits for the next event. */
static struct sv whole(struct stream *s, struct sv text)
{
    struct sb b = sb_in(&s->scratch, 0);

    if (s->half) {
        uint32_t second = half_at(text, 0, 0xb0, 0xbf);
        sb_add_utf8(&b, second ? 0x10000 + ((s->half - 0xd800) << 10) + (second - 0xdc00) : 0xfffd);
        text = second ? sv_skip(text, 3) : text;
        s->half = 0;
    }
    if (text.n >= 3)
        s->half = half_at(text, text.n - 3, 0xa0, 0xaf);
    sb_add_lossy(&b, sv_first(text, text.n - (s->half ? 3 : 0)));
    return sb_sv(&b);
}

static enum status bad_order(struct stream *s, struct err *e)
{
    s->retry = false;
    err_set(e, ST_MODEL_ERROR, "the provider mixed the arguments of several calls");
    return err_reason(e, "invalidResponse");
}

enum status stream_add(struct stream *s, enum model_event_type type, int64_t key, struct sv text,
                       struct err *e)
{
    if (!text.n)
        return ST_OK;
    if (type == MODEL_ARGUMENTS && (s->kind != MODEL_CALL || s->key != key))
        return bad_order(s, e);
    if (type == MODEL_ARGUMENTS)
        return emit(s, type, text, e);
    if (open_part(s, type, key, e))
        return err_code(e);
    text = whole(s, text);
    return text.n ? emit(s, type, text, e) : ST_OK;
}

enum status stream_call(struct stream *s, int64_t key, struct sv id, struct sv name, struct err *e)
{
    if (open_part(s, MODEL_CALL, key, e))
        return err_code(e);
    struct model_event ev = { .type = MODEL_CALL, .part = s->parts - 1, .id = id, .name = name };
    return s->emit(s->ctx, &ev, e);
}

enum status stream_keep(struct stream *s, int64_t key, struct sv object, struct err *e)
{
    if ((s->kind < 0 || key >= 0) && open_part(s, MODEL_THINKING, key, e))
        return err_code(e);
    return flush_half(s, e) ? err_code(e) : emit(s, MODEL_KEEP, object, e);
}

enum status stream_logprobs(struct stream *s, const struct json *v, struct err *e)
{
    if (!json_is(v, JSON_OBJECT) || !json_find(v, "tokens") || !s->parts)
        return ST_OK;
    return emit(s, MODEL_LOGPROBS, json_canonical(v, &s->scratch), e);
}

enum status stream_data(struct stream *s, struct sv media_type, struct sv base64, struct err *e)
{
    if (open_part(s, MODEL_DATA, (int64_t)s->parts, e)) /* each is a part of its own */
        return err_code(e);
    struct model_event ev = {
        .type = MODEL_DATA, .part = s->parts - 1, .text = base64, .media_type = media_type
    };
    return s->emit(s->ctx, &ev, e);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

void stream_finish(struct stream *s, const struct stream_finish *rows, size_t n, struct sv word)
{
    s->complete = true;
    s->strange = true;
    for (size_t i = 0; i < n; i++)
        if (sv_is(word, rows[i].word)) {
            s->finish = rows[i].finish;
            s->strange = false;
        }
}

void stream_count(const struct json *usage, const char *key, int64_t *out)
{
    int64_t n;

    if (json_int(json_find(usage, key), &n) && n >= 0)
        *out = n;
}

/* Pass on the data with which a paused answer is continued. */
static enum status emit_resend(struct stream *s, struct err *e)
{
    struct model_event ev = { .type = MODEL_RESEND, .text = sb_sv(&s->resend) };

    return s->finish == MODEL_PAUSE && !s->filtered ? s->emit(s->ctx, &ev, e) : ST_OK;
}

static bool is_told(const struct model_usage *u)
{
    return u->input >= 0 || u->output >= 0;
}

enum status stream_end(struct stream *s, struct err *e)
{
    struct model_event usage = { .type = MODEL_USAGE, .usage = s->usage };
    struct model_event end = { .type = MODEL_FINISH,
                               .finish = s->filtered ? MODEL_FILTERED : s->finish };

    if (!s->complete)
        return ST_OK;
    if (s->finish == MODEL_PAUSE && !s->resend.n) {
        s->finish = MODEL_LENGTH;
        end.finish = s->filtered ? MODEL_FILTERED : MODEL_LENGTH;
    }
    if (s->strange && !s->filtered)
        end = (struct model_event){ .type = MODEL_ERROR, .text = SV("provider_error") };
    if (flush_half(s, e) || emit_resend(s, e) || (is_told(&s->usage) && s->emit(s->ctx, &usage, e)))
        return err_code(e);
    return s->emit(s->ctx, &end, e);
}

/* ---- events ------------------------------------------------------------------------------------
 */

/* Anthropic, Responses: "type"; vLLM: "object"; the others have a member of that name. */
static bool is_error(const struct json *doc)
{
    const struct json *error = json_find(doc, "error");

    return json_is(error, JSON_OBJECT) || json_is(error, JSON_STRING) ||
           sv_is(json_text(doc, "type"), "error") || sv_is(json_text(doc, "object"), "error");
}

static enum status not_json(struct stream *s, struct err *e)
{
    s->retry = false;
    err_set(e, ST_MODEL_ERROR, "the provider sent an event that is not JSON");
    return err_reason(e, "invalidResponse");
}

/* The data of an event, ready to be parsed: valid UTF-8, and without the key. */
static struct sv clean(struct stream *s, struct sv data)
{
    struct sb b = sb_in(&s->scratch, 0);

    if (s->secret.n && sv_find(data, s->secret) >= 0)
        data = provider_error_masked(data, s->secret, &s->scratch);
    if (utf8_invalid(data) < 0)
        return data;
    sb_add_lossy(&b, data);
    return sb_sv(&b);
}

static enum status read_event(struct stream *s, struct sv data, struct err *e)
{
    struct json doc;
    struct err  why;

    if (json_parse(clean(s, data), 0, &s->scratch, &doc, &why) || !json_is(&doc, JSON_OBJECT))
        return not_json(s, e);
    s->begun = true;
    if (is_error(&doc))
        return provider_error_of(0, &doc, &s->retry, NULL, e);
    return s->read(s, &doc, e);
}

static enum status on_event(void *ctx, const struct sse_event *ev, struct err *e)
{
    struct stream    *s = ctx;
    struct sv         data = sv_trim(ev->data);
    enum status       st = ST_OK;
    struct arena_mark mark = arena_mark(&s->scratch);

    if (sv_is(data, "[DONE]"))
        s->over = true;
    else if (data.n)
        st = read_event(s, data, e);
    arena_reset(&s->scratch, mark);
    if (st || !s->over)
        return st;
    err_set(e, ST_CONFLICT, "the answer is complete");
    return err_reason(e, "stream_over");
}

enum status stream_feed(struct stream *s, struct sv bytes, struct err *e)
{
    enum status st = sse_feed(&s->sse, bytes, on_event, s, e);

    if (st != ST_LIMIT_EXCEEDED)
        return st;
    e->code = ST_MODEL_ERROR;
    return err_reason(e, "invalidResponse");
}
