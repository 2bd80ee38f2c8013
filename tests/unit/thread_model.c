/* A second implementation of the seed's rules for lanes, operations, runs and steering, written to
 * be read: it keeps no view and no index, and knows the log only as a list of what was accepted. It
 * is asked for the outcome of every call before the call is made. Random sequences over two agents,
 * several lanes and forks: after every step outcome and reason, the state of both runs, the active
 * lanes and the projection of every lane at every seq must agree.
 *
 *     HEDDLE_MODEL_SEQUENCES (100), HEDDLE_MODEL_SEED (1): how many, and the first one */
#include "naive.h"
#include "thread_test.h"

#include <stdlib.h>

enum { AGENTS = 2, STEPS_MIN = 30, STEPS_MORE = 51, CALLS_MAX = 3 };

static const char *const agents[AGENTS] = { "default", "bob" };
static const char *const lanes[] = { "default", "a", "b", "f1", "f2", "f3", "f4" };

/* ---- the model's log ---------------------------------------------------------------------- */

enum what {
    NOTE,
    MESSAGE,
    REPLACE_OP,
    SWITCH_OP,
    FORK_OP,
    DEFERRED,
    STARTED,
    INPUT,
    HELD,
    FINISHED
};

struct line {
    enum what what;
    struct sv lane;
    struct sv shown; /* a message as brief() shows it; of a replace: the snapshot's */
    int64_t   after; /* of a replace: messages after this seq are on top */
    struct sv from;  /* of a fork */
    int64_t   at;
};

struct request_op { /* an operation as it was asked for */
    enum op_type type;
    int          agent;
    struct sv    id, lane, from, text, reason;
    int64_t      base, at;
    bool         has_base, also_switch, lane_open, from_open, at_open;
};

struct used { /* an op_id that an entry has */
    struct sv         id;
    bool              is_op;
    struct request_op op;   /* what it was, if it is an operation */
    struct sv         said; /* otherwise: the content */
};

struct call {
    struct sv id, run, content; /* content absent: no result yet */
    bool      done, held;
};

struct run {
    bool            active, sealed, ever;
    enum run_status status;
    struct sv       id, lane, result, reason;
    int64_t         iteration;
    struct call    *calls[CALLS_MAX];
    size_t          n_calls;
    VEC(struct sv) queue, texts;
    bool              parked, dropped;
    struct request_op op;
};

static struct model {
    struct arena *a;
    struct dice   d;
    int           step;
    VEC(struct line) log;
    VEC(struct used) used;
    VEC(struct call *) calls; /* all that were ever made */
    VEC(struct used) events;  /* "run/id" and what it said */
    struct sv  active[AGENTS];
    struct run runs[AGENTS];
} m;

/* What a call must answer. */
struct outcome {
    enum status status;
    const char *reason; /* NULL: any */
};
#define FINE ((struct outcome){ ST_OK, NULL })
#define REFUSED(reason) ((struct outcome){ ST_CONFLICT, (reason) })
#define MISSING ((struct outcome){ ST_NOT_FOUND, NULL })

static struct sv text_of(const char *fmt, ...) PRINTF(1, 2);
static struct sv text_of(const char *fmt, ...)
{
    struct sb b = sb_in(m.a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return sb_sv(&b);
}

static int64_t head(void)
{
    return (int64_t)m.log.n;
}

static void push(struct line one)
{
    *vec_push(&m.log, m.a) = one;
}

static void push_message(struct sv lane, struct sv shown)
{
    push((struct line){ .what = MESSAGE, .lane = lane, .shown = shown });
}

/* ---- lanes and projection -------------------------------------------------------------------- */

static bool makes_a_lane(enum what w)
{
    return w == MESSAGE || w == REPLACE_OP || w == SWITCH_OP || w == FORK_OP;
}

/* The line that brought a lane into being, or NULL. */
static const struct line *birth_of(struct sv lane)
{
    for (size_t i = 0; i < m.log.n; i++)
        if (makes_a_lane(m.log.v[i].what) && sv_eq(m.log.v[i].lane, lane))
            return &m.log.v[i];
    return NULL;
}

static bool on_path(struct sv lane, int64_t seq, int64_t upto)
{
    const struct line *birth = birth_of(lane);
    bool               forked = birth && birth->what == FORK_OP;

    if (!birth || seq > upto)
        return false;
    if (!forked || seq > birth->at)
        return sv_eq(m.log.v[seq].lane, lane);
    return on_path(birth->from, seq, birth->at);
}

static struct sv model_brief(struct sv lane, int64_t upto)
{
    struct sb b = sb_in(m.a, 0);
    int64_t   after = -1, anchor = -1;

