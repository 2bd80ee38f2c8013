/* The state of a run, as a document and as text. */
#include "api/run/run_call.h"

#include "base/clock.h"

/* clang-format off */
static const struct field parked_fields[] = {
    { "op_id",       FIELD_TEXT,   .help = "id of the operation" },
    { "seq",         FIELD_NUMBER, .help = "of the entry that holds it" },
    { "context_ref", FIELD_ANY,    .optional = true, .help = "its lane" },
    { "reason",      FIELD_ANY,    .optional = true, .help = "why" },
    { "type",        FIELD_ANY,    .optional = true, .help = "replace, switch or fork" },
    { 0 },
};
static const struct field input_fields[] = {
    { "id",      FIELD_TEXT,   .help = "id of the input" },
    { "seq",     FIELD_NUMBER, .help = "of the entry that holds it" },
    { "content", FIELD_ANY,    .optional = true, .help = "what it says" },
    { "kind",    FIELD_ANY,    .optional = true, .help = "steer or inject" },
    { "source",  FIELD_ANY,    .optional = true, .nullable = true, .help = "where it comes from" },
    { 0 },
};
static const struct field runs_fields[] = {
    { "active", FIELD_FLAG, .help = "it is going on" },
    { "agent",  FIELD_TEXT, .help = "whose run" },
    { "status", FIELD_TEXT, .help = "its state, as in status" },
    { 0 },
};
const struct field run_state_fields[] = {
    { "active",                FIELD_FLAG,   .help = "a run is going on" },
    { "active_context_ref",    FIELD_TEXT,   .help = "the agent's active lane" },
    { "applied_context_ops",   FIELD_LIST,   .help = "op_ids of the last operations, newest first" },
    { "asked_seq",             FIELD_NUMBER, .optional = true, .help = "the model_request that has no answer yet" },
    { "batch_seq",             FIELD_NUMBER, .optional = true, .help = "the model_response whose commands are being run" },
    { "calls_seq",             FIELD_NUMBER, .help = "the entry that made the open calls; -1: none" },
    { "cancel_reason",         FIELD_TEXT,   .nullable = true, .help = "why it was cancelled" },
    { "checkpoint_token",      FIELD_TEXT,   .nullable = true, .help = "the last token that the runtime reported" },
    { "dropped_input",         FIELD_LIST,   .of = input_fields, .optional = true, .help = "of a run that ended: what was said to it, and never given to the model" },
    { "dropped_op",            FIELD_ANY,    .nullable = true, .help = "why the parked operation was not applied" },
    { "event_seq",             FIELD_NUMBER, .help = "seq of the last runtime event" },
    { "iteration",             FIELD_NUMBER, .help = "how often the model was asked" },
    { "lane",                  FIELD_TEXT,   .nullable = true, .help = "the lane of the run" },
    { "max_iterations",        FIELD_NUMBER, .help = "how often it may be asked" },
    { "pending_context_op",    FIELD_OBJECT, .of = parked_fields, .nullable = true, .help = "the operation that waits for the end of the run" },
    { "pending_input",         FIELD_LIST,   .of = input_fields, .help = "what waits to be drained" },
    { "pending_tool_calls",    FIELD_LIST,   .item = FIELD_ANY, .help = "calls of the last turn, with id, name, arguments and done" },
    { "projection_cursor_seq", FIELD_NUMBER, .help = "the last entry of the thread" },
    { "request_id",            FIELD_TEXT,   .nullable = true, .help = "the request" },
    { "result",                FIELD_ANY,    .nullable = true, .help = "what the run ended with" },
    { "run_id",                FIELD_TEXT,   .nullable = true, .help = "the run" },
    { "runs",                  FIELD_LIST,   .of = runs_fields, .help = "the last run of each agent in this thread, by name" },
    { "sealed",                FIELD_FLAG,   .help = "it has ended and takes no more events" },
    { "status",                FIELD_TEXT,   .help = "idle, running, completed, failed, …" },
    { "termination_reason",    FIELD_TEXT,   .nullable = true, .help = "why it ended" },
    { "usage",                 FIELD_ANY,    .nullable = true, .help = "tokens used" },
    { 0 },
};
/* clang-format on */

