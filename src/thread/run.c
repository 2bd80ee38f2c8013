/* The calls that start, steer and end a run. */
#include "thread/run.h"

#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/lane.h"
#include "thread/op.h"
#include "thread/project.h"
#include "thread/run_internal.h"

/* ---- the transaction --------------------------------------------------------------- */

static struct run_tx tx_of(struct log *l, const struct run_ref *who, struct arena *a)
{
    return (struct run_tx){ .l = l,
                            .thread = who->thread,
                            .agent = who->agent.n ? who->agent : AGENT_DEFAULT,
                            .actor = who->actor,
                            .at = who->at,
                            .a = a };
}

static enum status begin(struct run_tx *t, enum store_mode mode, struct err *e)
{
    struct store_head h;

    if (name_check(t->agent, "agent", e) || log_begin(t->l, t->thread, mode, e))
        return err_code(e);
    if (store_head(t->l->store, t->thread, &h, e) ||
        run_state_read(t->l, t->thread, t->agent, t->a, &t->s, e)) {
        log_abort(t->l);
        return err_code(e);
    }
    rand_mix((struct sv){ (const char *)h.chain.b, HASH_SIZE }); /* ids depend on the state */
    t->is_new = h.rev == 0;
    return ST_OK;
}

/* begin() for calls that do not create a thread. */
static enum status begin_known(struct run_tx *t, enum store_mode mode, struct err *e)
{
    if (begin(t, mode, e))
        return err_code(e);
    if (!t->is_new)
        return ST_OK;
    log_abort(t->l);
    return log_no_thread(t->thread, e);
}

/* Commit when all went well, else undo everything. */
static enum status end(struct run_tx *t, enum status s, struct err *e)
{
    if (s || (s = log_commit(t->l, e)))
        log_abort(t->l);
    return s;
}

static enum status refuse(struct err *e, enum status code, const char *reason, const char *text)
{
    err_set(e, code, "%s", text);
    return err_reason(e, reason);
}

enum status run_append(struct run_tx *t, enum kind kind, struct sv lane, struct sv payload,
                       struct sv refs, struct sv op_id, int64_t *seq, struct err *e)
{
    struct store_head h;
    struct entry      n = { .at = t->at,
                            .kind = sv_of(kind_name(kind)),
                            .lane = lane,
                            .actor = t->actor,
                            .payload = payload,
                            .refs = refs,
                            .op_id = op_id };

    if (kind_check_depth(payload, e) || log_append(t->l, t->thread, LOG_ANY_REV, &n, 1, &h, e))
        return err_code(e);
    if (seq)
        *seq = n.seq;
    if (t->report)
        t->report->logged++;
    return run_state_read(t->l, t->thread, t->agent, t->a, &t->s, e);
}

struct sv run_op_id(const char *prefix, struct sv id, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    struct hash h = hash_blake2b(&id, 1);

    sb_adds(&b, prefix);
    if (b.n + id.n <= ENTRY_ID_MAX && !sv_has(id, 0) && utf8_invalid(id) < 0)
        sb_add(&b, id);
    else
        sb_addf(&b, "#" SV_FMT, SV_ARG(hash_hex(&h, a)));
    return sb_sv(&b);
}

struct sv run_start_op(struct sv request_id, struct arena *a)
{
    return run_op_id("run:", request_id, a);
}

