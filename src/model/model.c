/* Sends a request to a model: chooses the provider, repeats failed attempts, and collects
 * events. */
#include "model/model_internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/rand.h"
#include "model/sampling.h"

#include <string.h>
#include <time.h>

/* ---- cancelling ------------------------------------------------------------------------------ */

static enum status check_cancel(const struct model_request *q, struct err *e)
{
    if (!q->cancel || !atomic_load(q->cancel))
        return ST_OK;
    err_set(e, ST_CONFLICT, "the request to the model was cancelled");
    return err_reason(e, "cancelled");
}

enum status model_pause(struct model_client *c, const struct model_request *q, int64_t ms,
                        struct err *e)
{
    enum { SLICE_MS = 50 }; /* how long a cancelled request goes on waiting */

    if (c->sleep) {
        c->sleep(c->ctx, ms);
        return check_cancel(q, e);
    }
    for (int64_t left = ms; left > 0 && check_cancel(q, e) == ST_OK; left -= SLICE_MS) {
        nanosleep(&(struct timespec){ 0, (left < SLICE_MS ? left : SLICE_MS) * 1000000 }, NULL);
        if (q->wait)
            q->wait(q->wait_ctx);
    }
    return check_cancel(q, e);
}

/* ---- events ---------------------------------------------------------------------------------- */

#define ENOUGH "client_stop"

const char *model_finish_word(enum model_finish f)
{
    static const char *const words[] = {
#define X(finish, word) [finish] = word,
        MODEL_FINISH_TABLE(X)
#undef X
    };

    return words[f];
}

enum status model_enough(struct err *e)
{
    err_set(e, ST_CONFLICT, "the rest of the answer was not wanted");
    return err_reason(e, ENOUGH);
}

static void add_items(struct sb *b, const struct json *list)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        sb_adds(b, b->n ? "," : "");
        json_write(b, &list->items[i]);
    }
}

/* Append the three lists of a piece to those of the pieces before it. */
static void add_logprobs(struct model_call *c, struct sv text)
{
    struct arena scratch = { 0 };
    struct json  v;
    struct err   ignored;

    if (json_parse(text, 0, &scratch, &v, &ignored) == ST_OK) {
        add_items(&c->tokens, json_find(&v, "tokens"));
        add_items(&c->token_logprobs, json_find(&v, "token_logprobs"));
        add_items(&c->top_logprobs, json_find(&v, "top_logprobs"));
    }
    arena_free(&scratch);
}

static void add_kept(struct model_call *c, struct sv object)
{
    sb_addc(&c->kept, c->kept.n ? ',' : '[');
    sb_add(&c->kept, object);
}

/* What was collected, as members of the response. */
static void collect(struct model_call *c)
{
    struct model_response *out = c->out;
    struct sb              b = sb_in(c->a, 0);

    out->text = sb_sv(&c->text);
    out->thinking = sb_sv(&c->thinking);
    if (c->kept.n) {
        sb_addc(&c->kept, ']');
        out->kept = sb_sv(&c->kept);
    }
    if (!c->tokens.n)
        return;
    sb_adds(&b, "{\"token_logprobs\":[");
    sb_add(&b, sb_sv(&c->token_logprobs));
    sb_adds(&b, "],\"tokens\":[");
    sb_add(&b, sb_sv(&c->tokens));
    sb_adds(&b, "],\"top_logprobs\":[");
    sb_add(&b, sb_sv(&c->top_logprobs));
    sb_adds(&b, "]}");
    out->logprobs = sb_sv(&b);
}

enum status model_emit(struct model_call *c, const struct model_event *ev, struct err *e)
{
    struct model_response *out = c->out;

    if (check_cancel(c->q, e))
        return err_code(e);
    c->begun = true;
    switch (ev->type) {
    case MODEL_TEXT: sb_add(&c->text, ev->text); break;
    case MODEL_THINKING: sb_add(&c->thinking, ev->text); break;
    case MODEL_KEEP: add_kept(c, ev->text); break;
    case MODEL_LOGPROBS: add_logprobs(c, ev->text); break;
    case MODEL_RESEND: out->resend = sv_dup(ev->text, c->a); break;
    case MODEL_USAGE: out->usage = ev->usage; break;
    case MODEL_FINISH: out->finish = sv_of(model_finish_word(ev->finish)); break;
    case MODEL_ERROR:
        out->finish = sv_of(model_finish_word(MODEL_FAILED));
        out->interruption = sv_dup(ev->text, c->a);
        break;
    default: break;
    }
    c->ended = c->ended || ev->type == MODEL_FINISH || ev->type == MODEL_ERROR;
    if (!c->q->event || c->q->event(c->q->ctx, ev, e) == ST_OK)
        return ST_OK;
    c->refused = true;
    return err_code(e);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const struct model_provider *provider_of(struct sv model)
{
    struct sv_cut name = sv_cut(model, ':');

    return name.found ? model_provider_find(name.head) : NULL;
}

const char *model_dialect(struct sv model)
{
    const struct model_provider *p = provider_of(model);

    return p ? p->facts.dialect : NULL;
}

struct sv model_company(struct sv model)
{
    const struct model_provider *p = provider_of(model);

