/* run.event: what the runtime reports of the active run. */
#include "api/run/run_call.h"
#include "base/lines.h"
#include "base/vec.h"

/* clang-format off */
static const struct param params[] = {
    RUN_THREAD,
    { "events", PARAM_JSON, RUN_AT(events), .value = "JSON", .help = "a list of events; absent: they are read as JSON Lines" },
    RUN_AGENT,
    { 0 },
};
static const struct field trace_fields[] = {
    { "kept",      FIELD_NUMBER, .help = "events remembered" },
    { "truncated", FIELD_FLAG,   .help = "older ones were forgotten" },
    { 0 },
};
static const struct field answer[] = {
    { "duplicates", FIELD_NUMBER, .help = "events seen before" },
    { "events",     FIELD_NUMBER, .help = "events given" },
    { "logged",     FIELD_NUMBER, .help = "events that were written" },
    { "state",      FIELD_OBJECT, .of = run_state_fields, .help = "of the run, afterwards" },
    { "trace",      FIELD_OBJECT, .of = trace_fields, .help = "what is remembered of events without an effect" },
    { 0 },
};
/* clang-format on */

struct event_list {
    struct json *v;
    size_t       n;
};

static enum status hint_shape(struct err *e)
{
    return err_hint(e, "an event is one line: {\"kind\":\"llm_completed\",\"data\":{\"text\":…}}; "
                       "`heddle help run event` has more");
}

static enum status not_object(int64_t number, struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "line %lld: an event is an object", (long long)number);
    return hint_shape(e);
}

static enum status read_list(const struct json *list, struct event_list *out, struct err *e)
{
    if (list->type != JSON_ARRAY)
        return err_set(e, ST_USAGE, "events must be a list of objects");
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].type != JSON_OBJECT)
            return not_object((int64_t)i + 1, e);
    *out = (struct event_list){ list->items, list->n };
    return ST_OK;
}

static enum status read_lines(struct lines *in, struct arena *a, struct event_list *out,
                              struct err *e)
{
    VEC(struct json) list = { 0 };
    struct sv line;
    bool      more = true;

    for (;;) {
        struct json v;
        if (lines_next(in, &line, &more, e))
            return err_code(e);
        if (!more)
            break;
        if (!sv_trim(line).n)
            continue;
        if (json_parse(sv_dup(line, a), JSON_ONE_LINE, a, &v, e)) {
            err_in(e, "line %lld", (long long)in->number);
            return e->hint[0] ? err_code(e) : hint_shape(e);
        }
        if (v.type != JSON_OBJECT)
            return not_object(in->number, e);
        *vec_push(&list, a) = v;
    }
    *out = (struct event_list){ list.v, list.n };
    return ST_OK;
}

/* Warn of unknown kinds, once each: such an event changes nothing, which its sender may not
 * expect. */
static void tell_unknown(struct request *r, const struct event_list *events)
{
    for (size_t i = 0; i < events->n; i++) {
        struct sv   kind = json_text(&events->v[i], "kind");
        bool        known, told = false;
        const char *near = run_event_near(kind, &known);
        for (size_t k = 0; k < i && !known && !told; k++)
            told = sv_eq(json_text(&events->v[k], "kind"), kind);
        if (!known && !told)
            request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                         "event %zu: kind '" SV_FMT "' is not known and has no effect%s%s%s", i + 1,
                         SV_ARG(kind), near ? "; did you mean " : "", near ? near : "",
                         near ? "?" : "");
    }
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct run_params *p = given;
    struct run_ref           who = run_who(r, p);
    struct event_list        events;
    struct run_state         s;
    struct run_report        report;

    if (!p->events && !r->in)
        return err_set(e, ST_USAGE, "events is missing");
    if ((p->events ? read_list(p->events, &events, e) : read_lines(r->in, r->a, &events, e)) ||
        run_events(&r->log, &who, events.v, events.n, r->a, &s, &report, e))
        return err_code(e);
    tell_unknown(r, &events);
    jw_open(r->doc, '{');
    jw_kint(r->doc, "duplicates", report.duplicates);
    jw_kint(r->doc, "events", report.events);
    jw_kint(r->doc, "logged", report.logged);
    jw_key(r->doc, "state");
    if (run_state_answer(r, p, e))
        return err_code(e);
    jw_key(r->doc, "trace");
    jw_open(r->doc, '{');
    jw_kint(r->doc, "kept", report.trace_kept);
    jw_kbool(r->doc, "truncated", report.trace_truncated);
    jw_close(r->doc, '}');
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    long long n = (long long)json_number(doc, "events");

    term_f(t, "%lld event%s, %lld logged, %lld seen before\n", n, n == 1 ? "" : "s",
           (long long)json_number(doc, "logged"), (long long)json_number(doc, "duplicates"));
    run_state_print(json_find(doc, "state"), t);
}

const struct operation op_run_event = {
    .name = "run.event",
    .summary = "Report events of the active run, as JSON Lines on stdin",
    .details =
        "Kinds with an effect: llm_started, llm_completed, tool_completed, input_injected,\n"
        "checkpoint, request_completed, request_failed, request_cancelled, worker_exit. All "
        "lines are\n"
        "applied or none. An event whose id was logged in its run before is skipped; with "
        "other\n"
        "content it is refused. llm_completed needs data.content (or text) or tool_calls;\n"
        "tool_completed needs data.tool_call_id and data.content, result or error, and is "
        "recorded\n"
        "also after the end.\n"
        "usage of llm_completed is summed; that of a last event is the total.\n"
        "\n"
        "  "
        "{\"kind\":\"llm_completed\",\"id\":\"e1\",\"data\":{\"text\":\"Hello\",\"finish_"
        "reason\":\"stop\"}}\n"
        "  {\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"c1\",\"name\":\"ls\","
        "\"arguments\":{}}]}}\n"
        "  {\"kind\":\"tool_completed\",\"data\":{\"tool_call_id\":\"c1\",\"result\":\"a.txt\"}}\n"
        "  {\"kind\":\"request_completed\"}\n\n"
        "  echo '{\"kind\":\"llm_completed\",\"data\":{\"text\":\"Hello\"}}' | heddle run "
        "event live",
    .group = GROUP_RUN,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    .repeat = REPEAT_NEVER,
    .joins = true,
    .streams = STREAM_IN,
    .params = params,
    .params_size = sizeof(struct run_params),
    .answer = answer,
    .run = run,
    .print = print,
};
