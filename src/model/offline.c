/* Models without a network.
 *
 * offline:echo says the last message again. offline:request says what it was asked, as JSON.
 * offline:script FILE answers from lines of JSON:
 *
 *     {"text":"…"}                              an answer
 *     {"text":"…","interrupted":"timeout"}      an answer that was cut off
 *     {"error":{"status":500,"message":"…"}}    a failure
 *     {"when":"words","text":"…"}               only when the request holds these words
 *     {"delay_ms":200,"text":"…"}               after a while
 *
 * Lines are used from the top, each once; when all that fit are used, the last of them
 * answers again. */
#include "base/fs.h"
#include "base/json.h"
#include "base/vec.h"
#include "model/model_internal.h"

enum { SCRIPT_MAX = 16 << 20 };

struct model_script {
    struct sv file;
    VEC(struct json) lines;
    bool *used;
};

static struct sv last_message(const struct model_request *q)
{
    return q->n ? q->messages[q->n - 1].content : SV("");
}

static void fill_raw(struct model_response *out, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "model", out->model);
    jw_kstr(&w, "text", out->text);
    jw_close(&w, '}');
    out->headers = SV("content-type: application/json");
    out->body = sb_sv(&b);
}

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

static bool fits(const struct json *line, const struct model_request *q)
{
    struct sv when = json_text(line, "when");

    if (!when.s || sv_find(q->system, when) >= 0)
        return true;
    for (size_t i = 0; i < q->n; i++)
        if (sv_find(q->messages[i].content, when) >= 0)
            return true;
    return false;
}

static const struct json *next_line(struct model_script *s, const struct model_request *q)
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

static enum status ask_script(struct model_client *c, struct sv file, const struct model_request *q,
                              struct arena *a, struct model_response *out, bool *retry,
                              struct err *e)
{
    if (read_script(c, file, e))
        return err_code(e);
    const struct json *line = next_line(c->script, q);
    const struct json *error = json_find(line, "error");
    if (!line)
        return model_http_error(404, SV("no line of the script fits"), retry, e);
    if (error) {
        int64_t status = 500;
        json_int(json_find(error, "status"), &status);
        return model_http_error((int)status, json_text(error, "message"), retry, e);
    }
    int64_t delay = 0;
    if (json_int(json_find(line, "delay_ms"), &delay) && delay > 0)
        model_pause(c, delay);
    out->text = sv_dup(json_text(line, "text"), a);
    out->interruption = json_text(line, "interrupted");
    if (out->interruption.n)
        out->finish = SV("error");
    fill_raw(out, a);
    return ST_OK;
}

/* {"max_tokens":50,"messages":[{"content":"…","role":"user"}],"system":"…"} */
static struct sv request_json(const struct model_request *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "max_tokens", q->max_tokens);
    jw_key(&w, "messages");
    jw_open(&w, '[');
    for (size_t i = 0; i < q->n; i++) {
        jw_open(&w, '{');
        jw_kstr(&w, "content", q->messages[i].content);
        jw_kstr(&w, "role", q->messages[i].role == MODEL_USER ? SV("user") : SV("assistant"));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    if (q->system.n)
        jw_kstr(&w, "system", q->system);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status ask(struct model_client *c, struct sv rest, const struct model_request *q,
                       struct arena *a, struct model_response *out, bool *retry, struct err *e)
{
    struct sv_cut word = sv_cut(rest, ' ');

    if (sv_is(rest, "echo") || sv_is(rest, "request")) {
        out->text = sv_is(rest, "echo") ? sv_dup(last_message(q), a) : request_json(q, a);
        fill_raw(out, a);
        return ST_OK;
    }
    if (sv_is(word.head, "script") && word.found)
        return ask_script(c, sv_trim(word.tail), q, a, out, retry, e);
    err_set(e, ST_NOT_FOUND, "no offline model '" SV_FMT "'", SV_ARG(rest));
    return err_hint(e, "offline:echo, offline:request, or offline:script FILE");
}

const struct model_provider model_offline = { "offline", ask };
