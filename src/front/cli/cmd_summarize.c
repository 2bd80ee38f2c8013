/* `summarize`: make the summaries that a tree waits for. */
#include "command/summary.h"
#include "front/cli/command.h"
#include "front/loom_env.h"
#include "loom/shown.h"

struct summarize_opts {
    bool all;
};

static const struct opt table[] = {
    { OPT_FLAG, "all", NULL, "the tree too, even if fewer than 10 nodes are new",
      offsetof(struct summarize_opts, all), 0 },
    { 0 },
};

struct printing {
    struct app *app;
    struct jw   w; /* when --json */
};

static void print_json(struct jw *w, const struct summary_made *m)
{
    jw_open(w, '{');
    jw_key(w, "node");
    jw_str(w, m->node);
    jw_key(w, "model");
    jw_str(w, m->model);
    jw_kbool(w, "provisional", !m->model.n);
    jw_kstr(w, "text", sv_trim(m->text));
    jw_close(w, '}');
}

static void told(void *ctx, const struct summary_made *m)
{
    struct printing *p = ctx;
    struct sb       *out = &p->app->out;

    if (p->app->json) {
        print_json(&p->w, m);
        return;
    }
    if (m->node.n)
        sb_addf(out, "[" SV_FMT "] ", SV_ARG(m->node));
    else
        sb_adds(out, "tree: ");
    sb_add_oneline(out, sv_trim(m->text));
    sb_adds(out, m->model.n ? "\n" : " (provisional)\n");
}

static void print_end(struct app *app, const struct summary_job *job)
{
    if (!job->made && !job->provisional && !job->waiting && !job->tree_waits)
        sb_adds(&app->out, "nothing to summarize\n");
    if (!job->waiting && !job->tree_waits)
        return;
    if (job->last.code == ST_OK)
        warn("no model makes summaries here: set loom.summary_model, ANTHROPIC_API_KEY or "
             "OPENAI_API_KEY");
    else
        warn("%lld node%s%s without a summary: %s", (long long)job->waiting,
             job->waiting == 1 ? "" : "s", job->tree_waits ? " and the tree" : "", job->last.text);
}

static enum status summarize(struct printing *p, struct session *s, struct summary_job *job,
                             struct err *e)
{
    struct app *app = p->app;
    size_t      before = app->out.n;

    if (app->json) {
        jw_open(&p->w, '{');
        jw_key(&p->w, "summaries");
        jw_open(&p->w, '[');
    }
    if (session_summarise_pending(s, job, e)) {
        if (app->json) /* half a document is none */
            app->out.n = before;
        return err_code(e);
    }
    if (!app->json) {
        print_end(app, job);
        return ST_OK;
    }
    jw_close(&p->w, ']');
    jw_kint(&p->w, "waiting", job->waiting);
    jw_kbool(&p->w, "tree_waits", job->tree_waits);
    if (job->last.code != ST_OK)
        jw_kstr(&p->w, "last_failure", sv_of(job->last.text));
    jw_close(&p->w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status run_summarize(struct app *app, const void *opts, struct err *e)
{
    const struct summarize_opts *o = opts;
    struct loom_env              env;
    struct session               s;
    struct sv                    models[SUMMARY_MODELS_MAX];
    struct printing              p = { app, jw_in(&app->out, 0) };
    struct summary_job job = { .models = models, .tree = o->all, .told = told, .ctx = &p };

    if (loom_thread_check(app, app_arg(app, 0), e))
        return err_code(e);
    loom_env_init(&env, app);
    job.n_models = loom_summary_models(app, models);
    enum status st = loom_env_open(&env, app_arg(app, 0), (struct sv){ 0 }, &s, e);
    if (!st)
        st = summarize(&p, &s, &job, e);
    loom_env_release(&env);
    return st;
}

const struct command cmd_summarize = {
    .name = "summarize",
    .synopsis = "T [--all]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Make the summaries that a tree waits for",
    .details =
        "Nodes have no summary when they are written. This asks a model for those that are "
        "missing, a parent before its children, and after every 10 new nodes for one of the "
        "tree. The model is loom.summary_model; without that, Claude 3.5 Haiku where "
        "ANTHROPIC_API_KEY is set and GPT-4o mini where OPENAI_API_KEY is, each standing in "
        "for the other.\n\n"
        "Where no model answers, the first sentence is stored for the time being, and the "
        "next call tries again. Pruned nodes wait until they are restored. This version speaks to "
        "offline models only.\n\n"
        "  heddle summarize design\n"
        "  heddle summarize design --all --json",
    .opts = table,
    .opts_size = sizeof(struct summarize_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_summarize,
};
