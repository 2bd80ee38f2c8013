/* `checkpoint` and `restore`: a run as a token its holder keeps, and back. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/rand.h"
#include "front/cli/command.h"
#include "front/cli/op_result.h"
#include "front/keys.h"
#include "thread/checkpoint.h"

struct checkpoint_opts {
    struct sv agent, lane;
    int64_t   ttl;
    bool      seal;
};

static const struct opt checkpoint_opts[] = {
    { OPT_TEXT, "agent", "A", "whose run (default: default)",
      offsetof(struct checkpoint_opts, agent), 0 },
    { OPT_TEXT, "lane", "L", "the lane (default: of the active run, else the active one)",
      offsetof(struct checkpoint_opts, lane), 0 },
    { OPT_NUMBER, "ttl", "MS",
      "how long it is good; 0: for ever (default: \"checkpoint.ttl_ms\" of the config)",
      offsetof(struct checkpoint_opts, ttl), 0 },
    { OPT_FLAG, "seal", NULL, "encrypt it: without the key nobody reads what it holds",
      offsetof(struct checkpoint_opts, seal), 0 },
    { 0 },
};

/* What the workspace's config says a run is. */
static struct checkpoint_config run_config(struct app *app)
{
    const struct json *tools = config_find(&app->ws.config, "run.tools");
    size_t             n = json_is(tools, JSON_ARRAY) ? tools->n : 0;
    struct sv         *names = ARENA_NEW(app->a, struct sv, n + 1);

    for (size_t i = 0; i < n; i++) {
        struct sv name = json_sv(&tools->items[i]);
        names[i] = name.s ? name : json_canonical(&tools->items[i], app->a);
    }
    return (struct checkpoint_config){ .model = config_text(&app->ws.config, "run.model"),
                                       .system_prompt =
                                           config_text(&app->ws.config, "system_prompt"),
                                       .max_iterations =
                                           config_int(&app->ws.config, "run.max_iterations", 10),
                                       .tools = names,
                                       .n_tools = n };
}

static void print_token(struct app *app, const struct checkpoint *c, struct sv kid, struct sv token)
{
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        sb_add(&app->out, token);
        sb_addc(&app->out, '\n');
        return;
    }
    jw_open(&w, '{');
    jw_key(&w, "exp_ms");
    if (c->expires)
        jw_int(&w, c->exp_ms);
    else
        jw_null(&w);
    jw_kint(&w, "iat_ms", c->iat_ms);
    jw_kstr(&w, "kid", kid);
    jw_kstr(&w, "lane", c->lane);
    jw_kstr(&w, "request_id", c->state.request_id);
    jw_kint(&w, "rev", c->rev);
    jw_kstr(&w, "run_id", c->state.run_id);
    jw_kstr(&w, "status", sv_of(checkpoint_status_name(c->state.status)));
    jw_kstr(&w, "thread", c->thread);
    jw_kstr(&w, "token", token);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_checkpoint(struct app *app, const void *opts, struct err *e)
{
    const struct checkpoint_opts *o = opts;
    struct checkpoint_config      config = run_config(app);
    struct checkpoint_from        from = { app_arg(app, 0), o->agent, o->lane, &config };
    struct checkpoint_keys        keys;
    struct checkpoint             c;
    unsigned char                 salt[SEAL_NONCE];
    struct sv                     token;

    if (checkpoint_take(&app->log, &from, app->a, &c, e) || keys_for_signing(app, &keys, e))
        return err_code(e);
    checkpoint_set_times(&c, clock_now_ms(),
                         o->ttl != OPT_UNSET ? o->ttl
                                             : config_int(&app->ws.config, "checkpoint.ttl_ms", 0));
    rand_bytes(salt, sizeof salt);
    if (checkpoint_sign(&c, &keys, o->seal ? salt : NULL, app->a, &token, e))
        return err_code(e);
    print_token(app, &c, keys.keys[0].kid, token);
    return ST_OK;
}

/* ---- restore ------------------------------------------------------------------------------ */

struct restore_opts {
    bool check;
};

static const struct opt restore_opts[] = {
    { OPT_FLAG, "check", NULL, "only verify it and say what it holds",
      offsetof(struct restore_opts, check), 0 },
    { 0 },
};

static const char *next_word(enum checkpoint_next n)
{
    return n == CHECKPOINT_RUN_TOOLS ? "tools" : n == CHECKPOINT_ASK_MODEL ? "model" : "stop";
}

/* The payload as it was signed, and beside it what a reader wants to know first. */
static void print_check_json(struct app *app, const struct checkpoint *c)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_kint(&w, "messages", (int64_t)c->state.context.n);
    jw_kstr(&w, "next", sv_of(next_word(checkpoint_next(&c->state))));
    jw_key(&w, "payload");
    jw_raw(&w, c->payload);
    jw_kbool(&w, "sealed", c->sealed);
    jw_kbool(&w, "valid", true);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static void line(struct sb *out, const char *label, struct sv value)
{
    sb_addf(out, "%-10s ", label);
    sb_add_plain_line(out, value);
    sb_addc(out, '\n');
}

