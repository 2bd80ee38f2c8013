/* One compaction, from the plan to its entry. */
#include "command/compact_session.h"

#include "base/rand.h"
#include "command/ask.h"
#include "command/company.h"
#include "thread/scan.h"

static enum status ask(void *ctx, struct sv system, struct sv text, int64_t max_tokens,
                       struct arena *a, struct sv *answer, struct err *e)
{
    struct compact_plan  *p = ((void **)ctx)[0];
    struct session       *s = ((void **)ctx)[1];
    struct sv             own = *(const struct sv *)((void **)ctx)[2];
    struct model_response got;

    (void)a;
    company_tell(s, own, p->model, "for compaction");
    if (ask_text(s, p->model, system, text, max_tokens, &got, e))
        return err_code(e);
    if (got.interruption.n)
        return err_set(e, ST_MODEL_ERROR, "the summary was interrupted: " SV_FMT,
                       SV_ARG(got.interruption));
    *answer = got.text;
    return ST_OK;
}

/* A request that is sent again after it was done is done once. */
static enum status find_applied(struct session *s, struct sv op_id, struct compact_plan *plan,
                                struct op_result *result, struct err *e)
{
    struct entry n;
    bool         found = false;

    *result = (struct op_result){ 0 };
    if (op_id.n && log_find_op(s->log, s->loom.thread, op_id, s->a, &n, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    *plan =
        (struct compact_plan){ .why_not = SV("this operation was applied before"), .lane = n.lane };
    *result = (struct op_result){ .op_id = op_id, .lane = n.lane, .duplicate = true, .seq = n.seq };
    return ST_OK;
}

static enum status prepare(struct session *s, const struct compact_how *how,
                           struct compact_plan *plan, struct op_result *result, struct err *e)
{
    struct compact_request q = { .loom = s->loom,
                                 .lane = how->lane,
                                 .agent = s->agent.name,
                                 .counts = how->counts,
                                 .keep = how->keep,
                                 .over = how->over,
                                 .enough = how->enough,
                                 .results_only = how->results_only,
                                 .instructions = how->instructions };

    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = find_applied(s, how->op_id, plan, result, e);
    if (!st && !result->duplicate)
        st = compact_prepare(&q, s->a, plan, e);
    log_abort(s->log);
    return st;
}

/* Where the agent is, in the open transaction. */
static enum status who(struct session *s, struct sv op_id, struct compact_by *by, struct err *e)
{
    struct node here;
    bool        found;

    *by = (struct compact_by){ .agent = s->agent.name,
                               .kind = s->agent.kind,
                               .actor = s->agent.name,
                               .op_id = op_id.n ? op_id : rand_id("compact_", 16, s->a),
                               .at = s->loom.now };
    if (loom_position(&s->loom, s->agent.name, &here, &found, e))
        return err_code(e);
    if (found)
        by->node = here.local;
    return ST_OK;
}

static enum status commit(struct session *s, enum status st, struct err *e)
{
    if (!st)
        st = log_commit(s->log, e);
    if (st)
        log_abort(s->log);
    return st;
}

struct compact_how compact_automatic(int64_t budget, int64_t percent)
{
    struct compact_how how = { .over = budget / 100 * percent + budget % 100 * percent / 100 };

    how.over = how.over > 0 ? how.over : 1;
    how.enough = how.over / 4 * 3 > 0 ? how.over / 4 * 3 : 1;
    return how;
}

/* A summary was written of what a preview has shown: messages that came since are not in it. */
static enum status check_last(const struct compact_plan *p, struct sv last, struct err *e)
{
    if (!last.s || !p->is_due || sv_eq(p->last, last))
        return ST_OK;
    err_set(e, ST_CONFLICT, "what would be replaced ends at [" SV_FMT "] now, not at [" SV_FMT "]",
            SV_ARG(p->last), SV_ARG(last));
    return err_hint(e, "--preview shows it again; with --keep more messages stay");
}

static enum status summarize(struct session *s, const struct compact_how *how,
                             struct compact_plan *plan, struct err *e)
{
    struct sv own = how->named ? how->model : s->agent.model;
    void     *ctx[] = { plan, s, &own };
    bool      model = how->model.n && s->env.ask;

    if (how->summary.s)
        return compact_summarize_by(plan, how->summary, s->a, e);
    return compact_summarize(plan, how->model, model ? ask : NULL, ctx, s->a, e);
}

enum status session_compact(struct session *s, const struct compact_how *how,
                            struct compact_plan *plan, struct op_result *result, struct err *e)
{
    struct compact_by by;

    if (prepare(s, how, plan, result, e) || check_last(plan, how->last, e))
        return err_code(e);
    if (how->preview && how->model.n && !how->summary.s && plan->is_due && plan->summarizes) {
        plan->model = how->model; /* a preview asks no model */
        plan->after = plan->tail + COMPACT_SUMMARY_TOKENS;
        return ST_OK;
    }
    if (summarize(s, how, plan, e))
        return err_code(e);
    if (!plan->is_due || how->preview)
        return ST_OK;
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    enum status st = who(s, how->op_id, &by, e);
    return commit(s, st ? st : compact_apply(plan, &by, s->a, result, e), e);
}

enum status session_compact_undo(struct session *s, struct sv lane, struct sv op_id,
                                 struct compact_undone *undone, struct op_result *result,
                                 struct err *e)
{
    struct compact_by by;
    struct node       here;
    bool              found = false;

    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    enum status st = who(s, op_id, &by, e);
    if (!st && !lane.s)
        st = loom_position(&s->loom, s->agent.name, &here, &found, e);
    if (!st && !lane.s && found)
        st = node_at(&s->loom, here.slot, &here, e);
    if (!lane.s)
        lane = found ? here.lane : SV("default");
    return commit(s, st ? st : compact_undo(&s->loom, lane, &by, s->a, undone, result, e), e);
}