    if (upto >= head())
        upto = head() - 1;
    for (int64_t i = upto; i >= 0 && anchor < 0; i--)
        if (m.log.v[i].what == REPLACE_OP && on_path(lane, i, upto))
            anchor = i;
    sb_adds(&b, anchor >= 0 ? "P|" : "CP|");
    if (anchor >= 0) {
        sb_add(&b, m.log.v[anchor].shown);
        after = m.log.v[anchor].after;
    }
    for (int64_t i = after + 1; i <= upto; i++)
        if (m.log.v[i].what == MESSAGE && on_path(lane, i, upto))
            sb_add(&b, m.log.v[i].shown);
    return sb_sv(&b);
}

/* ---- operations
 * ---------------------------------------------------------------------------------- */

static struct used *find_used(struct sv id)
{
    for (size_t i = 0; i < m.used.n; i++)
        if (sv_eq(m.used.v[i].id, id))
            return &m.used.v[i];
    return NULL;
}

/* A request says the same as an operation that was settled: what it leaves open agrees. */
static bool same_op(const struct request_op *asked, const struct request_op *was)
{
    bool same = asked->type == was->type && asked->agent == was->agent &&
                (asked->lane_open || sv_eq(asked->lane, was->lane)) &&
                sv_eq(asked->reason, was->reason);

    if (asked->type == OP_REPLACE)
        return same && sv_eq(asked->text, was->text) && asked->has_base == was->has_base &&
               (!asked->has_base || asked->base == was->base);
    if (asked->type == OP_FORK)
        return same && (asked->from_open || sv_eq(asked->from, was->from)) &&
               (asked->at_open || asked->at == was->at) && asked->also_switch == was->also_switch;
    return same;
}

static int agent_in(struct sv lane)
{
    for (int i = 0; i < AGENTS; i++)
        if (m.runs[i].active && sv_eq(m.runs[i].lane, lane))
            return i;
    return -1;
}

static void apply_to_log(const struct request_op *op)
{
    struct line one = { .lane = op->lane };

    one.what = op->type == OP_REPLACE ? REPLACE_OP : op->type == OP_SWITCH ? SWITCH_OP : FORK_OP;
    if (op->type == OP_REPLACE) {
        one.shown = text_of(" u:" SV_FMT, SV_ARG(op->text));
        one.after = op->has_base && sv_is(op->reason, "compaction") ? op->base : head();
    }
    one.from = op->from;
    one.at = op->at;
    push(one);
    *vec_push(&m.used, m.a) = (struct used){ .id = op->id, .is_op = true, .op = *op };
    if (op->type != OP_FORK || op->also_switch)
        m.active[op->agent] = op->lane;
}

static struct outcome expect_fork(struct request_op *op)
{
    if (op->from_open)
        op->from = m.active[op->agent];
    if (birth_of(op->lane))
        return REFUSED("lane_exists");
    if (!birth_of(op->from))
        return MISSING;
    if (op->at_open)
        op->at = head() - 1;
    return op->at >= -1 && op->at < head() ? FINE : MISSING;
}

static struct outcome expect_op(struct request_op op)
{
    struct used *used = find_used(op.id);

