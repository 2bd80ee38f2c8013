/* Checkpoint tokens: making the payload that is signed, and checking one that is read. */
#include "thread/checkpoint.h"

#include "base/vec.h"
#include "thread/kind.h"

#include <stdlib.h>

static const char *const status_names[] = {
#define X(status, word) [status] = word,
    CHECKPOINT_STATUSES(X)
#undef X
};

const char *checkpoint_status_name(enum checkpoint_status s)
{
    return status_names[s];
}

enum checkpoint_next checkpoint_next(const struct checkpoint_state *s)
{
    switch (s->status) {
    case CHECKPOINT_RUNNING: return CHECKPOINT_ASK_MODEL;
    case CHECKPOINT_AWAITING_TOOLS: return CHECKPOINT_RUN_TOOLS;
    case CHECKPOINT_COMPLETED:
    case CHECKPOINT_FAILED:
    case CHECKPOINT_CANCELLED: break;
    }
    return CHECKPOINT_STOP;
}

static int by_bytes(const void *a, const void *b)
{
    return sv_cmp(*(const struct sv *)a, *(const struct sv *)b);
}

struct sv checkpoint_fingerprint(const struct checkpoint_config *c, struct arena *a)
{
    struct sv *tools = ARENA_NEW(a, struct sv, c->n_tools + 1);
    struct sb  b = sb_in(a, 0), text = sb_in(a, 0);
    struct jw  w = jw_in(&b, 0);

    for (size_t i = 0; i < c->n_tools; i++)
        tools[i] = c->tools[i];
    qsort(tools, c->n_tools, sizeof *tools, by_bytes);
    jw_open(&w, '{');
    jw_kint(&w, "max_iterations", c->max_iterations);
    jw_kstr(&w, "model", c->model);
    jw_kstr(&w, "system_prompt", c->system_prompt);
    jw_key(&w, "tools");
    jw_open(&w, '[');
    for (size_t i = 0; i < c->n_tools; i++)
        jw_str(&w, tools[i]);
    jw_close(&w, ']');
    jw_kint(&w, "v", 1);
    jw_close(&w, '}');
    struct hash h = hash_sha256(sb_sv(&b));
    sb_add_base64url(&text, (struct sv){ (const char *)h.b, HASH_SIZE });
    return sb_sv(&text);
}

void checkpoint_set_times(struct checkpoint *c, int64_t now_ms, int64_t ttl_ms)
{
    c->iat_ms = now_ms;
    c->expires = ttl_ms > 0;
    c->exp_ms = 0;
    if (c->expires && __builtin_add_overflow(now_ms, ttl_ms, &c->exp_ms))
        c->exp_ms = INT64_MAX;
}

struct checkpoint checkpoint_cancelled(const struct checkpoint *c, struct sv reason,
                                       struct arena *a)
{
    struct checkpoint out = *c;
    struct sb         b = sb_in(a, 0);

    sb_adds(&b, "{\"cancelled\":");
    sb_add_json_string(&b, reason.n ? reason : SV("user_cancelled"));
    sb_addc(&b, '}');
    out.state.status = CHECKPOINT_CANCELLED;
    out.state.pending_tool_calls = SV("[]");
    out.state.error = sb_sv(&b);
    out.state.result = (struct sv){ 0 };
    return out;
}

/* ---- writing --------------------------------------------------------------------------- */

static void kraw(struct jw *w, const char *key, struct sv raw)
{
    jw_key(w, key);
    jw_raw(w, raw.s ? raw : SV("null"));
}

static void ktime(struct jw *w, const char *key, int64_t ms)
{
    jw_key(w, key);
    if (ms)
        jw_int(w, ms);
    else
        jw_null(w);
}

