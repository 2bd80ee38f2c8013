/* Models without a network. They take bodies of the dialect "offline" (assemble/body.h):
 *
 *     {"max_tokens":50,"messages":[{"content":"…","role":"user"}],"system":"…"}
 *
 * offline:echo repeats the last message. offline:request returns the body it was sent.
 * offline:script FILE answers from lines of JSON:
 *
 *     {"text":"…"}                              an answer
 *     {"text":"…","piece":8}                    in pieces of at most 8 bytes
 *     {"thinking":"…","text":"…"}               with thinking before it ("signature": its proof)
 *     {"calls":[{"arguments":{},"id":"c1","name":"f"}]}   with calls of tools behind it
 *     {"text":"…","finish":"length"}            ended by another word of MODEL_FINISH_TABLE
 *     {"text":"…","usage":{"input":3,"output":5}}
 *     {"text":"…","interrupted":"timeout"}      an answer that was cut off
 *     {"error":{"status":500,"message":"…"}}    a failure
 *     {"when":"words","text":"…"}               only when the request holds these words
 *     {"delay_ms":200,"text":"…"}               after a while
 *
 * Lines are used from the top, each once; when all that fit are used, the last of them
 * answers again. */
#include "base/fs.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "model/model_internal.h"

enum { SCRIPT_MAX = 16 << 20 };

struct model_script {
    struct sv file;
    VEC(struct json) lines;
    bool *used;
};

/* ---- reading the body ----------------------------------------------------------------------- */

/* The text of a content: a string, or the texts of its blocks. */
static struct sv content_text(const struct json *content, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (json_is(content, JSON_STRING))
        return json_sv(content);
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        struct sv text = json_text(&content->items[i], "text");
        sb_adds(&b, b.n && text.n ? "\n\n" : "");
        sb_add(&b, text);
    }
    return sb_sv(&b);
}

/* What the body says: its system prompt, and the text of each message. */
struct asked {
    struct sv system;
    VEC(struct sv) texts;
};

static enum status read_body(struct sv body, struct arena *a, struct asked *out, struct err *e)
{
    struct json        doc;
    const struct json *messages;

    *out = (struct asked){ 0 };
    if (json_parse(body, 0, a, &doc, e))
        return err_in(e, "the body of the request");
    out->system = json_text(&doc, "system");
    messages = json_find(&doc, "messages");
    if (!json_is(messages, JSON_ARRAY))
        return err_set(e, ST_INVALID_SYNTAX, "the body of the request has no messages");
    for (size_t i = 0; i < messages->n; i++)
        *vec_push(&out->texts, a) = content_text(json_find(&messages->items[i], "content"), a);
    return ST_OK;
}

/* ---- answering ------------------------------------------------------------------------------ */

static void fill_raw(struct model_response *out, struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "model", out->model);
    jw_kstr(&w, "text", text);
    jw_close(&w, '}');
    out->headers = SV("content-type: application/json");
    out->body = sb_sv(&b);
}

static enum status emit(struct model_call *c, enum model_event_type type, size_t part,
                        struct sv text, struct err *e)
{
    return model_emit(c, &(struct model_event){ .type = type, .part = part, .text = text }, e);
}

/* The text in pieces of at most `piece` bytes that end where a character ends; 0: in one. */
static enum status emit_pieces(struct model_call *c, enum model_event_type type, size_t part,
                               struct sv text, size_t piece, struct err *e)
{
    while (text.n) {
        struct sv first = piece ? utf8_first(text, piece) : text;
        size_t    whole;
        utf8_decode(text, &whole);
        if (!first.n) /* a character is longer than a piece */
            first = sv_first(text, whole);
        if (emit(c, type, part, first, e))
            return err_code(e);
        text = sv_skip(text, first.n);
    }
    return ST_OK;
}

static enum status finish(struct model_call *c, enum model_finish how, struct err *e)
{
    return model_emit(c, &(struct model_event){ .type = MODEL_FINISH, .finish = how }, e);
}

static enum status say(struct model_call *c, struct sv text, struct err *e)
{
    fill_raw(c->out, text, c->a);
    return emit_pieces(c, MODEL_TEXT, 0, text, 0, e) ? err_code(e) : finish(c, MODEL_STOP, e);
}

/* ---- scripts -------------------------------------------------------------------------------- */

static enum status read_script(struct model_client *c, struct sv file, struct err *e)
{
    struct sv            text;
    struct model_script *s = ARENA_NEW(c->a, struct model_script, 1);

    if (c->script && sv_eq(c->script->file, file))
        return ST_OK;
    if (fs_read(c->root_fd, file, SCRIPT_MAX, c->a, &text, e))
        return err_in(e, "script " SV_FMT, SV_ARG(file));
    s->file = sv_dup(file, c->a);
    for (struct sv_cut line = { .tail = text, .found = text.n > 0 }; line.found;) {
        line = sv_cut(line.tail, '\n');
        if (!sv_trim(line.head).n)
            continue;
        if (json_parse(line.head, 0, c->a, vec_push(&s->lines, c->a), e))
            return err_in(e, "script " SV_FMT ", line %zu", SV_ARG(file), s->lines.n);
    }
    if (!s->lines.n)
        return err_set(e, ST_NOT_FOUND, "script " SV_FMT " is empty", SV_ARG(file));
    s->used = ARENA_NEW(c->a, bool, s->lines.n);
    c->script = s;
    return ST_OK;
}

static bool fits(const struct json *line, const struct asked *q)
{
    struct sv when = json_text(line, "when");

    if (!when.s || sv_find(q->system, when) >= 0)
        return true;
    for (size_t i = 0; i < q->texts.n; i++)
        if (sv_find(q->texts.v[i], when) >= 0)
            return true;
    return false;
}

