/* checkpoint.make: a run as a token that its holder keeps. */
#include "api/run/checkpoint.h"
#include "api/run/keys.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/rand.h"

struct make_params {
    struct sv thread, agent, lane;
    int64_t   ttl;
    bool      seal;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT,   offsetof(struct make_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread" },
    { "agent",  PARAM_TEXT,   offsetof(struct make_params, agent), .value = "A", .help = "whose run (default: default)" },
    { "lane",   PARAM_TEXT,   offsetof(struct make_params, lane), .value = "L", .help = "the lane (default: of the active run, else the active one)" },
    { "ttl",    PARAM_NUMBER, offsetof(struct make_params, ttl), .value = "MS", .help = "how long it is valid; 0: forever (default: \"checkpoint.ttl_ms\" of the config)" },
    { "seal",   PARAM_FLAG,   offsetof(struct make_params, seal), .help = "encrypt it: without the key nobody reads what it holds" },
    { 0 },
};
static const struct field answer[] = {
    { "exp_ms",     FIELD_NUMBER, .nullable = true, .help = "when it expires, in milliseconds since 1970; null: never" },
    { "iat_ms",     FIELD_NUMBER, .help = "when it was made" },
    { "kid",        FIELD_TEXT,   .help = "id of the key that signed it" },
    { "lane",       FIELD_TEXT,   .help = "the lane" },
    { "request_id", FIELD_TEXT,   .nullable = true, .help = "the request" },
    { "rev",        FIELD_NUMBER, .help = "number of entries that it was taken at" },
    { "run_id",     FIELD_TEXT,   .nullable = true, .help = "the run" },
    { "status",     FIELD_TEXT,   .help = "of the run" },
    { "thread",     FIELD_TEXT,   .help = "the thread" },
    { "token",      FIELD_TEXT,   .help = "the token" },
    { 0 },
};
/* clang-format on */

struct checkpoint_config checkpoint_settings(struct request *r)
{
    const struct config *c = &r->ws->config;
    const struct json   *tools = config_find(c, "run.tools");
    size_t               n = json_is(tools, JSON_ARRAY) ? tools->n : 0;
    struct sv           *names = ARENA_NEW(r->a, struct sv, n + 1);

    for (size_t i = 0; i < n; i++) {
        struct sv name = json_sv(&tools->items[i]);
        names[i] = name.s ? name : json_canonical(&tools->items[i], r->a);
    }
    return (struct checkpoint_config){ .model = config_text(c, "run.model"),
                                       .system_prompt = config_text(c, "system_prompt"),
                                       .max_iterations = config_int(c, "run.max_iterations", 10),
                                       .tools = names,
                                       .n_tools = n };
}

static void write_answer(struct jw *w, const struct checkpoint *c, struct sv kid, struct sv token)
{
    jw_open(w, '{');
    jw_kint_if(w, "exp_ms", c->expires, c->exp_ms);
    jw_kint(w, "iat_ms", c->iat_ms);
    jw_kstr(w, "kid", kid);
    jw_kstr(w, "lane", c->lane);
    jw_kstr(w, "request_id", c->state.request_id);
    jw_kint(w, "rev", c->rev);
    jw_kstr(w, "run_id", c->state.run_id);
    jw_kstr(w, "status", sv_of(checkpoint_status_name(c->state.status)));
    jw_kstr(w, "thread", c->thread);
    jw_kstr(w, "token", token);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct make_params *p = given;
    struct checkpoint_config  config = checkpoint_settings(r);
    struct checkpoint_from    from = { p->thread, p->agent, p->lane, &config };
    struct checkpoint_keys    keys;
    struct checkpoint         c;
    unsigned char             salt[SEAL_NONCE];
    struct sv                 token;

    if (checkpoint_take(&r->log, &from, r->a, &c, e) || keys_for_signing(r, &keys, e))
        return err_code(e);
    checkpoint_set_times(
        &c, clock_now_ms(),
        p->ttl != PARAM_UNSET ? p->ttl : config_int(&r->ws->config, "checkpoint.ttl_ms", 0));
    rand_bytes(salt, sizeof salt);
    if (checkpoint_sign(&c, &keys, p->seal ? salt : NULL, r->a, &token, e))
        return err_code(e);
    write_answer(r->doc, &c, keys.keys[0].kid, token);
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT "\n", SV_ARG(json_text(doc, "token")));
}

const struct operation op_checkpoint_make = {
    .name = "checkpoint.make",
    .summary = "Print a signed token of a lane's context and its run",
    .details =
        "Nothing is written to the log. The token is signed with the first key of\n"
        "HEDDLE_CHECKPOINT_KEYS (kid:secret,…), else with .heddle/checkpoint.key, which is made\n"
        "on first use. Anybody who has it can read it, unless it is sealed. A turn whose tools\n"
        "have not all answered has their calls pending, so that whoever resumes makes them "
        "first.\n\n"
        "  heddle checkpoint design --ttl 3600000",
    .group = GROUP_RUN,
    .needs = NEEDS_LOG,
    .in_thread = true,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct make_params),
    .answer = answer,
    .run = run,
    .print = print,
};