    if (used)
        return used->is_op && same_op(&op, &used->op) ? FINE : REFUSED("op_id");
    for (int i = 0; i < AGENTS; i++)
        if (m.runs[i].parked && sv_eq(m.runs[i].op.id, op.id))
            return same_op(&op, &m.runs[i].op) ? FINE : REFUSED("op_id");
    if (!head() && op.type != OP_REPLACE)
        return MISSING;
    if (op.lane_open)
        op.lane = m.active[op.agent];
    if (op.type == OP_REPLACE && op.has_base && sv_is(op.reason, "compaction") &&
        (op.base < -1 || op.base >= head()))
        return MISSING;
    int other = agent_in(op.lane);
    if (op.type == OP_REPLACE && other >= 0 && other != op.agent)
        return REFUSED("lane_busy");
    struct outcome fork = op.type == OP_FORK ? expect_fork(&op) : FINE;
    if (fork.status)
        return fork;
    struct run *run = &m.runs[op.agent];
    if (!run->active || (op.type == OP_FORK && !op.also_switch)) {
        apply_to_log(&op);
        return FINE;
    }
    run->parked = true;
    run->op = op;
    push((struct line){ .what = DEFERRED, .lane = op.lane });
    return FINE;
}

/* ---- runs
 * ------------------------------------------------------------------------------------------ */

static struct sv shown_result(const struct call *c)
{
    return text_of(" t(" SV_FMT "):" SV_FMT, SV_ARG(c->id), SV_ARG(c->content));
}

static void note_result(struct run *r, struct call *c)
{
    bool all = true;

    c->done = true;
    c->held = false;
    push_message(r->lane, shown_result(c));
    for (size_t i = 0; i < r->n_calls; i++)
        all = all && r->calls[i]->done;
    if (all && r->status == RUN_AWAITING_TOOL) {
        r->status = RUN_AWAITING_LLM;
        r->iteration++;
    }
}

static void flush_held(struct run *r)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i]->held)
            note_result(r, r->calls[i]);
}

static void finish(int agent, const char *reason, bool completed, struct sv result)
{
    struct run *r = &m.runs[agent];

    flush_held(r);
    bool drop = r->parked && (find_used(r->op.id) != NULL);
    if (r->parked && r->op.type == OP_FORK && birth_of(r->op.lane))
        drop = true;
    int other = agent_in(r->op.lane);
    if (r->parked && r->op.type == OP_REPLACE && other >= 0 && other != agent)
        drop = true;
    push((struct line){ .what = FINISHED, .lane = r->lane });
    bool apply_it = r->parked && !drop;
    r->dropped = r->parked && drop;
    r->parked = r->active = r->sealed = false;
    r->n_calls = 0;
    r->queue.n = r->texts.n = 0;
    r->status = completed ? RUN_COMPLETED : RUN_ERROR;
    r->reason = sv_of(reason);
    if (result.s)
        r->result = result;
    if (apply_it)
        apply_to_log(&r->op);
}

static struct outcome expect_start(int agent, struct sv id, struct sv text)
{
    struct used *used = find_used(text_of("run:" SV_FMT, SV_ARG(id)));
    struct sv    said = text_of("%d " SV_FMT, agent, SV_ARG(text));

    if (used)
        return sv_eq(used->said, said) ? FINE : REFUSED("request_id");
    if (m.runs[agent].active)
        return REFUSED("busy");
    if (agent_in(m.active[agent]) >= 0)
        return REFUSED("lane_busy");
    *vec_push(&m.used, m.a) =
        (struct used){ .id = text_of("run:" SV_FMT, SV_ARG(id)), .said = said };
    m.runs[agent] = (struct run){ .active = true,
                                  .ever = true,
                                  .status = RUN_AWAITING_LLM,
                                  .id = id,
                                  .lane = m.active[agent],
                                  .iteration = 1 };
    push((struct line){ .what = STARTED, .lane = m.active[agent] });
    push_message(m.active[agent], text_of(" u:" SV_FMT, SV_ARG(text)));
    return FINE;
}

static void on_user(struct run *r)
{
    if (!r->result.s)
        return;
    r->result = (struct sv){ 0 };
    r->status = RUN_AWAITING_LLM;
    r->sealed = false;
    r->iteration++;
}

/* Was the event reported before? *out is what to answer then. */
static bool seen_event(int agent, struct sv id, struct sv said, struct outcome *out)
{
    struct sv key = text_of(SV_FMT "/" SV_FMT, SV_ARG(m.runs[agent].id), SV_ARG(id));

    if (!id.n || !m.runs[agent].ever)
        return false;
    for (size_t i = 0; i < m.events.n; i++)
        if (sv_eq(m.events.v[i].id, key)) {
            *out = sv_eq(m.events.v[i].said, said) ? FINE : REFUSED("event_id");
            return true;
        }
    return false;
}