static void print_check(struct app *app, const struct checkpoint *c)
{
    struct sb *out = &app->out;

    line(out, "thread", c->thread);
    line(out, "lane", c->lane);
    if (c->agent.n)
        line(out, "agent", c->agent);
    sb_addf(out, "%-10s %lld\n", "rev", (long long)c->rev);
    line(out, "run", c->state.run_id);
    line(out, "request", c->state.request_id);
    line(out, "status", sv_of(checkpoint_status_name(c->state.status)));
    line(out, "next", sv_of(next_word(checkpoint_next(&c->state))));
    sb_addf(out, "%-10s %lld\n", "iteration", (long long)c->state.iteration);
    sb_addf(out, "%-10s %zu\n", "messages", c->state.context.n);
    sb_addf(out, "%-10s ", "issued");
    sb_add_iso_ms(out, c->iat_ms);
    sb_addf(out, "\n%-10s ", "expires");
    if (c->expires)
        sb_add_iso_ms(out, c->exp_ms);
    else
        sb_adds(out, "never");
    sb_addc(out, '\n');
    line(out, "key", c->kid);
    line(out, "sealed", c->sealed ? SV("yes") : SV("no"));
}

/* A token on the command line, or on stdin for those longer than an argument may be. */
static enum status read_token(struct app *app, struct sv *out, struct err *e)
{
    *out = app_arg(app, 0);
    if (sv_is(*out, "-") && fs_read_fd(0, TOKEN_MAX + 1024, app->a, out, e))
        return err_in(e, "stdin");
    *out = sv_trim(*out);
    return ST_OK;
}

/* A workspace without a log has no threads. */
static enum status open_existing(struct app *app, struct err *e)
{
    enum status s = app_open_log(app, STORE_READ, e);

    return s == ST_NOT_FOUND ? token_refuse(e, TOKEN_MISSING_THREAD, NULL) : s;
}

static enum status check_log(struct app *app, const struct checkpoint *c, struct err *e)
{
    if (open_existing(app, e) || log_begin(&app->log, c->thread, STORE_READ, e))
        return err_code(e);
    enum status s = checkpoint_check_log(&app->log, c, app->a, e);
    log_abort(&app->log);
    return s;
}

/* The log is opened for writing only once the token holds, so that a bad one makes none. */
static enum status put_back(struct app *app, struct sv token, const struct checkpoint *c,
                            struct err *e)
{
    struct op_result r;

    store_close(app->log.store);
    app->log.store = NULL;
    if (app_open_log(app, STORE_WRITE, e) ||
        checkpoint_restore(&app->log, token, c, app->actor, clock_now_ms(), app->a, &r, e))
        return err_code(e);
    op_result_print(app, &r, "restore");
    return ST_OK;
}

static enum status run_restore(struct app *app, const void *opts, struct err *e)
{
    const struct restore_opts *o = opts;
    struct checkpoint_config   config = run_config(app);
    struct checkpoint_keys     keys;
    struct checkpoint          c;
    struct sv                  token;

    /* The token first: in a pipe, whoever makes it may only then have made the key. */
    if (read_token(app, &token, e) || keys_for_verifying(app, &keys, e) ||
        checkpoint_verify(token, &keys, checkpoint_fingerprint(&config, app->a), clock_now_ms(),
                          app->a, &c, e) ||
        check_log(app, &c, e))
        return err_code(e);
    if (!o->check)
        return put_back(app, token, &c, e);
    if (app->json)
        print_check_json(app, &c);
    else
        print_check(app, &c);
    return ST_OK;
}

const struct command cmd_checkpoint = {
    .name = "checkpoint",
    .synopsis = "T [--agent A] [--lane L] [--ttl MS] [--seal]",
    .group = GROUP_RUN,
    .summary = "Print a signed token of a lane's context and its run",
    .details =
        "Nothing is written to the log. The token is signed with the first key of\n"
        "HEDDLE_CHECKPOINT_KEYS (kid:secret,…), else with .heddle/checkpoint.key, which is made\n"
        "on first use. It is readable by whoever has it, unless it is sealed. A turn whose tools\n"
        "have not all answered has their calls pending, so that whoever resumes makes them "
        "first.\n\n"
        "  heddle checkpoint design --ttl 3600000",
    .opts = checkpoint_opts,
    .opts_size = sizeof(struct checkpoint_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_checkpoint,
};

const struct command cmd_restore = {
    .name = "restore",
    .synopsis = "TOKEN|- [--check]",
    .group = GROUP_RUN,
    .summary = "Put a lane back to what a checkpoint token holds",
    .details =
        "The token's signature, age, configuration and place in the log are checked; then its\n"
        "context replaces that of its lane, as one entry with reason restore. The log keeps\n"
        "everything. Restoring a token again changes nothing, until something was said in the\n"
        "lane: then it is restored again. - reads the token from stdin:\n"
        "\n"
        "  heddle checkpoint design | heddle restore --check -",
    .opts = restore_opts,
    .opts_size = sizeof(struct restore_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_restore,
};
