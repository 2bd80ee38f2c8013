#include "thread/run_state.h"

#include "base/vec.h"
#include "thread/kind.h"
#include "thread/lane.h"

static const char *const status_names[] = { "idle", "awaiting_llm", "awaiting_tool", "completed",
                                            "error" };

const char *run_status_name(enum run_status s)
{
    return status_names[s];
}

/* ---- the row --------------------------------------------------------------------- */

static void kraw(struct jw *w, const char *key, struct sv raw)
{
    jw_key(w, key);
    jw_raw(w, raw.s ? raw : SV("null"));
}

static void write_calls(struct jw *w, const struct run_state *s)
{
    jw_key(w, "pending_tool_calls");
    jw_open(w, '[');
    for (size_t i = 0; i < s->n_calls; i++) {
        jw_open(w, '{');
        jw_kbool(w, "done", s->calls[i].done);
        if (s->calls[i].held >= 0)
            jw_kint(w, "held", s->calls[i].held);
        jw_kstr(w, "id", s->calls[i].id);
        jw_kstr(w, "name", s->calls[i].name);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

void run_state_write(struct sb *b, const struct run_state *s)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kbool(&w, "active", s->active);
    jw_kstr(&w, "cancel_reason", s->cancel_reason);
    jw_kstr(&w, "checkpoint_token", s->checkpoint_token);
    jw_kint(&w, "event_seq", s->event_seq);
    jw_kint(&w, "iteration", s->iteration);
    jw_kstr(&w, "lane", s->lane);
    jw_kint(&w, "max_iterations", s->max_iterations);
    jw_key(&w, "pending_context_op");
    if (s->parked_seq >= 0) {
        jw_open(&w, '{');
        jw_kstr(&w, "op_id", s->parked_op);
        jw_kint(&w, "seq", s->parked_seq);
        jw_close(&w, '}');
    } else {
        jw_null(&w);
    }
    jw_key(&w, "pending_input");
    jw_open(&w, '[');
    for (size_t i = 0; i < s->n_queue; i++) {
        jw_open(&w, '{');
        jw_kstr(&w, "id", s->queue[i].id);
        jw_kint(&w, "seq", s->queue[i].seq);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    write_calls(&w, s);
    jw_kstr(&w, "request_id", s->request_id);
    kraw(&w, "result", s->result);
    jw_kstr(&w, "run_id", s->run_id);
    jw_kbool(&w, "sealed", s->sealed);
    jw_kstr(&w, "status", sv_of(status_names[s->status]));
    jw_kstr(&w, "termination_reason", s->termination_reason);
    kraw(&w, "usage", s->usage);
    jw_close(&w, '}');
}

static struct sv raw_or_absent(const struct json *v, struct arena *a)
{
    return !v || v->type == JSON_NULL ? (struct sv){ 0 } : json_canonical(v, a);
}

static void read_calls(const struct json *list, struct arena *a, struct run_state *s)
{
    s->n_calls = list ? list->n : 0;
    s->calls = ARENA_NEW(a, struct run_call, s->n_calls);
    for (size_t i = 0; i < s->n_calls; i++) {
        s->calls[i] =
            (struct run_call){ json_text(&list->items[i], "id"), json_text(&list->items[i], "name"),
                               json_truth(json_find(&list->items[i], "done")), -1 };
        json_int(json_find(&list->items[i], "held"), &s->calls[i].held);
    }
}

/* The calls of an assistant message, all of them open. A name may stand in "function". */
static void open_calls(const struct json *list, struct arena *a, struct run_state *s)
{
    s->n_calls = list->n;
    s->calls = ARENA_NEW(a, struct run_call, list->n);
    for (size_t i = 0; i < list->n; i++) {
        const struct json *call = &list->items[i];
        struct sv          name = json_text(call, "name");
        if (!name.s)
            name = json_text(json_find(call, "function"), "name");
        s->calls[i] = (struct run_call){ json_text(call, "id"), name, false, -1 };
    }
}

static enum status parse_state(struct sv row, struct arena *a, struct run_state *s, struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "run row");
    *s = (struct run_state){ .active = json_truth(json_find(&v, "active")),
                             .sealed = json_truth(json_find(&v, "sealed")),
                             .request_id = json_text(&v, "request_id"),
                             .run_id = json_text(&v, "run_id"),
                             .lane = json_text(&v, "lane"),
                             .result = raw_or_absent(json_find(&v, "result"), a),
                             .termination_reason = json_text(&v, "termination_reason"),
                             .cancel_reason = json_text(&v, "cancel_reason"),
                             .checkpoint_token = json_text(&v, "checkpoint_token"),
                             .usage = raw_or_absent(json_find(&v, "usage"), a),
                             .parked_seq = -1 };
    for (size_t i = 0; i < COUNT(status_names); i++)
        if (sv_is(json_text(&v, "status"), status_names[i]))
            s->status = (enum run_status)i;
    json_int(json_find(&v, "iteration"), &s->iteration);
    json_int(json_find(&v, "max_iterations"), &s->max_iterations);
    json_int(json_find(&v, "event_seq"), &s->event_seq);
    const struct json *parked = json_find(&v, "pending_context_op");
    s->parked_op = json_text(parked, "op_id");
    json_int(json_find(parked, "seq"), &s->parked_seq);
    const struct json *queue = json_find(&v, "pending_input");
    s->n_queue = queue ? queue->n : 0;
    s->queue = ARENA_NEW(a, struct run_input, s->n_queue + 1);
    for (size_t i = 0; i < s->n_queue; i++) {
        s->queue[i].id = json_text(&queue->items[i], "id");
        json_int(json_find(&queue->items[i], "seq"), &s->queue[i].seq);
    }
    read_calls(json_find(&v, "pending_tool_calls"), a, s);
    return ST_OK;
}

static struct run_state fresh_state(void)
{
    return (struct run_state){ .status = RUN_IDLE, .parked_seq = -1 };
}

enum status run_state_read(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                           struct run_state *out, struct err *e)
{
    struct sv row;
    bool      found;

    *out = fresh_state();
    if (log_row_get(l, thread, &thread_view, key_of_name("run", agent, a), a, &row, &found, e))
        return err_code(e);
    return found ? parse_state(row, a, out, e) : ST_OK;
}

/* ---- the fold ----------------------------------------------------------------------- */

static void on_started(struct run_state *s, const struct json *p, const struct entry *n)
{
    struct run_state next = fresh_state();

    next.status = RUN_AWAITING_LLM;
    next.active = true;
    next.request_id = json_text(p, "request_id");
    next.run_id = json_text(p, "run_id");
    next.lane = n->lane;
    next.iteration = 1;
    next.max_iterations = 10;
    json_int(json_find(json_find(p, "config"), "max_iterations"), &next.max_iterations);
    *s = next;
}

/* Integers of both objects summed, member by member; other members: the newer one's. */
static struct sv add_usage(struct sv old, const struct json *more, struct arena *a)
{
    struct json have = { .type = JSON_OBJECT };
    struct err  ignored;
    VEC(struct json_member) sum = { 0 };

    if (!json_is(more, JSON_OBJECT))
        return old;
    if (old.s && json_parse(old, 0, a, &have, &ignored))
        have.n = 0;
    for (size_t i = 0; i < have.n; i++)
        if (!json_find_sv(more, have.members[i].key))
            *vec_push(&sum, a) = have.members[i];
    for (size_t i = 0; i < more->n; i++) {
        struct json_member m = more->members[i];
        int64_t            x, y, both;
        if (json_int(&m.value, &x) && json_int(json_find_sv(&have, m.key), &y) &&
            !__builtin_add_overflow(x, y, &both))
            m.value = json_of_int(both, a);
        *vec_push(&sum, a) = m;
    }
    struct json total = { JSON_OBJECT, sum.n, { .members = sum.v } };
    return json_canonical(&total, a);
}

static void on_assistant(struct run_state *s, const struct json *p, struct arena *a)
{
    const struct json *calls = json_find(p, "tool_calls");

    s->usage = add_usage(s->usage, json_find(p, "usage"), a);
    if (json_is(calls, JSON_ARRAY) && calls->n) {
        open_calls(calls, a, s);
        s->status = RUN_AWAITING_TOOL;
        s->sealed = false;
        return;
    }
    s->n_calls = 0;
    s->status = RUN_AWAITING_LLM;
    s->result = raw_or_absent(json_find(p, "content"), a);
    s->sealed = s->n_queue == 0;
}

static void on_tool(struct run_state *s, const struct json *p)
{
    bool all = true;

    for (size_t i = 0; i < s->n_calls; i++) {
        if (sv_eq(s->calls[i].id, json_text(p, "tool_call_id"))) {
            s->calls[i].done = true;
            s->calls[i].held = -1;
        }
        all = all && s->calls[i].done;
    }
    if (all && s->status == RUN_AWAITING_TOOL) {
        s->status = RUN_AWAITING_LLM;
        s->iteration++;
    }
}

static void on_user(struct run_state *s, const struct json *refs)
{
    struct sv id = json_text(refs, "input_id");
    size_t    kept = 0;

    for (size_t i = 0; i < s->n_queue; i++)
        if (!id.s || !sv_eq(s->queue[i].id, id))
            s->queue[kept++] = s->queue[i];
    s->n_queue = kept;
    if (!s->result.s)
        return; /* the opening message, or steering between two calls */
    s->result = (struct sv){ 0 };
    s->status = RUN_AWAITING_LLM;
    s->sealed = false;
    s->iteration++; /* a final answer was in: the model is asked once more */
}

static void on_message(struct run_state *s, const struct json *p, const struct json *refs,
                       struct arena *a)
{
    struct sv role = json_text(p, "role");
    int64_t   seq;

    if (!s->active || !sv_eq(json_text(refs, "run_id"), s->run_id))
        return;
    if (json_int(json_find(refs, "event_seq"), &seq) && seq > s->event_seq)
        s->event_seq = seq;
    if (sv_is(role, "assistant"))
        on_assistant(s, p, a);
    else if (sv_is(role, "tool"))
        on_tool(s, p);
    else if (sv_is(role, "user"))
        on_user(s, refs);
}

static void on_held(struct run_state *s, const struct json *p, const struct entry *n)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (sv_eq(s->calls[i].id, json_text(p, "tool_call_id")))
            s->calls[i].held = n->seq;
}