struct run_ref run_who(const struct request *r, const struct run_params *p)
{
    return (struct run_ref){ p->thread, p->agent, r->actor, clock_now_ms() };
}

enum status run_state_answer(struct request *r, const struct run_params *p, struct err *e)
{
    struct run_ref who = run_who(r, p);
    struct sb      state = sb_in(r->a, 0);

    if (run_describe(&r->log, &who, r->a, &state, e))
        return err_code(e);
    jw_raw(r->doc, sb_sv(&state));
    return ST_OK;
}

static const char *call_note(const struct json *call)
{
    return json_truth(json_find(call, "done")) ? " (done)"
           : json_is(json_find(call, "held"), JSON_NUMBER) && json_number(call, "held") >= 0
               ? " (its result waits for its turn)"
               : "";
}

/* A member that is any JSON, on a line of its own. */
static void print_json(struct term *t, const char *label, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        return;
    sb_adds(t->out, label);
    sb_add_plain(t->out, json_canonical(v, t->a));
    sb_addc(t->out, '\n');
}

/* Runs of other agents that are going on: the state above is that of one agent. */
static void print_others(const struct json *s, struct term *t)
{
    const struct json *runs = json_find(s, "runs");

    if (json_truth(json_find(s, "active")))
        return;
    for (size_t i = 0; runs && i < runs->n; i++)
        if (json_truth(json_find(&runs->items[i], "active")))
            term_f(t, "  " SV_FMT ": " SV_FMT " (--agent " SV_FMT ")\n",
                   SV_ARG(json_text(&runs->items[i], "agent")),
                   SV_ARG(json_text(&runs->items[i], "status")),
                   SV_ARG(json_text(&runs->items[i], "agent")));
}

void run_state_print(const struct json *s, struct term *t)
{
    const struct json *calls = json_find(s, "pending_tool_calls");
    const struct json *queue = json_find(s, "pending_input");
    const struct json *dropped = json_find(s, "dropped_input");
    struct sv request = json_text(s, "request_id"), end = json_text(s, "termination_reason");

    term_f(t, SV_FMT, SV_ARG(json_text(s, "status")));
    if (request.n)
        term_f(t, " · request " SV_FMT " · lane " SV_FMT " · iteration %lld", SV_ARG(request),
               SV_ARG(json_text(s, "lane")), (long long)json_number(s, "iteration"));
    if (end.n)
        term_f(t, " · " SV_FMT, SV_ARG(end));
    term_f(t, "\n");
    for (size_t i = 0; calls && i < calls->n; i++)
        term_f(t, "  tool call " SV_FMT " " SV_FMT "%s\n",
               SV_ARG(json_text(&calls->items[i], "id")),
               SV_ARG(json_text(&calls->items[i], "name")), call_note(&calls->items[i]));
    if (queue && queue->n)
        term_f(t, "  %zu waiting input%s\n", queue->n, queue->n == 1 ? "" : "s");
    for (size_t i = 0; dropped && i < dropped->n; i++) {
        term_f(t, "  said to it, and not given to the model: ");
        sb_add_plain_line(t->out, json_text(&dropped->items[i], "content"));
        sb_addc(t->out, '\n');
    }
    if (json_is(json_find(s, "pending_context_op"), JSON_OBJECT))
        term_f(t, "  parked operation " SV_FMT "\n",
               SV_ARG(json_text(json_find(s, "pending_context_op"), "op_id")));
    print_json(t, "  the parked operation was not applied: ", json_find(s, "dropped_op"));
    print_json(t, "  result ", json_find(s, "result"));
    print_others(s, t);
}
