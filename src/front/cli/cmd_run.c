/* `run start | event | steer | inject | drain | cancel | recover | status`. */
#include "base/clock.h"
#include "base/lines.h"
#include "base/vec.h"
#include "front/cli/command.h"
#include "thread/run.h"

enum { EVENT_LINE_MAX = ENTRY_PAYLOAD_MAX };

struct run_opts {
    struct sv text, content, request_id, refs, tools, allowed, source, reason, agent, model, op_id;
    int64_t   max_iterations;
};

#define AGENT_OPT                                                                                  \
    {                                                                                              \
        OPT_TEXT, "agent", "A", "whose run (default: default)", offsetof(struct run_opts, agent),  \
            0                                                                                      \
    }
#define REQUEST_OPT(help)                                                                          \
    {                                                                                              \
        OPT_TEXT, "request-id", "ID", help, offsetof(struct run_opts, request_id), 0               \
    }

static struct run_ref who(struct app *app, const struct run_opts *o)
{
    return (struct run_ref){ app_arg(app, 0), o->agent, app->actor, clock_now_ms() };
}

static const char *call_note(const struct run_call *c)
{
    return c->done ? " (done)" : c->held >= 0 ? " (its result waits for its turn)" : "";
}

static void print_state(struct app *app, const struct run_state *s)
{
    sb_addf(&app->out, "%s", run_status_name(s->status));
    if (s->request_id.n)
        sb_addf(&app->out, " · request " SV_FMT " · lane " SV_FMT " · iteration %lld",
                SV_ARG(s->request_id), SV_ARG(s->lane), (long long)s->iteration);
    if (s->termination_reason.n)
        sb_addf(&app->out, " · " SV_FMT, SV_ARG(s->termination_reason));
    sb_addc(&app->out, '\n');
    for (size_t i = 0; i < s->n_calls; i++)
        sb_addf(&app->out, "  tool call " SV_FMT " " SV_FMT "%s\n", SV_ARG(s->calls[i].id),
                SV_ARG(s->calls[i].name), call_note(&s->calls[i]));
    if (s->n_queue)
        sb_addf(&app->out, "  %zu waiting input%s\n", s->n_queue, s->n_queue == 1 ? "" : "s");
    if (s->parked_seq >= 0)
        sb_addf(&app->out, "  parked operation " SV_FMT "\n", SV_ARG(s->parked_op));
    if (s->dropped_op.n) {
        sb_adds(&app->out, "  the parked operation was not applied: ");
        sb_add_plain(&app->out, s->dropped_op);
        sb_addc(&app->out, '\n');
    }
    if (s->result.n) {
        sb_adds(&app->out, "  result ");
        sb_add_plain(&app->out, s->result);
        sb_addc(&app->out, '\n');
    }
}

/* The state with what the log says beside it: as text, or as the fields of the seed. */
static enum status tell_state(struct app *app, const struct run_opts *o, const struct run_state *s,
                              struct err *e)
{
    struct run_ref w = who(app, o);

    if (!app->json) {
        print_state(app, s);
        return ST_OK;
    }
    if (run_describe(&app->log, &w, app->a, &app->out, e))
        return err_code(e);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- start ------------------------------------------------------------------------- */

static const struct opt start_opts[] = {
    { OPT_TEXT, "text", "TEXT", "what the user says; - reads stdin",
      offsetof(struct run_opts, text), 0 },
    { OPT_TEXT, "content", "JSON", "instead of --text: a list of parts",
      offsetof(struct run_opts, content), 0 },
    REQUEST_OPT("name of the request (default: a new one)"),
    { OPT_TEXT, "refs", "JSON", "an object kept with the message", offsetof(struct run_opts, refs),
      0 },
    { OPT_LIST, "tools", "A,B", "tools there are (default: \"run.tools\" of the config)",
      offsetof(struct run_opts, tools), 0 },
    { OPT_LIST, "allowed-tools", "A,B", "tools this run may use",
      offsetof(struct run_opts, allowed), 0 },
    { OPT_TEXT, "model", "M", "model of this run (default: \"run.model\")",
      offsetof(struct run_opts, model), 0 },
    { OPT_NUMBER, "max-iterations", "N", "model calls before the run is ended (default 10)",
      offsetof(struct run_opts, max_iterations), 0 },
    AGENT_OPT,
    { 0 },
};

static struct json list_of(struct sv commas, struct arena *a)
{
    VEC(struct json) list = { 0 };
    struct sv_cut cut = { .tail = commas, .found = commas.n > 0 };

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        if (sv_trim(cut.head).n)
            *vec_push(&list, a) = json_of(sv_trim(cut.head));
    }
    return (struct json){ JSON_ARRAY, list.n, { .items = list.v } };
}

