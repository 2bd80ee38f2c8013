/* Runtime events: what a harness reports while it executes a run.
 *
 *     llm_completed       an assistant message
 *     tool_completed      a tool message; results are logged in the order of the calls
 *     input_injected      a user message
 *     checkpoint          the token is remembered
 *     request_completed, request_failed, request_cancelled, worker_exit      the end
 *     llm_started         ends the run when it is over its number of iterations
 *
 * Everything else (deltas, heartbeats, unknown kinds) changes nothing that is kept.
 *
 * The content of an event's entry is first made from the event alone; so a second report of the
 * event can be compared with the entry of the first, whatever happened to the run meanwhile. */
#include "store/store.h"
#include "thread/run_event_internal.h"

enum status run_refuse(struct err *e, const char *reason, const char *text)
{
    err_set(e, ST_CONFLICT, "%s", text);
    return err_reason(e, reason);
}

enum status run_event_invalid(struct err *e, const char *what, const char *hint)
{
    run_refuse(e, "invalid_event", what);
    return err_hint(e, "%s", hint);
}

/* The refs of what an event logs: its id as signal_id, its seq for fencing. */
static struct sv event_refs(const struct run_tx *t, const struct json *event,
                            const struct json *callers, struct sv source, struct sv input_id)
{
    int64_t   seq;
    struct sb b = sb_in(t->a, 0);

    if (json_int(json_find(event, "seq"), &seq))
        sb_add_int(&b, seq);
    const struct run_ref_pair more[] = { { "signal_id", json_text(event, "id") },
                                         { "event_seq", b.n ? sb_sv(&b) : (struct sv){ 0 } },
                                         { "input_id", input_id },
                                         { "source", source } };
    return run_refs(t, callers, more, COUNT(more));
}

struct sv run_event_run_of(const struct run_tx *t, const struct json *event)
{
    struct sv run = json_text(event, "run_id"), request = json_text(event, "request_id");

    return run.n ? run : request.n ? request : t->s.run_id;
}

struct sv run_event_op(const struct run_tx *t, const struct json *event)
{
    struct sv id = json_text(event, "id");
    struct sb b = sb_in(t->a, 0);

    if (!id.n)
        return (struct sv){ 0 };
    sb_add(&b, run_event_run_of(t, event));
    sb_addc(&b, '/');
    sb_add(&b, id);
    return run_op_id("event:", sb_sv(&b), t->a);
}

/* End the run because of an event. */
static enum status finish(struct run_tx *t, const struct json *event, struct run_end end,
                          struct err *e)
{
    end.refs = event_refs(t, event, NULL, (struct sv){ 0 }, (struct sv){ 0 });
    end.op_id = run_event_op(t, event);
    return run_finish(t, &end, e);
}

struct sv run_made_refs(const struct run_tx *t, const struct json *event, const struct run_made *m)
{
    return event_refs(t, event, m->refs, m->source, m->input_id);
}

struct sv run_message_payload(struct run_tx *t, const char *role, struct run_members *m)
{
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        run_made_put(t, m, "agent", json_of(t->agent));
    run_made_put(t, m, "context_ref", json_of(t->s.lane));
    run_made_put(t, m, "request_id", json_of(t->s.request_id));
    run_made_put(t, m, "role", json_of(sv_of(role)));
    run_made_put(t, m, "run_id", json_of(t->s.run_id));
    struct json payload = { JSON_OBJECT, m->list.n, { .members = m->list.v } };
    return json_canonical(&payload, t->a);
}

/* ---- events that come again ---------------------------------------------------------- */

static bool has_member(const struct run_made *m, struct sv key)
{
    for (size_t i = 0; i < m->m.list.n; i++)
        if (sv_eq(m->m.list.v[i].key, key))
            return true;
    return false;
}

/* Does the entry hold something that only an event could have said, and this one does not? */
static bool says_more(const struct json *payload, const struct run_made *m)
{
    static const char *const said[] = { "content", "reasoning_details", "result", "thinking",
                                        "token",   "tool_calls",        "usage",  "usage_total" };

    for (size_t i = 0; i < COUNT(said); i++)
        if (json_find(payload, said[i]) && !has_member(m, sv_of(said[i])))
            return true;
    return false;
}

