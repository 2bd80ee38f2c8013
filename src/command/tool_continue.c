/* continue: ask a subject model to go on from a node.
 *
 * The subject sees the conversation and nothing else: no ids, no annotations, no memory, no
 * thoughts, no commands. While it writes, the node is leased, so that a second agent does
 * not extend it at the same time; nothing is locked meanwhile. */
#include "assemble/assemble.h"
#include "assemble/thinking.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/ask.h"
#include "command/company.h"
#include "command/evidence.h"
#include "command/run.h"
#include "loom/shown.h"

/* ---- whom to ask ------------------------------------------------------------------ */

/* The model that sees nothing of the tree, when there is just one. */
static enum status only_subject(struct session *s, struct agent *out, struct err *e)
{
    struct agent *list;
    size_t        n, found = 0;

    if (agent_list(s->log, s->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind != AUTHOR_MODEL || (list[i].permissions & PERM_loom_aware))
            continue;
        found++;
        *out = list[i];
    }
    if (found == 1)
        return ST_OK;
    err_set(e, ST_NOT_FOUND,
            found ? "there are several subject models" : "there is no subject model");
    return err_hint(e, found ? "name one: → continue using agent:\"Name\""
                             : "a person can add one: heddle agent add Sub --kind model --model …");
}

static enum status find_subject(struct session *s, struct sv named, struct agent *out,
                                struct err *e)
{
    struct sv name = named.s ? named : s->env.subject;
    bool      found;

    if (!name.n)
        return only_subject(s, out, e);
    if (agent_find(s->log, name, s->a, out, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_NOT_FOUND, "no agent \"" SV_FMT "\"", SV_ARG(utf8_first(name, 80)));
    if (sv_eq(out->name, s->agent.name))
        return err_set(e, ST_PERMISSION_DENIED, "an agent cannot continue as itself");
    if (out->kind != AUTHOR_MODEL)
        return err_set(e, ST_PERMISSION_DENIED, "\"" SV_FMT "\" is a person, not a model",
                       SV_ARG(out->name));
    return ST_OK;
}

/* ---- what it is asked ------------------------------------------------------------- */

struct asking {
    struct session       *s;
    struct node           from;
    struct agent          subject;
    struct agent_settings how; /* the subject's settings, and those of the command over them */
    struct assembly       sent;
    struct context        asked;  /* as it was sent */
    struct render_report  report; /* what the provider's form could not hold */
    bool                  lost;   /* the lease ran out, and is another's by now */
};

/* The conversation up to the node, in the versions that the agent sees, and nothing that only an
 * agent in the tree should see, whatever the subject may do elsewhere. */
static enum status gather(struct asking *q, struct err *e)
{
    struct session         *s = q->s;
    struct counts           counts;
    struct assembly_request r = { .loom = s->loom,
                                  .agent = q->subject,
                                  .viewer = s->agent.name,
                                  .node = q->from.local,
                                  .counts = &counts,
                                  .budget = s->env.budget,
                                  .buffer_system = s->env.buffer_system };

    r.agent.permissions = 0;
    counts_init_by(&counts, s->env.count_tokens, s->env.tokens_ctx);
    enum status st = assembly_make(&r, s->a, &q->sent, e);
    counts_release(&counts);
    return st;
}

/* ---- what comes back --------------------------------------------------------------- */

static enum status add_answer(struct asking *q, const struct model_response *m, struct node *made,
                              struct err *e)
{
    struct session *s = q->s;
    struct new_node n = { .text = evidence_text(m, s->a),
                          .author = q->subject.name,
                          .kind = AUTHOR_MODEL,
                          .parent = &q->from,
                          .via = "continue",
                          .asked_by = s->agent.name,
                          .thinking = m->thinking,
                          .details = thinking_keep(q->subject.model, m->kept, &q->asked, s->a) };

    return evidence_keep(s, m, &n.response, e) ? err_code(e) : loom_add(&s->loom, &n, made, e);
}

struct answers {
    VEC(struct model_response) list;
    int64_t    failed;
    struct err last; /* of the failures */
};

/* ---- asking -------------------------------------------------------------------------- */

static enum status renew(struct session *s, const struct node *from, struct err *e)
{
    enum status st = session_resume(s, e);

