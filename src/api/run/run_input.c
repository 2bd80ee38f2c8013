/* run.steer, run.inject, run.drain: what is said to an active run. */
#include "api/run/run_call.h"

/* clang-format off */
static const struct param say_params[] = {
    RUN_THREAD,
    { "text",   PARAM_TEXT, RUN_AT(text), .required = true, .blank = true, .value = "TEXT|-", .help = "what is said" },
    RUN_REQUEST("only if this request is active"),
    { "op_id",  PARAM_TEXT, RUN_AT(op_id), .value = "ID", .help = "accept at most once: repeating it with the same text is harmless" },
    { "source", PARAM_TEXT, RUN_AT(source), .value = "S", .help = "where it comes from" },
    { "refs",   PARAM_TEXT, RUN_AT(refs), .value = "JSON", .help = "an object kept with the message" },
    RUN_AGENT,
    { 0 },
};
static const struct param drain_params[] = { RUN_THREAD, RUN_AGENT, PARAM_ONCE(struct run_params), PARAM_EXPECT(struct run_params), { 0 } };

static const struct field say_answer[] = {
    { "input_id", FIELD_TEXT, .help = "id of the input" },
    { 0 },
};
static const struct field drain_answer[] = {
    { "items", FIELD_LIST, .item = FIELD_ANY, .help = "what was moved into the conversation, oldest first" },
    { 0 },
};
/* clang-format on */

static enum status say(struct request *r, const struct run_params *p, const char *kind,
                       struct err *e)
{
    struct run_ref   who = run_who(r, p);
    struct run_steer s = {
        .kind = kind,
        .text = p->text,
        .request_id = p->request_id,
        .source = p->source,
        .refs = p->refs,
        .op_id = p->op_id,
    };
    struct sv id;

    if (run_steer(&r->log, &who, &s, r->a, &id, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "input_id", id);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run_steer_op(struct request *r, const void *params, struct err *e)
{
    return say(r, params, "steer", e);
}

static enum status run_inject_op(struct request *r, const void *params, struct err *e)
{
    return say(r, params, "inject", e);
}

static void print_said(const struct json *doc, struct term *t)
{
    term_f(t, "queued " SV_FMT "\n", SV_ARG(json_text(doc, "input_id")));
}

static enum status run_drain_op(struct request *r, const void *params, struct err *e)
{
    struct run_ref who = run_who(r, params);
    struct sv      drained;

    if (run_drain(&r->log, &who, r->a, &drained, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_raw(r->doc, drained);
    jw_close(r->doc, '}');
    return ST_OK;
}

/* Prints the list itself, because programs read this output. */
static void print_drained(const struct json *doc, struct term *t)
{
    sb_add(t->out, json_canonical(json_find(doc, "items"), t->a));
    sb_addc(t->out, '\n');
}

/* What the rows of run.steer and run.inject have in common. */
#define SAYS_TO_RUN                                                                                \
    .group = GROUP_RUN, .needs = NEEDS_WRITE, .in_thread = true, .joins = true,                    \
    .repeat = REPEAT_KEY, .repeat_key = "op_id", .params = say_params,                             \
    .params_size = sizeof(struct run_params), .answer = say_answer, .print = print_said

const struct operation op_run_steer = {
    .name = "run.steer",
    .summary = "Say something to the active run, from a person",
    .details =
        "It waits until the runtime drains it (before the model is asked next, or after a final\n"
        "answer), and then is a user message of the conversation.\n\n"
        "  heddle run steer live 'Only the C files, please.'",
    SAYS_TO_RUN,
    .run = run_steer_op,
};

const struct operation op_run_inject = {
    .name = "run.inject",
    .summary = "Say something to the active run, from a program",
    .details = "  heddle run inject live 'The build is green.' --source ci",
    SAYS_TO_RUN,
    .run = run_inject_op,
};

const struct operation op_run_drain = {
    .name = "run.drain",
    .summary = "Move waiting input into the conversation and print it",
    .details =
        "For the program that carries the run; prints a JSON list, with --json {\"items\":[…]}.\n"
        "While tool calls are open it is refused: nothing comes between a call and its results.\n"
        "\n"
        "  heddle run drain live",
    .group = GROUP_RUN,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    OPERATION_ONCE,
    .joins = true,
    .params = drain_params,
    .params_size = sizeof(struct run_params),
    .answer = drain_answer,
    .run = run_drain_op,
    .print = print_drained,
};