enum status run_made_says_so(struct run_tx *t, const struct entry *n, const struct run_made *m,
                             bool *same, struct err *e)
{
    struct json p;

    if (json_parse(n->payload, 0, t->a, &p, e))
        return err_code(e);
    *same =
        m->kind == kind_of(n->kind) || (m->call.s && sv_is(n->kind, kind_name(KIND_RUN_TOOL_HELD)));
    if ((m->role && !sv_is(json_text(&p, "role"), m->role)) || says_more(&p, m))
        *same = false;
    for (size_t i = 0; i < m->m.list.n && *same; i++) {
        const struct json *is = json_find_sv(&p, m->m.list.v[i].key);
        *same = is && sv_eq(json_canonical(is, t->a), json_canonical(&m->m.list.v[i].value, t->a));
    }
    return ST_OK;
}

/* ---- dispatch --------------------------------------------------------------------------- */

/* clang-format off */
static const struct handler {
    const char  *kind;
    run_make_fn *make;
    bool         needs_active; /* else it may also come after the end */
    bool         needs_order;  /* not after an event with a higher seq; results follow their calls */
} handlers[] = {
    { "llm_started",       run_make_llm_started,    true,  true },
    { "llm_completed",     run_make_llm_completed,  true,  true },
    { "tool_completed",    run_make_tool_completed, false, false },
    { "input_injected",    run_make_input_injected, true,  true },
    { "checkpoint",        run_make_checkpoint,     false, false },
    { "request_completed", run_make_completed,      true,  true },
    { "request_failed",    run_make_failed,         true,  true },
    { "request_cancelled", run_make_cancelled,      true,  true },
    { "worker_exit",       run_make_worker_exit,    true,  true },
};
/* clang-format on */

static enum status idle(struct err *e, const char *what)
{
    run_refuse(e, "idle", what);
    return err_hint(e, "`heddle run start` begins one; only results of calls are recorded after "
                       "the end of a run");
}

/* Of this run, and not older than what was logged already? */
static enum status fence(const struct run_tx *t, const struct json *event, const struct handler *h,
                         struct err *e)
{
    struct sv request = json_text(event, "request_id"), run = json_text(event, "run_id");
    int64_t   seq;

    if (!t->s.run_id.n)
        return idle(e, "no run was ever started");
    if (h->make == run_make_tool_completed)
        return ST_OK; /* whichever run made the call */
    if ((request.n && !sv_eq(request, t->s.request_id)) || (run.n && !sv_eq(run, t->s.run_id)))
        return run_refuse(e, "request_mismatch", "the event belongs to another run");
    if (h->needs_active && !t->s.active)
        return idle(e, "no run is active");
    if (h->needs_order && json_int(json_find(event, "seq"), &seq) && seq <= t->s.event_seq)
        return run_refuse(e, "stale_event", "an event with a higher seq was logged already");
    return ST_OK;
}

/* Under the id of the event in its run; before ids were of a run, under the id alone. */
static enum status find_event(struct run_tx *t, const struct json *event, struct entry *n,
                              bool *found, struct err *e)
{
    struct sv   id = json_text(event, "id");
    struct json refs;

    *found = false;
    if (!id.n)
        return ST_OK;
    if (store_find_op(t->l->store, t->thread, run_event_op(t, event), t->a, n, found, e))
        return err_code(e);
    if (*found)
        return ST_OK;
    if (store_find_op(t->l->store, t->thread, run_op_id("event:", id, t->a), t->a, n, found, e) ||
        (*found && json_parse(n->refs.n ? n->refs : SV("{}"), 0, t->a, &refs, e)))
        return err_code(e);
    *found = *found && sv_eq(json_text(&refs, "run_id"), run_event_run_of(t, event));
    return ST_OK;
}

