/* checkpoint.restore: a lane back to what a token holds, or only what the token holds. */
#include "api/log/op_result.h"
#include "api/run/checkpoint.h"
#include "api/run/keys.h"
#include "base/clock.h"

struct restore_params {
    struct sv token;
    bool      check;
};

/* clang-format off */
static const struct param params[] = {
    { "token", PARAM_TEXT, offsetof(struct restore_params, token), .required = true, .blank = true, .value = "TOKEN|-", .help = "the token" },
    { "check", PARAM_FLAG, offsetof(struct restore_params, check), .help = "only verify it and say what it holds" },
    { 0 },
};
static const struct field answer[] = {
    { "applied",    FIELD_FLAG,   .optional = true, .help = "it was applied now" },
    { "deferred",   FIELD_FLAG,   .optional = true, .help = "it is parked until the run ends" },
    { "duplicate",  FIELD_FLAG,   .optional = true, .help = "it was restored already: nothing was written" },
    { "lane",       FIELD_TEXT,   .optional = true, .help = "the lane" },
    { "op_id",      FIELD_TEXT,   .optional = true, .help = "id of the operation" },
    { "seq",        FIELD_NUMBER, .optional = true, .help = "of the entry that holds it" },
    { "superseded", FIELD_TEXT,   .optional = true, .help = "op_id of the parked operation whose place it took" },
    { "messages",   FIELD_NUMBER, .optional = true, .help = "with check: messages of the context" },
    { "next",       FIELD_TEXT,   .optional = true, .help = "with check: what comes next: tools, model or stop" },
    { "payload",    FIELD_OBJECT, .optional = true, .help = "with check: what was signed" },
    { "sealed",     FIELD_FLAG,   .optional = true, .help = "with check: it was encrypted" },
    { "valid",      FIELD_FLAG,   .optional = true, .help = "with check: always true; a bad token is an error" },
    { 0 },
};
/* clang-format on */

static const char *next_word(enum checkpoint_next n)
{
    return n == CHECKPOINT_RUN_TOOLS ? "tools" : n == CHECKPOINT_ASK_MODEL ? "model" : "stop";
}

/* The payload as it was signed, and beside it what a reader wants to know first. */
static void write_check(struct jw *w, const struct checkpoint *c)
{
    jw_open(w, '{');
    jw_kint(w, "messages", (int64_t)c->state.context.n);
    jw_kstr(w, "next", sv_of(next_word(checkpoint_next(&c->state))));
    jw_key(w, "payload");
    jw_raw(w, c->payload);
    jw_kbool(w, "sealed", c->sealed);
    jw_kbool(w, "valid", true);
    jw_close(w, '}');
}

/* A workspace without a log has no threads. */
static enum status open_existing(struct request *r, struct err *e)
{
    enum status s = request_log(r, STORE_READ, e);

    return s == ST_NOT_FOUND ? token_refuse(e, TOKEN_MISSING_THREAD, NULL) : s;
}

static enum status check_log(struct request *r, const struct checkpoint *c, struct err *e)
{
    if (open_existing(r, e) || log_begin(&r->log, c->thread, STORE_READ, e))
        return err_code(e);
    enum status s = checkpoint_check_log(&r->log, c, r->a, e);
    log_abort(&r->log);
    return s;
}

/* The log is opened for writing only after the token was verified, so that a bad token does not
 * create a log. */
static enum status put_back(struct request *r, struct sv token, const struct checkpoint *c,
                            struct err *e)
{
    struct op_result result;

    request_end(r);
    if (request_log(r, STORE_WRITE, e) ||
        checkpoint_restore(&r->log, token, c, r->actor, clock_now_ms(), r->a, &result, e))
        return err_code(e);
    op_result_write(r->doc, &result);
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct restore_params *p = given;
    struct checkpoint_config     config = checkpoint_settings(r);
    struct sv                    token = sv_trim(p->token);
    struct checkpoint_keys       keys;
    struct checkpoint            c;

    if (keys_for_verifying(r, &keys, e) ||
        checkpoint_verify(token, &keys, checkpoint_fingerprint(&config, r->a), clock_now_ms(), r->a,
                          &c, e) ||
        check_log(r, &c, e))
        return err_code(e);
    if (!p->check)
        return put_back(r, token, &c, e);
    write_check(r->doc, &c);
    return ST_OK;
}

/* ---- text ----------------------------------------------------------------------------- */

static void line(struct term *t, const char *label, struct sv value)
{
    term_f(t, "%-10s ", label);
    sb_add_plain_line(t->out, value);
    term_f(t, "\n");
}

static void number(struct term *t, const char *label, int64_t n)
{
    term_f(t, "%-10s %lld\n", label, (long long)n);
}

static void moment(struct term *t, const char *label, const struct json *ms)
{
    int64_t at;

    term_f(t, "%-10s ", label);
    if (json_int(ms, &at))
        sb_add_iso_ms(t->out, at);
    else
        sb_adds(t->out, "never");
    term_f(t, "\n");
}

static void print_check(const struct json *doc, struct term *t)
{
    const struct json *payload = json_find(doc, "payload");
    const struct json *origin = json_find(payload, "origin"), *state = json_find(payload, "state");

    line(t, "thread", json_text(origin, "id"));
    line(t, "lane", json_text(origin, "lane"));
    if (json_text(origin, "agent").n)
        line(t, "agent", json_text(origin, "agent"));
    number(t, "rev", json_number(origin, "rev"));
    line(t, "run", json_text(state, "run_id"));
    line(t, "request", json_text(state, "request_id"));
    line(t, "status", json_text(state, "status"));
    line(t, "next", json_text(doc, "next"));
    number(t, "iteration", json_number(state, "iteration"));
    number(t, "messages", json_number(doc, "messages"));
    moment(t, "issued", json_find(payload, "iat_ms"));
    moment(t, "expires", json_find(payload, "exp_ms"));
    line(t, "key", json_text(payload, "kid"));
    line(t, "sealed", json_truth(json_find(doc, "sealed")) ? SV("yes") : SV("no"));
}

static void print(const struct json *doc, struct term *t)
{
    if (json_find(doc, "valid"))
        print_check(doc, t);
    else
        op_result_print(doc, "restore", t);
}

const struct operation op_checkpoint_restore = {
    .name = "checkpoint.restore",
    .summary = "Put a lane back to what a checkpoint token holds",
    .details =
        "The token's signature, age, configuration and place in the log are checked; then its\n"
        "context replaces that of its lane, as one entry with reason restore. The log keeps\n"
        "everything. Restoring a token again changes nothing, until something was said in the\n"
        "lane: then it is restored again. - reads the token from stdin:\n"
        "\n"
        "  heddle checkpoint design | heddle restore --check -",
    .group = GROUP_RUN,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct restore_params),
    .answer = answer,
    .run = run,
    .print = print,
};