    if (!st)
        st = lease_take(&s->loom, s->agent.name, from, e);
    if (!st)
        return session_pause(s, e);
    log_abort(s->log);
    return st;
}

/* Called while the models write: the lease is renewed before it runs out. One that was lost all the
 * same, because the machine slept, is not taken back; what comes is kept. */
static void keep_lease(void *ctx)
{
    struct asking  *q = ctx;
    struct session *s = q->s;
    int64_t         now = log_now(s->log);
    struct err      why;

    if (q->lost || now - s->loom.now <= LEASE_MS / 2)
        return;
    s->loom.now = now;
    q->lost = renew(s, &q->from, &why) == ST_CONFLICT;
}

/* The i-th of several is asked with the i-th seed: with the same one all would be alike. */
static struct agent_settings nth_settings(const struct asking *q, int64_t i)
{
    struct agent_settings how = q->how;
    struct sb             b = sb_in(q->s->a, 0);
    int64_t               seed;

    if (i && sv_to_int(how.seed, &seed)) {
        sb_add_int(&b, seed + i);
        how.seed = sb_sv(&b);
    }
    return how;
}

static enum status prepare(struct asking *q, struct model_asking *list, int64_t n, struct err *e)
{
    struct session *s = q->s;

    for (int64_t i = 0; i < n; i++) {
        struct agent_settings how = nth_settings(q, i);
        struct render_report  report = report_in(s->a);
        if (i && !q->how.seed.n)
            list[i].q = list[0].q;
        else if (ask_request(s, q->subject.model, &q->sent.context, &how, &list[i].q, &q->asked,
                             &report, e))
            return err_code(e);
        if (i == 0)
            q->report = report;
    }
    return ST_OK;
}

/* Ask n times at once. Nothing is locked meanwhile. Answers stay in the order in which they were
 * asked for, whichever came first. */
static enum status ask_all(struct asking *q, int64_t n, struct answers *out, struct err *e)
{
    struct session      *s = q->s;
    struct model_asking *list = ARENA_NEW(s->a, struct model_asking, (size_t)n);

    if (prepare(q, list, n, e))
        return err_code(e);
    session_ask_all(s, list, (size_t)n, keep_lease, q);
    s->loom.now = log_now(s->log);
    for (int64_t i = 0; i < n; i++) {
        if (list[i].status == ST_OK && sv_trim(list[i].out.text).n) {
            *vec_push(&out->list, s->a) = list[i].out;
            continue;
        }
        if (list[i].status == ST_OK)
            err_set(&list[i].error, ST_MODEL_ERROR, "the model said nothing");
        out->failed++;
        out->last = list[i].error;
    }
    return ST_OK;
}

/* What the command says of the settings. */
static struct agent_settings given_settings(const struct call *c, struct arena *a)
{
    struct agent_settings given = { .max_tokens = call_count(c, "tokens", 0),
                                    .temperature = call_text(c, "temperature"),
                                    .top_p = call_text(c, "top_p"),
                                    .seed = call_text(c, "seed"),
                                    .effort = call_text(c, "effort") };
    struct sv            *stop = ARENA_NEW(a, struct sv, 1);

    *stop = call_text(c, "stop");
    given.stop = (struct sv_list){ stop, stop->n > 0 };
    return given;
}

static enum status check_limits(const struct call *c, struct err *e)
{
    int64_t n = call_count(c, "n", 1), tokens = call_count(c, "tokens", 1);

