/* agent.add, agent.list, agent.set, agent.remove: who works here, and what each may do. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "loom/agent.h"
#include "model/model.h"

struct agent_params {
    struct sv      name, kind, model, system_prompt, temperature, top_p, effort, op_id;
    struct sv_list permissions, stop, unset;
    int64_t        max_tokens, seed, logprobs;
};

static const char *const kinds[] = { "human", "model", NULL };

/* clang-format off */
#define X(bit, name, needs, what) #name,
static const char *const permission_words[] = { PERMISSION_TABLE(X) "all", "none", NULL };
#undef X

#define NAME_PARAM \
    { "name", PARAM_TEXT, offsetof(struct agent_params, name), .value = "NAME", .required = true, .help = "the agent" }
#define CHANGE_PARAMS \
    { "model",         PARAM_TEXT,   offsetof(struct agent_params, model), .value = "P:ID", .help = "a model agent's model, as provider:identifier" }, \
    { "permissions",   PARAM_LIST,   offsetof(struct agent_params, permissions), .value = "A,B", .values = permission_words, .help = "loom_aware, loom_write, loom_generate, doc_read, doc_write; all or none" }, \
    { "system_prompt", PARAM_TEXT,   offsetof(struct agent_params, system_prompt), .value = "TEXT", .help = "what a model agent is told first" }, \
    { "max_tokens",    PARAM_NUMBER, offsetof(struct agent_params, max_tokens), .value = "N", .min = 1, .max = AGENT_TOKENS_MAX, .help = "longest answer of a model agent" }, \
    { "temperature",   PARAM_DECIMAL, offsetof(struct agent_params, temperature), .value = "X", .min = 0, .max = 2, .help = "how freely a model agent chooses its words" }, \
    { "top_p",         PARAM_DECIMAL, offsetof(struct agent_params, top_p), .value = "X", .min = 0, .max = 1, .help = "the share of likely words it chooses from" }, \
    { "seed",          PARAM_NUMBER, offsetof(struct agent_params, seed), .value = "N", .min = 0, .max = INT64_C(9007199254740991), .help = "for answers that can be repeated, where the provider can" }, \
    { "stop",          PARAM_LIST,   offsetof(struct agent_params, stop), .value = "TEXT", .whole = true, .help = "a text that ends its answers; may be given several times" }, \
    { "effort",        PARAM_ENUM,   offsetof(struct agent_params, effort), .value = "WORD", .values = agent_efforts, .help = "how hard it thinks" }, \
    { "logprobs",      PARAM_NUMBER, offsetof(struct agent_params, logprobs), .value = "N", .min = 1, .max = AGENT_LOGPROBS_MAX, .help = "alternatives of each token that a base model reports, with their probabilities" }

static const struct param add_params[] = {
    NAME_PARAM,
    { "kind", PARAM_ENUM, offsetof(struct agent_params, kind), .value = "K", .values = kinds, .required = true, .refusal = "must be human or model", .help = "human or model" },
    CHANGE_PARAMS,
    PARAM_ONCE(struct agent_params),
    { 0 },
};
static const struct param set_params[] = {
    NAME_PARAM,
    CHANGE_PARAMS,
    { "unset", PARAM_LIST, offsetof(struct agent_params, unset), .value = "A,B", .help = "settings to put back to the provider's defaults: temperature, top_p, seed, stop, effort, logprobs, max_tokens, system_prompt" },
    PARAM_ONCE(struct agent_params),
    { 0 },
};
static const struct param remove_params[] = { NAME_PARAM, PARAM_ONCE(struct agent_params), { 0 } };

static const struct field agent_fields[] = {
    { "name",          FIELD_TEXT,   .help = "the agent" },
    { "kind",          FIELD_ENUM,   .values = kinds, .help = "a person or a model" },
    { "model",         FIELD_TEXT,   .optional = true, .help = "provider:identifier" },
    { "permissions",   FIELD_LIST,   .help = "what it may do" },
    { "system_prompt", FIELD_TEXT,   .optional = true, .help = "what it is told first" },
    { "max_tokens",    FIELD_NUMBER, .optional = true, .help = "of one answer" },
    { "temperature",   FIELD_REAL,   .optional = true, .help = "how freely it chooses its words" },
    { "top_p",         FIELD_REAL,   .optional = true, .help = "the share of likely words it chooses from" },
    { "seed",          FIELD_NUMBER, .optional = true, .help = "for answers that can be repeated" },
    { "stop",          FIELD_LIST,   .optional = true, .help = "texts that end its answers" },
    { "effort",        FIELD_ENUM,   .values = agent_efforts, .optional = true, .help = "how hard it thinks" },
    { "logprobs",      FIELD_NUMBER, .optional = true, .help = "alternatives of each token that are reported" },
    { 0 },
};
static const struct field list_fields[] = {
    { "items", FIELD_LIST, .of = agent_fields, .help = "the agents, by name" },
    { 0 },
};
static const struct field removed_fields[] = {
    { "removed", FIELD_TEXT, .help = "the agent that was removed" },
    { 0 },
};
/* clang-format on */

