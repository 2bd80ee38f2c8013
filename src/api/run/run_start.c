/* run.start: a run begins with what the user says. */
#include "api/run/run_call.h"
#include "base/vec.h"

/* clang-format off */
static const struct param params[] = {
    RUN_THREAD,
    { "text",           PARAM_TEXT,   RUN_AT(text), .value = "TEXT", .help = "what the user says; - reads stdin" },
    { "content",        PARAM_JSON,   RUN_AT(content), .value = "JSON", .help = "instead of --text: a list of parts" },
    RUN_REQUEST("name of the request (default: a new one)"),
    { "refs",           PARAM_TEXT,   RUN_AT(refs), .value = "JSON", .help = "an object kept with the message" },
    { "tools",          PARAM_LIST,   RUN_AT(tools), .value = "A,B", .help = "tools there are (default: \"run.tools\" of the config)" },
    { "allowed_tools",  PARAM_LIST,   RUN_AT(allowed), .value = "A,B", .help = "tools this run may use" },
    { "model",          PARAM_TEXT,   RUN_AT(model), .value = "M", .help = "model of this run (default: \"run.model\")" },
    { "max_iterations", PARAM_NUMBER, RUN_AT(max_iterations), .value = "N", .help = "model calls before the run is ended (default 10)" },
    RUN_AGENT,
    { 0 },
};
/* clang-format on */

static struct json list_of(const struct sv_list *given, struct arena *a)
{
    VEC(struct json) list = { 0 };

    for (size_t i = 0; i < given->n; i++)
        if (sv_trim(given->v[i]).n)
            *vec_push(&list, a) = json_of(sv_trim(given->v[i]));
    return (struct json){ JSON_ARRAY, list.n, { .items = list.v } };
}

/* The configuration of the run: the parameters take precedence over the settings. */
static struct json run_config(struct request *r, const struct run_params *p)
{
    VEC(struct json_member) m = { 0 };
    const struct config *c = &r->ws->config;
    const struct json   *tools = config_find(c, "run.tools");
    struct sv            model = p->model.n ? p->model : config_text(c, "run.model");
    int64_t              most = p->max_iterations != PARAM_UNSET ? p->max_iterations
                                                                 : config_int(c, "run.max_iterations", 10);

    *vec_push(&m, r->a) = (struct json_member){ SV("max_iterations"), json_of_int(most, r->a) };
    if (model.n)
        *vec_push(&m, r->a) = (struct json_member){ SV("model"), json_of(model) };
    if (p->tools.v)
        *vec_push(&m, r->a) = (struct json_member){ SV("tools"), list_of(&p->tools, r->a) };
    else if (tools)
        *vec_push(&m, r->a) = (struct json_member){ SV("tools"), *tools };
    return (struct json){ JSON_OBJECT, m.n, { .members = m.v } };
}

static enum status content_of(struct request *r, const struct run_params *p, struct sv *out,
                              struct err *e)
{
    struct json v;

    if (p->content && p->content->type != JSON_ARRAY && p->content->type != JSON_STRING)
        return err_set(e, ST_INVALID_SYNTAX, "--content must be a list of parts or a string");
    if (!p->content && !p->text.s) {
        err_set(e, ST_USAGE, "`heddle run start` needs --text");
        return err_hint(e, "--text TEXT, or --text - to read it from stdin");
    }
    v = p->content ? *p->content : json_of(p->text);
    *out = json_canonical(&v, r->a);
    return json_parse(*out, 0, r->a, &v, e) ? err_in(e, "text") : ST_OK; /* valid UTF-8? */
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct run_params *p = given;
    struct run_ref           who = run_who(r, p);
    struct json              config = run_config(r, p), allowed = list_of(&p->allowed, r->a);
    struct run_start         start = { .request_id = p->request_id,
                                       .refs = p->refs,
                                       .system_prompt = config_text(&r->ws->config, "system_prompt"),
                                       .config = &config,
                                       .allowed = p->allowed.v ? &allowed : NULL };
    struct run_state         s;

    if (content_of(r, p, &start.content, e) || run_start(&r->log, &who, &start, r->a, &s, e))
        return err_code(e);
    return run_state_answer(r, p, e);
}

const struct operation op_run_start = {
    .name = "run.start",
    .summary = "Start a run with what the user says",
    .details =
        "One run at a time per agent, and one agent's in a lane: while one is active, another\n"
        "is refused. Starting the same request again (--request-id) is harmless. Where the\n"
        "lane has no prompt of its own, \"system_prompt\" of the config is logged first.\n\n"
        "  heddle run start chat --text 'What is in this folder?'",
    .group = GROUP_RUN,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    .repeat = REPEAT_KEY,
    .joins = true,
    .repeat_key = "request_id",
    .params = params,
    .params_size = sizeof(struct run_params),
    .answer = run_state_fields,
    .run = run,
    .print = run_state_print,
};
