/* talk: one turn of an agent, with everything that happens in it as events. */
#include "agent/turn.h"
#include "api/assemble/assemble_call.h"
#include "api/assemble/compact_settings.h"
#include "api/share/share_call.h"
#include "api/talk/talk_event.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/money.h"
#include "command/compact_session.h"
#include "command/company.h"

struct talk_params {
    struct sv thread, agent, message, at, request_id, max_cost, strategy, session;
    int64_t   max_rounds, max_tokens, budget;
    bool      resume;
};

/* clang-format off */
#define TALK(field) offsetof(struct talk_params, field)
static const struct param params[] = {
    { "thread",     PARAM_NAME,    TALK(thread),     .value = "T", .required = true, .help = "the thread; made if there is none" },
    { "agent",      PARAM_TEXT,    TALK(agent),      .value = "A", .required = true, .help = "the agent that answers: a model" },
    { "message",    PARAM_TEXT,    TALK(message),    .value = "TEXT", .help = "what is said to it (default: it answers what somebody else said last)" },
    { "at",         PARAM_TEXT,    TALK(at),         .value = "NODE", .help = "the node that is answered, or behind which the message goes (default: the end of the agent's branch)" },
    { "resume",     PARAM_FLAG,    TALK(resume),     .help = "go on with the turn that was interrupted" },
    { "request_id", PARAM_NAME,    TALK(request_id), .value = "ID", .help = "a name of the turn: repeating it goes on with that turn, or tells how it ended" },
    { "max_rounds", PARAM_NUMBER,  TALK(max_rounds), .value = "N", .min = 1, .max = 1000, .help = "ask the model at most N times (default: talk.max_rounds of the settings, 25)" },
    { "max_tokens", PARAM_NUMBER,  TALK(max_tokens), .value = "N", .min = 1, .max = INT64_MAX, .help = "end the turn when it has used N tokens (default: talk.max_tokens)" },
    { "max_cost",   PARAM_DECIMAL, TALK(max_cost),   .value = "X", .min = 0, .max = 1000000, .help = "end the turn when it has cost X dollars (default: talk.max_cost)" },
    { "budget",     PARAM_NUMBER,  TALK(budget),     .value = "N", .min = 1, .max = INT64_MAX, .help = "send at most N tokens (default: loom.budget, 50000)" },
    { "strategy",   PARAM_ENUM,    TALK(strategy),   .value = "S", .values = assembly_strategies, .help = "what is cut when there is more: see `heddle help assemble`" },
    { "session",    PARAM_TEXT,    TALK(session),    .value = "NAME", .help = "the session whose resources are sent; none: none" },
    { 0 },
};
static const char *const outcomes[] = { "completed", "failed", "cancelled", NULL };
static const struct field answer[] = {
    { "thread",   FIELD_TEXT,   .help = "the thread" },
    { "agent",    FIELD_TEXT,   .help = "the agent" },
    { "run_id",   FIELD_TEXT,   .help = "the turn" },
    { "outcome",  FIELD_ENUM,   .values = outcomes, .help = "how it ended" },
    { "reason",   FIELD_TEXT,   .help = "why: final_answer, max_iterations, max_tokens, max_cost, budget, length, pause, content_filter, cancelled, or what failed" },
    { "text",     FIELD_TEXT,   .help = "what the agent said last" },
    { "nodes",    FIELD_LIST,   .help = "the nodes that its prose has become" },
    { "unheard",  FIELD_LIST,   .optional = true, .help = "nodes of what was said to the agent while it worked and was not given to the model" },
    { "rounds",   FIELD_NUMBER, .help = "how often the model was asked" },
    { "commands", FIELD_NUMBER, .help = "how many commands it gave" },
    { "usage",    FIELD_OBJECT, .of = talk_used_fields, .help = "what the turn used" },
    { 0 },
};
/* clang-format on */

/* ---- what a turn needs from here --------------------------------------------------------- */

struct talking {
    struct request      *r;
    struct assemble_call call;
    struct talk_line     line; /* what the last event left on the screen */
};

/* In a transaction of its own, at the end of the log or at a past entry. */
static enum status make(struct talking *t, struct arena *a, struct assembly *out,
                        struct turn_view *seen, struct err *e)
{
    struct assembly_request *q = &t->call.q;
    struct store_head        h;