static void keep_event(int agent, struct sv id, struct sv said)
{
    if (id.n)
        *vec_push(&m.events, m.a) =
            (struct used){ .id = text_of(SV_FMT "/" SV_FMT, SV_ARG(m.runs[agent].id), SV_ARG(id)),
                           .said = said };
}

static struct outcome expect_answer(int agent, struct sv id, struct sv text, size_t n_calls)
{
    struct run    *r = &m.runs[agent];
    struct sv      said = text_of("llm %zu " SV_FMT, n_calls, SV_ARG(text));
    struct outcome out;

    if (n_calls)
        said = text_of("calls of step %d", m.step);
    if (seen_event(agent, id, said, &out))
        return out;
    if (!r->active)
        return REFUSED("idle");
    flush_held(r);
    r->n_calls = n_calls;
    struct sb names = sb_in(m.a, 0);
    for (size_t i = 0; i < n_calls; i++) {
        r->calls[i] = ARENA_NEW(m.a, struct call, 1);
        *r->calls[i] = (struct call){ .id = text_of("c%d.%zu", m.step, i), .run = r->id };
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
        *vec_push(&m.calls, m.a) = r->calls[i];
        sb_addf(&names, "%s" SV_FMT, i ? "," : "[", SV_ARG(r->calls[i]->id));
    }
    sb_adds(&names, n_calls ? "]" : "");
    push_message(r->lane, text_of(" a" SV_FMT ":" SV_FMT, SV_ARG(sb_sv(&names)), SV_ARG(text)));
    keep_event(agent, id, said);
    r->status = n_calls ? RUN_AWAITING_TOOL : RUN_AWAITING_LLM;
    r->sealed = !n_calls && !r->queue.n;
    if (!n_calls)
        r->result = text_of("\"" SV_FMT "\"", SV_ARG(text));
    return FINE;
}

static void release_next(struct run *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        if (r->calls[i]->done)
            continue;
        if (!r->calls[i]->held)
            return;
        note_result(r, r->calls[i]);
    }
}

static struct outcome expect_result(int agent, struct call *c, struct sv content)
{
    struct run *r = &m.runs[agent];
    bool        open = false, first = true;

    if (!r->ever)
        return REFUSED("idle");
    if (!sv_eq(c->run, r->id)) /* the event names no run: it is the last one's */
        return REFUSED("unknown_tool_call");
    if (c->done || c->held)
        return sv_eq(c->content, content) ? FINE : REFUSED("tool_call_id");
    c->content = content;
    for (size_t i = 0; r->active && i < r->n_calls; i++) {
        if (r->calls[i] == c) {
            open = true;
            break;
        }
        first = first && r->calls[i]->done;
    }
    if (!open) { /* late, and recorded all the same */
        c->done = true;
        push_message(r->lane, shown_result(c));
        return FINE;
    }
    if (!first) {
        c->held = true;
        push((struct line){ .what = HELD, .lane = r->lane });
        return FINE;
    }
    note_result(r, c);
    release_next(r);
    return FINE;
}

static struct outcome expect_steer(int agent, struct sv id, struct sv text)
{
    struct run  *r = &m.runs[agent];
    struct used *used = find_used(text_of("input:" SV_FMT, SV_ARG(id)));
    struct sv    said = text_of("%d " SV_FMT, agent, SV_ARG(text));

    if (used)
        return sv_eq(used->said, said) ? FINE : REFUSED("op_id");
    if (!r->active)
        return REFUSED("idle");
    if (r->sealed)
        return REFUSED("closed");
    *vec_push(&m.used, m.a) =
        (struct used){ .id = text_of("input:" SV_FMT, SV_ARG(id)), .said = said };
    *vec_push(&r->queue, m.a) = id;
    *vec_push(&r->texts, m.a) = text;
    push((struct line){ .what = INPUT, .lane = r->lane });
    return FINE;
}

static struct outcome expect_drain(int agent)
{
    struct run *r = &m.runs[agent];

    if (r->active && r->status == RUN_AWAITING_TOOL)
        return REFUSED("awaiting_tool");
    for (size_t i = 0; r->active && i < r->texts.n; i++) {
        push_message(r->lane, text_of(" u:" SV_FMT, SV_ARG(r->texts.v[i])));
        on_user(r);
    }
    r->queue.n = r->texts.n = 0;
    return FINE;
}