/* ---- the document -------------------------------------------------------------------- */

static void write_agent(struct jw *w, const struct agent *x)
{
    jw_open(w, '{');
    jw_kstr(w, "name", x->name);
    jw_kstr(w, "kind", sv_of(author_kind_name(x->kind)));
    if (x->model.n)
        jw_kstr(w, "model", x->model);
    jw_key(w, "permissions");
    jw_open(w, '[');
    for (unsigned bit = 1; bit & PERM_ALL; bit <<= 1)
        if (x->permissions & bit)
            jw_str(w, sv_of(permission_name((enum permission)bit)));
    jw_close(w, ']');
    if (x->system_prompt.n)
        jw_kstr(w, "system_prompt", x->system_prompt);
    agent_settings_write(w, &x->settings);
    jw_close(w, '}');
}

static void print_agent(const struct json *doc, struct term *t)
{
    const struct json *permissions = json_find(doc, "permissions");
    struct sv          model = json_text(doc, "model");

    term_text(t, json_text(doc, "name"));
    term_f(t, "  " SV_FMT "  %s", SV_ARG(json_text(doc, "kind")), permissions->n ? "" : "none");
    for (size_t i = 0; i < permissions->n; i++)
        term_f(t, "%s" SV_FMT, i ? ", " : "", SV_ARG(json_sv(&permissions->items[i])));
    if (model.n) {
        term_f(t, "  ");
        term_text(t, model);
    }
    term_f(t, "\n");
}

static void print_list(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        print_agent(&items->items[i], t);
    if (!items->n)
        term_f(t, "no agents; `heddle agent add NAME --kind human|model` makes one\n");
}

/* ---- the operations ------------------------------------------------------------------- */

static enum status set_permissions(struct request *r, const struct sv_list *list, unsigned *out,
                                   struct err *e)
{
    struct sb b = sb_in(r->a, 0);

    for (size_t i = 0; i < list->n; i++)
        sb_addf(&b, "%s" SV_FMT, i ? "," : "", SV_ARG(list->v[i]));
    return permissions_parse(sb_sv(&b), out, e);
}

static enum status unset(const struct sv_list *names, struct agent *x, struct err *e)
{
    struct agent_settings *s = &x->settings;
    const struct {
        const char *name;
        struct sv  *text;
        int64_t    *number;
    } rows[] = {
        { "effort", &s->effort, NULL },
        { "logprobs", NULL, &s->logprobs },
        { "max_tokens", NULL, &s->max_tokens },
        { "seed", &s->seed, NULL },
        { "system_prompt", &x->system_prompt, NULL },
        { "temperature", &s->temperature, NULL },
        { "top_p", &s->top_p, NULL },
        { "stop", NULL, NULL },
    };

    for (size_t i = 0; i < names->n; i++) {
        size_t k = 0;
        while (k < COUNT(rows) && !sv_is(names->v[i], rows[k].name))
            k++;
        if (k == COUNT(rows))
            return err_set(e, ST_USAGE, "no setting '" SV_FMT "' to unset", SV_ARG(names->v[i]));
        if (rows[k].text)
            *rows[k].text = (struct sv){ 0 };
        else if (rows[k].number)
            *rows[k].number = 0;
        else
            s->stop = (struct sv_list){ 0 };
    }
    return ST_OK;
}

static struct sv seed_text(int64_t seed, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (seed == PARAM_UNSET)
        return (struct sv){ 0 };
    sb_add_int(&b, seed);
    return sb_sv(&b);
}

static int64_t or_none(int64_t n)
{
    return n == PARAM_UNSET ? 0 : n;
}

/* It may be one that a newer heddle knows, so it is kept. */
static void warn_of_provider(struct request *r, struct sv model)
{
    const struct sv none = { 0 };

    if (sv_has(model, ':') && !model_dialect(model))
        request_warn(r, none, none, "there is no provider '" SV_FMT "'; there are " SV_FMT,
                     SV_ARG(sv_cut(model, ':').head), SV_ARG(model_provider_names(r->a)));
}

static enum status apply(struct request *r, const struct agent_params *p, struct agent *x,
                         struct err *e)
{
    struct agent_settings given = { .max_tokens = or_none(p->max_tokens),
                                    .logprobs = or_none(p->logprobs),
                                    .temperature = p->temperature,
                                    .top_p = p->top_p,
                                    .seed = seed_text(p->seed, r->a),
                                    .effort = p->effort,
                                    .stop = p->stop };

