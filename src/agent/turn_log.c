/* The steps of a turn in the log, each in one transaction: a step that is not in the log did not
 * happen, and one that is happened once. */
#include "agent/turn_internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/rand.h"
#include "command/evidence.h"
#include "loom/provenance.h"
#include "thread/kind.h"
#include "thread/scan.h"

static struct run_ref who(const struct turn_work *t, struct sv actor)
{
    return (struct run_ref){ t->s->loom.thread, t->run.agent, actor, t->s->loom.now };
}

static enum status begin(struct turn_work *t, struct err *e)
{
    t->s->loom.now = log_now(t->s->log);
    return log_begin(t->s->log, t->s->loom.thread, STORE_WRITE, e);
}

static enum status end(struct turn_work *t, enum status s, struct err *e)
{
    if (s || (s = log_commit(t->s->log, e)))
        log_abort(t->s->log);
    return s;
}

/* ask:RUN/3/1 */
static struct sv op_of(const struct turn_work *t, const char *step, int64_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s:" SV_FMT "/%lld", step, SV_ARG(t->run.id), (long long)t->round);
    if (n)
        sb_addf(&b, "/%lld", (long long)n);
    return sb_sv(&b);
}

/* ---- leases -------------------------------------------------------------------------------- */

/* Lease the node that the next answer extends, and release the previous one. */
static enum status hold(struct turn_work *t, const struct node *n, struct err *e)
{
    struct loom *l = &t->s->loom;
    struct node  old;

    if (t->held == n->slot && l->now - t->renewed < LEASE_MS / 2)
        return ST_OK;
    if (lease_take(l, t->run.agent, n, e))
        return err_code(e);
    t->renewed = l->now;
    if (t->held != NO_NODE && t->held != n->slot &&
        (node_at(l, t->held, &old, e) || lease_release(l, t->run.agent, &old, e)))
        return err_code(e);
    t->held = n->slot;
    return ST_OK;
}

static enum status let_go(struct turn_work *t, struct err *e)
{
    struct loom *l = &t->s->loom;
    struct node  n;

    if (t->held == NO_NODE)
        return ST_OK;
    if (node_at(l, t->held, &n, e) || lease_release(l, t->run.agent, &n, e))
        return err_code(e);
    t->held = NO_NODE;
    return ST_OK;
}

/* ---- the start ------------------------------------------------------------------------------ */

static enum status nothing_to_answer(struct turn_work *t, const struct node *last, struct err *e)
{
    if (!last)
        err_set(e, ST_NOT_FOUND, "the tree is empty");
    else
        err_set(e, ST_NOT_FOUND, "[" SV_FMT "] is " SV_FMT "'s own: there is nothing to answer",
                SV_ARG(last->local), SV_ARG(t->run.agent));
    return err_hint(e, "say something with --message, or name a node with --at");
}

/* The message becomes a node; without a message the agent answers the last node, which another
 * author wrote. */
static enum status say(struct turn_work *t, struct err *e)
{
    struct loom    *l = &t->s->loom;
    struct sv       text = t->q->message;
    struct node     parent;
    bool            found = true;
    struct new_node n = {
        .text = text, .author = t->q->speaker, .kind = AUTHOR_HUMAN, .via = "say", .run = t->run
    };

    if (t->q->at.s ? node_find_visible(l, t->q->at, &parent, e)
                   : loom_branch_end(l, t->run.agent, &parent, &found, e))
        return err_code(e);
    if (text.s) {
        n.parent = found ? &parent : NULL;
        return loom_add(l, &n, &t->node, e);
    }
    if (!found || sv_eq(parent.author, t->run.agent))
        return nothing_to_answer(t, found ? &parent : NULL, e);
    t->node = parent;
    return ST_OK;
}

static enum status go(struct turn_work *t, const struct node *to, struct err *e)
{
    struct node here;
    bool        found;

    if (loom_position(&t->s->loom, t->run.agent, &here, &found, e))
        return err_code(e);
    return found && here.seq == to->seq
               ? ST_OK
               : loom_switch(&t->s->loom, t->run.agent, t->s->agent.kind, to, e);
}

static enum status start_run(struct turn_work *t, struct err *e)
{
    struct run_ref as = who(t, t->q->speaker);
    struct sb      b = sb_in(t->a, 0);
    struct jw      w = jw_in(&b, 0);
    struct json    config;

    jw_open(&w, '{');
    jw_kint(&w, "max_iterations", t->q->max_rounds);
    jw_kstr(&w, "model", t->s->agent.model);
    jw_close(&w, '}');
    if (json_parse(sb_sv(&b), 0, t->a, &config, e))
        return err_code(e);
    struct run_start start = { .lane = t->node.lane,
                               .request_id = t->run.id,
                               .config = &config,
                               .system_prompt = t->q->system_prompt };
    return run_start_in(t->s->log, &as, &start, t->a, &t->state, e);
}

