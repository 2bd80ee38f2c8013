/* The steps of a turn, read back from the log: the context is assembled as it was, and the messages
 * of the rounds are rebuilt with the answers and results in the log. */
#include "agent/turn_internal.h"

#include "base/json.h"
#include "base/money.h"
#include "thread/kind.h"
#include "thread/scan.h"

/* The entries of the run that are needed, in order. */
struct step {
    enum kind   kind; /* MODEL_RESPONSE, or AI_MESSAGE for steering */
    int64_t     seq;
    struct json p;
};

struct turn_reading {
    struct turn_work *t;
    VEC(struct step) steps;
    struct turn_view view;
    bool             has_view;
};

/* ---- reading ---------------------------------------------------------------------------- */

static void read_request(struct turn_reading *r, const struct json *p)
{
    struct turn_work *t = r->t;
    int64_t           round = json_number(p, "iteration");

    t->tries = round == t->round ? t->tries + 1 : 1;
    t->round = round;
    t->recorded = true;
    r->view = (struct turn_view){ .at = json_number(p, "at"),
                                  .now = json_number(p, "now"),
                                  .reserve = json_number(p, "reserve"),
                                  .budget = json_number(p, "budget") };
    r->has_view = true;
}

/* What an answer in the log has used; `command`: the answer was one to a command. */
static void add_used(struct turn_used *u, const struct json *p, bool command)
{
    const struct json *usage = command ? p : json_find(p, "usage");
    const struct json *cost = json_find(usage, "cost");
    int64_t            nano;

    u->requests++;
    u->input += json_number(usage, command ? "prompt_tokens" : "input");
    u->output += json_number(usage, command ? "completion_tokens" : "output");
    u->estimated = u->estimated || json_truth(json_find(p, "tokens_estimated"));
    if (json_is(cost, JSON_NUMBER) && money_parse((struct sv){ cost->s, cost->n }, &nano))
        u->cost = (u->cost > 0 ? u->cost : 0) + nano;
}

static enum status read_entry(struct turn_reading *r, const struct entry *n, struct err *e)
{
    struct turn_work *t = r->t;
    enum kind         k = kind_of(n->kind);
    struct json       p, refs;

    if ((k != KIND_MODEL_REQUEST && k != KIND_MODEL_RESPONSE && k != KIND_AI_MESSAGE) || !n->refs.n)
        return ST_OK;
    struct entry copy = log_entry_copy(n, t->a);
    if (json_parse(copy.refs, 0, t->a, &refs, e) || json_parse(copy.payload, 0, t->a, &p, e))
        return err_code(e);
    /* Answers to commands have no run: they are those of the agent since its run began. */
    if (k == KIND_MODEL_RESPONSE && !json_find(&refs, "run_id") && sv_eq(n->actor, t->run.agent))
        add_used(&t->out->used, &p, true);
    if (!sv_eq(json_text(&refs, "run_id"), t->run.id))
        return ST_OK;
    if (k == KIND_MODEL_REQUEST)
        read_request(r, &p);
    else if (k == KIND_MODEL_RESPONSE || json_text(&refs, "input_id").n)
        *vec_push(&r->steps, t->a) = (struct step){ k, n->seq, p };
    return ST_OK;
}

static enum status read_steps(struct turn_reading *r, int64_t from, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct session                        *s = r->t->s;
    struct store_query q = { .thread = s->loom.thread, .from = from, .to = STORE_TO_END };
    struct entry       n;
    bool               more = true;

    if (log_scan(s->log, &q, &scan, e))
        return err_code(e);
    while (more) {
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (more && read_entry(r, &n, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The entry with which the run began, the agent's place, and the node that it holds. */
static enum status read_place(struct turn_work *t, int64_t *from, struct err *e)
{
    struct loom  *l = &t->s->loom;
    struct entry  n;
    struct lease *leases;
    size_t        count;
    bool          found;

    if (log_find_op(t->s->log, l->thread, run_start_op(t->run.id, t->a), t->a, &n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "run '" SV_FMT "' has no start", SV_ARG(t->run.id));
    *from = n.seq + 1;
    if (loom_position(l, t->run.agent, &t->node, &found, e) || lease_list(l, &leases, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (sv_eq(leases[i].agent, t->run.agent))
            t->held = leases[i].node.slot; /* `renewed` is 0, so the lease is taken again */
    return ST_OK;
}

static enum status read_log(struct turn_reading *r, struct err *e)
{
    struct turn_work *t = r->t;
    int64_t           from;

    if (log_begin(t->s->log, t->s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status s = read_place(t, &from, e);
    if (!s)
        s = read_steps(r, from, e);
    log_abort(t->s->log);
    return s;
}

/* ---- going through it again ---------------------------------------------------------------- */

/* The used part of the answer: from the record, or from its node. */
static enum status answer_text(struct turn_work *t, const struct json *p, struct sv *out,
                               struct err *e)
{
    struct loom *l = &t->s->loom;
    struct node  n;

    *out = json_text(p, "text");
    if (out->s)
        return ST_OK;
    if (log_begin(t->s->log, l->thread, STORE_READ, e))
        return err_code(e);
    enum status s = node_find(l, json_text(p, "node"), &n, e);
    if (!s)
        s = node_text(l, n.seq, out, e);
    log_abort(t->s->log);
    return s;
}

static enum status again(struct turn_work *t, const struct json *p, struct err *e)
{
    const struct json *details = json_find(p, "reasoning_details");
    struct turn_answer x = { .m = { .finish = json_text(p, "finish") } };
    struct sv          node = json_text(p, "node");

    if (answer_text(t, p, &x.text, e))
        return err_code(e);
    if (details)
        x.details = json_canonical(details, t->a);
    t->round = json_number(p, "iteration");
    add_used(&t->out->used, p, false);
    turn_scan(t, &x);
    if (node.n)
        *vec_push(&t->nodes, t->a) = node;
    if (x.scan.prose.n)
        t->out->text = x.scan.prose;
    if (json_find(p, "resend"))
        x.m.resend = json_canonical(json_find(p, "resend"), t->a);
    x.goes_on = turn_goes_on(t, &x);
    turn_note_pause(t, &x);
    if (turn_add_answer(t, &x, e))
        return err_code(e);
    return json_number(p, "commands") > 0 ? turn_run_batch(t, &x, e) : ST_OK;
}

static enum status input_again(struct turn_work *t, const struct step *s, struct err *e)
{
    struct loom *l = &t->s->loom;
    struct node  n;

    if (log_begin(t->s->log, l->thread, STORE_READ, e))
        return err_code(e);
    enum status st = node_at(l, s->seq, &n, e);
    log_abort(t->s->log);
    return st ? st : turn_add_input(t, json_text(&s->p, "content"), &n, e);
}

enum status turn_reload(struct turn_work *t, bool *asked, struct err *e)
{
    struct turn_reading r = { .t = t, .view = { .at = -1 } };

    if (read_log(&r, e))
        return err_code(e);
    int64_t round = t->round, tries = t->tries;
    if (turn_assemble(t, &r.view, e))
        return err_code(e);
    for (size_t i = 0; i < r.steps.n; i++) {
        const struct step *s = &r.steps.v[i];
        if (s->kind == KIND_MODEL_RESPONSE ? again(t, &s->p, e) : input_again(t, s, e))
            return err_code(e);
    }
    *asked = t->state.asked_seq >= 0;
    t->round = round;
    t->tries = tries;
    return ST_OK;
}
