/* The state of a run as a document: the row, completed from the entries that it names. */
#include "base/path.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/run.h"

struct describe_showing {
    struct log   *l;
    struct sv     thread, agent;
    struct arena *a;
    struct json   doc; /* the row */
};

static void set(struct describe_showing *s, struct json *object, const char *key, struct json v)
{
    VEC(struct json_member) list = { 0 };

    for (size_t i = 0; i < object->n; i++)
        if (!sv_is(object->members[i].key, key))
            *vec_push(&list, s->a) = object->members[i];
    *vec_push(&list, s->a) = (struct json_member){ sv_of(key), v };
    object->members = list.v;
    object->n = list.n;
}

static struct json *member(struct json *object, const char *key)
{
    return (struct json *)(uintptr_t)json_find(object, key);
}

/* The payload of an entry; null when it is not there. */
static enum status payload_at(struct describe_showing *s, int64_t seq, struct json *out,
                              struct err *e)
{
    struct store_query q = { .thread = s->thread, .from = seq, .to = seq };
    struct entry       n;
    bool               found = false;

    *out = (struct json){ .type = JSON_NULL };
    if (seq < 0)
        return ST_OK;
    if (store_first(s->l->store, &q, s->a, &n, &found, e))
        return err_code(e);
    return found ? json_parse(n.payload, 0, s->a, out, e) : ST_OK;
}

static void copy(struct describe_showing *s, struct json *to, const struct json *from,
                 const char *key)
{
    const struct json *v = json_find(from, key);

    if (v)
        set(s, to, key, *v);
}

static enum status show_inputs(struct describe_showing *s, const char *key,
                               const struct run_input *inputs, size_t n, struct err *e)
{
    struct json *list = member(&s->doc, key), p;

    for (size_t i = 0; i < n; i++) {
        if (payload_at(s, inputs[i].seq, &p, e))
            return err_code(e);
        copy(s, &list->items[i], &p, "content");
        copy(s, &list->items[i], &p, "kind");
        copy(s, &list->items[i], &p, "source");
    }
    return ST_OK;
}

static enum status show_calls(struct describe_showing *s, const struct run_state *state,
                              struct err *e)
{
    struct json *list = member(&s->doc, "pending_tool_calls"), p;

    if (payload_at(s, state->calls_seq, &p, e))
        return err_code(e);
    const struct json *calls = json_find(&p, "tool_calls");
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n && i < list->n; i++) {
        const struct json *inner = json_find(&calls->items[i], "function");
        copy(s, &list->items[i], inner ? inner : &calls->items[i], "arguments");
    }
    return ST_OK;
}

static enum status show_parked(struct describe_showing *s, const struct run_state *state,
                               struct err *e)
{
    struct json *op = member(&s->doc, "pending_context_op"), p;

    if (state->parked_seq < 0)
        return ST_OK;
    if (payload_at(s, state->parked_seq, &p, e))
        return err_code(e);
    copy(s, op, &p, "context_ref");
    copy(s, op, json_find(&p, "operation"), "type");
    copy(s, op, json_find(&p, "operation"), "reason");
    return ST_OK;
}

struct applied {
    VEC(struct json) list;
    struct arena *a;
};

static bool keep_applied(void *ctx, const struct store_row *row)
{
    struct applied *ids = ctx;

    *vec_push(&ids->list, ids->a) = json_of(sv_dup(row->value, ids->a));
    return ids->list.n < RUN_APPLIED_MAX;
}

static enum status show_applied(struct describe_showing *s, struct err *e)
{
    struct rows    r = rows_of_view(s->l, s->thread, &thread_view, s->a);
    struct applied ids = { .a = s->a };

    if (row_each(&r, key_below_name("applied", s->agent, s->a), (struct sv){ 0 }, true,
                 keep_applied, &ids, e))
        return err_code(e);
    set(s, &s->doc, "applied_context_ops",
        (struct json){ JSON_ARRAY, ids.list.n, { .items = ids.list.v } });
    return ST_OK;
}

/* Every agent that ran in the thread: a reader who does not know whose run is active finds it
 * here. */
static enum status show_runs(struct describe_showing *s, struct err *e)
{
    struct sb         text = sb_in(s->a, 0);
    struct jw         w = jw_in(&text, 0);
    struct run_named *runs;
    struct json       list;
    size_t            n;

    if (run_states(s->l, s->thread, s->a, &runs, &n, e))
        return err_code(e);
    jw_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(&w, '{');
        jw_kbool(&w, "active", runs[i].state.active);
        jw_kstr(&w, "agent", runs[i].agent);
        jw_kstr(&w, "status", sv_of(run_status_name(runs[i].state.status)));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    if (json_parse(sb_sv(&text), 0, s->a, &list, e))
        return err_code(e);
    set(s, &s->doc, "runs", list);
    return ST_OK;
}

static enum status show(struct describe_showing *s, struct sb *out, struct err *e)
{
    struct run_state  state;
    struct store_head h;
    struct sv         lane;
    struct sb         row = sb_in(s->a, 0);

    if (run_state_read(s->l, s->thread, s->agent, s->a, &state, e) ||
        store_head(s->l->store, s->thread, &h, e) ||
        lane_active(s->l, s->thread, s->agent, s->a, &lane, e))
        return err_code(e);
    run_state_write(&row, &state);
    if (json_parse(sb_sv(&row), 0, s->a, &s->doc, e))
        return err_code(e);
    set(s, &s->doc, "active_context_ref", json_of(lane));
    set(s, &s->doc, "projection_cursor_seq", json_of_int(h.rev - 1, s->a));
    if (show_applied(s, e) || show_inputs(s, "pending_input", state.queue, state.n_queue, e) ||
        show_inputs(s, "dropped_input", state.dropped, state.n_dropped, e) ||
        show_calls(s, &state, e) || show_parked(s, &state, e) || show_runs(s, e))
        return err_code(e);
    sb_add(out, json_canonical(&s->doc, s->a));
    return ST_OK;
}

enum status run_describe(struct log *l, const struct run_ref *who, struct arena *a, struct sb *out,
                         struct err *e)
{
    struct describe_showing s = {
        .l = l, .thread = who->thread, .agent = who->agent.n ? who->agent : AGENT_DEFAULT, .a = a
    };

    if (name_check(s.agent, "agent", e) || log_begin(l, s.thread, STORE_READ, e))
        return err_code(e);
    enum status st = show(&s, out, e);
    log_abort(l);
    return st;
}
