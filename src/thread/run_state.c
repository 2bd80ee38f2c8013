/* The row of a run: how it is written and read, and the fold that keeps it. */
#include "thread/run_state.h"

#include "base/vec.h"
#include "thread/kind.h"
#include "thread/lane.h"

#include <float.h>
#include <stdlib.h>

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

static void write_inputs(struct jw *w, const char *key, const struct run_input *list, size_t n)
{
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "id", list[i].id);
        jw_kint(w, "seq", list[i].seq);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

void run_state_write(struct sb *b, const struct run_state *s)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kbool(&w, "active", s->active);
    if (s->asked_seq >= 0)
        jw_kint(&w, "asked_seq", s->asked_seq);
    if (s->batch_seq >= 0)
        jw_kint(&w, "batch_seq", s->batch_seq);
    jw_kint(&w, "calls_seq", s->calls_seq);
    jw_kstr(&w, "cancel_reason", s->cancel_reason);
    jw_kstr(&w, "checkpoint_token", s->checkpoint_token);
    if (s->n_dropped)
        write_inputs(&w, "dropped_input", s->dropped, s->n_dropped);
    kraw(&w, "dropped_op", s->dropped_op);
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
    write_inputs(&w, "pending_input", s->queue, s->n_queue);
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

static void read_inputs(const struct json *list, struct arena *a, struct run_input **out, size_t *n)
{
    *n = list ? list->n : 0;
    *out = ARENA_NEW(a, struct run_input, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        (*out)[i].id = json_text(&list->items[i], "id");
        json_int(json_find(&list->items[i], "seq"), &(*out)[i].seq);
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
                             .dropped_op = raw_or_absent(json_find(&v, "dropped_op"), a),
                             .calls_seq = -1,
                             .asked_seq = -1,
                             .batch_seq = -1,
                             .parked_seq = -1 };
    for (size_t i = 0; i < COUNT(status_names); i++)
        if (sv_is(json_text(&v, "status"), status_names[i]))
            s->status = (enum run_status)i;
    json_int(json_find(&v, "iteration"), &s->iteration);
    json_int(json_find(&v, "max_iterations"), &s->max_iterations);
    json_int(json_find(&v, "event_seq"), &s->event_seq);
    json_int(json_find(&v, "calls_seq"), &s->calls_seq);
    json_int(json_find(&v, "asked_seq"), &s->asked_seq);
    json_int(json_find(&v, "batch_seq"), &s->batch_seq);
    const struct json *parked = json_find(&v, "pending_context_op");
    s->parked_op = json_text(parked, "op_id");
    json_int(json_find(parked, "seq"), &s->parked_seq);
    read_inputs(json_find(&v, "pending_input"), a, &s->queue, &s->n_queue);
    read_inputs(json_find(&v, "dropped_input"), a, &s->dropped, &s->n_dropped);
    read_calls(json_find(&v, "pending_tool_calls"), a, s);
    return ST_OK;
}

static struct run_state fresh_state(void)
{
    return (struct run_state){
        .status = RUN_IDLE, .calls_seq = -1, .asked_seq = -1, .batch_seq = -1, .parked_seq = -1
    };
}

enum status run_state_read(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                           struct run_state *out, struct err *e)
{
    struct rows r = rows_of_view(l, thread, &thread_view, a);
    struct sv   row;
    bool        found;

    *out = fresh_state();
    if (row_get(&r, key_of_name("run", agent, a), &row, &found, e))
        return err_code(e);
    return found ? parse_state(row, a, out, e) : ST_OK;
}