/* What the run is made of: the command line over the config. */
static struct json run_config(struct app *app, const struct run_opts *o)
{
    VEC(struct json_member) m = { 0 };
    const struct json *tools = config_find(&app->ws.config, "run.tools");
    struct sv          model = o->model.n ? o->model : config_text(&app->ws.config, "run.model");
    int64_t            most = o->max_iterations != OPT_UNSET
                                  ? o->max_iterations
                                  : config_int(&app->ws.config, "run.max_iterations", 10);

    *vec_push(&m, app->a) = (struct json_member){ SV("max_iterations"), json_of_int(most, app->a) };
    if (model.n)
        *vec_push(&m, app->a) = (struct json_member){ SV("model"), json_of(model) };
    if (o->tools.s)
        *vec_push(&m, app->a) = (struct json_member){ SV("tools"), list_of(o->tools, app->a) };
    else if (tools)
        *vec_push(&m, app->a) = (struct json_member){ SV("tools"), *tools };
    return (struct json){ JSON_OBJECT, m.n, { .members = m.v } };
}

static enum status content_of(struct app *app, const struct run_opts *o, struct sv *out,
                              struct err *e)
{
    struct json v;
    struct sv   text;

    if (o->content.s) {
        if (json_parse(o->content, 0, app->a, &v, e))
            return err_in(e, "--content");
        if (v.type != JSON_ARRAY && v.type != JSON_STRING)
            return err_set(e, ST_INVALID_SYNTAX, "--content must be a list of parts or a string");
    } else {
        if (!o->text.s) {
            err_set(e, ST_USAGE, "`heddle run start` needs --text");
            return err_hint(e, "--text TEXT, or --text - to read it from stdin");
        }
        if (app_text(app, o->text, &text, e))
            return err_code(e);
        v = json_of(text);
    }
    *out = json_canonical(&v, app->a);
    return json_parse(*out, 0, app->a, &v, e) ? err_in(e, "text") : ST_OK; /* valid UTF-8? */
}

static enum status run_start_command(struct app *app, const void *opts, struct err *e)
{
    const struct run_opts *o = opts;
    struct run_ref         w = who(app, o);
    struct json            config = run_config(app, o), allowed = list_of(o->allowed, app->a);
    struct run_start       start = { .request_id = o->request_id,
                                     .refs = o->refs,
                                     .system_prompt = config_text(&app->ws.config, "system_prompt"),
                                     .config = &config,
                                     .allowed = o->allowed.s ? &allowed : NULL };
    struct run_state       s;

    if (content_of(app, o, &start.content, e) || run_start(&app->log, &w, &start, app->a, &s, e))
        return err_code(e);
    return tell_state(app, o, &s, e);
}

const struct command cmd_run_start = {
    .name = "run start",
    .synopsis = "T --text TEXT [--request-id ID]",
    .group = GROUP_RUN,
    .summary = "Start a run with what the user says",
    .details =
        "One run at a time per agent, and one agent's in a lane: while one is active, another\n"
        "is refused. Starting the same request again (--request-id) is harmless. Where the\n"
        "lane has no prompt of its own, \"system_prompt\" of the config is logged first.\n\n"
        "  heddle run start chat --text 'What is in this folder?'",
    .opts = start_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_start_command,
};

/* ---- event ---------------------------------------------------------------------------- */

static const struct opt event_opts[] = { AGENT_OPT, { 0 } };

static enum status read_events(struct app *app, struct json **out, size_t *n, struct err *e)
{
    VEC(struct json) list = { 0 };
    struct lines in = lines_of(0, EVENT_LINE_MAX, app->a);
    struct sv    line;
    bool         more = true;