    return p && p->facts.host ? sv_of(p->facts.host) : (struct sv){ 0 };
}

bool model_converses(struct sv model)
{
    const struct model_provider *p = provider_of(model);

    return p && p->facts.host && strcmp(p->facts.dialect, "completions") != 0;
}

bool model_continues(struct sv model)
{
    const struct model_provider *p = provider_of(model);

    return !p || p->auth != AUTH_ANTHROPIC || sampling_continues(sv_cut(model, ':').tail);
}

/* The result of an attempt that ended after its first event: an answer that was cut off, reported
 * as an event, or one that the receiver ended. */
static enum status end_early(struct model_call *c, struct err *e)
{
    const char        *reason = e->reason;
    bool               cancelled = strcmp(reason, "cancelled") == 0;
    struct model_event cut = { .type = MODEL_ERROR,
                               .text = cancelled ? SV("cancelled") : SV("provider_error") };
    struct err         ignored;

    if (c->refused && strcmp(reason, ENOUGH) == 0) {
        if (!c->ended)
            c->out->finish = sv_of(model_finish_word(MODEL_CLIENT_STOP));
        return ST_OK;
    }
    if (c->refused)
        return err_code(e);
    if (strcmp(reason, "timeout") == 0)
        cut.text = SV("timeout");
    else if (strcmp(reason, "networkError") == 0)
        cut.text = SV("network");
    c->out->finish = sv_of(model_finish_word(MODEL_FAILED));
    c->out->interruption = cut.text;
    if (c->q->event)
        (void)c->q->event(
            c->q->ctx, &cut,
            &ignored); /* the answer has ended: an error of the receiver changes nothing */
    return ST_OK;
}

/* Fill the fields of the response that are known only at its end. */
static void settle(struct model_call *c)
{
    collect(c);
    if (c->out->usage.cost < 0 && c->access->has_prices)
        c->out->usage.cost = model_cost(&c->out->usage, &c->access->prices);
    c->out->answered_at = clock_now_ms();
}

static enum status attempt(struct model_call *c, struct err *e)
{
    enum status s = check_cancel(c->q, e) ? err_code(e) : c->provider->ask(c, e);

    if (s == ST_OK && !c->ended) { /* a stream without its last event was cut off */
        s = provider_error_set("networkError",
                               SV("the connection was closed before the answer was complete"),
                               &c->retry, e);
    }
    if (s && c->begun)
        s = end_early(c, e);
    settle(c);
    return s;
}

/* A time between three quarters of `ms` and `ms`, so that clients that failed together do not retry
 * together. */
static int64_t jittered(int64_t ms)
{
    uint32_t draw;

    rand_salt(&draw, sizeof draw);
    return ms - (int64_t)(draw % 1024) * ms / 4096;
}

static struct model_call call_of(struct model_client *c, const struct model_provider *p,
                                 const struct model_access *access, const struct model_request *q,
                                 struct arena *a, struct model_response *out)
{
    struct sv_cut name = sv_cut(q->model, ':');

    *out = (struct model_response){ .provider = name.head,
                                    .model = name.tail,
                                    .usage = MODEL_USAGE_NONE,
                                    .asked_at = clock_now_ms() };
    return (struct model_call){ .client = c,
                                .provider = p,
                                .access = access,
                                .q = q,
                                .identifier = name.tail,
                                .a = a,
                                .out = out,
                                .text = sb_in(a, 0),
                                .thinking = sb_in(a, 0),
                                .kept = sb_in(a, 0),
                                .tokens = sb_in(a, 0),
                                .token_logprobs = sb_in(a, 0),
                                .top_logprobs = sb_in(a, 0),
                                .retry_after_ms = -1 };
}

static enum status provider_named(struct sv model, struct arena *a,
                                  const struct model_provider **out, struct err *e)
{
    *out = provider_of(model);
    if (*out)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "no provider for model '" SV_FMT "'", SV_ARG(model));
    return err_hint(e, "providers: " SV_FMT, SV_ARG(model_provider_names(a)));
}