/* Keys in canonical order, here and below. */
static void write_state(struct jw *w, const struct checkpoint_state *s, struct sv lane,
                        struct arena *a)
{
    jw_open(w, '{');
    kraw(w, "active_tools", s->active_tools.s ? s->active_tools : SV("[]"));
    kraw(w, "context", context_stored(&s->context, context_id(lane, a), a));
    kraw(w, "error", s->error);
    jw_kint(w, "iteration", s->iteration);
    kraw(w, "pending_tool_calls", s->pending_tool_calls.s ? s->pending_tool_calls : SV("[]"));
    jw_kstr(w, "request_id", s->request_id);
    kraw(w, "result", s->result);
    jw_kstr(w, "run_id", s->run_id);
    jw_kint(w, "seq", s->seq);
    ktime(w, "started_at_ms", s->started_at_ms);
    jw_kstr(w, "status", sv_of(status_names[s->status]));
    ktime(w, "updated_at_ms", s->updated_at_ms);
    kraw(w, "usage", s->usage.s ? s->usage : SV("{}"));
    jw_kint(w, "version", CHECKPOINT_STATE_VERSION);
    jw_close(w, '}');
}

static void write_pointer(struct jw *w, const struct checkpoint *c)
{
    jw_key(w, "origin");
    if (!c->thread.s) {
        jw_null(w);
        return;
    }
    jw_open(w, '{');
    if (c->agent.n && !sv_eq(c->agent, AGENT_DEFAULT))
        jw_kstr(w, "agent", c->agent);
    jw_kstr(w, "chain", c->chain);
    jw_kstr(w, "id", c->thread);
    jw_kstr(w, "lane", c->lane);
    jw_kint(w, "rev", c->rev);
    jw_close(w, '}');
}

static struct sv write_payload(const struct checkpoint *c, struct sv kid, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "config_fingerprint", c->fingerprint);
    jw_key(&w, "exp_ms");
    if (c->expires)
        jw_int(&w, c->exp_ms);
    else
        jw_null(&w);
    jw_kint(&w, "iat_ms", c->iat_ms);
    jw_kstr(&w, "iss", SV(CHECKPOINT_ISSUER));
    jw_kstr(&w, "kid", kid);
    write_pointer(&w, c);
    jw_kstr(&w, "request_id", c->state.request_id);
    jw_kstr(&w, "run_id", c->state.run_id);
    jw_key(&w, "state");
    write_state(&w, &c->state, c->lane, a);
    jw_kint(&w, "v", TOKEN_VERSION);
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status checkpoint_sign(const struct checkpoint *c, const struct checkpoint_keys *keys,
                            const unsigned char *salt, struct arena *a, struct sv *token,
                            struct err *e)
{
    if (!keys->n)
        return err_set(e, ST_NOT_FOUND, "there is no key to sign a checkpoint with");
    const struct token_key *key = &keys->keys[0];
    struct sv               payload = write_payload(c, key->kid, a);
    if (payload.n > TOKEN_PAYLOAD_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "the context is too large for a token: %zu bytes of %d",
                payload.n, TOKEN_PAYLOAD_MAX);
        return err_hint(e, "compact the lane first: heddle op replace --reason compaction");
    }
    struct json ignored; /* a value nested to the limit in the log is over the limit in a token */
    if (json_parse(payload, 0, a, &ignored, e))
        return err_in(e, "the context does not fit into a token");
    return token_sign(salt ? token_seal(payload, key, salt, a) : payload, key, a, token, e);
}

/* ---- reading ---------------------------------------------------------------------------- */

static struct sv raw_or_absent(const struct json *v, struct arena *a)
{
    return !v || v->type == JSON_NULL ? (struct sv){ 0 } : json_canonical(v, a);
}

static bool read_status(struct sv word, enum checkpoint_status *out)
{
    for (size_t i = 0; i < COUNT(status_names); i++)
        if (sv_is(word, status_names[i])) {
            *out = (enum checkpoint_status)i;
            return true;
        }
    return false;
}

/* A time. Absent or null is 0; else a whole number, negative before 1970. */
static bool read_time(const struct json *v, int64_t *out)
{
    *out = 0;
    return !v || v->type == JSON_NULL || json_int(v, out);
}