/* ---- one step: what is expected, what happens
 * ------------------------------------------------------- */

static bool answered(const char *call, struct outcome want, enum status got)
{
    bool same =
        got == want.status && (!got || !want.reason || strcmp(t.e.reason, want.reason) == 0);

    if (same)
        return true;
    tap_failures++;
    printf("# step %d, %s: got %s (%s: %s), want %s (%s)\n", m.step, call, status_word(got),
           got ? t.e.reason : "", got ? t.e.text : "", status_word(want.status),
           want.reason ? want.reason : "");
    return false;
}

static struct sv some_id(const char *prefix, uint32_t of)
{
    return text_of("%s%u", prefix, roll(&m.d, of));
}

static bool step_say(void)
{
    struct sv   lane = sv_of(lanes[roll(&m.d, 3)]), text = text_of("s%d", m.step);
    bool        user = roll(&m.d, 2);
    enum status s = say_in(lane.s, user ? "user" : "assistant", text.s);

    push_message(lane, text_of(" %s:" SV_FMT, user ? "u" : "a", SV_ARG(text)));
    return answered("say", FINE, s);
}

/* An entry of no meaning with an op_id, which may be that of an operation. */
static bool step_note(void)
{
    struct sv      id = roll(&m.d, 3) ? some_id("n", 4) : some_id("op", 12);
    struct sv      payload = text_of("{\"n\":%u}", roll(&m.d, 2));
    struct entry   n = { .at = 1, .kind = SV("note"), .op_id = id, .payload = payload };
    struct used   *used = find_used(id);
    struct outcome want = FINE;

    if (used)
        want = !used->is_op && sv_eq(used->said, payload) ? FINE : REFUSED("op_id");
    else {
        *vec_push(&m.used, m.a) = (struct used){ .id = id, .said = payload };
        push((struct line){ .what = NOTE });
    }
    return answered("note", want, append_entries(THREAD, LOG_ANY_REV, &n, 1));
}

static struct request_op some_op(int agent)
{
    struct request_op op = { .agent = agent, .id = some_id("op", 12), .reason = SV("manual") };
    uint32_t          kind = roll(&m.d, 4);

    op.type = kind < 2 ? OP_REPLACE : kind == 2 ? OP_SWITCH : OP_FORK;
    op.lane = sv_of(lanes[roll(&m.d, COUNT(lanes))]);
    op.lane_open = op.type != OP_FORK && roll(&m.d, 3) == 0;
    if (op.type != OP_FORK && op.lane.s[0] == 'f' && !birth_of(op.lane))
        op.lane = SV("default"); /* so that forks find names */
    if (op.type == OP_REPLACE) {
        op.text = some_id("snap", 3);
        op.has_base = roll(&m.d, 2);
        op.base = (int64_t)roll(&m.d, (uint32_t)head() + 2) - 1;
        op.reason = roll(&m.d, 2) ? SV("compaction") : SV("manual");
    } else if (op.type == OP_FORK) {
        op.from_open = roll(&m.d, 3) == 0;
        op.from = sv_of(lanes[roll(&m.d, COUNT(lanes))]);
        op.at_open = roll(&m.d, 3) == 0;
        op.at = (int64_t)roll(&m.d, (uint32_t)head() + 2) - 1;
        op.also_switch = roll(&m.d, 2);
    }
    return op;
}

static bool step_op(int agent)
{
    struct request_op r = some_op(agent);
    struct op         op = { .type = r.type,
                             .thread = THREAD,
                             .agent = sv_of(agents[agent]),
                             .op_id = r.id,
                             .lane = r.lane_open ? (struct sv){ 0 } : r.lane,
                             .reason = r.reason,
                             .has_base_seq = r.has_base,
                             .base_seq = r.base,
                             .from = r.from_open ? (struct sv){ 0 } : r.from,
                             .from_seq = r.at_open ? OP_AT_HEAD : r.at,
                             .also_switch = r.also_switch,
                             .at = t.now++ };
    struct op_result  out;
    struct outcome    want = expect_op(r);

    if (r.type == OP_REPLACE)
        op.context = text_of(
            "{\"system_prompt\":\"P\",\"messages\":[{\"role\":\"user\",\"content\":\"" SV_FMT
            "\"}]}",
            SV_ARG(r.text));
    return answered("op", want, op_apply(&t.l, &op, m.a, &out, &t.e));
}