static void on_finished(struct run_state *s, const struct json *p, struct arena *a)
{
    struct sv outcome = json_text(p, "outcome");

    s->active = false;
    s->sealed = false;
    s->n_queue = 0;
    s->n_calls = 0;
    s->parked_seq = -1; /* it follows in the same transaction, unless its op_id was taken */
    s->status = sv_is(outcome, "completed") ? RUN_COMPLETED : RUN_ERROR;
    s->termination_reason = json_text(p, "reason");
    if (json_find(p, "result"))
        s->result = raw_or_absent(json_find(p, "result"), a);
    if (sv_is(outcome, "cancelled"))
        s->cancel_reason = json_text(p, "cancel_reason");
}

static void on_input(struct run_state *s, const struct json *p, const struct entry *n,
                     struct arena *a)
{
    struct run_input *more = ARENA_NEW(a, struct run_input, s->n_queue + 1);

    for (size_t i = 0; i < s->n_queue; i++)
        more[i] = s->queue[i];
    more[s->n_queue++] = (struct run_input){ json_text(p, "input_id"), n->seq };
    s->queue = more;
}

/* clang-format off */
static void apply(struct run_state *s, enum kind k, const struct json *p, const struct json *refs,
                  const struct entry *n, struct arena *a)
{
    switch (k) {
    case KIND_RUN_STARTED:    on_started(s, p, n); break;
    case KIND_RUN_INPUT:      on_input(s, p, n, a); break;
    case KIND_RUN_TOOL_HELD:  on_held(s, p, n); break;
    case KIND_RUN_FINISHED:   on_finished(s, p, a); break;
    case KIND_RUN_CHECKPOINT: s->checkpoint_token = json_text(p, "token"); break;
    case KIND_AI_MESSAGE:     on_message(s, p, refs, a); break;
    case KIND_CONTEXT_OP_DEFERRED:
        s->parked_op = json_text(p, "op_id");
        s->parked_seq = n->seq;
        break;
    default: break;
    }
}
/* clang-format on */

