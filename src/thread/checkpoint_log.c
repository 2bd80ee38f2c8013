/* Taking a checkpoint from the log and putting it back. */
#include "store/store.h"
#include "thread/checkpoint.h"

#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "thread/kind.h"
#include "thread/project.h"
#include "thread/run_state.h"

struct taking {
    struct log                   *l;
    const struct checkpoint_from *from;
    struct arena                 *a;
    struct run_state              run;
    bool                          has_run; /* the agent's run is in this lane */
    struct store_head             head;
    struct checkpoint             c;
};

/* ---- calls that have no result yet ------------------------------------------------------ */

/* The content of a result that came before its turn and is held back, or null. */
static enum status held_result(struct taking *t, struct sv id, struct sv *out, struct err *e)
{
    *out = SV("null");
    for (size_t i = 0; t->has_run && i < t->run.n_calls; i++) {
        const struct run_call *call = &t->run.calls[i];
        if (call->done || call->held < 0 || !sv_eq(call->id, id))
            continue;
        struct store_query q = { .thread = t->c.thread, .from = call->held, .to = call->held };
        struct entry       n;
        bool               found;
        if (store_first(t->l->store, &q, t->a, &n, &found, e))
            return err_code(e);
        if (found)
            *out = message_of_entry(&n).content;
    }
    return ST_OK;
}

static enum status write_call(struct taking *t, struct jw *w, const struct json *call,
                              struct err *e)
{
    const struct json *inner = json_find(call, "function");
    struct sv          result;

    if (!inner)
        inner = call;
    const struct json *arguments = json_find(inner, "arguments");
    if (held_result(t, json_text(call, "id"), &result, e))
        return err_code(e);
    jw_open(w, '{');
    jw_key(w, "arguments");
    jw_raw(w, arguments ? json_canonical(arguments, t->a) : SV("{}"));
    jw_kstr(w, "id", json_text(call, "id"));
    jw_kstr(w, "name", json_text(inner, "name"));
    jw_key(w, "result");
    jw_raw(w, result);
    jw_close(w, '}');
    return ST_OK;
}

/* The last message that is not a tool's, when it is an assistant's with calls. */
static const struct message *last_calls(const struct context *c, struct map *answered,
                                        struct arena *a)
{
    for (size_t i = c->n; i-- > 0;) {
        const struct message *m = &c->messages[i];
        struct json           id;
        struct err            ignored;
        if (!sv_is(m->role, "tool"))
            return sv_is(m->role, "assistant") && m->tool_calls.n > 2 ? m : NULL;
        if (m->tool_call_id.s && json_parse(m->tool_call_id, 0, a, &id, &ignored) == ST_OK)
            map_put(answered, json_sv(&id), answered);
    }
    return NULL;
}

/* Pending calls of the context's last turn, as a canonical list. */
static enum status find_pending(struct taking *t, struct sv *out, size_t *n, struct err *e)
{
    struct map            answered = map_in(t->a);
    const struct message *m = last_calls(&t->c.state.context, &answered, t->a);
    struct sb             b = sb_in(t->a, 0);
    struct jw             w = jw_in(&b, 0);
    struct json           calls = { .type = JSON_ARRAY };

    *n = 0;
    if (m && json_parse(m->tool_calls, 0, t->a, &calls, e))
        return err_in(e, "tool_calls of entry %lld", (long long)m->seq);
    jw_open(&w, '[');
    for (size_t i = 0; i < calls.n; i++) {
        struct sv id = json_text(&calls.items[i], "id");
        if (!id.n || map_has(&answered, id))
            continue;
        if (write_call(t, &w, &calls.items[i], e))
            return err_code(e);
        ++*n;
    }
    jw_close(&w, ']');
    *out = sb_sv(&b);
    return ST_OK;
}

/* ---- status ------------------------------------------------------------------------------ */

/* The status of a lane without a run, derived from its last message. */
static enum checkpoint_status status_of_context(const struct context *c)
{
    struct sv last = c->n ? c->messages[c->n - 1].role : SV("");

    return sv_is(last, "user") || sv_is(last, "tool") ? CHECKPOINT_RUNNING : CHECKPOINT_COMPLETED;
}

static enum checkpoint_status status_of_run(const struct run_state *r)
{
    if (r->active)
        return CHECKPOINT_RUNNING;
    if (r->status == RUN_COMPLETED)
        return CHECKPOINT_COMPLETED;
    return r->cancel_reason.s ? CHECKPOINT_CANCELLED : CHECKPOINT_FAILED;
}

static enum status settle_status(struct taking *t, struct err *e)
{
    struct checkpoint_state *s = &t->c.state;
    struct sv                calls;
    size_t                   n;

    s->status = t->has_run ? status_of_run(&t->run) : status_of_context(&s->context);
    if (find_pending(t, &calls, &n, e))
        return err_code(e);
    /* The calls of a run that ended will not be made; those of one that goes on come
     * before the model is asked again. */
    bool goes_on = !t->has_run || t->run.active;
    s->pending_tool_calls = goes_on ? calls : SV("[]");
    if (goes_on && n)
        s->status = CHECKPOINT_AWAITING_TOOLS;
    return ST_OK;
}

