#include "front/loom_env.h"

#include "base/clock.h"
#include "base/path.h"
#include "tokens/tokens.h"

static enum status ask(void *ctx, const struct model_request *q, struct arena *a,
                       struct model_response *out, struct err *e)
{
    struct loom_env *env = ctx;

    return model_complete(&env->client, q, a, out, e);
}

/* Called only when there is a table: otherwise the session estimates, and says so. */
static size_t count(void *ctx, struct sv text)
{
    struct loom_env *env = ctx;
    struct err       ignored;

    if (!env->tokens && tokens_open_or_estimate(TOKENS_O200K, &env->tokens, &ignored))
        env->tokens = tokens_open_estimate();
    return tokens_count(env->tokens, text);
}

void loom_env_init(struct loom_env *env, struct app *app)
{
    *env = (struct loom_env){ .app = app, .folder = { app->root_fd } };
    env->client = (struct model_client){ .root_fd = app->root_fd, .a = app->a };
    env->session = (struct session_env){ .docs = docs_in_folder(&env->folder),
                                         .ask = ask,
                                         .ask_ctx = env,
                                         .count_tokens = count,
                                         .tokens_ctx = env,
                                         .subject = config_text(&app->config, "loom.subject"),
                                         .summary_model =
                                             config_text(&app->config, "loom.summary_model"),
                                         .result_tokens =
                                             config_int(&app->config, "loom.result_tokens", 0),
                                         .budget = config_int(&app->config, "loom.budget", 0) };
}

void loom_env_release(struct loom_env *env)
{
    tokens_close(env->tokens);
}

enum status loom_env_open(struct loom_env *env, struct sv thread, struct sv agent,
                          struct session *out, struct err *e)
{
    struct app *app = env->app;

    if (name_check(thread, "thread id", e))
        return err_code(e);
    if (agent.n)
        return session_open(out, &app->log, &env->session, thread, agent, clock_now_ms(), app->a,
                            e);
    return session_open_person(out, &app->log, &env->session, thread, app->actor, clock_now_ms(),
                               app->a, e);
}