/* Absent or null is 0; else a whole number that is not negative. */
static bool read_count(const struct json *v, int64_t *out)
{
    *out = 0;
    return !v || v->type == JSON_NULL || (json_int(v, out) && *out >= 0);
}

static bool are_calls(const struct json *list)
{
    if (list && list->type != JSON_ARRAY && list->type != JSON_NULL)
        return false;
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        if (!json_text(&list->items[i], "id").n || !json_text(&list->items[i], "name").n)
            return false;
    return true;
}

/* What is wrong with the fields that remain, or NULL. */
static const char *read_rest(const struct json *v, struct arena *a, struct checkpoint_state *s)
{
    const struct json *calls = json_find(v, "pending_tool_calls"), *usage = json_find(v, "usage");
    const struct json *tools = json_find(v, "active_tools");
    int64_t            version;

    if (!json_int(json_find(v, "version"), &version) || version != CHECKPOINT_STATE_VERSION)
        return "version is not 3";
    if (!read_count(json_find(v, "iteration"), &s->iteration))
        return "iteration is not a count";
    if (!read_count(json_find(v, "seq"), &s->seq))
        return "seq is not a count";
    if (!read_time(json_find(v, "started_at_ms"), &s->started_at_ms) ||
        !read_time(json_find(v, "updated_at_ms"), &s->updated_at_ms))
        return "a time is not a whole number of milliseconds";
    if (!are_calls(calls))
        return "pending_tool_calls is not a list of calls with id and name";
    if (usage && usage->type != JSON_OBJECT && usage->type != JSON_NULL)
        return "usage is not an object";
    if (tools && tools->type != JSON_ARRAY && tools->type != JSON_NULL)
        return "active_tools is not a list";
    bool has_calls = json_is(calls, JSON_ARRAY) && calls->n;
    if (has_calls != (s->status == CHECKPOINT_AWAITING_TOOLS))
        return has_calls ? "calls are pending and the status does not await tools"
                         : "tools are awaited and no call is pending";
    s->pending_tool_calls = raw_or_absent(calls, a);
    s->usage = raw_or_absent(usage, a);
    s->active_tools = raw_or_absent(tools, a);
    s->result = raw_or_absent(json_find(v, "result"), a);
    s->error = raw_or_absent(json_find(v, "error"), a);
    return NULL;
}

enum status checkpoint_state_read(const struct json *v, struct arena *a,
                                  struct checkpoint_state *out, struct err *e)
{
    struct checkpoint_state s = { .run_id = json_text(v, "run_id"),
                                  .request_id = json_text(v, "request_id") };
    struct err              why;

    if (json_find(v, "thread"))
        return token_refuse(e, TOKEN_LEGACY_THREAD, NULL);
    if (!s.run_id.n)
        return token_refuse(e, TOKEN_MISSING_FIELD, "run_id");
    if (!s.request_id.n)
        return token_refuse(e, TOKEN_MISSING_FIELD, "request_id");
    if (!read_status(json_text(v, "status"), &s.status))
        return token_refuse(e, TOKEN_BAD_STATUS, NULL);
    const struct json *context = json_find(v, "context");
    if (!json_is(context, JSON_OBJECT))
        return token_refuse(e, TOKEN_BAD_CONTEXT, NULL);
    if (context_read(json_canonical(context, a), a, &s.context, &why))
        return token_refuse(e, TOKEN_BAD_CONTEXT, why.text);
    const char *wrong = read_rest(v, a, &s);
    if (wrong)
        return token_refuse(e, TOKEN_BAD_CHECKPOINT, wrong);
    *out = s;
    return ST_OK;
}

static bool is_expired(const struct json *exp, int64_t now_ms, struct checkpoint *c)
{
    c->expires = exp && exp->type != JSON_NULL;
    return c->expires && (!json_int(exp, &c->exp_ms) || now_ms > c->exp_ms);
}