static bool step_start(int agent)
{
    struct sv        id = roll(&m.d, 3) ? text_of("r%d", m.step) : some_id("again", 2);
    struct sv        text = some_id("Q", 2);
    struct run_state s;

    return answered("start", expect_start(agent, id, text),
                    start_run(agents[agent], text.s, id.s, &s));
}

static bool send(const char *what, int agent, struct outcome want, struct sv event)
{
    struct run_state  s;
    struct run_report r;

    if (!head())
        want = MISSING;
    return answered(what, want, send_events(agents[agent], event.s, &s, &r));
}

static bool step_answer(int agent)
{
    struct sv id = roll(&m.d, 2) ? some_id("e", 5) : (struct sv){ 0 };
    struct sv text = some_id("A", 3), said = text_of("\"id\":\"" SV_FMT "\",", SV_ARG(id));
    struct sb calls = sb_in(m.a, 0);
    size_t    n = roll(&m.d, 2) ? 1 + roll(&m.d, CALLS_MAX) : 0;

    for (size_t i = 0; i < n; i++)
        sb_addf(&calls, "%s{\"id\":\"c%d.%zu\",\"name\":\"f\"}", i ? "," : ",\"tool_calls\":[",
                m.step, i);
    sb_adds(&calls, n ? "]" : "");
    return send("answer", agent, head() ? expect_answer(agent, id, text, n) : MISSING,
                text_of("{\"kind\":\"llm_completed\"," SV_FMT "\"data\":{\"text\":\"" SV_FMT
                        "\"" SV_FMT "}}",
                        SV_ARG(id.n ? said : SV("")), SV_ARG(text), SV_ARG(sb_sv(&calls))));
}

static bool step_result(int agent)
{
    struct call  stranger = { .id = SV("zz"), .run = SV("nobody's") };
    struct call *c = m.calls.n ? m.calls.v[m.calls.n - 1 - roll(&m.d, (uint32_t)m.calls.n)] : NULL;

    if (c && roll(&m.d, 4)) /* mostly one of the last */
        c = m.calls.v[m.calls.n - 1 - roll(&m.d, m.calls.n < 3 ? (uint32_t)m.calls.n : 3)];
    if (!c)
        c = &stranger;
    struct sv id = c->id, content = some_id("v", 2);
    return send("result", agent, head() ? expect_result(agent, c, content) : MISSING,
                text_of("{\"kind\":\"tool_completed\",\"tool_call_id\":\"" SV_FMT
                        "\",\"data\":{\"content\":\"" SV_FMT "\"}}",
                        SV_ARG(id), SV_ARG(content)));
}

static bool step_inject(int agent)
{
    struct outcome want = m.runs[agent].active ? FINE : REFUSED("idle");
    struct sv      text = text_of("i%d", m.step);

    if (m.runs[agent].active) {
        push_message(m.runs[agent].lane, text_of(" u:" SV_FMT, SV_ARG(text)));
        on_user(&m.runs[agent]);
    }
    return send("inject", agent, want,
                text_of("{\"kind\":\"input_injected\",\"data\":{\"content\":\"" SV_FMT "\"}}",
                        SV_ARG(text)));
}

static bool step_end(int agent)
{
    static const struct {
        const char *event, *reason, *result;
        bool        completed;
    } ends[] = {
        { "{\"kind\":\"request_completed\"}", "final_answer", NULL, true },
        { "{\"kind\":\"request_failed\"}", "error", NULL, false },
        { "{\"kind\":\"request_cancelled\"}", "cancelled", "{\"cancelled\":\"user_cancelled\"}",
          false },
        { "{\"kind\":\"worker_exit\"}", "error", "{\"react_worker_exit\":null}", false },
        { "{\"kind\":\"llm_started\",\"iteration\":99}", "max_iterations",
          "\"Maximum iterations reached without a final answer.\"", true },
    };
    uint32_t         i = roll(&m.d, COUNT(ends) + 2);
    struct run      *r = &m.runs[agent];
    struct run_ref   who = { THREAD, sv_of(agents[agent]), SV("x"), t.now++ };
    struct outcome   want = !head() ? MISSING : r->active ? FINE : REFUSED("idle");
    struct run_state s;

    if (i < COUNT(ends)) {
        if (r->active)
            finish(agent, ends[i].reason, ends[i].completed, sv_of(ends[i].result));
        if (r->ever && i == 1 && !want.status)
            r->result = (struct sv){ 0 }; /* the error, which is null */
        return send("end", agent, want, sv_of(ends[i].event));
    }
    bool cancel = i == COUNT(ends);
    if (r->active)
        finish(agent, cancel ? "cancelled" : "stream_interrupted", false,
               cancel ? SV("{\"cancelled\":\"user_cancelled\"}")
                      : SV("{\"error\":\"stream_interrupted\"}"));
    if (cancel)
        return answered("cancel", want,
                        run_cancel(&t.l, &who, (struct sv){ 0 }, (struct sv){ 0 }, m.a, &s, &t.e));
    return answered("recover", head() ? FINE : MISSING, run_recover(&t.l, &who, m.a, &s, &t.e));
}

