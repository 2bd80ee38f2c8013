/* What an agent's session needs: documents, models, token counts, settings. */
#include "api/loom/loom_env.h"

#include "api/company_told.h"
#include "api/loom/model_settings.h"
#include "api/request.h"
#include "base/clock.h"
#include "base/path.h"
#include "share/asset.h"
#include "tokens/tokens.h"

static enum status ask(void *ctx, const struct model_request *q, struct arena *a,
                       struct model_response *out, struct err *e)
{
    struct loom_env *env = ctx;

    return model_complete(&env->client, q, a, out, e);
}

static void ask_all(void *ctx, struct model_asking *list, size_t n, void (*wait)(void *ctx),
                    void *wait_ctx, struct arena *a)
{
    struct loom_env *env = ctx;

    model_complete_all(&env->client, list, n, wait, wait_ctx, a);
}

/* The address of a provider in the user's own settings. */
static struct sv address(void *ctx, const char *host)
{
    struct loom_env *env = ctx;
    struct sb        b = sb_in(env->a, 0);

    sb_addf(&b, "models.url.%s", host);
    return json_sv(config_find_sv(&env->ws->config, sb_sv(&b)));
}

static enum status key(void *ctx, const char *host, struct sv *out, struct err *e)
{
    struct loom_env *env = ctx;

    return model_key(env->ws, host, env->a, out, e);
}

static bool prices(void *ctx, struct sv model, struct model_prices *out)
{
    struct loom_env *env = ctx;

    return model_prices_of(&env->ws->config, model, out);
}

