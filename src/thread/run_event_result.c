/* Runtime events: results of calls. They are logged in the order of the calls; one that comes early
 * is held, one that comes when the run no longer waits for it is logged all the same. */
#include "store/store.h"
#include "thread/run_event_internal.h"

/* The next call whose result may be logged: all before it are done. */
static struct run_call *next_call(struct run_state *s)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (!s->calls[i].done)
            return &s->calls[i];
    return NULL;
}

static struct run_call *call_of(struct run_state *s, struct sv id)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (sv_eq(s->calls[i].id, id))
            return &s->calls[i];
    return NULL;
}

/* Results that came early and whose turn it is now. */
static enum status release_next(struct run_tx *t, struct err *e)
{
    for (;;) {
        struct run_call *next = next_call(&t->s);
        if (!next || next->held < 0)
            return ST_OK;
        struct store_query q = { .thread = t->thread, .from = next->held, .to = next->held };
        struct entry       n;
        bool               found = false;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (!found)
            return err_set(e, ST_CORRUPT, "entry %lld, a result that is held, is missing",
                           (long long)next->held);
        if (run_append(t, KIND_AI_MESSAGE, n.lane, n.payload, n.refs, (struct sv){ 0 }, NULL, e))
            return err_code(e);
    }
}

/* A second result of a call: the same is a duplicate, another one is not taken. */
static enum status answered(struct run_tx *t, const struct entry *n, const struct run_made *m,
                            struct err *e)
{
    bool same;

    if (run_made_says_so(t, n, m, &same, e))
        return err_code(e);
    if (!same) {
        run_refuse(e, "tool_call_id", "the call has another result already");
        return err_hint(e, "entry %lld holds it", (long long)n->seq);
    }
    t->report->duplicates++;
    return ST_OK;
}

/* What an entry of the run has to do with a call. */
enum relation { UNRELATED, ASKS, ANSWERS };

static enum relation relation_of(const struct entry *n, struct sv run, struct sv call,
                                 struct arena *a)
{
    struct json        p, refs;
    struct err         ignored;
    const struct json *calls;

    if (sv_find(n->refs, SV("\"run_id\"")) < 0 || json_parse(n->payload, 0, a, &p, &ignored) ||
        json_parse(n->refs, 0, a, &refs, &ignored) || !sv_eq(json_text(&refs, "run_id"), run))
        return UNRELATED;
    if (sv_is(json_text(&p, "role"), "tool") && sv_eq(json_text(&p, "tool_call_id"), call))
        return ANSWERS;
    calls = json_find(&p, "tool_calls");
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++)
        if (sv_eq(json_text(&calls->items[i], "id"), call))
            return ASKS;
    return UNRELATED;
}

/* The newest message of the run that asks for or answers a call, from the end of the lane back to
 * the start of the run. */
static enum status find_call(struct run_tx *t, const struct entry *started, struct sv run,
                             struct sv call, struct entry *out, enum relation *is, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = t->thread,
                                                   .from = started->seq,
                                                   .to = STORE_TO_END,
                                                   .lane = started->lane,
                                                   .mark = MARK_MESSAGE,
                                                   .backwards = true };
    struct entry                             n;
    bool                                     more = true;

    *is = UNRELATED;
    if (store_scan(t->l->store, &q, &scan, e))
        return err_code(e);
    while (*is == UNRELATED) {
        struct arena_mark mark = arena_mark(t->a);
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        *is = relation_of(&n, run, call, t->a);
        arena_reset(t->a, mark);
    }
    *out = entry_dup(&n, t->a);
    return ST_OK;
}

static enum status unknown_call(struct err *e)
{
    run_refuse(e, "unknown_tool_call", "no tool call of the run has this tool_call_id");
    return err_hint(e, "a result of an earlier run needs that run's run_id; `heddle run status "
                       "--json` lists the open calls");
}

/* A result that came when the run no longer waited for it: the model answered without it, or the
 * run is over. It is recorded all the same, because the tool really ran. */
static enum status late_result(struct run_tx *t, const struct json *event, struct run_made *m,
                               struct err *e)
{
    struct run_tx late = *t;
    struct sv     run = run_event_run_of(t, event);
    struct entry  started, n;
    struct json   p;
    enum relation is;
    bool          found = false;

    if (store_find_op(t->l->store, t->thread, run_op_id("run:", run, t->a), t->a, &started, &found,
                      e))
        return err_code(e);
    if (!found || !sv_is(started.kind, kind_name(KIND_RUN_STARTED)) ||
        json_parse(started.payload, 0, t->a, &p, e))
        return run_refuse(e, "request_mismatch",
                          "the event belongs to a run that is not in the log");
    struct sv agent = json_text(&p, "agent");
    if (!sv_eq(agent.n ? agent : AGENT_DEFAULT, t->agent))
        return run_refuse(e, "request_mismatch", "the event belongs to a run of another agent");
    if (find_call(t, &started, run, m->call, &n, &is, e))
        return err_code(e);
    if (is == UNRELATED)
        return unknown_call(e);
    if (is == ANSWERS)
        return answered(t, &n, m, e);
    late.s.lane = started.lane;
    late.s.run_id = json_text(&p, "run_id");
    late.s.request_id = json_text(&p, "request_id");
    if (run_append(&late, KIND_AI_MESSAGE, started.lane, run_message_payload(&late, "tool", &m->m),
                   run_made_refs(&late, event, m), run_event_op(t, event), NULL, e))
        return err_code(e);
    t->s = late.s;
    return ST_OK;
}

enum status run_apply_tool(struct run_tx *t, const struct json *event, struct run_made *m,
                           struct err *e)
{
    bool             current = t->s.active && sv_eq(run_event_run_of(t, event), t->s.run_id);
    struct run_call *call = current ? call_of(&t->s, m->call) : NULL;

    if (call && call->held >= 0) {
        struct store_query q = { .thread = t->thread, .from = call->held, .to = call->held };
        struct entry       n;
        bool               found = false;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (found)
            return answered(t, &n, m, e);
    }
    if (!call || call->done)
        return late_result(t, event, m, e);
    if (!json_text(event, "tool_name").n && call->name.n)
        run_made_put(t, &m->m, "name", json_of(call->name));
    bool early = call != next_call(&t->s);
    if (run_append(t, early ? KIND_RUN_TOOL_HELD : KIND_AI_MESSAGE, t->s.lane,
                   run_message_payload(t, "tool", &m->m), run_made_refs(t, event, m),
                   run_event_op(t, event), NULL, e))
        return err_code(e);
    return early ? ST_OK : release_next(t, e);
}