struct sv run_refs(const struct run_tx *t, const struct json *callers,
                   const struct run_ref_pair *more, size_t n)
{
    static const char *const ours[] = { "request_id", "run_id", "signal_id", "event_seq",
                                        "input_id" };
    VEC(struct json_member) list = { 0 };

    for (size_t i = 0; callers && callers->type == JSON_OBJECT && i < callers->n; i++) {
        bool taken = false;
        for (size_t k = 0; k < COUNT(ours); k++)
            taken = taken || sv_is(callers->members[i].key, ours[k]);
        for (size_t k = 0; k < n; k++)
            taken = taken || (more[k].value.s && sv_is(callers->members[i].key, more[k].key));
        if (!taken)
            *vec_push(&list, t->a) = callers->members[i];
    }
    *vec_push(&list, t->a) = (struct json_member){ SV("request_id"), json_of(t->s.request_id) };
    *vec_push(&list, t->a) = (struct json_member){ SV("run_id"), json_of(t->s.run_id) };
    for (size_t k = 0; k < n; k++) {
        int64_t number;
        if (!more[k].value.s)
            continue;
        bool is_number =
            sv_is(sv_of(more[k].key), "event_seq") && sv_to_int(more[k].value, &number);
        *vec_push(&list, t->a) =
            (struct json_member){ sv_of(more[k].key),
                                  is_number ? json_of_int(number, t->a) : json_of(more[k].value) };
    }
    struct json refs = { JSON_OBJECT, list.n, { .members = list.v } };
    return json_canonical(&refs, t->a);
}

/* ---- the end of a run --------------------------------------------------------------- */