/* ---- the rest of the state ---------------------------------------------------------------- */

/* When the run's first message was logged; 0 when it is no longer in the context. */
static int64_t started_at(const struct taking *t)
{
    const struct context *c = &t->c.state.context;
    struct sb             b = sb_in(t->a, 0);

    sb_adds(&b, "\"run_id\":");
    sb_add_json_string(&b, t->run.run_id);
    for (size_t i = 0; i < c->n; i++)
        if (sv_find(c->messages[i].refs, sb_sv(&b)) >= 0)
            return c->messages[i].at;
    return 0;
}

static struct sv tool_list(const struct checkpoint_config *config, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '[');
    for (size_t i = 0; i < config->n_tools; i++)
        jw_str(&w, config->tools[i]);
    jw_close(&w, ']');
    return sb_sv(&b);
}

static void describe_run(struct taking *t)
{
    struct checkpoint_state *s = &t->c.state;
    struct sb                id = sb_in(t->a, 0);

    s->updated_at_ms = t->head.updated;
    s->active_tools = tool_list(t->from->config, t->a);
    if (!t->has_run) {
        sb_addf(&id, "run_" SV_FMT, SV_ARG(sv_first(t->c.chain, 20)));
        s->run_id = s->request_id = sb_sv(&id);
        return;
    }
    s->run_id = t->run.run_id;
    s->request_id = t->run.request_id;
    s->iteration = t->run.iteration;
    s->seq = t->run.event_seq;
    s->usage = t->run.usage;
    s->started_at_ms = started_at(t);
    if (t->run.status == RUN_ERROR)
        s->error = t->run.result;
    else
        s->result = t->run.result;
}

/* ---- taking --------------------------------------------------------------------------------- */

static enum status settle_lane(struct taking *t, struct err *e)
{
    struct lane lane;
    bool        found;

    t->c.lane = t->from->lane;
    if (!t->c.lane.n && t->run.active)
        t->c.lane = t->run.lane;
    if (!t->c.lane.n)
        return lane_active(t->l, t->c.thread, t->c.agent, t->a, &t->c.lane, e);
    if (lane_find(t->l, t->c.thread, t->c.lane, t->a, &lane, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_NOT_FOUND, "lane '" SV_FMT "' not found", SV_ARG(t->c.lane));
    return ST_OK;
}

static enum status take(struct taking *t, struct err *e)
{
    struct projection p;

    if (store_head(t->l->store, t->c.thread, &t->head, e))
        return err_code(e);
    if (!t->head.rev)
        return log_no_thread(t->c.thread, e);
    if (run_state_read(t->l, t->c.thread, t->c.agent, t->a, &t->run, e) || settle_lane(t, e))
        return err_code(e);
    t->has_run = t->run.run_id.n && sv_eq(t->run.lane, t->c.lane);
    t->c.rev = t->head.rev;
    t->c.chain = hash_hex(&t->head.chain, t->a);
    t->c.fingerprint = checkpoint_fingerprint(t->from->config, t->a);
    struct projection_of of = { t->c.thread, t->c.lane, STORE_TO_END, { 0 } };
    if (project_start(t->l, &of, t->a, &p, e) || project_context(&p, &t->c.state.context, e) ||
        settle_status(t, e))
        return err_code(e);
    describe_run(t);
    return ST_OK;
}

enum status checkpoint_take(struct log *l, const struct checkpoint_from *from, struct arena *a,
                            struct checkpoint *out, struct err *e)
{
    struct taking t = { .l = l, .from = from, .a = a };

    t.c.thread = from->thread;
    t.c.agent = from->agent.n ? from->agent : AGENT_DEFAULT;
    if (name_check(t.c.agent, "agent", e) || log_begin(l, from->thread, STORE_READ, e))
        return err_code(e);
    enum status s = take(&t, e);
    log_abort(l);
    if (s)
        return s;
    *out = t.c;
    return ST_OK;
}

/* ---- putting it back --------------------------------------------------------------------------
 */

enum status checkpoint_check_log(struct log *l, const struct checkpoint *c, struct arena *a,
                                 struct err *e)
{
    struct store_query q = { .thread = c->thread, .from = c->rev - 1, .to = c->rev - 1 };
    struct store_head  head;
    struct entry       n;
    bool               found;

    if (!c->thread.n)
        return token_refuse(e, TOKEN_MISSING_THREAD, NULL);
    if (store_head(l->store, c->thread, &head, e))
        return err_code(e);
    if (!head.rev)
        return token_refuse(e, TOKEN_MISSING_THREAD, NULL);
    if (c->rev < 1 || c->rev > head.rev)
        return token_refuse(e, TOKEN_OTHER_THREAD, "it is ahead of the log");
    if (store_first(l->store, &q, a, &n, &found, e))
        return err_code(e);
    if (!found || !sv_eq(hash_hex(&n.chain, a), c->chain))
        return token_refuse(e, TOKEN_OTHER_THREAD, "the entries before it differ");
    return ST_OK;
}

static struct sv restore_meta(const struct checkpoint *c, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "checkpoint");
    jw_open(&w, '{');
    jw_kint(&w, "iat_ms", c->iat_ms);
    jw_kstr(&w, "run_id", c->state.run_id);
    jw_kstr(&w, "status", sv_of(checkpoint_status_name(c->state.status)));
    jw_close(&w, '}');
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* The n-th restoration of a token. */
static struct sv restore_op_id(struct sv token, int n, struct arena *a)
{
    struct hash h = hash_blake2b(&token, 1);
    struct sb   b = sb_in(a, 0);