    if (n < 1 || n > CONTINUATIONS_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max continuations per request is %d", CONTINUATIONS_MAX);
        return err_hint(e, n < 1 ? "use n:1 or more" : "use n:%d or less", CONTINUATIONS_MAX);
    }
    if (tokens >= 1 && tokens <= AGENT_TOKENS_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "tokens must be between 1 and 1,000,000");
    return err_hint(e, tokens < 1 ? "use tokens:1 or more" : "use tokens:1000000 or less");
}

/* Settings that the provider did not take: the same for every answer of one request. */
static void tell_warnings(const struct answers *got, struct sb *b)
{
    for (struct sv rest = got->list.n ? got->list.v[0].warnings : (struct sv){ 0 }; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n');
        sb_adds(b, "  (sent differently: ");
        sb_add_oneline(b, line.head);
        sb_adds(b, ")\n");
        rest = line.tail;
    }
}

/* What was not done. */
static void tell_shortfall(const struct asking *q, const struct answers *got, int64_t total,
                           struct sb *b)
{
    if (got->failed) {
        sb_addf(b, "✗ MODEL_ERROR: %lld of %lld failed: ", (long long)got->failed,
                (long long)total);
        sb_add_oneline(b, sv_of(got->last.text));
        sb_addc(b, '\n');
    }
    if (q->sent.pruned.left_out) {
        sb_adds(b, "  (");
        sb_add_count(b, q->sent.pruned.left_out, "node");
        sb_adds(b, " of the path not sent, to fit ");
        sb_add_commas(b, q->s->env.budget);
        sb_adds(b, " tokens)\n");
    }
    tell_warnings(got, b);
    if (q->lost)
        sb_adds(b, "  (another agent took this node over meanwhile; the answers are kept)\n");
    for (size_t i = 0; i < q->report.list.n; i++) {
        sb_adds(b, "  (sent differently: ");
        repair_write(b, &q->report.list.v[i]);
        sb_adds(b, ")\n");
    }
}

static enum status tell(struct asking *q, const struct call *c, const struct answers *got,
                        struct result *r, struct err *e)
{
    struct sb undo = sb_in(q->s->a, 0);
    struct jw w = jw_in(&undo, 0);
    int64_t   total = (int64_t)got->list.n + got->failed;

    jw_open(&w, '{');
    jw_kstr(&w, "do", SV("prune-all"));
    jw_key(&w, "nodes");
    jw_open(&w, '[');
    sb_adds(&r->text, "✓ generating ");
    sb_add_count(&r->text, total, "continuation");
    sb_addf(&r->text, " from [" SV_FMT "]", SV_ARG(q->from.local));
    if (call_has(c, "agent")) {
        sb_adds(&r->text, " using \"");
        sb_add_oneline(&r->text, q->subject.name);
        sb_addc(&r->text, '"');
    }
    sb_adds(&r->text, "...\n");
    for (size_t i = 0; i < got->list.n; i++) {
        struct node made;
        if (add_answer(q, &got->list.v[i], &made, e))
            return err_code(e);
        jw_str(&w, made.local);
        sb_addf(&r->text, "  [" SV_FMT "] ", SV_ARG(made.local));
        sb_add_preview(&r->text, got->list.v[i].text, PREVIEW_LIST);
        sb_addc(&r->text, '\n');
    }
    tell_shortfall(q, got, total, &r->text);
    jw_close(&w, ']');
    jw_close(&w, '}');
    r->undo = sb_sv(&undo);
    r->results = (int64_t)got->list.n;
    r->object = q->from.local;
    return ST_OK;
}

RUN(continue)
{
    struct asking         q = { .s = s, .report = report_in(s->a) };
    struct answers        got = { 0 };
    struct agent_settings given = given_settings(c, s->a);

    if (check_limits(c, e) || agent_settings_check(&given, e) ||
        session_node(s, call_text(c, "from"), &q.from, e) ||
        find_subject(s, call_text(c, "agent"), &q.subject, e) || gather(&q, e))
        return err_code(e);
    if (!q.sent.context.n) {
        err_set(e, ST_NOT_FOUND, "nothing is left to send of the path to [" SV_FMT "]",
                SV_ARG(q.from.local));
        return err_hint(e, "→ view branch:" SV_FMT " as:nodes shows what is excluded",
                        SV_ARG(q.from.local));
    }
    if (!s->env.ask)
        return err_set(e, ST_MODEL_ERROR, "no model can be asked here");
    company_tell(s, s->agent.kind == AUTHOR_MODEL ? s->agent.model : q.subject.model,
                 q.subject.model, "to continue conversations"); /* a person chose the subject */
    q.how = q.subject.settings;
    agent_settings_over(&q.how, &given);
    if (lease_take(&s->loom, s->agent.name, &q.from, e) || session_pause(s, e) ||
        ask_all(&q, call_count(c, "n", 1), &got, e) || session_resume(s, e) ||
        lease_release(&s->loom, s->agent.name, &q.from, e))
        return err_code(e);
    if (got.list.n)
        return tell(&q, c, &got, r, e);
    if (session_pause(s, e)) /* commit the release of the lease although the command fails */
        return err_code(e);
    *e = got.last;
    return e->code = ST_MODEL_ERROR;
}
