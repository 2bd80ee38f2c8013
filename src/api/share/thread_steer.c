/* thread.inject, thread.lifecycle, thread.transfer: steering a thread. */
#include "api/share/workers.h"
#include "api/term.h"

/* ---- lifecycle ----------------------------------------------------------------------- */

struct lifecycle_params {
    struct sv thread, action, reason, op_id;
    int64_t   expect;
};

/* clang-format off */
static const char *const actions[] = { "suspend", "resume", "done", "cancel", "archive", NULL };

static const struct param lifecycle_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct lifecycle_params, thread), .required = true, .value = "T", .help = "the thread" },
    { "action", PARAM_ENUM, offsetof(struct lifecycle_params, action), .required = true, .values = actions, .help = "what happens to it" },
    { "reason", PARAM_TEXT, offsetof(struct lifecycle_params, reason), .value = "TEXT", .help = "why; kept in the log" },
    PARAM_ONCE(struct lifecycle_params),
    PARAM_EXPECT(struct lifecycle_params),
    { 0 },
};
static const struct field state_fields[] = {
    { "thread", FIELD_TEXT, .help = "the thread" },
    { "status", FIELD_ENUM, .values = thread_states, .help = "its state now" },
    { 0 },
};
/* clang-format on */

static enum status lifecycle(struct request *r, const void *params, struct err *e)
{
    const struct lifecycle_params *p = params;
    struct share                   s;
    struct share_thread            t;
    struct sv                      resumed;
    struct worker_started          unused;

    if (share_call_begin(r, &s, STORE_WRITE, e) ||
        share_lifecycle(&s, p->thread, p->action, p->reason, &t, e) ||
        worker_child_ended(&s, &t, &resumed, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", t.id);
    jw_kstr(r->doc, "status", sv_of(thread_status_name(t.status)));
    jw_close(r->doc, '}');
    if (share_commit(&s, e) ||
        (resumed.s && worker_start(r, &s, resumed, (struct sv){ 0 }, false, &unused, e)))
        return share_call_fail(r, &s, e);
    return share_call_end(r, &s);
}

static void print_state(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT " is " SV_FMT "\n", SV_ARG(json_text(doc, "thread")),
           SV_ARG(json_text(doc, "status")));
}

const struct operation op_thread_lifecycle = {
    .name = "thread.lifecycle",
    .summary = "Change the state of a thread",
    .details = "  active         suspend done cancel\n"
               "  suspended      resume done cancel\n"
               "  waiting_human  resume cancel\n"
               "  completed, cancelled, frozen: archive. archived is final.\n\n"
               "  heddle lifecycle build done --reason 'all tests pass'",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = lifecycle_params,
    .params_size = sizeof(struct lifecycle_params),
    .answer = state_fields,
    .run = lifecycle,
    .print = print_state,
};

/* ---- transfer ------------------------------------------------------------------------ */

struct transfer_params {
    struct sv      thread, direction, target, reason, op_id;
    struct sv_list scope;
    int64_t        expect;
};

/* clang-format off */
static const char *const directions[] = { "request_approval", "delegate", "handoff", NULL };

static const struct param transfer_params[] = {
    { "thread",    PARAM_TEXT, offsetof(struct transfer_params, thread),    .required = true, .value = "T", .help = "the thread" },
    { "direction", PARAM_ENUM, offsetof(struct transfer_params, direction), .required = true, .values = directions, .help = "request_approval, delegate or handoff" },
    { "target",    PARAM_ENUM, offsetof(struct transfer_params, target),    .values = share_executors, .help = "who goes on with it" },
    { "scope",     PARAM_LIST, offsetof(struct transfer_params, scope),     .value = "A,B", .help = "what it is about: code_edit, deploy, …" },
    { "reason",    PARAM_TEXT, offsetof(struct transfer_params, reason),    .value = "TEXT", .help = "why; kept in the log" },
    PARAM_ONCE(struct transfer_params),
    PARAM_EXPECT(struct transfer_params),
    { 0 },
};
static const struct field transferred[] = {
    { "thread",   FIELD_TEXT, .help = "the thread" },
    { "status",   FIELD_ENUM, .values = thread_states, .help = "its state now" },
    { "executor", FIELD_TEXT, .nullable = true, .help = "who works on it now" },
    { 0 },
};
/* clang-format on */

static enum status transfer(struct request *r, const void *params, struct err *e)
{
    const struct transfer_params *p = params;
    struct share                  s;
    struct share_thread           t;
    struct transfer_request       q = { .thread = p->thread,
                                        .direction = p->direction,
                                        .reason = p->reason,
                                        .executor = p->target,
                                        .scope = p->scope };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_transfer(&s, &q, &t, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", t.id);
    jw_kstr(r->doc, "status", sv_of(thread_status_name(t.status)));
    jw_kstr(r->doc, "executor", t.executor);
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_transferred(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT " is " SV_FMT ", executor " SV_FMT "\n", SV_ARG(json_text(doc, "thread")),
           SV_ARG(json_text(doc, "status")), SV_ARG(json_text(doc, "executor")));
}

const struct operation op_thread_transfer = {
    .name = "thread.transfer",
    .summary = "Hand a thread to a person or back",
    .details = "request_approval makes it wait for a person; delegate and handoff let it go on,\n"
               "with another executor if one is named. A thread that has ended stays ended.\n\n"
               "  heddle transfer build request_approval --scope deploy",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = transfer_params,
    .params_size = sizeof(struct transfer_params),
    .answer = transferred,
    .run = transfer,
    .print = print_transferred,
};

/* ---- inject -------------------------------------------------------------------------- */

struct inject_params {
    struct sv thread, content, type, op_id;
    int64_t   expect;
};

/* clang-format off */
static const struct param inject_params[] = {
    { "thread",  PARAM_TEXT, offsetof(struct inject_params, thread),  .required = true, .value = "T", .help = "the thread" },
    { "content", PARAM_TEXT, offsetof(struct inject_params, content), .required = true, .value = "TEXT", .help = "what to tell it; - reads it from stdin" },
    { "type",    PARAM_TEXT, offsetof(struct inject_params, type),    .value = "WORD", .fallback = "data", .help = "data, constraint, feedback, priority, …" },
    PARAM_ONCE(struct inject_params),
    PARAM_EXPECT(struct inject_params),
    { 0 },
};
static const struct field injected[] = {
    { "thread",      FIELD_TEXT, .help = "the thread" },
    { "injected_at", FIELD_TIME, .help = "when it was asked for" },
    { 0 },
};
/* clang-format on */

static enum status inject(struct request *r, const void *params, struct err *e)
{
    const struct inject_params *p = params;
    struct share                s;
    int64_t                     at;

    if (share_call_begin(r, &s, STORE_WRITE, e) ||
        share_inject(&s, p->thread, p->type.n ? p->type : SV("data"), p->content, &at, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_ktime(r->doc, "injected_at", at);
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_injected(const struct json *doc, struct term *t)
{
    term_f(t, "waits for the next context of " SV_FMT "\n", SV_ARG(json_text(doc, "thread")));
}

const struct operation op_thread_inject = {
    .name = "thread.inject",
    .summary = "Tell a thread something with its next context",
    .details = "  heddle inject build 'No new dependencies.' --type constraint",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = inject_params,
    .params_size = sizeof(struct inject_params),
    .answer = injected,
    .run = inject,
    .print = print_injected,
};