    if (log_head(&t->r->log, q->loom.thread, &h, e))
        return err_code(e);
    seen->at = h.rev - 1;
    seen->now = q->loom.now;
    return assembly_make(q, a, out, e);
}

static enum status assemble(void *ctx, const struct turn_view *view, struct arena *a,
                            struct assembly *out, struct turn_view *seen, struct err *e)
{
    struct talking          *t = ctx;
    struct assembly_request *q = &t->call.q;
    int64_t                  usual = q->budget;
    bool                     past = view->at >= 0;

    q->loom.now = view->now ? view->now : clock_now_ms();
    q->reserve = view->reserve;
    q->budget = view->budget ? view->budget : usual;
    enum status s = past ? log_at(&t->r->log, q->loom.thread, view->at, e)
                         : log_begin(&t->r->log, q->loom.thread, STORE_READ, e);
    if (!s)
        s = make(t, a, out, seen, e);
    q->budget = usual;
    log_abort(&t->r->log);
    if (past)
        log_at_end(&t->r->log);
    return s;
}

/* The turn has no transaction open now: this one is of its own. */
static enum status delivered(void *ctx, const struct assembly *x, struct err *e)
{
    struct talking *t = ctx;
    struct share    s;

    if (!x->n_pending)
        return ST_OK;
    if (share_call_begin(t->r, &s, STORE_WRITE, e) ||
        share_delivered(&s, t->call.q.loom.thread, x->pending, x->n_pending, e))
        return share_call_fail(t->r, &s, e);
    return share_call_commit(t->r, &s, e);
}

static enum status ready(void *ctx, struct sv model, struct err *e)
{
    struct talking *t = ctx;

    if (model_check(&t->call.loom.env.client, model, t->r->a, e))
        return err_code(e);
    company_tell(&t->call.loom.s, model, model, "for turns");
    return ST_OK;
}

static enum status replay(void *ctx, const struct model_request *q, struct sv headers,
                          struct sv bytes, struct arena *a, struct model_response *out, bool *whole,
                          struct err *e)
{
    struct talking *t = ctx;

    return model_replay(&t->call.loom.env.client, q, headers, bytes, a, out, whole, e);
}

static enum status event(void *ctx, const struct turn_event *ev, struct err *e)
{
    struct talking *t = ctx;

    talk_event_write(request_event(t->r), ev, &t->line);
    return request_send(t->r, e);
}

/* ---- before the turn ---------------------------------------------------------------------- */

static enum status tell(struct talking *t, struct err *e, const char *fmt, ...) PRINTF(3, 4);
static enum status tell(struct talking *t, struct err *e, const char *fmt, ...)
{
    struct sb b = sb_in(t->r->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return event(t, &(struct turn_event){ .type = TURN_NOTICE, .text = sb_sv(&b) }, e);
}

/* For struct loom_env: before text goes to another company. A door that cannot show a warning at
 * once shows events. */
static void tell_company(void *ctx, struct sv sentence)
{
    struct talking *t = ctx;
    struct err      ignored; /* the next event reports that nobody listens */

    if (t->r->warn_now)
        request_warn_now(t->r, SV_FMT, SV_ARG(sentence));
    else if (tell(t, &ignored, SV_FMT, SV_ARG(sentence)))
        return;
}

/* A conversation that has become long is shortened for good. When that fails, it is cut for this
 * turn alone, as ever. */
static enum status compact(struct talking *t, const struct talk_params *p, struct err *e)
{
    struct compact_settings set = compact_settings(t->r->ws, t->call.loom.s.agent.model);
    struct compact_how      how = compact_automatic(t->call.q.budget, set.at);
    struct compact_plan     plan;
    struct op_result        result;
    struct err              why;