    sb_adds(&b, "restore_");
    sb_add_hex(&b, h.b, 16);
    if (n > 1)
        sb_addf(&b, "_%d", n);
    return sb_sv(&b);
}

/* Is the lane unchanged since entry `seq` restored it (no message and no snapshot since), and is
 * the agent still on it? */
static enum status still_restored(struct log *l, const struct checkpoint *c, int64_t seq,
                                  struct arena *a, bool *out, struct err *e)
{
    struct projection_of of = { c->thread, c->lane, STORE_TO_END, { 0 } };
    struct projection    p;
    struct store_query   q = { .thread = c->thread,
                               .from = seq + 1,
                               .to = STORE_TO_END,
                               .lane = c->lane,
                               .mark = MARK_MESSAGE };
    struct entry         n;
    struct sv            lane;
    bool                 found = false;

    if (project_start(l, &of, a, &p, e) || lane_active(l, c->thread, c->agent, a, &lane, e) ||
        store_first(l->store, &q, a, &n, &found, e))
        return err_code(e);
    *out = p.anchor == seq && !found && sv_eq(lane, c->lane);
    return ST_OK;
}

/* The op_id of this restoration: repeating one is harmless as long as nothing came after it; after
 * further work the token is restored again. */
static enum status choose_op_id(struct log *l, struct sv token, const struct checkpoint *c,
                                struct arena *a, struct sv *out, struct err *e)
{
    struct entry n;
    bool         found = true, still = false;
    int64_t      last = -1;

    for (int i = 1; found; i++) {
        struct sv id = restore_op_id(token, i, a);
        if (store_find_op(l->store, c->thread, id, a, &n, &found, e))
            return err_code(e);
        if (!found && last >= 0 && still_restored(l, c, last, a, &still, e))
            return err_code(e);
        *out = still ? *out : id;
        last = found ? n.seq : last;
    }
    return ST_OK;
}

/* The messages of a restored context: results that had arrived early are added at the end, so that
 * their calls are not repeated. */
static enum status restored_context(const struct checkpoint *c, struct arena *a,
                                    struct context *out, struct err *e)
{
    VEC(struct message) list = { 0 };
    struct json calls = { .type = JSON_ARRAY };

    for (size_t i = 0; i < c->state.context.n; i++)
        *vec_push(&list, a) = c->state.context.messages[i];
    if (c->state.pending_tool_calls.n && json_parse(c->state.pending_tool_calls, 0, a, &calls, e))
        return err_in(e, "pending_tool_calls");
    for (size_t i = 0; i < calls.n; i++) {
        const struct json *result = json_find(&calls.items[i], "result");
        if (!json_is(result, JSON_STRING) && !json_is(result, JSON_ARRAY))
            continue;
        *vec_push(&list, a) = (struct message){
            .seq = -1,
            .role = SV("tool"),
            .content = json_canonical(result, a),
            .tool_call_id = json_canonical(json_find(&calls.items[i], "id"), a),
            .name = json_canonical(json_find(&calls.items[i], "name"), a),
        };
    }
    *out = c->state.context;
    out->messages = list.v;
    out->n = list.n;
    return ST_OK;
}

static enum status restore_in(struct log *l, struct sv token, const struct checkpoint *c,
                              struct op *op, struct arena *a, struct op_result *out, struct err *e)
{
    struct context context;

    if (checkpoint_check_log(l, c, a, e) || restored_context(c, a, &context, e) ||
        choose_op_id(l, token, c, a, &op->op_id, e))
        return err_code(e);
    op->context = context_stored(&context, context_id(c->lane, a), a);
    return op_apply_in(l, op, a, out, e);
}

enum status checkpoint_restore(struct log *l, struct sv token, const struct checkpoint *c,
                               struct sv actor, int64_t now_ms, struct arena *a,
                               struct op_result *out, struct err *e)
{
    struct op op = { .type = OP_REPLACE,
                     .thread = c->thread,
                     .agent = c->agent,
                     .lane = c->lane,
                     .reason = SV("restore"),
                     .has_base_seq = true,
                     .base_seq = c->rev - 1,
                     .meta = restore_meta(c, a),
                     .actor = actor,
                     .at = now_ms };

    if (!c->thread.n)
        return token_refuse(e, TOKEN_MISSING_THREAD, NULL);
    if (log_begin(l, c->thread, STORE_WRITE, e))
        return err_code(e);
    if (restore_in(l, token, c, &op, a, out, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}
