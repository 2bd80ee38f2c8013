#include "front/loom_env.h"

#include "base/clock.h"
#include "base/path.h"
#include "command/summary.h"
#include "share/asset.h"
#include "tokens/tokens.h"

#include <assert.h>
#include <stdlib.h>

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

/* A document of the thread itself, else one that a reference lets it read. */
static enum status read_doc(void *ctx, struct sv thread, struct sv name, struct arena *a,
                            struct doc *out, struct err *e)
{
    struct loom_env         *env = ctx;
    static const char *const suffixes[] = { "", ".md" };
    struct asset_found       found;
    struct err               tried;

    enum status s = env->own.read(env->own.ctx, thread, name, a, out, e);
    for (size_t i = 0; s == ST_NOT_FOUND && i < COUNT(suffixes); i++) {
        struct sb b = sb_in(a, 0);
        sb_addf(&b, SV_FMT "%s", SV_ARG(name), suffixes[i]);
        if (asset_find(&env->share, thread, sb_sv(&b), &found, &tried))
            continue;    /* what the first look said stands */
        struct sv bytes; /* a copy that is not what was frozen is not passed off as it */
        if (found.ref && (s = asset_read(&env->share, &found, a, &bytes, e)))
            return s;
        s = doc_read_file(env->app->ws.root_fd, found.path, a, out, e);
        out->read_only = !sv_is(sv_of(found.how), "own");
    }
    return s;
}

static enum status write_doc(void *ctx, const struct doc *d, struct sv text, struct err *e)
{
    struct loom_env *env = ctx;

    return env->own.write(env->own.ctx, d, text, e);
}

static enum status create_doc(void *ctx, struct sv thread, struct sv name, struct arena *a,
                              struct doc *out, struct err *e)
{
    struct loom_env *env = ctx;

    return env->own.create(env->own.ctx, thread, name, a, out, e);
}

struct names {
    VEC(struct doc_name) list;
};

/* A name is listed once: reading finds a thread's own document first. */
static void add_name(struct names *to, struct sv name, struct sv from, struct arena *a)
{
    if (sv_ends(name, SV(".md")))
        name = sv_first(name, name.n - 3);
    for (size_t i = 0; i < to->list.n; i++)
        if (sv_eq(to->list.v[i].name, name))
            return;
    *vec_push(&to->list, a) = (struct doc_name){ name, from };
}

/* The thread's own documents, then what its references let it read. */
static enum status list_docs(void *ctx, struct sv thread, struct arena *a, struct doc_name **out,
                             size_t *n, struct err *e)
{
    struct loom_env   *env = ctx;
    struct names       names = { 0 };
    struct scope_files files;
    struct share_ref  *refs;
    size_t             n_refs;

    if (scope_collect(&env->share, thread, NULL, 0, &files, e) ||
        share_refs(&env->share, thread, true, a, &refs, &n_refs, e))
        return err_code(e);
    for (size_t i = 0; i < files.list.n; i++)
        add_name(&names, files.list.v[i].name, (struct sv){ 0 }, a);
    for (size_t i = 0; i < n_refs; i++) {
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            add_name(&names, refs[i].files[k].name, refs[i].target, a);
        if (!refs[i].frozen &&
            scope_collect(&env->share, refs[i].target, refs[i].scope, refs[i].n_scope, &files, e))
            return err_code(e);
        for (size_t k = 0; !refs[i].frozen && k < files.list.n; k++)
            add_name(&names, files.list.v[k].name, refs[i].target, a);
    }
    *out = names.list.v;
    *n = names.list.n;
    return ST_OK;
}

static enum status describe(void *ctx, struct sv thread, struct arena *a, struct sv *title,
                            struct sv *mode, struct err *e)
{
    struct loom_env    *env = ctx;
    struct share_thread t;
    bool                found;

    (void)a;
    if (share_thread_find(&env->share, thread, &t, &found, e))
        return err_code(e);
    if (found) {
        *title = t.title;
        *mode = t.mode;
    }
    return ST_OK;
}

size_t loom_summary_models(struct app *app, struct sv *out)
{
    static const struct {
        const char *key, *model;
    } usual[] = {
        { "ANTHROPIC_API_KEY", "anthropic:claude-3-5-haiku-latest" },
        { "OPENAI_API_KEY", "openai:gpt-4o-mini" },
    };
    size_t n = 0;

    static_assert(COUNT(usual) <= SUMMARY_MODELS_MAX, "the caller has room");
    out[0] = config_text(&app->ws.config, "loom.summary_model");
    if (out[0].n)
        return 1;
    for (size_t i = 0; i < COUNT(usual); i++)
        if (sv_of(getenv(usual[i].key)).n)
            out[n++] = sv_of(usual[i].model);
    return n;
}

void loom_env_init(struct loom_env *env, struct app *app)
{
    *env = (struct loom_env){ .app = app, .folder = { app->ws.root_fd } };
    env->client = (struct model_client){ .root_fd = app->ws.root_fd, .a = app->a };
    env->own = docs_in_folder(&env->folder);
    share_init(&env->share, &app->log, app->ws.root_fd, app->actor, app->a);
    env->session =
        (struct session_env){ .docs = { env, read_doc, write_doc, list_docs, create_doc },
                              .describe = describe,
                              .describe_ctx = env,
                              .ask = ask,
                              .ask_ctx = env,
                              .count_tokens = count,
                              .tokens_ctx = env,
                              .search = web_search_init(&env->web, app) ? web_search : NULL,
                              .search_ctx = &env->web,
                              .subject = config_text(&app->ws.config, "loom.subject"),
                              .summary_model = config_text(&app->ws.config, "loom.summary_model"),
                              .result_tokens = config_int(&app->ws.config, "loom.result_tokens", 0),
                              .budget = config_int(&app->ws.config, "loom.budget", 0) };
}

void loom_env_release(struct loom_env *env)
{
    tokens_close(env->tokens);
}

enum status loom_node_hint(enum status s, struct sv thread, struct err *e)
{
    if (s == ST_NOT_FOUND && !e->hint[0])
        err_hint(e, "`heddle tree " SH_FMT "` shows the ids of its nodes", SV_ARG(thread));
    return s;
}

void loom_tell_branch(const struct session *s)
{
    if (s->passed.n)
        warn("this is a new branch: others had gone on to [" SV_FMT "]; --at " SV_FMT
             ", or → switch to " SV_FMT ", follows them",
             SV_ARG(s->passed), SV_ARG(s->passed), SV_ARG(s->passed));
}

enum status loom_thread_check(struct app *app, struct sv thread, struct err *e)
{
    struct store_head h;

    if (store_head(app->log.store, thread, &h, e))
        return err_code(e);
    if (h.rev)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' has no log yet", SV_ARG(thread));
    return err_hint(e, "`heddle say " SH_FMT " TEXT` starts one", SV_ARG(thread));
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