    for (;;) {
        struct json v;
        if (lines_next(&in, &line, &more, e))
            return err_code(e);
        if (!more)
            break;
        if (!sv_trim(line).n)
            continue;
        if (json_parse(sv_dup(line, app->a), JSON_ONE_LINE, app->a, &v, e))
            return err_in(e, "line %lld", (long long)in.number);
        if (v.type != JSON_OBJECT)
            return err_set(e, ST_INVALID_SYNTAX, "line %lld: an event is an object",
                           (long long)in.number);
        *vec_push(&list, app->a) = v;
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* Such an event changes nothing, which its sender may not expect. Each kind is told of once. */
static void tell_unknown(const struct json *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sv   kind = json_text(&events[i], "kind");
        bool        known, told = false;
        const char *near = run_event_near(kind, &known);
        for (size_t k = 0; k < i && !known && !told; k++)
            told = sv_eq(json_text(&events[k], "kind"), kind);
        if (!known && !told)
            warn("event %zu: kind '" SV_FMT "' is not known and has no effect%s%s%s", i + 1,
                 SV_ARG(kind), near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
}

static enum status run_event_command(struct app *app, const void *opts, struct err *e)
{
    struct run_ref    w = who(app, opts);
    struct json      *events = NULL;
    size_t            n = 0;
    struct run_state  s;
    struct run_report r;

    if (read_events(app, &events, &n, e) || run_events(&app->log, &w, events, n, app->a, &s, &r, e))
        return err_code(e);
    tell_unknown(events, n);
    if (!app->json) {
        sb_addf(&app->out, "%lld event%s, %lld logged, %lld seen before\n", (long long)r.events,
                r.events == 1 ? "" : "s", (long long)r.logged, (long long)r.duplicates);
        print_state(app, &s);
        return ST_OK;
    }
    struct jw w2 = jw_in(&app->out, 0);
    struct sb state = sb_in(app->a, 0);
    if (run_describe(&app->log, &w, app->a, &state, e))
        return err_code(e);
    jw_open(&w2, '{');
    jw_kint(&w2, "duplicates", r.duplicates);
    jw_kint(&w2, "events", r.events);
    jw_kint(&w2, "logged", r.logged);
    jw_key(&w2, "state");
    jw_raw(&w2, sb_sv(&state));
    jw_key(&w2, "trace");
    jw_open(&w2, '{');
    jw_kint(&w2, "kept", r.trace_kept);
    jw_kbool(&w2, "truncated", r.trace_truncated);
    jw_close(&w2, '}');
    jw_close(&w2, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_run_event = {
    .name = "run event",
    .synopsis = "T [--agent A]",
    .group = GROUP_RUN,
    .summary = "Report events of the active run, as JSON Lines on stdin",
    .details = "Kinds with an effect: llm_started, llm_completed, tool_completed, input_injected,\n"
               "checkpoint, request_completed, request_failed, request_cancelled, worker_exit. All "
               "lines are\n"
               "applied or none. An event whose id was logged in its run before is skipped; with "
               "other\n"
               "content it is refused. llm_completed needs data.content (or text) or tool_calls;\n"
               "tool_completed needs data.content, result or error, and is recorded also after the "
               "end.\n"
               "usage of llm_completed is summed; that of a last event is the total.\n"
               "\n"
               "  "
               "{\"kind\":\"llm_completed\",\"id\":\"e1\",\"data\":{\"text\":\"Hello\",\"finish_"
               "reason\":\"stop\"}}\n"
               "  {\"kind\":\"request_completed\"}\n\n"
               "  echo '{\"kind\":\"llm_completed\",\"data\":{\"text\":\"Hello\"}}' | heddle run "
               "event live",
    .opts = event_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_event_command,
};

/* ---- steer, inject, drain ---------------------------------------------------------------- */

static const struct opt steer_opts[] = {
    REQUEST_OPT("only if this request is active"),
    { OPT_TEXT, "op-id", "ID", "accept at most once: repeating it with the same text is harmless",
      offsetof(struct run_opts, op_id), 0 },
    { OPT_TEXT, "source", "S", "where it comes from", offsetof(struct run_opts, source), 0 },
    { OPT_TEXT, "refs", "JSON", "an object kept with the message", offsetof(struct run_opts, refs),
      0 },
    AGENT_OPT,
    { 0 },
};

static enum status steer(struct app *app, const struct run_opts *o, const char *kind, struct err *e)
{
    struct run_ref   w = who(app, o);
    struct run_steer s = {
        .kind = kind,
        .request_id = o->request_id,
        .source = o->source,
        .refs = o->refs,
        .op_id = o->op_id,
    };
    struct sv id;

    if (app_text(app, app_arg(app, 1), &s.text, e) || run_steer(&app->log, &w, &s, app->a, &id, e))
        return err_code(e);
    if (!app->json) {
        sb_addf(&app->out, "queued " SV_FMT "\n", SV_ARG(id));
        return ST_OK;
    }
    struct jw json = jw_in(&app->out, 0);
    jw_open(&json, '{');
    jw_kstr(&json, "input_id", id);
    jw_close(&json, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status run_steer_command(struct app *app, const void *opts, struct err *e)
{
    return steer(app, opts, "steer", e);
}

static enum status run_inject_command(struct app *app, const void *opts, struct err *e)
{
    return steer(app, opts, "inject", e);
}

const struct command cmd_run_steer = {
    .name = "run steer",
    .synopsis = "T TEXT|- [--request-id ID] [--op-id ID]",
    .group = GROUP_RUN,
    .summary = "Say something to the active run, from a person",
    .details =
        "It waits until the runtime drains it (before the model is asked next, or after a final\n"
        "answer), and then is a user message of the conversation.\n\n"
        "  heddle run steer live 'Only the C files, please.'",
    .opts = steer_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run_steer_command,
};

const struct command cmd_run_inject = {
    .name = "run inject",
    .synopsis = "T TEXT|- [--request-id ID] [--source S] [--op-id ID]",
    .group = GROUP_RUN,
    .summary = "Say something to the active run, from a program",
    .details = "  heddle run inject live 'The build is green.' --source ci",
    .opts = steer_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run_inject_command,
};

static enum status run_drain_command(struct app *app, const void *opts, struct err *e)
{
    struct run_ref w = who(app, opts);
    struct sv      drained;

    if (run_drain(&app->log, &w, app->a, &drained, e))
        return err_code(e);
    sb_addf(&app->out, SV_FMT "\n", SV_ARG(drained));
    return ST_OK;
}

const struct command cmd_run_drain = {
    .name = "run drain",
    .synopsis = "T [--agent A]",
    .group = GROUP_RUN,
    .summary = "Move waiting input into the conversation and print it",
    .details =
        "For the program that carries the run; prints a JSON list. While tool calls are open\n"
        "it is refused: nothing comes between a call and its results.\n\n"
        "  heddle run drain live",
    .opts = event_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .data = true,
    .run = run_drain_command,
};

/* ---- cancel, recover, status --------------------------------------------------------------- */

static const struct opt cancel_opts[] = {
    REQUEST_OPT("only if this request is active"),
    { OPT_TEXT, "reason", "R", "why (default: user_cancelled)", offsetof(struct run_opts, reason),
      0 },
    AGENT_OPT,
    { 0 },
};

static enum status run_cancel_command(struct app *app, const void *opts, struct err *e)
{
    const struct run_opts *o = opts;
    struct run_ref         w = who(app, o);
    struct run_state       s;

    if (run_cancel(&app->log, &w, o->request_id, o->reason, app->a, &s, e))
        return err_code(e);
    return tell_state(app, o, &s, e);
}

const struct command cmd_run_cancel = {
    .name = "run cancel",
    .synopsis = "T [--request-id ID] [--reason R]",
    .group = GROUP_RUN,
    .summary = "End the active run; what it said stays in the log",
    .details = "  heddle run cancel live --reason 'took too long'",
    .opts = cancel_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_cancel_command,
};

static enum status run_recover_command(struct app *app, const void *opts, struct err *e)
{
    struct run_ref   w = who(app, opts);
    struct run_state s;

    if (run_recover(&app->log, &w, app->a, &s, e))
        return err_code(e);
    return tell_state(app, opts, &s, e);
}

const struct command cmd_run_recover = {
    .name = "run recover",
    .synopsis = "T [--agent A]",
    .group = GROUP_RUN,
    .summary = "End a run whose process is gone, as failed",
    .details = "For a runtime that finds a run active when it starts, and knows that it does not "
               "carry it.\n"
               "\n"
               "  heddle run recover live",
    .opts = event_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_recover_command,
};

static enum status run_status_command(struct app *app, const void *opts, struct err *e)
{
    struct run_ref   w = who(app, opts);
    struct run_state s;

    if (run_status(&app->log, &w, app->a, &s, e))
        return err_code(e);
    return tell_state(app, opts, &s, e);
}

const struct command cmd_run_status = {
    .name = "run status",
    .synopsis = "T [--agent A]",
    .group = GROUP_RUN,
    .summary = "Show the state of an agent's run",
    .details =
        "With --json also active_context_ref, applied_context_ops (the last 128, newest first),\n"
        "projection_cursor_seq, the text of waiting input and the arguments of open calls.\n\n"
        "  heddle run status live --json",
    .opts = event_opts,
    .opts_size = sizeof(struct run_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_status_command,
};
