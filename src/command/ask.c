/* Requests to models that a session makes: of whole conversations, and of one text. */
#include "command/ask.h"

#include "assemble/thinking.h"

struct body_settings ask_settings(struct sv model, const struct agent_settings *settings)
{
    return (struct body_settings){ .model = sv_cut(model, ':').tail,
                                   .max_tokens = settings->max_tokens,
                                   .temperature = settings->temperature,
                                   .top_p = settings->top_p,
                                   .seed = settings->seed,
                                   .effort = settings->effort,
                                   .logprobs = settings->logprobs,
                                   .stop = settings->stop.v,
                                   .n_stop = settings->stop.n,
                                   .user_last = !model_continues(model) };
}

enum status ask_request(struct session *s, struct sv model, const struct context *c,
                        const struct agent_settings *settings, struct model_request *out,
                        struct context *asked, struct render_report *r, struct err *e)
{
    const char          *name = model_dialect(model);
    struct body_settings how = ask_settings(model, settings);
    enum body_dialect    dialect;
    struct sb            body = sb_in(s->a, 0);

    /* An unknown provider is reported when the request is sent. */
    if (!body_dialect_of(sv_of(name ? name : "offline"), &dialect))
        return err_set(e, ST_NOT_FOUND, "no body is made for the dialect %s", name);
    how.stream = dialect != BODY_OFFLINE;
    if (thinking_settle(c, model, s->a, asked, r, e) ||
        body_write(dialect, asked, &how, s->a, &body, r, e))
        return err_code(e);
    *out = (struct model_request){ .model = model, .body = sb_sv(&body), .cancel = s->env.cancel };
    return ST_OK;
}

enum status ask_text(struct session *s, struct sv model, struct sv system, struct sv text,
                     int64_t max_tokens, struct model_response *out, struct err *e)
{
    struct message       m = message_of_text("user", text, s->a);
    struct context       c = { .system_prompt = system, .messages = &m, .n = 1 };
    struct render_report unused = report_in(s->a); /* one text of a user needs no repair */
    struct model_request q;
    struct context       asked;

    if (ask_request(s, model, &c, &(struct agent_settings){ .max_tokens = max_tokens }, &q, &asked,
                    &unused, e))
        return err_code(e);
    return s->env.ask(s->env.ask_ctx, &q, s->a, out, e);
}