    if (!set.automatic || p->resume || ready(t, t->call.loom.s.agent.model, &why))
        return ST_OK; /* nothing is written before a turn that cannot begin */
    how.counts = &t->call.counts;
    how.keep = set.keep;
    how.model = set.model;
    how.instructions = set.instructions;
    enum status st = session_compact(&t->call.loom.s, &how, &plan, &result, &why);
    if (st == ST_NOT_FOUND || st == ST_INVALID_SYNTAX) /* nothing was said yet; or buffer mode */
        return ST_OK;
    if (st)
        return tell(t, e, "the conversation could not be compacted: %s", why.text);
    if (!plan.is_due)
        return ST_OK;
    struct sb undo = sb_in(t->r->a, 0);
    sb_adds(&undo, "heddle compact ");
    sb_add_shell(&undo, p->thread);
    sb_adds(&undo, " --agent ");
    sb_add_shell(&undo, p->agent);
    return tell(t, e,
                "the conversation was compacted from %zu to %zu tokens; `" SV_FMT
                " --undo` takes that back",
                plan.before, plan.after, SV_ARG(sb_sv(&undo)));
}

/* ---- the request -------------------------------------------------------------------------- */

static int64_t set_or(int64_t given, int64_t otherwise)
{
    return given == PARAM_UNSET ? otherwise : given;
}

static int64_t cost_limit(struct request *r, const struct talk_params *p)
{
    const struct json *usual = config_find(&r->ws->config, "talk.max_cost");
    struct sv          text = p->max_cost;
    int64_t            nano;

    if (!text.s && json_is(usual, JSON_NUMBER))
        text = (struct sv){ usual->s, usual->n };
    if (!text.n || !money_parse(text, &nano))
        return 0;
    return nano > 0 ? nano : 1; /* nothing at all: the first that costs something is the last */
}

static enum status check(struct talking *t, const struct talk_params *p, struct err *e)
{
    const struct agent *x = &t->call.loom.s.agent;

    if (x->kind != AUTHOR_MODEL) {
        err_set(e, ST_PERMISSION_DENIED, "\"" SV_FMT "\" is a person, not a model",
                SV_ARG(x->name));
        return err_hint(e, "`heddle agent list` shows the agents there are");
    }
    if (sv_eq(t->r->actor, x->name))
        return err_set(e, ST_PERMISSION_DENIED, "an agent cannot talk to itself");
    if (p->request_id.n > 90)
        return err_set(e, ST_LIMIT_EXCEEDED, "request_id has at most 90 bytes");
    if (p->resume && (p->message.s || p->at.s))
        return err_set(e, ST_USAGE,
                       "an interrupted turn goes on with what was said: no message or "
                       "node goes with resume");
    return ST_OK;
}

static void warn_of_cost(struct request *r, const struct turn_request *q,
                         const struct turn_outcome *out)
{
    const struct sv none = { 0 };

    if (q->max_cost && out->used.requests && out->used.cost < 0)
        request_warn(r, none, none,
                     "what the model costs is not known, so that no limit of cost "
                     "was kept: set models.prices");
}

static void write_answer(struct jw *w, const struct talk_params *p, const struct turn_outcome *o)
{
    jw_open(w, '{');
    jw_kstr(w, "thread", p->thread);
    jw_kstr(w, "agent", p->agent);
    jw_kstr(w, "run_id", o->run);
    jw_kstr(w, "outcome", sv_of(o->outcome));
    jw_kstr(w, "reason", o->reason);
    jw_klossy(w, "text", o->text);
    jw_key(w, "nodes");
    jw_open(w, '[');
    for (size_t i = 0; i < o->n_nodes; i++)
        jw_str(w, o->nodes[i]);
    jw_close(w, ']');
    if (o->n_unheard) {
        jw_key(w, "unheard");
        jw_open(w, '[');
        for (size_t i = 0; i < o->n_unheard; i++)
            jw_str(w, o->unheard[i]);
        jw_close(w, ']');
    }
    jw_kint(w, "rounds", o->rounds);
    jw_kint(w, "commands", o->commands);
    jw_key(w, "usage");
    talk_used_write(w, &o->used);
    jw_close(w, '}');
}

/* A turn that failed or was cancelled has its document, and the failure is the verdict. */
static void judge(struct request *r, const struct turn_outcome *o)
{
    struct err *v = &r->verdict;

    if (sv_is(sv_of(o->outcome), "completed"))
        return;
    if (o->error.code != ST_OK) {
        *v = o->error;
        return;
    }
    if (sv_is(sv_of(o->outcome), "cancelled")) {
        err_set(v, ST_CONFLICT, "the turn was cancelled; what came is kept");
        err_reason(v, "cancelled");
    } else {
        err_set(v, ST_MODEL_ERROR, "the turn failed: " SV_FMT, SV_ARG(o->reason));
    }
}

static enum status converse(struct talking *t, const struct talk_params *p, struct err *e)
{
    struct request      *r = t->r;
    const struct config *c = &r->ws->config;
    struct turn_outcome  out;
    struct turn_request  q = {
         .session = &t->call.loom.s,
         .root_fd = r->ws->root_fd,
         .message = p->message,
         .speaker = r->actor,
         .at = p->at,
         .request_id = p->request_id,
         .system_prompt = config_text(c, "system_prompt"),
         .max_rounds = set_or(p->max_rounds, config_int(c, "talk.max_rounds", TURN_ROUNDS)),
         .max_tokens = set_or(p->max_tokens, config_int(c, "talk.max_tokens", 0)),
         .max_cost = cost_limit(r, p),
         .assemble = assemble,
         .delivered = delivered,
         .ready = ready,
         .replay = replay,
         .event = event,
         .ctx = t,
    };