static void read_pointer(const struct json *v, struct checkpoint *c)
{
    struct sv lane = json_text(v, "lane"), agent = json_text(v, "agent");

    c->thread = json_text(v, "id");
    c->lane = lane.n ? lane : LANE_DEFAULT;
    c->agent = agent.n ? agent : AGENT_DEFAULT;
    c->chain = json_text(v, "chain");
    if (!json_int(json_find(v, "rev"), &c->rev))
        c->rev = -1;
}

/* Each payload has exactly one canonical text. A payload in any other form was not made by heddle,
 * even if the signature holds. */
static enum status parse_payload(struct sv text, struct arena *a, struct json *out, struct err *e)
{
    struct err ignored;

    if (json_parse(text, 0, a, out, &ignored) || out->type != JSON_OBJECT)
        return token_refuse(e, TOKEN_BAD_PAYLOAD, NULL);
    if (!sv_eq(json_canonical(out, a), text))
        return token_refuse(e, TOKEN_BAD_PAYLOAD, "its JSON is not canonical");
    return ST_OK;
}

/* The payload as an object, out of its seal if it has one. The kid it names must be that
 * of the key that signed it. */
static enum status open_payload(struct sv text, const struct token_key *key, struct arena *a,
                                struct checkpoint *c, struct json *out, struct err *e)
{
    int64_t version;

    if (parse_payload(text, a, out, e))
        return err_code(e);
    if (!sv_eq(json_text(out, "kid"), key->kid))
        return token_refuse(e, TOKEN_BAD_SIGNATURE, NULL);
    c->sealed = json_text(out, "sealed").s != NULL;
    if (c->sealed) {
        if (!json_int(json_find(out, "v"), &version) || version != TOKEN_VERSION)
            return token_refuse(e, TOKEN_OTHER_VERSION, NULL);
        if (!token_unseal(json_text(out, "sealed"), key, a, &text))
            return token_refuse(e, TOKEN_BAD_PAYLOAD, "its seal does not open");
        if (parse_payload(text, a, out, e))
            return err_code(e);
    }
    c->payload = text;
    return ST_OK;
}

enum status checkpoint_verify(struct sv token, const struct checkpoint_keys *keys,
                              struct sv fingerprint, int64_t now_ms, struct arena *a,
                              struct checkpoint *out, struct err *e)
{
    const struct token_key *key;
    struct checkpoint       c = { 0 };
    struct json             payload;
    struct sv               text;
    int64_t                 version;

    if (token_open(token, keys, a, &text, &key, e) || open_payload(text, key, a, &c, &payload, e))
        return err_code(e);
    if (!json_int(json_find(&payload, "v"), &version) || version != TOKEN_VERSION)
        return token_refuse(e, TOKEN_OTHER_VERSION, NULL);
    if (!sv_is(json_text(&payload, "iss"), CHECKPOINT_ISSUER))
        return token_refuse(e, TOKEN_OTHER_ISSUER, NULL);
    if (is_expired(json_find(&payload, "exp_ms"), now_ms, &c))
        return token_refuse(e, TOKEN_EXPIRED, NULL);
    c.fingerprint = json_text(&payload, "config_fingerprint");
    if (!sv_eq(c.fingerprint, fingerprint))
        return token_refuse(e, TOKEN_OTHER_CONFIG, NULL);
    const struct json *state = json_find(&payload, "state");
    if (!json_is(state, JSON_OBJECT) || !json_find(state, "context"))
        return token_refuse(e, TOKEN_BAD_STATE, NULL);
    if (json_find(state, "thread") || json_find(&payload, "thread"))
        return token_refuse(e, TOKEN_LEGACY_STATE, NULL);
    if (checkpoint_state_read(state, a, &c.state, e))
        return err_code(e);
    c.kid = key->kid;
    json_int(json_find(&payload, "iat_ms"), &c.iat_ms);
    read_pointer(json_find(&payload, "origin"), &c);
    *out = c;
    return ST_OK;
}
