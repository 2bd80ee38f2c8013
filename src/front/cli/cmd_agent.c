/* `agent add`, `agent list`, `agent set`, `agent remove`: who works here, and what each may do. */
#include "base/clock.h"
#include "front/cli/command.h"
#include "loom/agent.h"

struct agent_opts {
    struct sv kind, model, permissions, system_prompt;
    int64_t   max_tokens;
};

static const struct opt opts_table[] = {
    { OPT_TEXT, "kind", "K", "human or model", offsetof(struct agent_opts, kind), 0 },
    { OPT_TEXT, "model", "P:ID", "a model agent's model, as provider:identifier",
      offsetof(struct agent_opts, model), 0 },
    { OPT_LIST, "permissions", "A,B",
      "loom_aware, loom_write, loom_generate, doc_read, doc_write; all or none",
      offsetof(struct agent_opts, permissions), 0 },
    { OPT_TEXT, "system-prompt", "TEXT", "what a model agent is told first",
      offsetof(struct agent_opts, system_prompt), 0 },
    { OPT_NUMBER, "max-tokens", "N", "longest answer of a model agent",
      offsetof(struct agent_opts, max_tokens), 0 },
    { 0 },
};

static enum status apply(const struct agent_opts *o, struct agent *x, struct err *e)
{
    if (o->permissions.s && permissions_parse(o->permissions, &x->permissions, e))
        return err_code(e);
    if (o->model.s)
        x->model = o->model;
    if (o->system_prompt.s)
        x->system_prompt = o->system_prompt;
    if (o->max_tokens != OPT_UNSET)
        x->max_tokens = o->max_tokens;
    return ST_OK;
}

static void write_agent(struct jw *w, const struct agent *x, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    jw_open(w, '{');
    jw_kstr(w, "name", x->name);
    jw_kstr(w, "kind", sv_of(author_kind_name(x->kind)));
    if (x->model.n)
        jw_kstr(w, "model", x->model);
    jw_key(w, "permissions");
    jw_open(w, '[');
    if (x->permissions) {
        permissions_list(&b, x->permissions);
        for (struct sv_cut c = { .tail = sb_sv(&b), .found = true }; c.found;) {
            c = sv_cut(c.tail, ',');
            jw_str(w, sv_trim(c.head));
        }
    }
    jw_close(w, ']');
    if (x->system_prompt.n)
        jw_kstr(w, "system_prompt", x->system_prompt);
    if (x->max_tokens)
        jw_kint(w, "max_tokens", x->max_tokens);
    jw_close(w, '}');
}

static void print_agent(struct app *app, const struct agent *x)
{
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        write_agent(&w, x, app->a);
        sb_addc(&app->out, '\n');
        return;
    }
    sb_add_plain(&app->out, x->name);
    sb_addf(&app->out, "  %s  ", author_kind_name(x->kind));
    permissions_list(&app->out, x->permissions);
    if (x->model.n) {
        sb_adds(&app->out, "  ");
        sb_add_plain(&app->out, x->model);
    }
    sb_addc(&app->out, '\n');
}

static enum status finish(struct app *app, enum status s, struct err *e)
{
    if (!s)
        s = log_commit(&app->log, e);
    if (s)
        log_abort(&app->log);
    return s;
}

static enum status run_add(struct app *app, const void *opts, struct err *e)
{
    const struct agent_opts *o = opts;
    struct agent             x = { .name = app_arg(app, 0) };

    if (!sv_is(o->kind, "human") && !sv_is(o->kind, "model"))
        return err_set(e, ST_USAGE, "--kind must be human or model");
    x.kind = sv_is(o->kind, "model") ? AUTHOR_MODEL : AUTHOR_HUMAN;
    x.permissions = x.kind == AUTHOR_HUMAN ? PERM_ALL : 0;
    if (apply(o, &x, e) || log_begin(&app->log, GLOBAL_THREAD, STORE_WRITE, e))
        return err_code(e);
    if (finish(app, agent_add(&app->log, &x, app->actor, clock_now_ms(), app->a, e), e))
        return err_code(e);
    print_agent(app, &x);
    return ST_OK;
}