enum status run_states(struct log *l, struct sv thread, struct arena *a, struct run_named **out,
                       size_t *n, struct err *e)
{
    struct rows       r = rows_of_view(l, thread, &thread_view, a);
    struct store_row *rows;
    struct sv         prefix = SV("run/");

    if (rows_below(&r, prefix, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct run_named, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        (*out)[i].agent = sv_skip(rows[i].key, prefix.n);
        if (parse_state(rows[i].value, a, &(*out)[i].state, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status run_in_lane(struct log *l, struct sv thread, struct sv lane, struct arena *a,
                        struct sv *agent, struct err *e)
{
    struct rows r = rows_of_view(l, thread, &thread_view, a);
    bool        found;

    if (row_get(&r, key_of_name("busy", lane, a), agent, &found, e))
        return err_code(e);
    if (!found)
        *agent = (struct sv){ 0 };
    return ST_OK;
}

enum status run_parked(struct log *l, struct sv thread, struct sv op_id, struct arena *a,
                       int64_t *seq, struct sv *agent, struct err *e)
{
    struct rows r = rows_of_view(l, thread, &thread_view, a);
    struct sv   row;
    struct json v;
    bool        found;

    *seq = -1;
    *agent = (struct sv){ 0 };
    if (row_get(&r, key_of_name("parked", op_id, a), &row, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "parked row");
    json_int(json_find(&v, "seq"), seq);
    *agent = json_text(&v, "agent");
    return ST_OK;
}

/* ---- usage -------------------------------------------------------------------------- */

/* A number as digits and a power of ten, exactly; false when it has too many of either. */
static bool read_decimal(struct sv text, int64_t *digits, int *scale)
{
    bool    negative = text.n && text.s[0] == '-', point = false;
    int64_t value = 0;

    *scale = 0;
    for (size_t i = negative; i < text.n; i++) {
        if (text.s[i] == '.') {
            point = true;
            continue;
        }
        if (text.s[i] < '0' || text.s[i] > '9' || *scale >= 15 ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.s[i] - '0', &value))
            return false;
        *scale += point;
    }
    *digits = negative ? -value : value;
    return true;
}

static bool raise_scale(int64_t *digits, int *scale, int to)
{
    for (; *scale < to; ++*scale)
        if (__builtin_mul_overflow(*digits, 10, digits))
            return false;
    return true;
}

static struct sv decimal_text(int64_t digits, int scale, struct arena *a)
{
    struct sb b = sb_in(a, 0), number = sb_in(a, 0);
    uint64_t  size = digits < 0 ? 0 - (uint64_t)digits : (uint64_t)digits;

    sb_addf(&number, "%0*llu", scale + 1, (unsigned long long)size);
    struct sv text = sb_sv(&number);
    sb_adds(&b, digits < 0 ? "-" : "");
    sb_add(&b, sv_first(text, text.n - (size_t)scale));
    if (scale) {
        sb_addc(&b, '.');
        sb_add(&b, sv_skip(text, text.n - (size_t)scale));
    }
    return sb_sv(&b);
}

/* Decimal fractions are summed exactly, so that a hundred cents are a dollar; numbers that are too
 * long or have an exponent are summed as floating point. */
static struct json sum_numbers(const struct json *x, const struct json *y, struct arena *a)
{
    struct sv   one = { x->s, x->n }, two = { y->s, y->n };
    int64_t     m, n, sum;
    int         k, l;
    struct json out = { .type = JSON_NUMBER };
    struct sv   text;

    if (read_decimal(one, &m, &k) && read_decimal(two, &n, &l) && raise_scale(&m, &k, l) &&
        raise_scale(&n, &l, k) && !__builtin_add_overflow(m, n, &sum)) {
        text = decimal_text(sum, k, a);
    } else {
        struct sb b = sb_in(a, 0);
        double    d = strtod(sv_cstr(one, a), NULL) + strtod(sv_cstr(two, a), NULL);
        if (!(d <= DBL_MAX && d >= -DBL_MAX))
            return *y; /* the sum is too large for a JSON number */
        sb_addf(&b, "%.17g", d);
        text = sb_sv(&b);
    }
    out.s = text.s;
    out.n = text.n;
    return out;
}

/* Two usages of one run: numbers are summed, objects member by member; else the newer. */
static struct json sum_usage(const struct json *old, const struct json *more, struct arena *a)
{
    VEC(struct json_member) sum = { 0 };

    if (json_is(old, JSON_NUMBER) && json_is(more, JSON_NUMBER))
        return sum_numbers(old, more, a);
    if (!json_is(old, JSON_OBJECT) || !json_is(more, JSON_OBJECT))
        return *more;
    for (size_t i = 0; i < old->n; i++)
        if (!json_find_sv(more, old->members[i].key))
            *vec_push(&sum, a) = old->members[i];
    for (size_t i = 0; i < more->n; i++) {
        struct json_member m = more->members[i];
        const struct json *had = json_find_sv(old, m.key);
        if (had)
            m.value = sum_usage(had, &m.value, a);
        *vec_push(&sum, a) = m;
    }
    return (struct json){ JSON_OBJECT, sum.n, { .members = sum.v } };
}

static struct sv add_usage(struct sv old, const struct json *more, struct arena *a)
{
    struct json have;
    struct err  ignored;

    if (!json_is(more, JSON_OBJECT))
        return old;
    if (!old.s || json_parse(old, 0, a, &have, &ignored))
        return json_canonical(more, a);
    struct json total = sum_usage(&have, more, a);
    return json_canonical(&total, a);
}

/* The runtime's own total replaces the members that it names; the others keep their sums. */
static struct sv set_usage(struct sv old, const struct json *total, struct arena *a)
{
    struct json have = { .type = JSON_OBJECT };
    struct err  ignored;
    VEC(struct json_member) all = { 0 };

    if (!json_is(total, JSON_OBJECT))
        return old;
    if (old.s && json_parse(old, 0, a, &have, &ignored))
        have.n = 0;
    for (size_t i = 0; i < have.n; i++)
        if (!json_find_sv(total, have.members[i].key))
            *vec_push(&all, a) = have.members[i];
    for (size_t i = 0; i < total->n; i++)
        *vec_push(&all, a) = total->members[i];
    struct json out = { JSON_OBJECT, all.n, { .members = all.v } };
    return json_canonical(&out, a);
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
    next.max_iterations = RUN_ITERATIONS;
    json_int(json_find(json_find(p, "config"), "max_iterations"), &next.max_iterations);
    if (next.max_iterations < 1) /* an older version took any number */
        next.max_iterations = 1;
    *s = next;
}

static void on_assistant(struct run_state *s, const struct json *p, const struct entry *n,
                         struct arena *a)
{
    const struct json *calls = json_find(p, "tool_calls");

    s->usage = add_usage(s->usage, json_find(p, "usage"), a);
    if (json_is(calls, JSON_ARRAY) && calls->n) {
        open_calls(calls, a, s);
        s->calls_seq = n->seq;
        s->status = RUN_AWAITING_TOOL;
        s->sealed = false;
        return;
    }
    s->n_calls = 0;
    s->calls_seq = -1;
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

/* The input has become a message; returns how many are left. */
static size_t take_input(struct run_input *list, size_t n, const struct json *refs)
{
    struct sv id = json_text(refs, "input_id");
    size_t    kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!id.s || !sv_eq(list[i].id, id))
            list[kept++] = list[i];
    return kept;
}

static void on_user(struct run_state *s, const struct json *refs)
{
    s->n_queue = take_input(s->queue, s->n_queue, refs);
    if (!s->result.s)
        return; /* the opening message, or steering between two calls */
    s->result = (struct sv){ 0 };
    s->status = RUN_AWAITING_LLM;
    s->sealed = false;
    s->iteration++; /* the run had a final answer: the model is asked once more */
}

static void on_message(struct run_state *s, const struct json *p, const struct json *refs,
                       const struct entry *n, struct arena *a)
{
    struct sv role = json_text(p, "role");
    int64_t   seq;

    if (!sv_eq(json_text(refs, "run_id"), s->run_id))
        return;
    if (!s->active) { /* what a run never drained may be said after its end */
        s->n_dropped = take_input(s->dropped, s->n_dropped, refs);
        return;
    }
    if (json_int(json_find(refs, "event_seq"), &seq) && seq > s->event_seq)
        s->event_seq = seq;
    if (sv_is(role, "assistant"))
        on_assistant(s, p, n, a);
    else if (sv_is(role, "tool"))
        on_tool(s, p);
    else if (sv_is(role, "user"))
        on_user(s, refs);
}

/* An entry of the run that is active. Others change nothing: they came late, or belong to another
 * run. */
static bool is_of_run(const struct run_state *s, const struct json *p)
{
    return s->active && sv_eq(json_text(p, "run_id"), s->run_id);
}

static void on_held(struct run_state *s, const struct json *p, const struct entry *n)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (!s->calls[i].done && sv_eq(s->calls[i].id, json_text(p, "tool_call_id")))
            s->calls[i].held = n->seq;
}

/* A model is asked: in a turn, which counts its requests itself. */
static void on_request(struct run_state *s, const struct json *p, const struct entry *n)
{
    json_int(json_find(p, "iteration"), &s->iteration);
    s->asked_seq = n->seq;
    s->batch_seq = -1;
    s->status = RUN_AWAITING_LLM;
    s->result = (struct sv){ 0 };
    s->sealed = false;
}

/* The model has answered. Its prose, if any, was logged as a message before this. If commands
 * follow, the run continues. */
static void on_response(struct run_state *s, const struct json *p, const struct entry *n,
                        struct arena *a)
{
    s->asked_seq = -1;
    s->usage = add_usage(s->usage, json_find(p, "usage"), a);
    if (json_number(p, "commands") <= 0)
        return;
    s->batch_seq = n->seq;
    s->status = RUN_AWAITING_TOOL;
    s->result = (struct sv){ 0 };
    s->sealed = false;
}

static void on_finished(struct run_state *s, const struct json *p, struct arena *a)
{
    struct sv outcome = json_text(p, "outcome");

    s->active = false;
    s->sealed = false;
    s->dropped = s->queue;
    s->n_dropped = s->n_queue;
    s->queue = NULL;
    s->n_queue = 0;
    s->n_calls = 0;
    s->calls_seq = s->asked_seq = s->batch_seq = -1;
    s->parked_seq = -1; /* the operation is applied in the same transaction, or is dropped_op */
    s->status = sv_is(outcome, "completed") ? RUN_COMPLETED : RUN_ERROR;
    s->termination_reason = json_text(p, "reason");
    s->dropped_op = raw_or_absent(json_find(p, "dropped_op"), a);
    s->usage = add_usage(s->usage, json_find(p, "usage"), a);
    s->usage = set_usage(s->usage, json_find(p, "usage_total"), a);
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

/* A checkpoint may also come after the end of a run; it does not reopen the run. */
static void on_checkpoint(struct run_state *s, const struct json *p)
{
    if (sv_eq(json_text(p, "run_id"), s->run_id))
        s->checkpoint_token = json_text(p, "token");
}

static void on_parked(struct run_state *s, const struct json *p, const struct entry *n)
{
    s->parked_op = json_text(p, "op_id");
    s->parked_seq = n->seq;
}

static void apply(struct run_state *s, enum kind k, const struct json *p, const struct json *refs,
                  const struct entry *n, struct arena *a)
{
    if (k == KIND_RUN_STARTED)
        on_started(s, p, n);
    else if (k == KIND_AI_MESSAGE)
        on_message(s, p, refs, n, a);
    else if (k == KIND_RUN_CHECKPOINT)
        on_checkpoint(s, p);
    else if (k == KIND_CONTEXT_OP_DEFERRED && s->active)
        on_parked(s, p, n);
    else if (!is_of_run(s, p))
        return;
    else if (k == KIND_RUN_INPUT)
        on_input(s, p, n, a);
    else if (k == KIND_RUN_TOOL_HELD)
        on_held(s, p, n);
    else if (k == KIND_MODEL_REQUEST)
        on_request(s, p, n);
    else if (k == KIND_MODEL_RESPONSE)
        on_response(s, p, n, a);
    else if (k == KIND_RUN_FINISHED)
        on_finished(s, p, a);
}

/* Rows that others look at: which lane is busy, which op_ids wait. */
static enum status put_neighbours(struct rows *f, struct sv agent, const struct run_state *was,
                                  const struct run_state *is, struct err *e)
{
    bool moved = was->active != is->active || !sv_eq(was->lane, is->lane);
    bool parked = was->parked_seq != is->parked_seq;

    if (moved && was->active && row_del(f, key_of_name("busy", was->lane, f->a), e))
        return err_code(e);
    if (moved && is->active && row_put(f, key_of_name("busy", is->lane, f->a), agent, e))
        return err_code(e);
    if (parked && was->parked_seq >= 0 &&
        row_del(f, key_of_name("parked", was->parked_op, f->a), e))
        return err_code(e);
    if (!parked || is->parked_seq < 0)
        return ST_OK;
    struct sb b = sb_in(f->a, 0);
    struct jw w = jw_in(&b, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    jw_kint(&w, "seq", is->parked_seq);
    jw_close(&w, '}');
    return row_put(f, key_of_name("parked", is->parked_op, f->a), sb_sv(&b), e);
}

static bool concerns_runs(enum kind k, const struct entry *n)
{
    switch (k) {
    case KIND_RUN_STARTED:
    case KIND_RUN_INPUT:
    case KIND_RUN_TOOL_HELD:
    case KIND_RUN_CHECKPOINT:
    case KIND_RUN_FINISHED:
    case KIND_MODEL_REQUEST:
    case KIND_CONTEXT_OP_DEFERRED: return true;
    case KIND_MODEL_RESPONSE:
    case KIND_AI_MESSAGE: return sv_find(n->refs, SV("\"run_id\"")) >= 0;
    default: return false;
    }
}

enum status run_fold(struct rows *f, const struct entry *n, struct err *e)
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
    agent = agent.n ? agent : AGENT_DEFAULT;
    struct sv key = key_of_name("run", agent, f->a);
    if (row_get(f, key, &row, &found, e) || (found && parse_state(row, f->a, &s, e)))
        return err_code(e);
    struct run_state was = s;
    apply(&s, k, &payload, &refs, n, f->a);
    struct sb b = sb_in(f->a, 0);
    run_state_write(&b, &s);
    if (row_put(f, key, sb_sv(&b), e))
        return err_code(e);
    return put_neighbours(f, agent, &was, &s, e);
}