enum status turn_log_start(struct turn_work *t, struct err *e)
{
    if (begin(t, e))
        return err_code(e);
    enum status s = say(t, e);
    if (!s)
        s = go(t, &t->node, e);
    if (!s)
        s = start_run(t, e);
    if (!s)
        s = hold(t, &t->node, e);
    return end(t, s, e);
}

/* ---- asking --------------------------------------------------------------------------------- */

static struct sv request_payload(const struct turn_work *t, struct sv body, bool again)
{
    struct sb   b = sb_in(t->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct hash h = hash_sha256(body);

    jw_open(&w, '{');
    if (again)
        jw_kbool(&w, "again", true);
    jw_kstr(&w, "agent", t->run.agent);
    jw_kint(&w, "at", t->view.at);
    if (t->view.budget)
        jw_kint(&w, "budget", t->view.budget);
    jw_kstr(&w, "hash", hash_hex(&h, t->a));
    jw_kint(&w, "iteration", t->round);
    jw_kstr(&w, "model", t->s->agent.model);
    jw_kint(&w, "now", t->view.now);
    jw_kint(&w, "reserve", t->view.reserve);
    jw_kstr(&w, "run_id", t->run.id);
    jw_kint(&w, "tokens", (int64_t)t->x.tokens);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* Somebody may have ended the run meanwhile (`heddle run cancel`). */
static enum status still_runs(struct turn_work *t, bool *runs, struct err *e)
{
    if (run_state_read(t->s->log, t->s->loom.thread, t->run.agent, t->a, &t->state, e))
        return err_code(e);
    *runs = t->state.active && sv_eq(t->state.run_id, t->run.id);
    if (*runs)
        return ST_OK;
    t->over = true;
    t->out->outcome = "cancelled";
    t->out->reason = t->state.termination_reason.n ? t->state.termination_reason : SV("cancelled");
    return ST_OK;
}

static enum status ended(struct err *e)
{
    err_set(e, ST_CONFLICT, "the run was ended from elsewhere");
    return err_reason(e, "ended");
}

static enum status put_request(struct turn_work *t, struct sv body, bool again, struct err *e)
{
    struct loom       *l = &t->s->loom;
    struct node        here;
    bool               found, runs;
    struct loom_record r = { .agent = t->run.agent,
                             .kind = kind_name(KIND_MODEL_REQUEST),
                             .payload = request_payload(t, body, again),
                             .run = t->run,
                             .op_id = op_of(t, "ask", ++t->tries, t->a) };

    if (still_runs(t, &runs, e) || !runs)
        return runs ? err_code(e) : ended(e);
    if (!t->recorded && assembly_record(l, t->run.agent, &t->node, &t->x, e))
        return err_code(e);
    if (loom_position(l, t->run.agent, &here, &found, e) || (found && hold(t, &here, e)))
        return err_code(e);
    return loom_put(l, &r, NULL, e);
}

enum status turn_log_request(struct turn_work *t, struct sv body, bool again, struct err *e)
{
    if (begin(t, e))
        return err_code(e);
    if (end(t, put_request(t, body, again, e), e))
        return err_code(e);
    bool first = !t->recorded;
    t->recorded = true;
    return first && t->q->delivered ? t->q->delivered(t->q->ctx, &t->x, e) : ST_OK;
}

/* Renew the lease, and notice a run that was ended from elsewhere. */
static void look_after(struct turn_work *t)
{
    struct session  *s = t->s;
    struct run_state now;
    struct run_ref   as = who(t, t->run.agent);
    struct node      n;
    struct err       ignored;

    if (run_status(s->log, &as, t->a, &now, &ignored) == ST_OK &&
        (!now.active || !sv_eq(now.run_id, t->run.id)))
        atomic_store(&t->cancel, true);
    if (log_now(s->log) - t->renewed <= LEASE_MS / 2 || t->held == NO_NODE)
        return;
    if (begin(t, &ignored))
        return;
    enum status st = node_at(&s->loom, t->held, &n, &ignored);
    if (end(t, st ? st : lease_take(&s->loom, t->run.agent, &n, &ignored), &ignored) == ST_OK)
        t->renewed = s->loom.now;
}

void turn_log_wait(void *turn)
{
    enum { LOOK_US = 1000000 };
    struct turn_work *t = turn;
    struct arena_mark mark = arena_mark(t->a);
    int64_t           now = clock_steady_us();

    if (t->s->env.cancel && atomic_load(t->s->env.cancel))
        atomic_store(&t->cancel, true);
    if (now - t->looked < LOOK_US)
        return;
    t->looked = now;
    look_after(t);
    arena_reset(t->a, mark);
}

/* ---- answers ------------------------------------------------------------------------------- */

static enum status put_node(struct turn_work *t, const struct turn_answer *x, struct node *made,
                            struct err *e)
{
    struct loom    *l = &t->s->loom;
    struct node     here;
    bool            found;
    struct new_node n = { .text = x->scan.prose,
                          .author = t->run.agent,
                          .kind = AUTHOR_MODEL,
                          .via = "turn",
                          .response = x->hash,
                          .thinking = x->m.thinking,
                          .details = t->x.aware ? (struct sv){ 0 } : x->details,
                          .run = t->run,
                          .op_id = op_of(t, "node", 0, t->a) };

    if (loom_position(l, t->run.agent, &here, &found, e))
        return err_code(e);
    n.parent = found ? &here : NULL;
    return loom_add(l, &n, made, e);
}

static struct sv response_payload(const struct turn_work *t, const struct turn_answer *x,
                                  const struct node *made)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", t->run.agent);
    evidence_write(&w, &x->m, x->hash);
    jw_kint(&w, "commands", (int64_t)x->scan.n);
    if (x->details.n) {
        jw_key(&w, "reasoning_details");
        jw_raw(&w, x->details);
    }
    jw_kint(&w, "iteration", t->round);
    if (made)
        jw_kstr(&w, "node", made->local);
    if (x->goes_on && x->m.resend.n) {
        jw_key(&w, "resend");
        jw_raw(&w, x->m.resend);
    }
    jw_kstr(&w, "run_id", t->run.id);
    if (!made || x->scan.n) /* else it is what the node says */
        jw_klossy(&w, "text", x->text);
    jw_key(&w, "usage");
    evidence_usage(&w, &x->m.usage);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status put_answer(struct turn_work *t, struct turn_answer *x, struct node *made,
                              bool *has_node, struct err *e)
{
    struct loom       *l = &t->s->loom;
    struct loom_record r = { .agent = t->run.agent,
                             .kind = kind_name(KIND_MODEL_RESPONSE),
                             .run = t->run,
                             .op_id = op_of(t, "answer", 0, t->a) };

    x->hash = provenance_response(x->m.headers, x->m.body, t->a);
    *has_node = x->scan.prose.n > 0;
    if (*has_node && put_node(t, x, made, e))
        return err_code(e);
    r.payload = response_payload(t, x, *has_node ? made : NULL);
    return loom_put(l, &r, NULL, e);
}

/* ---- steering ------------------------------------------------------------------------------- */

struct drained {
    struct sv   text;
    struct node node;
};

static enum status drain_one(struct turn_work *t, const struct run_input *input,
                             struct drained *out, struct err *e)
{
    struct loom    *l = &t->s->loom;
    struct entry    n;
    struct json     p;
    struct node     here;
    bool            found;
    struct new_node say = { .kind = AUTHOR_HUMAN, .via = "say", .run = t->run, .input = input->id };

    if (loom_entry(l, input->seq, &n, &p, e) || loom_position(l, t->run.agent, &here, &found, e))
        return err_code(e);
    say.text = out->text = json_text(&p, "content");
    say.author = n.actor.n ? n.actor : t->q->speaker;
    say.parent = found ? &here : NULL;
    if (loom_add(l, &say, &out->node, e))
        return err_code(e);
    return go(t, &out->node, e);
}

/* Steering that no model will be given becomes nodes, so that the words are where the conversation
 * goes on. */
static enum status say_unheard(struct turn_work *t, const struct run_input *list, size_t n,
                               struct err *e)
{
    struct drained one;

    for (size_t i = 0; i < n; i++) {
        if (drain_one(t, &list[i], &one, e))
            return err_code(e);
        *vec_push(&t->unheard, t->a) = one.node.local;
    }
    return ST_OK;
}

/* ---- the end ------------------------------------------------------------------------------- */

static enum status put_end(struct turn_work *t, const struct run_ending *how, struct err *e)
{
    struct run_ref as = who(t, t->run.agent);
    int64_t       *named = ARENA_NEW(t->a, int64_t, t->shown.n + 1);
    size_t         n = 0;

    for (size_t i = 0; i < t->shown.n; i++)
        if (t->shown.v[i].named && t->shown.v[i].entry >= 0)
            named[n++] = t->shown.v[i].entry;
    if (session_end_turn(t->s, named, n, e) || let_go(t, e) ||
        run_state_read(t->s->log, t->s->loom.thread, t->run.agent, t->a, &t->state, e) ||
        (sv_eq(t->state.run_id, t->run.id) && say_unheard(t, t->state.queue, t->state.n_queue, e)))
        return err_code(e);
    return run_end_in(t->s->log, &as, how, t->a, &t->state, e);
}

static void note_end(struct turn_work *t, const struct run_ending *how)
{
    t->over = true;
    t->out->outcome = how->outcome;
    t->out->reason = how->reason;
}

enum status turn_log_end(struct turn_work *t, const struct run_ending *how, struct err *e)
{
    if (begin(t, e) || end(t, put_end(t, how, e), e))
        return err_code(e);
    note_end(t, how);
    return ST_OK;
}

/* Why the run ends with this answer; false: it continues. */
static bool ends_with(const struct turn_answer *x, struct run_ending *how)
{
    const struct model_response *m = &x->m;

    *how = (struct run_ending){ .outcome = "completed", .reason = SV("final_answer") };
    if (sv_is(m->interruption, "cancelled"))
        *how = (struct run_ending){ .outcome = "cancelled",
                                    .reason = SV("cancelled"),
                                    .result = SV("{\"cancelled\":\"user_cancelled\"}"),
                                    .cancel_reason = SV("user_cancelled") };
    else if (m->interruption.n)
        *how = (struct run_ending){ .outcome = "failed",
                                    .reason = m->interruption,
                                    .result = SV("{\"error\":\"stream_interrupted\"}") };
    else if (x->empty)
        *how = (struct run_ending){ .outcome = "failed",
                                    .reason = SV("incomplete_response"),
                                    .result = SV("{\"error\":\"incomplete_response\"}") };
    else if (sv_is(m->finish, "content_filter") || sv_is(m->finish, "length") ||
             sv_is(m->finish, "pause"))
        how->reason = m->finish;
    return m->interruption.n || (!x->scan.n && !x->goes_on);
}

/* Waiting steering continues the run, unless it has failed. */
enum status turn_log_answer(struct turn_work *t, struct turn_answer *x, struct err *e)
{
    struct run_ending how;
    struct node       made;
    bool              has_node = false, runs = true, ends = ends_with(x, &how);

    if (begin(t, e))
        return err_code(e);
    enum status s = put_answer(t, x, &made, &has_node, e);
    if (!s)
        s = still_runs(t, &runs, e);
    ends = ends && runs && (x->m.interruption.n || x->empty || !t->state.n_queue);
    if (!s && ends)
        s = put_end(t, &how, e);
    else if (!s && has_node && runs)
        s = hold(t, &made, e);
    if (end(t, s, e))
        return err_code(e);
    if (has_node)
        *vec_push(&t->nodes, t->a) = made.local;
    if (ends)
        note_end(t, &how);
    return ST_OK;
}

enum status turn_log_drain(struct turn_work *t, struct err *e)
{
    VEC(struct drained) list = { 0 };
    struct session *s = t->s;
    struct run_ref  as = who(t, t->run.agent);

    if (run_status(s->log, &as, t->a, &t->state, e))
        return err_code(e);
    if (!t->state.n_queue)
        return ST_OK;
    if (begin(t, e))
        return err_code(e);
    enum status st = run_state_read(s->log, s->loom.thread, t->run.agent, t->a, &t->state, e);
    for (size_t i = 0; !st && i < t->state.n_queue; i++)
        st = drain_one(t, &t->state.queue[i], vec_push(&list, t->a), e);
    if (end(t, st, e))
        return err_code(e);
    for (size_t i = 0; i < list.n; i++)
        if (turn_add_input(t, list.v[i].text, &list.v[i].node, e) ||
            turn_tell(t,
                      &(struct turn_event){ .type = TURN_INPUT,
                                            .text = list.v[i].text,
                                            .node = list.v[i].node.local },
                      e))
            return err_code(e);
    return ST_OK;
}

enum status turn_log_unheard(struct turn_work *t, struct err *e)
{
    struct session *s = t->s;
    struct run_ref  as = who(t, t->run.agent);

    if (run_status(s->log, &as, t->a, &t->state, e))
        return err_code(e);
    if (t->state.active || !sv_eq(t->state.run_id, t->run.id) || !t->state.n_dropped)
        return ST_OK;
    if (begin(t, e))
        return err_code(e);
    enum status st = run_state_read(s->log, s->loom.thread, t->run.agent, t->a, &t->state, e);
    if (!st && sv_eq(t->state.run_id, t->run.id))
        st = say_unheard(t, t->state.dropped, t->state.n_dropped, e);
    return end(t, st, e);
}