static enum status find(struct app *app, struct sv name, struct agent *out, struct err *e)
{
    bool found;

    if (agent_find(&app->log, name, app->a, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "agent '" SV_FMT "' not found", SV_ARG(name));
    return err_hint(e, "`heddle agent list` shows the agents there are");
}

static enum status run_set(struct app *app, const void *opts, struct err *e)
{
    const struct agent_opts *o = opts;
    struct agent             x;

    if (o->kind.s)
        return err_set(e, ST_USAGE, "an agent's kind never changes");
    if (log_begin(&app->log, GLOBAL_THREAD, STORE_WRITE, e))
        return err_code(e);
    enum status s = find(app, app_arg(app, 0), &x, e);
    if (!s)
        s = apply(o, &x, e);
    if (!s)
        s = agent_put(&app->log, &x, app->actor, clock_now_ms(), app->a, e);
    if (finish(app, s, e))
        return err_code(e);
    print_agent(app, &x);
    return ST_OK;
}

static enum status run_remove(struct app *app, const void *opts, struct err *e)
{
    struct jw w = jw_in(&app->out, 0);

    (void)opts;
    if (log_begin(&app->log, GLOBAL_THREAD, STORE_WRITE, e) ||
        finish(app, agent_remove(&app->log, app_arg(app, 0), app->actor, clock_now_ms(), app->a, e),
               e))
        return err_code(e);
    if (app->json) {
        jw_open(&w, '{');
        jw_kstr(&w, "removed", app_arg(app, 0));
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
    }
    return ST_OK;
}

static enum status run_list(struct app *app, const void *opts, struct err *e)
{
    struct agent *list;
    size_t        n;

    (void)opts;
    if (log_begin(&app->log, GLOBAL_THREAD, STORE_READ, e))
        return err_code(e);
    enum status s = agent_list(&app->log, app->a, &list, &n, e);
    log_abort(&app->log);
    if (s)
        return s;
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '[');
        for (size_t i = 0; i < n; i++)
            write_agent(&w, &list[i], app->a);
        jw_close(&w, ']');
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    for (size_t i = 0; i < n; i++)
        print_agent(app, &list[i]);
    if (!n)
        sb_adds(&app->out, "no agents; `heddle agent add NAME --kind human|model` makes one\n");
    return ST_OK;
}

#define AGENT_COMMAND(words, form, says)                                                           \
    .name = "agent " words, .synopsis = form, .group = GROUP_LOOM, .summary = says

const struct command cmd_agent_add = {
    AGENT_COMMAND("add", "NAME --kind human|model [--model P:ID] [--permissions A,B]",
                  "Register a person or a model"),
    .details = "A person gets every permission unless told otherwise, a model none.\n\n"
               "  heddle agent add Sub --kind model --model offline:echo\n"
               "  heddle agent add Collab --kind model --model offline:echo --permissions "
               "loom_aware,loom_write,doc_read",
    .opts = opts_table,
    .opts_size = sizeof(struct agent_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_add,
};

const struct command cmd_agent_list = {
    AGENT_COMMAND("list", "", "List the agents and what each may do"),
    .needs = NEEDS_LOG,
    .run = run_list,
};

const struct command cmd_agent_set = {
    AGENT_COMMAND("set", "NAME [--model P:ID] [--permissions A,B]",
                  "Change what an agent may do, or its model"),
    .details = "  heddle agent set Collab --permissions all",
    .opts = opts_table,
    .opts_size = sizeof(struct agent_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_set,
};

const struct command cmd_agent_remove = {
    AGENT_COMMAND("remove", "NAME", "Forget an agent; what it wrote stays"),
    .details = "  heddle agent remove Collab",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_remove,
};