enum status model_access_find(struct model_client *c, struct sv model, struct arena *a,
                              struct model_access *out, struct err *e)
{
    const struct model_provider *p;

    *out = (struct model_access){ 0 };
    if (provider_named(model, a, &p, e))
        return err_code(e);
    if (p->find && p->find(c, p, sv_cut(model, ':').tail, a, out, e))
        return err_code(e);
    out->has_prices = c->prices && c->prices(c->settings_ctx, model, &out->prices);
    return ST_OK;
}

enum status model_check(struct model_client *c, struct sv model, struct arena *a, struct err *e)
{
    struct model_access unused;

    return model_access_find(c, model, a, &unused, e);
}

enum status model_complete_at(struct model_client *c, const struct model_access *access,
                              const struct model_request *q, struct arena *a,
                              struct model_response *out, struct err *e)
{
    static const int64_t         pauses[MODEL_ATTEMPTS] = { 0, 500, 1500 };
    const struct model_provider *p;
    int64_t                      told = -1; /* what the provider said how long to wait */
    bool                         retry = true;

    if (provider_named(q->model, a, &p, e))
        return err_code(e);
    for (int i = 0; i < MODEL_ATTEMPTS && retry; i++) {
        if (i && model_pause(c, q, told >= 0 ? told : jittered(pauses[i]), e))
            return err_code(e);
        struct model_call call = call_of(c, p, access, q, a, out);
        if (attempt(&call, e) == ST_OK)
            return ST_OK;
        told = call.retry_after_ms;
        retry = call.retry && !call.begun && told <= MODEL_WAIT_MAX_MS;
    }
    return err_code(e);
}

enum status model_complete(struct model_client *c, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e)
{
    struct model_access access;

    if (model_access_find(c, q->model, a, &access, e))
        return err_code(e);
    return model_complete_at(c, &access, q, a, out, e);
}

enum status model_replay(struct model_client *c, const struct model_request *q, struct sv headers,
                         struct sv bytes, struct arena *a, struct model_response *out, bool *whole,
                         struct err *e)
{
    struct model_access access = { 0 };
    struct model_call   call = call_of(c, provider_of(q->model), &access, q, a, out);

    *whole = false;
    if (!call.provider || !call.provider->read)
        return err_set(e, ST_NOT_FOUND, "'" SV_FMT "' has no stream", SV_ARG(q->model));
    struct err why = { 0 };
    if (model_read_again(&call, headers, bytes, &why) && call.refused &&
        strcmp(why.reason, ENOUGH) != 0) {
        *e = why;
        return err_code(e);
    }
    *whole = call.ended || call.refused;
    if (call.refused && !call.ended)
        out->finish = sv_of(model_finish_word(MODEL_CLIENT_STOP));
    access.has_prices = c->prices && c->prices(c->settings_ctx, q->model, &access.prices);
    settle(&call);
    return ST_OK;
}

/* ---- what it costs ----------------------------------------------------------------------------
 */

enum { MILLION = 1000000 };

/* Whole millions and the rest are computed apart, so that the product does not overflow; a result
 * that would is capped. */
static int64_t cost_of(int64_t tokens, int64_t price, int64_t usual)
{
    static const int64_t most = INT64_MAX / 8;
    int64_t              millions, rest, sum;

    price = price >= 0 ? price : usual;
    if (tokens <= 0)
        return 0;
    if (__builtin_mul_overflow(tokens / MILLION, price, &millions) ||
        __builtin_mul_overflow(tokens % MILLION, price, &rest) ||
        __builtin_add_overflow(millions, rest / MILLION, &sum))
        return most;
    return sum < most ? sum : most;
}

int64_t model_cost(const struct model_usage *u, const struct model_prices *p)
{
    int64_t cached = u->cached > 0 ? u->cached : 0, written = u->written > 0 ? u->written : 0;

    if (u->input < 0 && u->output < 0)
        return -1;
    return cost_of(u->input - cached - written, p->input, 0) +
           cost_of(cached, p->cached, p->input) + cost_of(written, p->written, p->input) +
           cost_of(u->output, p->output, 0);
}

void model_refuse(struct model_client *c, struct sv model, const char *setting)
{
    for (size_t i = 0; i < c->refusals.n; i++)
        if (sv_eq(c->refusals.v[i].model, model) && sv_is(sv_of(setting), c->refusals.v[i].setting))
            return;
    *vec_push(&c->refusals, c->a) = (struct model_refusal){ sv_dup(model, c->a), setting };
}
