/* Keeping the raw answers of models. */
#include "command/evidence.h"

#include "base/hash.h"
#include "base/money.h"
#include "base/utf8.h"
#include "loom/provenance.h"
#include "thread/kind.h"

/* Text in JSON may need more room than an entry has: every quote is two bytes. */
enum { TEXT_MAX = ENTRY_PAYLOAD_MAX - (1 << 20) };

static size_t json_length(struct sv text)
{
    size_t n = text.n;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];
        n += c == '"' || c == '\\' ? 1 : c == '\n' || c == '\r' || c == '\t' ? 1 : c < 0x20 ? 5 : 0;
    }
    return n;
}

/* As text where that is possible, so that people can read it. */
static void write_body(struct jw *w, struct sv body)
{
    if (utf8_invalid(body) < 0 && json_length(body) <= TEXT_MAX) {
        jw_kstr(w, "body", body);
        return;
    }
    jw_key(w, "body_base64url");
    sb_addc(w->b, '"');
    sb_add_base64url(w->b, body);
    sb_addc(w->b, '"');
    w->comma = true;
    w->after_key = false;
}

static void write_count(struct jw *w, const char *key, int64_t n)
{
    if (n >= 0)
        jw_kint(w, key, n);
}

static void write_cost(struct jw *w, int64_t nano)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    if (nano < 0)
        return;
    sb_add_decimal(&b, nano);
    jw_key(w, "cost");
    jw_raw(w, sb_sv(&b));
}

void evidence_usage(struct jw *w, const struct model_usage *u)
{
    jw_open(w, '{');
    write_count(w, "cached", u->cached);
    write_cost(w, u->cost);
    write_count(w, "input", u->input);
    write_count(w, "output", u->output);
    write_count(w, "reasoning", u->reasoning);
    write_count(w, "written", u->written);
    jw_close(w, '}');
}

void evidence_write(struct jw *w, const struct model_response *m, struct sv hash)
{
    jw_kint(w, "answered_at", m->answered_at);
    jw_kint(w, "asked_at", m->asked_at);
    write_body(w, m->body);
    write_count(w, "cached_tokens", m->usage.cached);
    write_count(w, "completion_tokens", m->usage.output);
    write_cost(w, m->usage.cost);
    jw_kstr(w, "finish", m->finish);
    jw_kstr(w, "hash", hash);
    jw_kstr(w, "headers", m->headers);
    if (m->interruption.n)
        jw_kstr(w, "interruption", m->interruption);
    if (m->logprobs.n) {
        jw_key(w, "logprobs");
        jw_raw(w, m->logprobs);
    }
    jw_kstr(w, "model", m->model);
    write_count(w, "prompt_tokens", m->usage.input);
    jw_kstr(w, "provider", m->provider);
    write_count(w, "reasoning_tokens", m->usage.reasoning);
    if (m->request_id.n)
        jw_kstr(w, "request_id", m->request_id);
    if (m->usage.estimated)
        jw_kbool(w, "tokens_estimated", true);
    if (m->warnings.n)
        jw_klossy(w, "warnings", m->warnings);
    write_count(w, "written_tokens", m->usage.written);
}

enum status evidence_keep(struct session *s, const struct model_response *m, struct sv *hash,
                          struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    *hash = provenance_response(m->headers, m->body, s->a);
    jw_open(&w, '{');
    evidence_write(&w, m, *hash);
    jw_close(&w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_MODEL_RESPONSE), sb_sv(&b), NULL, e);
}

struct sv evidence_text(const struct model_response *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv text = m->text;

    if (m->interruption.n && sv_trim(text).n) {
        while (text.n && (text.s[text.n - 1] == ' ' || text.s[text.n - 1] == '\n'))
            text.n--;
        sb_add_lossy(&b, text);
        sb_addf(&b, "\n\n[stream interrupted: " SV_FMT "]", SV_ARG(m->interruption));
        return sb_sv(&b);
    }
    sb_add_lossy(&b, text);
    return sb_sv(&b);
}