    t->call.loom.env.tell = tell_company;
    t->call.loom.env.tell_ctx = t;
    if (compact(t, p, e))
        return err_code(e);
    if (p->resume ? turn_resume(&q, r->a, &out, e) : turn_run(&q, r->a, &out, e))
        return err_code(e);
    write_answer(r->doc, p, &out);
    warn_of_cost(r, &q, &out);
    judge(r, &out);
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct talk_params *p = given;
    struct talking            t = { .r = r };
    struct assemble_params    how = { .thread = p->thread,
                                      .agent = p->agent,
                                      .strategy = p->strategy,
                                      .session = p->session,
                                      .budget = p->budget,
                                      .reserve = PARAM_UNSET,
                                      .recent = PARAM_UNSET,
                                      .at = PARAM_UNSET,
                                      .may_be_new = p->message.s != NULL };

    if (assemble_call_open(&t.call, r, &how, e))
        return err_code(e);
    enum status s = check(&t, p, e) ? err_code(e) : converse(&t, p, e);
    return assemble_call_close(&t.call, loom_node_hint(s, p->thread, e));
}

/* The events have shown everything but the sum, if a model was asked. */
static void print(const struct json *doc, struct term *t)
{
    const struct json *usage = json_find(doc, "usage");

    if (json_number(usage, "requests"))
        talk_used_print(usage, t);
}

const struct operation op_talk = {
    .name = "talk",
    .summary = "Have an agent answer: one turn, with its commands and their results",
    .details =
        "What the agent should see is assembled and sent to its model; → lines in the answer run "
        "as they come, their results go back, and so on until it has said what it has to say. "
        "Prose becomes nodes; tool lines do not.\n\n"
        "Without a message this is a conversation: each line is said, and answered; a line that "
        "starts with / or → is a command of the tree, or one of /go (answer what is there), "
        "/resume, /agent NAME, /explain (what it would be sent), /compact, /uncompact, "
        "/summarize, /close, /help, /quit. What is typed while the model works is given to it "
        "before it "
        "is asked the next time, as `heddle run steer` does; /cancel or Ctrl-C ends the turn, and "
        "what "
        "it was not given by then stays in the tree, to be answered with /go. The prompt names "
        "the node after which the next line goes: the end of the agent's branch, or the node that "
        "a command such as /switch has led to.\n\n"
        "A turn that was interrupted goes on with --resume: nothing that was done is done again, "
        "and an answer that had arrived is not asked for again.\n\n"
        "  heddle talk design --agent Collab --message 'Which of the two is simpler?'\n"
        "  heddle talk design --agent Collab --message 'And why?' --max-rounds 5 --json",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .repeat = REPEAT_KEY,
    .repeat_key = "request_id",
    .access = ACCESS_RUN,
    .streams = STREAM_EVENTS,
    .cancels = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct talk_params),
    .answer = answer,
    .event = talk_event_fields,
    .run = run,
    .print = print,
    .print_event = talk_event_print,
};