static bool concerns_runs(enum kind k, const struct entry *n)
{
    switch (k) {
    case KIND_RUN_STARTED:
    case KIND_RUN_INPUT:
    case KIND_RUN_TOOL_HELD:
    case KIND_RUN_CHECKPOINT:
    case KIND_RUN_FINISHED:
    case KIND_CONTEXT_OP_DEFERRED: return true;
    case KIND_AI_MESSAGE: return sv_find(n->refs, SV("\"run_id\"")) >= 0;
    default: return false;
    }
}

enum status run_fold(struct fold *f, const struct entry *n, struct err *e)
{
    enum kind        k = kind_of(n->kind);
    struct json      payload, refs;
    struct run_state s = fresh_state();
    struct sv        row;
    bool             found;

    if (!concerns_runs(k, n))
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &payload, e) ||
        json_parse(n->refs.n ? n->refs : SV("{}"), 0, f->a, &refs, e))
        return err_code(e);
    struct sv agent = json_text(&payload, "agent");
    struct sv key = key_of_name("run", agent.n ? agent : AGENT_DEFAULT, f->a);
    if (fold_get(f, key, &row, &found, e) || (found && parse_state(row, f->a, &s, e)))
        return err_code(e);
    apply(&s, k, &payload, &refs, n, f->a);
    struct sb b = sb_in(f->a, 0);
    run_state_write(&b, &s);
    return fold_put(f, key, sb_sv(&b), e);
}