enum status run_release_held(struct run_tx *t, struct err *e)
{
    for (size_t i = 0; i < t->s.n_calls; i++) {
        struct run_call    call = t->s.calls[i];
        struct store_query q = { .thread = t->thread, .from = call.held, .to = call.held };
        struct entry       n;
        bool               found = false;
        if (call.done || call.held < 0)
            continue;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (found &&
            run_append(t, KIND_AI_MESSAGE, n.lane, n.payload, n.refs, (struct sv){ 0 }, NULL, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The parked operation that could not be applied, with the reason `why`. */
static void write_dropped_op(struct jw *w, const struct run_tx *t, const struct err *why)
{
    struct sb reason = sb_in(t->a, 0);

    sb_add_lossy(&reason, sv_of(why->text));
    jw_key(w, "dropped_op");
    jw_open(w, '{');
    jw_kstr(w, "op_id", t->s.parked_op);
    jw_kstr(w, "reason", sb_sv(&reason));
    jw_kint(w, "seq", t->s.parked_seq);
    jw_close(w, '}');
}

static struct sv finish_payload(const struct run_tx *t, const struct run_end *end,
                                const struct err *dropped)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", t->agent);
    if (end->cancel_reason.s)
        jw_kstr(&w, "cancel_reason", end->cancel_reason);
    if (t->s.n_queue) { /* name the steering that the run never saw */
        jw_key(&w, "dropped_input");
        jw_open(&w, '[');
        for (size_t i = 0; i < t->s.n_queue; i++)
            jw_str(&w, t->s.queue[i].id);
        jw_close(&w, ']');
    }
    if (dropped->text[0])
        write_dropped_op(&w, t, dropped);
    jw_kstr(&w, "outcome", sv_of(end->outcome));
    jw_kstr(&w, "reason", end->reason);
    jw_kstr(&w, "request_id", t->s.request_id);
    if (end->result.s) {
        jw_key(&w, "result");
        jw_raw(&w, end->result);
    }
    jw_kstr(&w, "run_id", t->s.run_id);
    if (end->usage.s) {
        jw_key(&w, "usage");
        jw_raw(&w, end->usage);
    }
    if (end->usage_total.s) {
        jw_key(&w, "usage_total");
        jw_raw(&w, end->usage_total);
    }
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status run_finish(struct run_tx *t, const struct run_end *end, struct err *e)
{
    struct sv        refs = end->refs.s ? end->refs : run_refs(t, NULL, NULL, 0);
    struct op_parked parked;
    struct err       dropped = { 0 };
    bool             waits;

    if (run_release_held(t, e))
        return err_code(e);
    waits = t->s.parked_seq >= 0;
    if (waits && op_parked_read(t->l, t->thread, t->s.parked_seq, t->actor, t->at, t->a, &parked,
                                &dropped, e))
        return err_code(e);
    if (run_append(t, KIND_RUN_FINISHED, t->s.lane, finish_payload(t, end, &dropped), refs,
                   end->op_id, NULL, e) ||
        (waits && !dropped.text[0] && op_parked_apply(t->l, &parked, t->a, e)))
        return err_code(e);
    return run_state_read(t->l, t->thread, t->agent, t->a, &t->s, e);
}

/* ---- start ---------------------------------------------------------------------------- */

static bool has_tool(const struct json *tools, struct sv name)
{
    for (size_t i = 0; json_is(tools, JSON_ARRAY) && i < tools->n; i++)
        if (sv_eq(json_sv(&tools->items[i]), name))
            return true;
    return false;
}

static enum status check_tools(const struct run_start *start, struct err *e)
{
    const struct json *tools = json_find(start->config, "tools");

    for (size_t i = 0; json_is(start->allowed, JSON_ARRAY) && i < start->allowed->n; i++) {
        struct sv name = json_sv(&start->allowed->items[i]);
        if (has_tool(tools, name))
            continue;
        err_set(e, ST_INVALID_SYNTAX, "no tool is called '" SV_FMT "'", SV_ARG(name));
        err_reason(e, "unknown_allowed_tools");
        return err_hint(e, "tools are named in \"run.tools\" of .heddle/config.json");
    }
    return ST_OK;
}

static enum status check_iterations(const struct run_start *start, struct err *e)
{
    const struct json *most = json_find(start->config, "max_iterations");
    int64_t            n;

    if (!most || (json_int(most, &n) && n >= 1))
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "max_iterations must be a whole number from 1 on");
    return err_reason(e, "invalid_max_iterations");
}

static struct sv start_payload(const struct run_tx *t, const struct run_start *start)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", t->agent);
    if (json_is(start->allowed, JSON_ARRAY)) {
        jw_key(&w, "allowed_tools");
        jw_raw(&w, json_canonical(start->allowed, t->a));
    }
    if (json_is(start->config, JSON_OBJECT)) {
        jw_key(&w, "config");
        jw_raw(&w, json_canonical(start->config, t->a));
    }
    jw_kstr(&w, "request_id", t->s.request_id);
    jw_kstr(&w, "run_id", t->s.run_id);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static struct sv user_payload(const struct run_tx *t, struct sv lane, struct sv content)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", t->agent);
    jw_key(&w, "content");
    jw_raw(&w, content);
    jw_kstr(&w, "context_ref", lane);
    jw_kstr(&w, "request_id", t->s.request_id);
    jw_kstr(&w, "role", SV("user"));
    jw_kstr(&w, "run_id", t->s.run_id);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status read_refs(struct sv text, struct arena *a, struct json *out, struct err *e)
{
    *out = (struct json){ .type = JSON_OBJECT };
    if (text.n && json_parse(text, 0, a, out, e))
        return err_in(e, "refs");
    if (out->type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, "refs must be an object");
    return ST_OK;
}

/* The prompt of the settings becomes part of a lane's context only through an entry of the log,
 * which is appended here, before the run starts. */
static enum status log_prompt(struct run_tx *t, struct sv lane, const struct run_start *start,
                              struct err *e)
{
    struct sb        context = sb_in(t->a, 0), id = sb_in(t->a, 0);
    struct op_result r;

    sb_adds(&context, "{\"messages\":[],\"system_prompt\":");
    if (start->system_prompt.n)
        sb_add_json_string(&context, start->system_prompt);
    else
        sb_adds(&context, "null");
    sb_addc(&context, '}');
    sb_add(&id, run_op_id("prompt:", t->s.request_id, t->a));
    struct op op = { .type = OP_REPLACE,
                     .thread = t->thread,
                     .agent = t->agent,
                     .op_id = sb_sv(&id),
                     .lane = lane,
                     .reason = SV("system"),
                     .context = sb_sv(&context),
                     .has_base_seq = true,
                     .base_seq = -1, /* all messages stay */
                     .rebase = true,
                     .meta = SV("{\"origin\":\"settings\"}"),
                     .actor = t->actor,
                     .at = t->at };
    return op_apply_in(t->l, &op, t->a, &r, e);
}

/* The prompt of the settings is used when the lane has none, or has an earlier one of the settings;
 * a snapshot's own prompt wins, even when it is null. */
static enum status settle_prompt(struct run_tx *t, struct sv lane, const struct run_start *start,
                                 struct err *e)
{
    struct projection_of of = { t->thread, lane, STORE_TO_END, { 0 } };
    struct projection    p;
    struct store_query   q = { .thread = t->thread };
    struct entry         n;
    struct json          v;
    bool                 found = false;

    if (t->is_new)
        return start->system_prompt.n ? log_prompt(t, lane, start, e) : ST_OK;
    if (project_start(t->l, &of, t->a, &p, e))
        return err_code(e);
    if (p.anchor < 0)
        return start->system_prompt.n ? log_prompt(t, lane, start, e) : ST_OK;
    q.from = q.to = p.anchor;
    if (sv_eq(p.system_prompt, start->system_prompt) ||
        store_first(t->l->store, &q, t->a, &n, &found, e))
        return sv_eq(p.system_prompt, start->system_prompt) ? ST_OK : err_code(e);
    if (!found || json_parse(n.payload, 0, t->a, &v, e))
        return found ? err_code(e) : ST_OK;
    const struct json *meta = json_find(json_find(&v, "operation"), "meta");
    return sv_is(json_text(meta, "origin"), "settings") ? log_prompt(t, lane, start, e) : ST_OK;
}

/* The two entries a run begins with. */
static enum status append_start(struct run_tx *t, const struct run_start *start, struct sv lane,
                                struct sv op_id, struct err *e)
{
    struct store_head h;
    struct json       refs;

    if (read_refs(start->refs, t->a, &refs, e))
        return err_code(e);
    struct entry both[] = { { .at = t->at,
                              .kind = sv_of(kind_name(KIND_RUN_STARTED)),
                              .lane = lane,
                              .actor = t->actor,
                              .payload = start_payload(t, start),
                              .refs = run_refs(t, NULL, NULL, 0),
                              .op_id = op_id },
                            { .at = t->at,
                              .kind = sv_of(kind_name(KIND_AI_MESSAGE)),
                              .lane = lane,
                              .actor = t->actor,
                              .payload = start->content.s ? user_payload(t, lane, start->content)
                                                          : (struct sv){ 0 },
                              .refs = run_refs(t, &refs, NULL, 0) } };
    size_t       n = start->content.s ? COUNT(both) : 1;
    if (kind_check_depth(both[0].payload, e) || (n > 1 && kind_check_depth(both[1].payload, e)))
        return err_code(e);
    if (log_append(t->l, t->thread, LOG_ANY_REV, both, n, &h, e)) {
        if (sv_is(sv_of(e->reason), "op_id")) {
            err_set(e, ST_CONFLICT, "request '" SV_FMT "' was started before, with other content",
                    SV_ARG(t->s.request_id));
            err_reason(e, "request_id");
            err_hint(e, "give each request an id of its own");
        }
        return err_code(e);
    }
    return run_state_read(t->l, t->thread, t->agent, t->a, &t->s, e);
}

struct sv run_cancel_words(struct sv thread, struct sv agent, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "heddle run cancel ");
    sb_add_shell(&b, thread);
    if (agent.n && !sv_eq(agent, AGENT_DEFAULT)) {
        sb_adds(&b, " --agent ");
        sb_add_shell(&b, agent);
    }
    return sb_sv(&b);
}

static enum status may_start(struct run_tx *t, const struct run_state *now, struct sv lane,
                             struct err *e)
{
    struct sv other;

    if (now->active) {
        err_set(e, ST_CONFLICT, "request '" SV_FMT "' is still running", SV_ARG(now->request_id));
        err_reason(e, "busy");
        return err_hint(e, "`heddle run steer` adds to it, `" SV_FMT "` ends it",
                        SV_ARG(run_cancel_words(t->thread, t->agent, t->a)));
    }
    if (run_in_lane(t->l, t->thread, lane, t->a, &other, e))
        return err_code(e);
    if (!other.n)
        return ST_OK;
    err_set(e, ST_CONFLICT, "a run of agent '" SV_FMT "' is active in lane '" SV_FMT "'",
            SV_ARG(other), SV_ARG(lane));
    err_reason(e, "lane_busy");
    return err_hint(e,
                    "wait for its end, or give this agent a lane of its own (`heddle help op "
                    "fork`); if its program is gone, `" SV_FMT "` ends it",
                    SV_ARG(run_cancel_words(t->thread, other, t->a)));
}

/* A request id is used once in a thread: late events of an old run cannot reach a new one. Asking
 * for the same run again is harmless, also when it is over. */
static enum status do_start(struct run_tx *t, const struct run_start *start, struct err *e)
{
    struct run_state now = t->s;
    struct entry     n;
    struct sv        lane, claim;
    bool             found = false;

    t->s.request_id = start->request_id.n ? start->request_id : rand_id("req_", 20, t->a);
    t->s.run_id = t->s.request_id;
    claim = run_start_op(t->s.request_id, t->a);
    if (store_find_op(t->l->store, t->thread, claim, t->a, &n, &found, e))
        return err_code(e);
    if (found)
        return append_start(t, start, n.lane, claim, e);
    if (check_tools(start, e) || check_iterations(start, e) ||
        lane_active(t->l, t->thread, t->agent, t->a, &lane, e))
        return err_code(e);
    lane = start->lane.n ? start->lane : lane;
    if (may_start(t, &now, lane, e) || settle_prompt(t, lane, start, e))
        return err_code(e);
    return append_start(t, start, lane, claim, e);
}

enum status run_start(struct log *l, const struct run_ref *who, const struct run_start *start,
                      struct arena *a, struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (start->request_id.s && name_check(start->request_id, "request id", e))
        return err_code(e);
    if (begin(&t, STORE_WRITE, e) || end(&t, do_start(&t, start, e), e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

/* Join a transaction that is open. */
static enum status join(struct run_tx *t, struct err *e)
{
    struct store_head h;

    if (name_check(t->agent, "agent", e) || store_head(t->l->store, t->thread, &h, e))
        return err_code(e);
    t->is_new = h.rev == 0;
    return run_state_read(t->l, t->thread, t->agent, t->a, &t->s, e);
}

enum status run_start_in(struct log *l, const struct run_ref *who, const struct run_start *start,
                         struct arena *a, struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (start->request_id.s && name_check(start->request_id, "request id", e))
        return err_code(e);
    if (join(&t, e) || do_start(&t, start, e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

enum status run_end_in(struct log *l, const struct run_ref *who, const struct run_ending *how,
                       struct arena *a, struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (join(&t, e))
        return err_code(e);
    if (!t.s.active)
        return refuse(e, ST_CONFLICT, "idle", "no run is active");
    if (run_finish(&t,
                   &(struct run_end){ .outcome = how->outcome,
                                      .reason = how->reason,
                                      .result = how->result,
                                      .cancel_reason = how->cancel_reason,
                                      .usage_total = t.s.usage },
                   e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

static enum status check_text(struct sv text, const char *what, struct err *e)
{
    return utf8_invalid(text) < 0 ? ST_OK : err_set(e, ST_INVALID_SYNTAX, "%s is not UTF-8", what);
}

/* ---- steering ------------------------------------------------------------------------- */

static enum status may_steer(const struct run_tx *t, struct sv expected, struct sv text,
                             struct err *e)
{
    if (!t->s.active) {
        refuse(e, ST_CONFLICT, "idle", "no run is active: there is nothing to steer");
        return err_hint(e, "`heddle run start` begins one");
    }
    if (expected.n && !sv_eq(expected, t->s.request_id))
        return refuse(e, ST_CONFLICT, "request_mismatch", "another request is active");
    if (!text.n)
        return refuse(e, ST_INVALID_SYNTAX, "empty_content", "steering needs some text");
    if (t->s.n_queue >= RUN_QUEUE_MAX)
        return refuse(e, ST_LIMIT_EXCEEDED, "queue_full", "64 inputs are waiting already");
    if (t->s.sealed)
        return refuse(e, ST_CONFLICT, "closed", "the run has its final answer and is ending");
    return ST_OK;
}

static struct sv input_payload(const struct run_tx *t, const struct run_steer *steer, struct sv id,
                               const struct json *refs)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (!sv_eq(t->agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", t->agent);
    jw_kstr(&w, "content", sv_trim(steer->text));
    jw_kstr(&w, "input_id", id);
    jw_kstr(&w, "kind", sv_of(steer->kind));
    jw_key(&w, "refs");
    jw_raw(&w, json_canonical(refs, t->a));
    jw_kstr(&w, "request_id", t->s.request_id);
    jw_kstr(&w, "run_id", t->s.run_id);
    if (steer->source.n)
        jw_kstr(&w, "source", steer->source);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* Was this steering accepted before, under its op_id? Then it belongs to the run that the entry
 * names. */
static enum status steered_before(struct run_tx *t, struct sv op_id, bool *found, struct err *e)
{
    struct entry n;
    struct json  p;

    *found = false;
    if (!op_id.s)
        return ST_OK;
    if (store_find_op(t->l->store, t->thread, op_id, t->a, &n, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    if (json_parse(n.payload, 0, t->a, &p, e))
        return err_code(e);
    t->s.lane = n.lane;
    t->s.request_id = json_text(&p, "request_id");
    t->s.run_id = json_text(&p, "run_id");
    return ST_OK;
}

static enum status do_steer(struct run_tx *t, const struct run_steer *steer, struct sv *input_id,
                            struct err *e)
{
    struct sv   text = sv_trim(steer->text), op_id = { 0 };
    struct json refs;
    bool        repeated;

    if (steer->op_id.n)
        op_id = run_op_id("input:", steer->op_id, t->a);
    if (check_text(text, "the text", e) || check_text(steer->source, "the source", e) ||
        read_refs(steer->refs, t->a, &refs, e) || steered_before(t, op_id, &repeated, e) ||
        (!repeated && may_steer(t, steer->request_id, text, e)))
        return err_code(e);
    *input_id = steer->op_id.n ? steer->op_id : rand_id("inp_", 20, t->a);
    return run_append(t, KIND_RUN_INPUT, t->s.lane, input_payload(t, steer, *input_id, &refs),
                      run_refs(t, NULL, NULL, 0), op_id, NULL, e);
}

enum status run_steer(struct log *l, const struct run_ref *who, const struct run_steer *steer,
                      struct arena *a, struct sv *input_id, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (steer->op_id.s && name_check(steer->op_id, "op_id", e))
        return err_code(e);
    if (begin_known(&t, STORE_WRITE, e))
        return err_code(e);
    return end(&t, do_steer(&t, steer, input_id, e), e);
}

static enum status drain_one(struct run_tx *t, struct run_input input, struct jw *w, struct err *e)
{
    struct store_query q = { .thread = t->thread, .from = input.seq, .to = input.seq };
    struct entry       n;
    struct json        p;
    bool               found;
    int64_t            seq;

    if (store_first(t->l->store, &q, t->a, &n, &found, e))
        return err_code(e);
    if (!found || json_parse(n.payload, 0, t->a, &p, e)) {
        err_set(e, ST_CORRUPT, "entry %lld, an input that waits, cannot be read",
                (long long)input.seq);
        return err_hint(e, "`heddle verify` says what is wrong with the log");
    }
    const struct run_ref_pair more[] = { { "input_id", input.id },
                                         { "source", json_text(&p, "source") } };
    struct sv                 refs = run_refs(t, json_find(&p, "refs"), more, COUNT(more));
    struct sv                 content = json_canonical(json_find(&p, "content"), t->a);
    if (run_append(t, KIND_AI_MESSAGE, t->s.lane, user_payload(t, t->s.lane, content), refs,
                   (struct sv){ 0 }, &seq, e))
        return err_code(e);
    jw_open(w, '{');
    jw_key(w, "content");
    jw_raw(w, content);
    jw_kstr(w, "id", input.id);
    jw_kint(w, "seq", seq);
    jw_close(w, '}');
    return ST_OK;
}

/* A user's message must not come between a call and its results. */
static enum status may_drain(const struct run_tx *t, struct err *e)
{
    if (!t->s.active || t->s.status != RUN_AWAITING_TOOL)
        return ST_OK;
    refuse(e, ST_CONFLICT, "awaiting_tool", "tool calls are open: input waits until they are done");
    return err_hint(e, "report their results first: `heddle run event` with tool_completed");
}

enum status run_drain(struct log *l, const struct run_ref *who, struct arena *a, struct sv *drained,
                      struct err *e)
{
    struct run_tx t = tx_of(l, who, a);
    struct sb     b = sb_in(a, 0);
    struct jw     w = jw_in(&b, 0);
    enum status   s = ST_OK;

    if (begin_known(&t, STORE_WRITE, e))
        return err_code(e);
    s = may_drain(&t, e);
    jw_open(&w, '[');
    while (!s && t.s.active && t.s.n_queue)
        s = drain_one(&t, t.s.queue[0], &w, e);
    jw_close(&w, ']');
    if (end(&t, s, e))
        return err_code(e);
    *drained = sb_sv(&b);
    return ST_OK;
}

/* ---- the rest -------------------------------------------------------------------------- */

static enum status do_cancel(struct run_tx *t, struct sv request_id, struct sv reason,
                             struct err *e)
{
    if (!t->s.active)
        return refuse(e, ST_CONFLICT, "idle", "no run is active");
    if (request_id.n && !sv_eq(request_id, t->s.request_id))
        return refuse(e, ST_CONFLICT, "request_mismatch", "another request is active");
    if (check_text(reason, "the reason", e))
        return err_code(e);
    struct json why = json_of(reason.n ? reason : SV("user_cancelled"));
    struct sb   b = sb_in(t->a, 0);
    sb_addf(&b, "{\"cancelled\":" SV_FMT "}", SV_ARG(json_canonical(&why, t->a)));
    return run_finish(t,
                      &(struct run_end){ .outcome = "cancelled",
                                         .reason = SV("cancelled"),
                                         .result = sb_sv(&b),
                                         .cancel_reason = json_sv(&why) },
                      e);
}

enum status run_cancel(struct log *l, const struct run_ref *who, struct sv request_id,
                       struct sv reason, struct arena *a, struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (begin_known(&t, STORE_WRITE, e) || end(&t, do_cancel(&t, request_id, reason, e), e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

enum status run_recover(struct log *l, const struct run_ref *who, struct arena *a,
                        struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);
    enum status   s = ST_OK;

    if (begin_known(&t, STORE_WRITE, e))
        return err_code(e);
    if (t.s.active)
        s = run_finish(&t,
                       &(struct run_end){ .outcome = "failed",
                                          .reason = SV("stream_interrupted"),
                                          .result = SV("{\"error\":\"stream_interrupted\"}") },
                       e);
    if (end(&t, s, e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

enum status run_events(struct log *l, const struct run_ref *who, const struct json *events,
                       size_t n, struct arena *a, struct run_state *out, struct run_report *report,
                       struct err *e)
{
    struct run_tx t = tx_of(l, who, a);
    enum status   s = ST_OK;

    *report = (struct run_report){ 0 };
    t.report = report;
    if (begin_known(&t, STORE_WRITE, e))
        return err_code(e);
    for (size_t i = 0; i < n && !s; i++) {
        s = run_event(&t, &events[i], e);
        if (s)
            err_in(e, "event %zu", i + 1);
        report->events++;
    }
    report->trace_kept = report->events < RUN_TRACE_MAX ? report->events : RUN_TRACE_MAX;
    report->trace_truncated = report->events > RUN_TRACE_MAX;
    if (end(&t, s, e))
        return err_code(e);
    *out = t.s;
    return ST_OK;
}

enum status run_status(struct log *l, const struct run_ref *who, struct arena *a,
                       struct run_state *out, struct err *e)
{
    struct run_tx t = tx_of(l, who, a);

    if (begin_known(&t, STORE_READ, e))
        return err_code(e);
    log_abort(l);
    *out = t.s;
    return ST_OK;
}
