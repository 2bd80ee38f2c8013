/* An agent's session inside a request, and what its commands answer as a document and as text. */
#include "api/loom/loom_call.h"

#include "api/share/share_call.h"

const char *const loom_author_kinds[] = { "human", "model", "tool", NULL };
const char *const tree_modes[] = { "dialogue", "buffer", NULL };

/* clang-format off */
static const struct field error_fields[] = {
    { "code",    FIELD_TEXT, .help = "the kind of failure" },
    { "message", FIELD_TEXT, .help = "what went wrong" },
    { "hint",    FIELD_TEXT, .optional = true, .help = "what to do about it" },
    { 0 },
};
const struct field loom_result_fields[] = {
    { "command", FIELD_TEXT,   .help = "the command as it was given, without its arrow" },
    { "tool",    FIELD_TEXT,   .help = "the tool that it calls" },
    { "ok",      FIELD_FLAG,   .help = "whether it was done" },
    { "text",    FIELD_TEXT,   .optional = true, .help = "what the agent is shown, when it was done; empty for a thought" },
    { "error",   FIELD_OBJECT, .of = error_fields, .optional = true, .help = "why it was not done" },
    { 0 },
};
/* clang-format on */

static void tell(void *ctx, struct sv sentence)
{
    request_warn_now(ctx, SV_FMT, SV_ARG(sentence));
}

enum status loom_call_open(struct loom_call *c, struct request *r, struct sv thread,
                           struct sv agent, struct err *e)
{
    loom_env_init(&c->env, r->ws, &r->log, r->actor, r->a);
    c->env.session.cancel = r->cancel;
    c->env.tell = tell;
    c->env.tell_ctx = r;
    return loom_env_open(&c->env, thread, agent, &c->s, e);
}

enum status loom_call_find_tree(struct request *r, struct sv thread, struct err *e)
{
    return share_call_or_empty(r, thread, loom_thread_check(&r->log, thread, e), e);
}

enum status loom_call_read(struct loom_call *c, struct request *r, struct sv thread,
                           struct sv agent, struct err *e)
{
    if (loom_call_open(c, r, thread, agent, e) || loom_call_find_tree(r, thread, e) ||
        log_begin(&r->log, thread, STORE_READ, e))
        return loom_call_close(c, err_code(e));
    return ST_OK;
}

void loom_call_once(struct loom_call *c, struct sv op_id, int64_t expect)
{
    c->s.once = (struct session_once){ .op_id = op_id, .has_expect = expect != PARAM_UNSET };
    if (c->s.once.has_expect)
        c->s.once.expect = expect;
}

enum status loom_call_close(struct loom_call *c, enum status s)
{
    log_abort(c->env.log);
    loom_env_release(&c->env);
    return s;
}

enum status loom_call_commit(struct request *r, enum status s, struct err *e)
{
    if (!s)
        s = log_commit(&r->log, e);
    if (s)
        log_abort(&r->log);
    return s;
}

void loom_results_member(struct jw *w, const struct turn *turn, size_t n)
{
    jw_key(w, "results");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        result_json(w, &turn->results[i]);
    jw_close(w, ']');
}

void loom_results_print(const struct json *results, struct sb *b)
{
    bool any = false;

    for (size_t i = 0; i < results->n; i++) {
        const struct json *x = &results->items[i], *error = json_find(x, "error");
        if (!error && !json_text(x, "text").n)
            continue;
        sb_adds(b, any ? "\n" : "");
        if (error)
            result_show_error(b, json_text(error, "code"), json_text(error, "message"),
                              json_text(error, "hint"));
        else
            sb_add(b, json_text(x, "text"));
        any = true;
    }
}

void loom_call_warn(struct request *r, const struct session *s)
{
    struct sv text = loom_branch_warning(s);

    if (text.n)
        request_warn(r, (struct sv){ 0 }, s->loom.thread, SV_FMT, SV_ARG(text));
}