/* A second report of an event; *done when it is one. */
static enum status repeat(struct run_tx *t, const struct json *event, const struct run_made *m,
                          bool *done, struct err *e)
{
    struct entry n;
    bool         same = true;

    if (find_event(t, event, &n, done, e))
        return err_code(e);
    if (!*done)
        return ST_OK;
    if (m->kind != KIND_OTHER && run_made_says_so(t, &n, m, &same, e))
        return err_code(e);
    if (!same) {
        err_set(e, ST_CONFLICT, "event '" SV_FMT "' was reported before, with other content",
                SV_ARG(json_text(event, "id")));
        err_reason(e, "event_id");
        return err_hint(e, "entry %lld holds it; give each event of a run an id of its own",
                        (long long)n.seq);
    }
    t->report->duplicates++;
    return ST_OK;
}

static enum status apply_checkpoint(struct run_tx *t, const struct json *event, struct run_made *m,
                                    struct err *e)
{
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        run_made_put(t, &m->m, "agent", json_of(t->agent));
    run_made_put(t, &m->m, "run_id", json_of(t->s.run_id));
    struct json payload = { JSON_OBJECT, m->m.list.n, { .members = m->m.list.v } };
    return run_append(t, KIND_RUN_CHECKPOINT, t->s.lane, json_canonical(&payload, t->a),
                      run_made_refs(t, event, m), run_event_op(t, event), NULL, e);
}

static enum status apply_made(struct run_tx *t, const struct json *event, struct run_made *m,
                              struct err *e)
{
    if (m->kind == KIND_RUN_FINISHED)
        return finish(t, event, m->end, e);
    if (m->kind == KIND_RUN_CHECKPOINT)
        return apply_checkpoint(t, event, m, e);
    if (m->kind == KIND_OTHER)
        return ST_OK;
    if (m->call.s)
        return run_apply_tool(t, event, m, e);
    /* The model went on without them: write the results that were held. */
    if (sv_is(sv_of(m->role), "assistant") && run_release_held(t, e))
        return err_code(e);
    return run_append(t, m->kind, t->s.lane, run_message_payload(t, m->role, &m->m),
                      run_made_refs(t, event, m), run_event_op(t, event), NULL, e);
}

static enum status run_known_event(struct run_tx *t, const struct handler *h,
                                   const struct json *event, struct err *e)
{
    const struct json *data = json_find(event, "data");
    struct json        none = { .type = JSON_OBJECT };
    struct run_made    m = { .kind = KIND_OTHER };
    bool               done;

    if (run_value_is_there(data) && data->type != JSON_OBJECT)
        return run_event_invalid(e, "data of an event is an object", "{\"kind\":…,\"data\":{…}}");
    if (h->make(t, event, run_value_is_there(data) ? data : &none, &m, e) ||
        repeat(t, event, &m, &done, e))
        return err_code(e);
    if (done)
        return ST_OK;
    return fence(t, event, h, e) ? err_code(e) : apply_made(t, event, &m, e);
}

const char *run_event_near(struct sv kind, bool *known)
{
    static const char *const without_effect[] = { "request_started", "llm_delta", "tool_started",
                                                  "keepalive", "heartbeat" };
    const char              *near = NULL;
    size_t                   least = 3; /* at most two typing errors */

    *known = sv_starts(kind, SV("output_"));
    for (size_t i = 0; i < COUNT(without_effect); i++)
        *known = *known || sv_is(kind, without_effect[i]);
    for (size_t i = 0; i < COUNT(handlers); i++) {
        size_t d = sv_distance(kind, sv_of(handlers[i].kind));
        *known = *known || !d;
        near = d < least ? handlers[i].kind : near;
        least = d < least ? d : least;
    }
    return near;
}

enum status run_event(struct run_tx *t, const struct json *event, struct err *e)
{
    struct sv kind = json_text(event, "kind");

    if (!kind.n) {
        err_set(e, ST_INVALID_SYNTAX, "a runtime event needs a \"kind\"");
        return err_reason(e, "invalid_event");
    }
    for (size_t i = 0; i < COUNT(handlers); i++)
        if (sv_is(kind, handlers[i].kind))
            return run_known_event(t, &handlers[i], event, e);
    return ST_OK;
}