static bool step_steer(int agent)
{
    struct run_ref   who = { THREAD, sv_of(agents[agent]), SV("x"), t.now++ };
    struct run_steer s = { .kind = "steer", .text = some_id("S", 2), .op_id = some_id("in", 30) };
    struct sv        id;

    return answered("steer", head() ? expect_steer(agent, s.op_id, s.text) : MISSING,
                    run_steer(&t.l, &who, &s, m.a, &id, &t.e));
}

static bool step_drain(int agent)
{
    struct run_ref who = { THREAD, sv_of(agents[agent]), SV("x"), t.now++ };
    struct sv      list;

    return answered("drain", head() ? expect_drain(agent) : MISSING,
                    run_drain(&t.l, &who, m.a, &list, &t.e));
}

static bool step(void)
{
    int agent = (int)roll(&m.d, AGENTS);

    t.e = (struct err){ 0 };
    switch (roll(&m.d, 20)) {
    case 0:
    case 1: return step_say();
    case 2: return step_note();
    case 3:
    case 4:
    case 5: return step_op(agent);
    case 6:
    case 7:
    case 8: return step_start(agent);
    case 9:
    case 10:
    case 11: return step_answer(agent);
    case 12:
    case 13:
    case 14: return step_result(agent);
    case 15: return step_inject(agent);
    case 16: return step_end(agent);
    case 17:
    case 18: return step_steer(agent);
    default: return step_drain(agent);
    }
}

/* ---- comparing
 * -------------------------------------------------------------------------------------- */

static bool agrees(bool same, const char *what, int agent)
{
    if (same)
        return true;
    tap_failures++;
    printf("# step %d: %s of agent %s differs\n", m.step, what, agents[agent]);
    return false;
}

static bool same_calls(const struct run *want, const struct run_state *got)
{
    if (want->n_calls != got->n_calls)
        return false;
    for (size_t i = 0; i < got->n_calls; i++)
        if (!sv_eq(want->calls[i]->id, got->calls[i].id) ||
            want->calls[i]->done != got->calls[i].done ||
            want->calls[i]->held != (got->calls[i].held >= 0))
            return false;
    return true;
}

static bool same_queue(const struct run *want, const struct run_state *got)
{
    if (want->queue.n != got->n_queue)
        return false;
    for (size_t i = 0; i < got->n_queue; i++)
        if (!sv_eq(want->queue.v[i], got->queue[i].id))
            return false;
    return true;
}

static bool same_run(int agent)
{
    const struct run *want = &m.runs[agent];
    struct run_state  got;
    struct sv         lane;

    OK(run_state_read(&t.l, THREAD, sv_of(agents[agent]), m.a, &got, &t.e));
    OK(lane_active(&t.l, THREAD, sv_of(agents[agent]), m.a, &lane, &t.e));
    return agrees(sv_eq(lane, m.active[agent]), "active lane", agent) &&
           agrees(want->active == got.active, "activity", agent) &&
           agrees(want->status == got.status, "status", agent) &&
           agrees(want->sealed == got.sealed, "seal", agent) &&
           agrees(sv_eq(want->id, got.request_id), "request", agent) &&
           agrees(sv_eq(want->lane, got.lane), "lane", agent) &&
           agrees(!want->ever || want->iteration == got.iteration, "iteration", agent) &&
           agrees(sv_eq(want->result, got.result), "result", agent) &&
           agrees(sv_eq(want->reason, got.termination_reason), "termination", agent) &&
           agrees(want->parked == (got.parked_seq >= 0), "parked operation", agent) &&
           agrees(!want->parked || sv_eq(want->op.id, got.parked_op), "parked op_id", agent) &&
           agrees(want->dropped == (got.dropped_op.s != NULL), "dropped operation", agent) &&
           agrees(same_calls(want, &got), "calls", agent) &&
           agrees(same_queue(want, &got), "queue", agent);
}