/* Called only when there is a table: otherwise the session estimates, and says so. */
static size_t count(void *ctx, struct sv text)
{
    struct loom_env *env = ctx;
    struct err       ignored;

    if (!env->tokens &&
        tokens_open_or_estimate(TOKENS_O200K, workspace_variable(env->ws, TOKENS_VOCAB_DIR),
                                &env->tokens, &ignored))
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
            continue;    /* the result of the first search is kept */
        struct sv bytes; /* a copy that differs from what was frozen is not shown */
        if (found.ref && (s = asset_read(&env->share, &found, a, &bytes, e)))
            return s;
        s = doc_read_file(env->ws->root_fd, found.path, a, out, e);
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

    if (share_scope_collect(&env->share, thread, NULL, 0, &files, e) ||
        share_refs(&env->share, thread, true, a, &refs, &n_refs, e))
        return err_code(e);
    for (size_t i = 0; i < files.list.n; i++)
        add_name(&names, files.list.v[i].name, (struct sv){ 0 }, a);
    for (size_t i = 0; i < n_refs; i++) {
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            add_name(&names, refs[i].files[k].name, refs[i].target, a);
        if (!refs[i].frozen && share_scope_collect(&env->share, refs[i].target, refs[i].scope,
                                                   refs[i].n_scope, &files, e))
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

/* The row of the registry, and, because a row of the thread is asked for, the head of the thread.
 */
static void want(void *ctx, struct sv thread)
{
    struct loom_env *env = ctx;
    struct arena     scratch = { 0 };
    struct err       ignored;

    if (!name_check(thread, "thread", &ignored)) {
        share_want_thread(&env->share, thread, &scratch);
        loom_want_tree(&(struct loom){ .log = env->share.log, .thread = thread, .a = &scratch });
    }
    arena_free(&scratch);
}

static struct sv small_of(void *ctx, struct sv company)
{
    const struct workspace *ws = ctx;

    return json_sv(json_find_sv(config_find(&ws->config, "models.small"), company));
}

struct small_models loom_small_models(const struct workspace *ws)
{
    return (struct small_models){ .set = config_text(&ws->config, "loom.summary_model"),
                                  .of = small_of,
                                  .ctx = (void *)(uintptr_t)ws };
}

bool loom_has_summaries(struct request *r, struct sv agent)
{
    struct small_models small = loom_small_models(r->ws);
    struct agent        x = { 0 };
    struct err          ignored;
    bool                found;

    if (small.set.n)
        return small_choose(&small, (struct sv){ 0 }).n > 0;
    if (request_log(r, STORE_READ, &ignored) ||
        log_begin(&r->log, GLOBAL_THREAD, STORE_READ, &ignored))
        return false;
    if (agent_find(&r->log, agent, r->a, &x, &found, &ignored) || !found)
        x.model = (struct sv){ 0 };
    log_abort(&r->log);
    return small_choose(&small, x.model).n > 0;
}

/* Text is about to go to a company: said once for each workspace and company. The first one is only
 * noted when the user has named it with the agent. */
static void leaves(void *ctx, struct sv company, bool own, const char *what)
{
    struct loom_env *env = ctx;
    struct sb        b = sb_in(env->a, 0);
    bool             others = false;

    if (!env->tell || company_was_told(env->ws, company, env->a, &others))
        return;
    sb_addf(&b, "text of this workspace now goes to " SV_FMT " too, %s; this is said once",
            SV_ARG(company), what);
    if (others || !own)
        env->tell(env->tell_ctx, sb_sv(&b));
    company_told(env->ws, company, env->a);
}

static void before_search(void *ctx, struct sv service)
{
    leaves(ctx, service, false, "for web searches");
}

void loom_env_init(struct loom_env *env, struct workspace *ws, struct log *log, struct sv actor,
                   struct arena *a)
{
    const struct config *c = &ws->config;

    *env = (struct loom_env){
        .ws = ws, .log = log, .actor = actor, .a = a, .folder = { ws->root_fd }
    };
    env->client = (struct model_client){ .root_fd = ws->root_fd,
                                         .a = a,
                                         .variables = ws->variables,
                                         .address = address,
                                         .key = key,
                                         .prices = prices,
                                         .settings_ctx = env,
                                         .proxy = config_text(c, "models.proxy"),
                                         .connect_ms = config_int(c, "models.connect_ms", 0),
                                         .first_byte_ms = config_int(c, "models.first_byte_ms", 0),
                                         .idle_ms = config_int(c, "models.idle_ms", 0) };
    env->small = loom_small_models(ws);
    env->own = docs_in_folder(&env->folder);
    share_init(&env->share, log, ws->root_fd, actor, a);
    env->session =
        (struct session_env){ .docs = { env, read_doc, write_doc, list_docs, create_doc },
                              .describe = describe,
                              .want = want,
                              .describe_ctx = env,
                              .ask = ask,
                              .ask_ctx = env,
                              .ask_all = ask_all,
                              .count_tokens = count,
                              .tokens_ctx = env,
                              .search = web_search_init(&env->web, ws) ? web_search : NULL,
                              .search_ctx = &env->web,
                              .leaves = leaves,
                              .leaves_ctx = env,
                              .subject = config_text(c, "loom.subject"),
                              .small = &env->small,
                              .classifier = config_text(c, "loom.classifier"),
                              .carry = config_bool(c, "loom.carry"),
                              .result_tokens = config_int(c, "loom.result_tokens", 0),
                              .budget = config_int(c, "loom.budget", 0),
                              .buffer_system = config_bool(c, "loom.buffer_system") };
    env->web.config.before = before_search;
    env->web.config.before_ctx = env;
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

struct sv loom_branch_warning(const struct session *s)
{
    struct sb b = sb_in(s->a, 0);

    if (!s->passed.n)
        return (struct sv){ 0 };
    sb_addf(&b,
            "this is a new branch: others had gone on to [" SV_FMT "]; --at " SV_FMT
            ", or → switch to " SV_FMT ", follows them",
            SV_ARG(s->passed), SV_ARG(s->passed), SV_ARG(s->passed));
    return sb_sv(&b);
}

enum status loom_thread_check(struct log *log, struct sv thread, struct err *e)
{
    struct store_head h;

    if (log_head(log, thread, &h, e))
        return err_code(e);
    if (h.rev)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' has no log yet", SV_ARG(thread));
    return err_hint(e, "`heddle say " SH_FMT " TEXT` starts one", SV_ARG(thread));
}

enum status loom_env_open(struct loom_env *env, struct sv thread, struct sv agent,
                          struct session *out, struct err *e)
{
    int64_t now = clock_now_ms();

    if (name_check(thread, "thread id", e))
        return err_code(e);
    /* Once per process: later random numbers follow from the seed and this state. */
    env->session.seed_mixed = atomic_exchange(&env->ws->seed_mixed, true);
    enum status st =
        agent.n
            ? session_open(out, env->log, &env->session, thread, agent, now, env->a, e)
            : session_open_person(out, env->log, &env->session, thread, env->actor, now, env->a, e);
    /* Leases of other machines are compared with the clock of the log, which is known by now. */
    if (!st)
        out->loom.now = log_now(env->log);
    return st;
}

enum status loom_doc_words(void *ctx, struct sv doc, struct sv section, int64_t *words,
                           struct err *e)
{
    struct session *s = ctx;
    struct doc      d;
    struct section  at;

    if (session_doc(s, doc, &d, e))
        return err_code(e);
    struct sv text = d.text;
    if (section.s) {
        if (doc_section(d.text, section, &at, e))
            return err_code(e);
        text = (struct sv){ d.text.s + at.start, at.end - at.start };
    }
    *words = doc_words(text);
    return ST_OK;
}