static const struct json *next_line(struct model_script *s, const struct asked *q)
{
    const struct json *last = NULL;

    for (size_t i = 0; i < s->lines.n; i++) {
        if (!fits(&s->lines.v[i], q))
            continue;
        last = &s->lines.v[i];
        if (s->used[i])
            continue;
        s->used[i] = true;
        return last;
    }
    return last;
}

static enum status emit_calls(struct model_call *c, const struct json *calls, size_t part,
                              size_t piece, struct err *e)
{
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++) {
        const struct json *call = &calls->items[i], *arguments = json_find(call, "arguments");
        struct model_event begin = { .type = MODEL_CALL,
                                     .part = part + i,
                                     .id = json_text(call, "id"),
                                     .name = json_text(call, "name") };
        if (model_emit(c, &begin, e) ||
            emit_pieces(c, MODEL_ARGUMENTS, part + i,
                        arguments ? json_canonical(arguments, c->a) : SV("{}"), piece, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status emit_usage(struct model_call *c, const struct json *usage, struct err *e)
{
    struct model_event ev = { .type = MODEL_USAGE, .usage = MODEL_USAGE_NONE };

    if (!usage)
        return ST_OK;
    json_int(json_find(usage, "input"), &ev.usage.input);
    json_int(json_find(usage, "output"), &ev.usage.output);
    json_int(json_find(usage, "cached"), &ev.usage.cached);
    json_int(json_find(usage, "written"), &ev.usage.written);
    json_int(json_find(usage, "reasoning"), &ev.usage.reasoning);
    return model_emit(c, &ev, e);
}

/* The finish word of the line; else tool_use when the line makes calls. */
static enum status finish_of(const struct json *line, enum model_finish *out, struct err *e)
{
    struct sv word = json_text(line, "finish");

    *out = json_find(line, "calls") ? MODEL_TOOL_USE : MODEL_STOP;
    if (!word.s)
        return ST_OK;
    for (int f = MODEL_STOP; f < MODEL_FAILED; f++)
        if (sv_is(word, model_finish_word((enum model_finish)f))) {
            *out = (enum model_finish)f;
            return ST_OK;
        }
    return err_set(e, ST_INVALID_SYNTAX, "the script has no such finish: '" SV_FMT "'",
                   SV_ARG(word));
}

static enum status keep(struct model_call *c, struct sv signature, struct sv thinking,
                        struct err *e)
{
    struct sb b = sb_in(c->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "signature", signature);
    jw_kstr(&w, "thinking", thinking);
    jw_kstr(&w, "type", SV("thinking"));
    jw_close(&w, '}');
    return emit(c, MODEL_KEEP, 0, sb_sv(&b), e);
}

static enum status answer(struct model_call *c, const struct json *line, struct err *e)
{
    struct sv         thinking = json_text(line, "thinking"), text = json_text(line, "text");
    struct sv         signature = json_text(line, "signature");
    struct sv         cut = json_text(line, "interrupted");
    size_t            part = thinking.n > 0;
    int64_t           piece = 0;
    enum model_finish how;

    json_int(json_find(line, "piece"), &piece);
    size_t each = piece > 0 ? (size_t)piece : 0;
    fill_raw(c->out, text, c->a);
    if (finish_of(line, &how, e) || emit_pieces(c, MODEL_THINKING, 0, thinking, each, e) ||
        (signature.n && keep(c, signature, thinking, e)) ||
        emit_pieces(c, MODEL_TEXT, part, text, each, e))
        return err_code(e);
    if (cut.n)
        return emit(c, MODEL_ERROR, part, cut, e);
    if (emit_calls(c, json_find(line, "calls"), part + (text.n > 0), each, e) ||
        emit_usage(c, json_find(line, "usage"), e))
        return err_code(e);
    return finish(c, how, e);
}

static enum status ask_script(struct model_call *c, struct sv file, const struct asked *q,
                              struct err *e)
{
    if (read_script(c->client, file, e))
        return err_code(e);
    const struct json *line = next_line(c->client->script, q);
    const struct json *error = json_find(line, "error");
    if (!line)
        return model_http_error(404, SV("no line of the script fits"), &c->retry, e);
    if (error) {
        int64_t status = 500;
        json_int(json_find(error, "status"), &status);
        return model_http_error((int)status, json_text(error, "message"), &c->retry, e);
    }
    int64_t delay = 0;
    if (json_int(json_find(line, "delay_ms"), &delay) && delay > 0 &&
        model_pause(c->client, c->q, delay, e))
        return err_code(e);
    return answer(c, line, e);
}

static enum status ask(struct model_call *c, struct err *e)
{
    struct sv_cut word = sv_cut(c->identifier, ' ');
    struct asked  q;

    if (read_body(c->q->body, c->a, &q, e))
        return err_code(e);
    if (sv_is(c->identifier, "echo"))
        return say(c, q.texts.n ? q.texts.v[q.texts.n - 1] : SV(""), e);
    if (sv_is(c->identifier, "request"))
        return say(c, c->q->body, e);
    if (sv_is(word.head, "script") && word.found)
        return ask_script(c, sv_trim(word.tail), &q, e);
    err_set(e, ST_NOT_FOUND, "no offline model '" SV_FMT "'", SV_ARG(c->identifier));
    return err_hint(e, "offline:echo, offline:request, or offline:script FILE");
}

const struct model_provider model_offline = { .facts = { .name = "offline", .dialect = "offline" },
                                              .ask = ask };