static struct sv real_brief(struct sv lane, int64_t upto)
{
    struct projection_of of = { THREAD, lane, upto, SV("CP") };
    struct projection    p;
    struct context       c;
    struct sb            b = sb_in(m.a, 0);

    if (!OK(project_start(&t.l, &of, m.a, &p, &t.e)) || !OK(project_context(&p, &c, &t.e)))
        return SV("(failed)");
    sb_add(&b, c.system_prompt);
    sb_addc(&b, '|');
    for (size_t i = 0; i < c.n; i++) {
        struct sb   one = sb_in(m.a, 0);
        struct json v;
        message_write(&one, &c.messages[i]);
        if (OK(json_parse(sb_sv(&one), 0, m.a, &v, &t.e)))
            brief_message(&b, &v);
    }
    return sb_sv(&b);
}

static bool same_lanes(int64_t from)
{
    for (size_t k = 0; k < COUNT(lanes); k++)
        for (int64_t upto = head() - 1; upto >= from; upto--) {
            struct arena_mark mark = arena_mark(m.a);
            struct sv         want = model_brief(sv_of(lanes[k]), upto);
            struct sv         got = real_brief(sv_of(lanes[k]), upto);
            bool              same = sv_eq(want, got);
            if (!same) {
                printf("# step %d, lane %s, up to %lld\n", m.step, lanes[k], (long long)upto);
                CHECK_SV(got, want);
            }
            arena_reset(m.a, mark);
            if (!same)
                return false;
        }
    return true;
}

static bool same_all(void)
{
    struct store_head h;

    if (!head())
        return true;
    if (!OK(log_begin(&t.l, THREAD, STORE_READ, &t.e)))
        return false;
    OK(store_head(t.s, THREAD, &h, &t.e));
    CHECK_INT(h.rev, head());
    bool same = h.rev == head() && same_run(0) && same_run(1) && same_lanes(-1);
    log_abort(&t.l);
    return same;
}

static bool one_sequence(uint64_t seed)
{
    struct arena a = { 0 };
    bool         same = true;
    int          steps;

    m = (struct model){ .a = &a, .d = { .seed = seed * 2654435761u + 17 } };
    for (int i = 0; i < AGENTS; i++)
        m.active[i] = LANE_DEFAULT;
    steps = STEPS_MIN + (int)roll(&m.d, STEPS_MORE);
    for (m.step = 0; m.step < steps && same; m.step++)
        same = step() && same_all();
    if (same && head()) {
        int     findings = 0;
        int64_t entries;
        OK(log_verify(&t.l, THREAD, tell_finding, &findings, &entries, &t.e));
        CHECK_INT(findings, 0);
        same = findings == 0;
    }
    if (!same)
        printf("# sequence %llu\n", (unsigned long long)seed);
    arena_free(&a);
    arena_free(&t.a);
    t.a = (struct arena){ 0 };
    return same;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* A store of its own for each. */
static void next_store(int i)
{
    store_close(t.s);
    if (t.on_disk) {
        size_t n = strlen(t.url);
        snprintf(t.url + n, sizeof t.url - n, "%d", i % 10);
    }
    t.s = test_open();
    t.l = log_of(t.s, test_views);
}

static void every_random_sequence_is_what_the_plain_rules_say(void)
{
    uint64_t first = setting("HEDDLE_MODEL_SEED", 1);
    uint64_t n = t.on_disk ? 2 : setting("HEDDLE_MODEL_SEQUENCES", 100);

    for (uint64_t i = 0; i < n; i++) {
        next_store((int)i);
        if (!one_sequence(first + i))
            return;
    }
}

THREAD_MAIN(T(every_random_sequence_is_what_the_plain_rules_say), )
