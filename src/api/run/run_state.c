/* run.status, run.cancel, run.recover: the state of a run, and two ways to end it. */
#include "api/run/run_call.h"

/* clang-format off */
static const struct param cancel_params[] = {
    RUN_THREAD,
    RUN_REQUEST("only if this request is active"),
    { "reason", PARAM_TEXT, RUN_AT(reason), .value = "R", .help = "why (default: user_cancelled)" },
    RUN_AGENT,
    PARAM_ONCE(struct run_params),
    PARAM_EXPECT(struct run_params),
    { 0 },
};
static const struct param recover_params[] = { RUN_THREAD, RUN_AGENT, PARAM_ONCE(struct run_params), PARAM_EXPECT(struct run_params), { 0 } };
static const struct param params[] = { RUN_THREAD, RUN_AGENT, { 0 } };
/* clang-format on */

static enum status cancel(struct request *r, const void *given, struct err *e)
{
    const struct run_params *p = given;
    struct run_ref           who = run_who(r, p);
    struct run_state         s;

    return run_cancel(&r->log, &who, p->request_id, p->reason, r->a, &s, e)
               ? err_code(e)
               : run_state_answer(r, p, e);
}

static enum status recover(struct request *r, const void *given, struct err *e)
{
    struct run_ref   who = run_who(r, given);
    struct run_state s;

    return run_recover(&r->log, &who, r->a, &s, e) ? err_code(e) : run_state_answer(r, given, e);
}

static enum status status(struct request *r, const void *given, struct err *e)
{
    struct run_ref   who = run_who(r, given);
    struct run_state s;

    return run_status(&r->log, &who, r->a, &s, e) ? err_code(e) : run_state_answer(r, given, e);
}

const struct operation op_run_cancel = {
    .name = "run.cancel",
    .summary = "End the active run; what it said stays in the log",
    .details = "  heddle run cancel live --reason 'took too long'",
    .group = GROUP_RUN,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    OPERATION_ONCE,
    .joins = true,
    .params = cancel_params,
    .params_size = sizeof(struct run_params),
    .answer = run_state_fields,
    .run = cancel,
    .print = run_state_print,
};

const struct operation op_run_recover = {
    .name = "run.recover",
    .summary = "End a run whose process is gone, as failed",
    .details = "For a runtime that finds a run active when it starts, and knows that it does not "
               "carry it.\n"
               "\n"
               "  heddle run recover live",
    .group = GROUP_RUN,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    OPERATION_ONCE,
    .joins = true,
    .params = recover_params,
    .params_size = sizeof(struct run_params),
    .answer = run_state_fields,
    .run = recover,
    .print = run_state_print,
};

const struct operation op_run_status = {
    .name = "run.status",
    .summary = "Show the state of an agent's run",
    .details =
        "With --json also active_context_ref, applied_context_ops (the last 128, newest first),\n"
        "projection_cursor_seq, the text of waiting input, the arguments of open calls, and runs:\n"
        "whose runs there are in the thread.\n\n"
        "  heddle run status live --json",
    .group = GROUP_RUN,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct run_params),
    .answer = run_state_fields,
    .run = status,
    .print = run_state_print,
};