    if ((p->permissions.v && set_permissions(r, &p->permissions, &x->permissions, e)) ||
        unset(&p->unset, x, e))
        return err_code(e);
    if (p->model.s) {
        x->model = p->model;
        warn_of_provider(r, p->model);
    }
    if (p->system_prompt.s)
        x->system_prompt = p->system_prompt;
    agent_settings_over(&x->settings, &given);
    return ST_OK;
}

static enum status run_add(struct request *r, const void *params_given, struct err *e)
{
    const struct agent_params *p = params_given;
    struct agent               x = { .name = p->name };

    x.kind = sv_is(p->kind, "model") ? AUTHOR_MODEL : AUTHOR_HUMAN;
    x.permissions = x.kind == AUTHOR_HUMAN ? PERM_ALL : 0;
    if (apply(r, p, &x, e) || log_begin(&r->log, GLOBAL_THREAD, STORE_WRITE, e))
        return err_code(e);
    enum status s = agent_add(&r->log, &x, r->actor, clock_now_ms(), r->a, e);
    write_agent(r->doc, &x);
    return loom_call_commit(r, s, e);
}

static enum status find(struct request *r, struct sv name, struct agent *out, struct err *e)
{
    bool found;

    if (agent_find(&r->log, name, r->a, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "agent '" SV_FMT "' not found", SV_ARG(name));
    return err_hint(e, "`heddle agent list` shows the agents there are");
}

static enum status run_set(struct request *r, const void *params_given, struct err *e)
{
    const struct agent_params *p = params_given;
    struct agent               x;

    if (log_begin(&r->log, GLOBAL_THREAD, STORE_WRITE, e))
        return err_code(e);
    enum status s = find(r, p->name, &x, e);
    if (!s)
        s = apply(r, p, &x, e);
    if (!s)
        s = agent_put(&r->log, &x, r->actor, clock_now_ms(), r->a, e);
    if (!s)
        write_agent(r->doc, &x);
    return loom_call_commit(r, s, e);
}

static enum status run_remove(struct request *r, const void *params_given, struct err *e)
{
    const struct agent_params *p = params_given;

    if (log_begin(&r->log, GLOBAL_THREAD, STORE_WRITE, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "removed", p->name);
    jw_close(r->doc, '}');
    return loom_call_commit(r, agent_remove(&r->log, p->name, r->actor, clock_now_ms(), r->a, e),
                            e);
}

static enum status run_list(struct request *r, const void *params_given, struct err *e)
{
    struct agent *list;
    size_t        n;

    (void)params_given;
    if (log_begin(&r->log, GLOBAL_THREAD, STORE_READ, e))
        return err_code(e);
    enum status s = agent_list(&r->log, r->a, &list, &n, e);
    log_abort(&r->log);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        write_agent(r->doc, &list[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

/* clang-format off */
const struct operation op_agent_add = {
    .name = "agent.add",
    .summary = "Register a person or a model",
    .details = "A person gets every permission unless told otherwise, a model none.\n\n"
               "  heddle agent add Sub --kind model --model offline:echo --temperature 0.9 --max-tokens 300\n"
               "  heddle agent add Collab --kind model --model offline:echo --permissions "
               "loom_aware,loom_write,doc_read",
    .group = GROUP_LOOM, .needs = NEEDS_WRITE, .access = ACCESS_MANAGE, OPERATION_ONCE,
    .params = add_params, .params_size = sizeof(struct agent_params),
    .answer = agent_fields, .run = run_add, .print = print_agent,
};

const struct operation op_agent_list = {
    .name = "agent.list",
    .summary = "List the agents and what each may do",
    .group = GROUP_LOOM, .needs = NEEDS_LOG, .of_log = true, .repeat = REPEAT_READS,
    .answer = list_fields, .run = run_list, .print = print_list,
};

const struct operation op_agent_set = {
    .name = "agent.set",
    .summary = "Change what an agent may do, or its model",
    .details = "  heddle agent set Collab --permissions all\n"
               "  heddle agent set Collab --temperature 0.7 --stop END --unset seed",
    .group = GROUP_LOOM, .needs = NEEDS_WRITE, .access = ACCESS_MANAGE, OPERATION_ONCE,
    .params = set_params, .params_size = sizeof(struct agent_params),
    .answer = agent_fields, .run = run_set, .print = print_agent,
};

const struct operation op_agent_remove = {
    .name = "agent.remove",
    .summary = "Forget an agent; what it wrote stays",
    .details = "  heddle agent remove Collab",
    .group = GROUP_LOOM, .needs = NEEDS_WRITE, .access = ACCESS_MANAGE, OPERATION_ONCE,
    .params = remove_params, .params_size = sizeof(struct agent_params),
    .answer = removed_fields, .run = run_remove, .print = term_nothing,
};
/* clang-format on */
