/* The loop of a turn: ask, record, run the commands, send their results to the model. */
#include "agent/turn_internal.h"

#include "base/rand.h"
#include "base/utf8.h"
#include "command/batch.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <stdarg.h>
#include <string.h>

/* ---- telling ------------------------------------------------------------------------------- */

enum status turn_tell(struct turn_work *t, const struct turn_event *ev, struct err *e)
{
    struct turn_event with = *ev;

    if (!t->q->event)
        return ST_OK;
    with.round = t->round;
    return t->q->event(t->q->ctx, &with, e);
}

enum status turn_notice(struct turn_work *t, struct err *e, const char *fmt, ...)
{
    struct sb b = sb_in(t->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return turn_tell(t, &(struct turn_event){ .type = TURN_NOTICE, .text = sb_sv(&b) }, e);
}

enum status turn_tell_change(struct turn_work *t, struct sv change, struct err *e)
{
    for (size_t i = 0; i < t->changes.n; i++)
        if (sv_eq(t->changes.v[i], change))
            return ST_OK;
    *vec_push(&t->changes, t->a) = change;
    return turn_notice(t, e, "sent differently: " SV_FMT, SV_ARG(change));
}

static enum status tell_node(struct turn_work *t, size_t before, struct err *e)
{
    if (t->nodes.n == before)
        return ST_OK;
    return turn_tell(
        t, &(struct turn_event){ .type = TURN_NODE, .node = t->nodes.v[t->nodes.n - 1] }, e);
}

/* ---- what it takes -------------------------------------------------------------------------- */

/* The provider did not report usage: input tokens were counted here, output tokens are estimated,
 * so that limits apply to such a model too. */
static void estimate(const struct turn_work *t, struct turn_answer *x)
{
    struct model_usage *u = &x->m.usage;

    u->estimated = u->estimated || u->input < 0 || u->output < 0;
    if (u->input < 0)
        u->input = (int64_t)t->x.tokens;
    if (u->output < 0)
        u->output = (int64_t)(utf8_count(x->text) + 3) / 4;
}

void turn_add_used(struct turn_work *t, const struct model_usage *m)
{
    struct turn_used *u = &t->out->used;

    u->requests++;
    u->input += m->input > 0 ? m->input : 0;
    u->output += m->output > 0 ? m->output : 0;
    u->estimated = u->estimated || m->estimated;
    if (m->cost >= 0)
        u->cost = (u->cost > 0 ? u->cost : 0) + m->cost;
}

/* A limit that is reached, as the reason of the end; NULL: none is. */
static const char *limit_reached(const struct turn_work *t)
{
    const struct turn_used *u = &t->out->used;

    if (t->q->max_rounds && t->round > t->q->max_rounds)
        return "max_iterations";
    if (t->q->max_tokens && u->input + u->output >= t->q->max_tokens)
        return "max_tokens";
    if (t->q->max_cost && u->cost >= t->q->max_cost)
        return "max_cost";
    return NULL;
}

static enum status stop_at(struct turn_work *t, const char *reason, struct err *e)
{
    struct run_ending how = { .outcome = "completed", .reason = sv_of(reason) };

    if (turn_notice(t, e, "the turn ends here: %s",
                    strcmp(reason, "max_iterations") == 0 ? "it has used all its rounds"
                    : strcmp(reason, "max_tokens") == 0   ? "it has used all its tokens"
                                                          : "it has cost as much as it may"))
        return err_code(e);
    return turn_log_end(t, &how, e);
}

/* ---- what the model sees --------------------------------------------------------------------- */

enum status turn_assemble(struct turn_work *t, const struct turn_view *view, struct err *e)
{
    if (t->q->assemble(t->q->ctx, view, t->a, &t->x, &t->view, e))
        return err_code(e);
    t->view.reserve = view->reserve;
    t->view.budget = view->budget;
    t->assembled = true;
    return ST_OK;
}

/* The messages of the rounds need more space: shorten the conversation before them. */
static enum status make_room(struct turn_work *t, const struct message *m, struct err *e)
{
    struct turn_view view = t->view;
    struct assembly  old = t->x;
    size_t           need = (size_t)t->x.budget / 8;

    view.reserve = (int64_t)(old.added + need);
    if (turn_assemble(t, &view, e))
        return err_code(e);
    for (size_t i = old.base; i < old.messages.n; i++)
        if (assembly_add(&t->x, &old.messages.v[i], e))
            return err_code(e);
    if (turn_notice(t, e, "older parts of the conversation were left out to make room"))
        return err_code(e);
    return assembly_add(&t->x, m, e);
}

static enum status add_message(struct turn_work *t, const struct message *m, struct err *e)
{
    if (assembly_add(&t->x, m, e) == ST_OK)
        return ST_OK;
    return e->code == ST_LIMIT_EXCEEDED ? make_room(t, m, e) : err_code(e);
}

/* Add the answer unchanged, commands included; providers refuse a text of spaces only. */
enum status turn_add_answer(struct turn_work *t, const struct turn_answer *x, struct err *e)
{
    struct message m = message_of_text("assistant", x->text, t->a);
    bool           blocks = x->goes_on && sv_starts(x->m.resend, SV("["));

    if (!sv_trim(x->text).n && !blocks)
        return ST_OK;
    m.reasoning_details = x->details;
    if (blocks) { /* the provider's own, thinking among them */
        m.content = x->m.resend;
        m.reasoning_details = (struct sv){ 0 };
    }
    if (add_message(t, &m, e))
        return err_code(e);
    t->paused += x->goes_on;
    return ST_OK;
}

/* The token with which a paused answer is continued; absent: none is needed. */
static struct sv token_of(struct turn_work *t, struct sv resend)
{
    struct json v;
    struct err  ignored;

    if (!resend.n || json_parse(resend, 0, t->a, &v, &ignored))
        return (struct sv){ 0 };
    return json_sv(&v);
}

/* A provider that gives the same token again makes no progress. */
bool turn_goes_on(struct turn_work *t, const struct turn_answer *x)
{
    struct sv token = token_of(t, x->m.resend);

    return sv_is(x->m.finish, "pause") && !x->scan.n && t->pauses < TURN_PAUSES &&
           !(token.n && sv_eq(token, t->token));
}

void turn_note_pause(struct turn_work *t, const struct turn_answer *x)
{
    t->pauses = x->goes_on ? t->pauses + 1 : 0;
    t->token = x->goes_on ? token_of(t, x->m.resend) : (struct sv){ 0 };
    t->paused = x->goes_on ? t->paused : 0;
}

enum status turn_add_input(struct turn_work *t, struct sv text, const struct node *n, struct err *e)
{
    struct sb b = sb_in(t->a, 0);

    if (t->x.aware && n) {
        struct loom *l = &t->s->loom;
        if (log_begin(t->s->log, l->thread, STORE_READ, e))
            return err_code(e);
        enum status s = show_metadata(l, n, false, &b, e);
        log_abort(t->s->log);
        if (s)
            return s;
    } else {
        sb_add(&b, text);
    }
    struct message m = message_of_text("user", sb_sv(&b), t->a);
    return add_message(t, &m, e);
}

/* ---- commands ----------------------------------------------------------------------------------
 */

enum { ECHO_BYTES = 160 };

/* Each command, cut to its first line, followed by its result. */
static void add_result(struct sb *b, const struct result *r)
{
    struct sv_cut line = sv_cut(r->line, '\n');
    struct sv     first = utf8_first(line.head, ECHO_BYTES);

    if (r->silent && r->ok)
        return;
    sb_adds(b, b->n ? "\n" : "");
    sb_adds(b, "→ ");
    sb_add_oneline(b, first);
    sb_adds(b, line.found || first.n < line.head.n ? " ...\n" : "\n");
    result_show(b, r);
}

static void keep_shown(struct turn_work *t, const struct result *r)
{
    if (r->n_items)
        *vec_push(&t->shown, t->a) = (struct turn_shown){ r->entry, r->items, r->n_items, false };
}

static void on_done(void *ctx, const struct result *r)
{
    struct turn_work *t = ctx;

    t->out->commands++;
    keep_shown(t, r);
    if (r->restored || (r->silent && r->ok) || t->gone.code != ST_OK)
        return;
    if (turn_tell(t, &(struct turn_event){ .type = TURN_RESULT, .result = r }, &t->gone))
        return; /* turn_run_batch() passes it on */
}

/* A result of an earlier round that this round names stays visible in the next turn. */
static void note_named(struct turn_work *t, struct sv text)
{
    struct sv lower = sv_lower(text, t->a);

    for (size_t i = 0; i < t->shown.n; i++)
        t->shown.v[i].named =
            t->shown.v[i].named || shown_named(t->shown.v[i].items, t->shown.v[i].n, lower, t->a);
}

/* A turn stays in its tree: a move to another tree ends with the batch. */
static enum status add_results(struct turn_work *t, const struct turn *batch,
                               const struct turn_answer *x, bool away, struct err *e)
{
    struct sb b = sb_in(t->a, 0);

    for (size_t i = 0; i < batch->n; i++)
        add_result(&b, &batch->results[i]);
    if (x->rest.n) {
        sb_adds(&b, b.n ? "\n" : "");
        sb_adds(&b, "(what you wrote behind your commands was not kept: these are their "
                    "results)\n");
    }
    if (away)
        sb_addf(&b, "\n(you are back in the tree of this turn, thread " SV_FMT ")\n",
                SV_ARG(t->s->loom.thread));
    if (!b.n) /* only thoughts */
        sb_adds(&b, "(noted)\n");
    struct message m = message_of_text("user", sb_sv(&b), t->a);
    return add_message(t, &m, e);
}

enum status turn_run_batch(struct turn_work *t, const struct turn_answer *x, struct err *e)
{
    struct session *s = t->s;
    struct turn     batch = { 0 };
    struct loom     home = s->loom;

    s->home = home.thread;
    s->run = t->run;
    s->round = t->round;
    s->line = 0;
    s->in_turn = true;
    s->done = on_done;
    s->done_ctx = t;
    s->loom.now = log_now(s->log);
    enum status st = batch_run(s, &x->scan, &batch, e);
    s->run = (struct loom_run){ 0 };
    s->in_turn = false;
    s->done = NULL;
    bool away = !sv_eq(s->loom.thread, home.thread);
    s->loom = home;
    s->loom.now = log_now(s->log);
    if (!st && t->gone.code != ST_OK) {
        *e = t->gone;
        st = err_code(e);
    }
    return st ? st : add_results(t, &batch, x, away, e);
}

/* ---- one round ----------------------------------------------------------------------------------
 */

static enum status fail(struct turn_work *t, const struct err *why, struct err *e)
{
    struct sb         b = sb_in(t->a, 0);
    struct jw         w = jw_in(&b, 0);
    bool              cancelled = strcmp(why->reason, "cancelled") == 0;
    struct run_ending how = { .outcome = cancelled ? "cancelled" : "failed",
                              .reason =
                                  sv_dup(sv_of(why->reason[0] ? why->reason : "error"), t->a) };

    jw_open(&w, '{');
    jw_klossy(&w, cancelled ? "cancelled" : "error",
              cancelled ? SV("user_cancelled") : sv_of(why->text));
    jw_close(&w, '}');
    how.result = sb_sv(&b);
    how.cancel_reason = cancelled ? SV("user_cancelled") : (struct sv){ 0 };
    t->out->error = *why;
    return turn_log_end(t, &how, e);
}

/* The provider's window is smaller than the budget: try again with a smaller budget. */
static enum status shrink(struct turn_work *t, struct err *e)
{
    struct turn_view view = t->view;
    struct assembly  old = t->x;

    view.budget = (int64_t)(old.tokens * 2 / 3);
    if (turn_notice(t, e,
                    "the provider says that %zu tokens are too many: older parts of the "
                    "conversation are left out",
                    old.tokens) ||
        turn_assemble(t, &view, e))
        return err_code(e);
    for (size_t i = old.base; i < old.messages.n; i++)
        if (assembly_add(&t->x, &old.messages.v[i], e))
            return err_code(e);
    return ST_OK;
}

/* *ended: the run is over. */
static enum status get_answer(struct turn_work *t, bool asked, struct turn_answer *x, bool *ended,
                              struct err *e)
{
    enum status st = turn_ask(t, asked, x, e);

    *ended = t->over;
    if (st == ST_MODEL_ERROR && strcmp(e->reason, "contextTooLong") == 0 && !t->shrunk) {
        t->shrunk = true;
        struct err why = *e;
        st = shrink(t, e);
        if (st == ST_LIMIT_EXCEEDED) /* the parts that are never cut are too large */
            *e = why;
        st = st ? ST_MODEL_ERROR : turn_ask(t, false, x, e);
    }
    if (st == ST_OK || *ended)
        return ST_OK;
    bool known = st == ST_MODEL_ERROR || st == ST_NOT_FOUND || st == ST_PERMISSION_DENIED ||
                 st == ST_INVALID_SYNTAX || strcmp(e->reason, "cancelled") == 0;
    if (!known)
        return st; /* an error of this program, not of the model: the turn can be resumed */
    struct err why = *e;
    *ended = true;
    return fail(t, &why, e);
}

static enum status tell_answer(struct turn_work *t, const struct turn_answer *x, struct err *e)
{
    for (struct sv rest = x->m.warnings; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n');
        if (turn_tell_change(t, line.head, e))
            return err_code(e);
        rest = line.tail;
    }
    if (x->m.interruption.n &&
        turn_notice(t, e,
                    "the answer was cut off (" SV_FMT "); what came is kept, and no command "
                    "in it was run",
                    SV_ARG(x->m.interruption)))
        return err_code(e);
    if (sv_is(x->m.finish, "length") &&
        turn_notice(t, e, "the answer was cut off at its longest length"))
        return err_code(e);
    if (x->goes_on && turn_notice(t, e, "the provider paused the answer: it is asked to go on"))
        return err_code(e);
    if (sv_is(x->m.finish, "pause") && !x->goes_on && !x->scan.n &&
        turn_notice(t, e,
                    "the provider paused the answer, and is not asked to go on any more (%lld "
                    "times in a row)",
                    (long long)t->pauses))
        return err_code(e);
    if (sv_is(x->m.finish, "content_filter") &&
        turn_notice(t, e, "the provider or the model refused to go on"))
        return err_code(e);
    if (x->rest.n && turn_notice(t, e, "the model went on behind its commands; that was not kept"))
        return err_code(e);
    return turn_tell(
        t, &(struct turn_event){ .type = TURN_USAGE, .usage = &x->m.usage, .used = &t->out->used },
        e);
}

static bool says_nothing(const struct turn_work *t, const struct turn_answer *x)
{
    return !x->scan.prose.n && !x->scan.n && !t->nodes.n && !t->out->commands && !x->goes_on &&
           !x->m.interruption.n && !sv_is(x->m.finish, "content_filter");
}

static enum status round_once(struct turn_work *t, bool asked, struct err *e)
{
    struct turn_answer x;
    size_t             before = t->nodes.n;
    bool               ended;

    if (get_answer(t, asked, &x, &ended, e) || ended)
        return ended ? ST_OK : err_code(e);
    estimate(t, &x);
    turn_add_used(t, &x.m.usage);
    note_named(t, x.text);
    if (x.scan.prose.n)
        t->out->text = x.scan.prose;
    x.goes_on = turn_goes_on(t, &x);
    x.empty = says_nothing(t, &x);
    if (x.empty)
        err_set(&t->out->error, ST_MODEL_ERROR, "the model said nothing");
    if (turn_log_answer(t, &x, e))
        return err_code(e);
    if (tell_node(t, before, e) || tell_answer(t, &x, e))
        return err_code(e);
    if (t->over)
        return ST_OK;
    turn_note_pause(t, &x);
    if (turn_add_answer(t, &x, e))
        return err_code(e);
    return x.scan.n ? turn_run_batch(t, &x, e) : ST_OK;
}

/* A person ended the batch: the commands that ran, and their records, stay. */
static enum status cancelled(struct turn_work *t, enum status st, struct err *e)
{
    struct err why = *e;

    if (st != ST_CONFLICT || strcmp(e->reason, "cancelled") != 0 || t->over)
        return st;
    return fail(t, &why, e);
}

/* The messages of the rounds do not fit, however short the conversation before them is. */
static enum status too_much(struct turn_work *t, enum status st, struct err *e)
{
    struct run_ending how = { .outcome = "completed", .reason = SV("budget") };
    struct err        why = *e;

    if (st != ST_LIMIT_EXCEEDED || t->over || !t->assembled)
        return st;
    if (turn_notice(t, e, "the turn ends here: %s", why.text))
        return err_code(e);
    return turn_log_end(t, &how, e);
}

static enum status go_on(struct turn_work *t, bool asked, struct err *e)
{
    enum status st = ST_OK;

    while (!st && !t->over) {
        if (!asked) {
            t->round++;
            t->tries = 0;
        }
        const char *limit = asked ? NULL : limit_reached(t);
        if (!asked && !t->pauses) /* a paused answer is continued first */
            st = turn_log_drain(t, e);
        if (!st)
            st = limit ? stop_at(t, limit, e) : round_once(t, asked, e);
        asked = false;
    }
    return too_much(t, cancelled(t, st, e), e);
}

/* ---- from outside -------------------------------------------------------------------------------
 */

static struct turn_work run_of(const struct turn_request *q, struct arena *a,
                               struct turn_outcome *out)
{
    struct turn_work t = { .q = q, .s = q->session, .a = a, .out = out, .held = NO_NODE };

    t.run.agent = q->session->agent.name;
    t.spool.lock = -1;
    *out = (struct turn_outcome){ .outcome = "", .text = SV(""), .used = { .cost = -1 } };
    return t;
}

static enum status open_spool(struct turn_work *t, struct err *e)
{
    if (spool_open(&t->spool, t->q->root_fd, t->run.id, t->s->loom.thread, t->run.agent, t->a, e))
        return err_code(e);
    turn_docs(t);
    turn_asks(t);
    return ST_OK;
}

/* What was said to the turn and no model was given is in the tree: say so. */
static enum status tell_unheard(struct turn_work *t, struct err *e)
{
    struct sb b = sb_in(t->a, 0);

    if (!t->unheard.n)
        return ST_OK;
    for (size_t i = 0; i < t->unheard.n; i++)
        sb_addf(&b, "%s[" SV_FMT "]", i ? ", " : "", SV_ARG(t->unheard.v[i]));
    return turn_notice(t, e,
                       "what was said meanwhile is kept and was not given to " SV_FMT ": " SV_FMT
                       "; a turn without a message answers it",
                       SV_ARG(t->run.agent), SV_ARG(sb_sv(&b)));
}

/* `runs`: the run is this process's, in the log. */
static enum status finish(struct turn_work *t, bool runs, enum status st, struct err *e)
{
    struct err  other = { 0 };
    struct err *into = st ? &other : e;

    if (runs && (turn_log_unheard(t, into) || tell_unheard(t, into)) && !st)
        st = err_code(e);
    spool_close(&t->spool, t->over);
    if (t->ask_ctx) {
        t->s->env.docs = t->docs;
        t->s->env.ask = t->ask;
        t->s->env.ask_all = t->ask_all;
        t->s->env.ask_ctx = t->ask_ctx;
    }
    t->out->run = t->run.id;
    t->out->nodes = t->nodes.v;
    t->out->n_nodes = t->nodes.n;
    t->out->unheard = t->unheard.v;
    t->out->n_unheard = t->unheard.n;
    t->out->rounds = t->round;
    return st;
}

/* Is the entry the first message of the run, with a text other than `message`? */
static bool is_other(const struct entry *n, const struct turn_request *q, struct arena *a)
{
    struct json v;
    struct err  ignored;

    if (kind_of(n->kind) != KIND_AI_MESSAGE || n->erased ||
        json_parse(n->payload, 0, a, &v, &ignored) || !sv_is(json_text(&v, "role"), "user") ||
        !sv_eq(json_text(&v, "run_id"), q->request_id))
        return false;
    struct sv said = json_text(&v, "content");
    return said.s && !sv_eq(sv_trim(said), sv_trim(q->message));
}

/* ST_CONFLICT, reason "op_id": the request of this id began with another message. That message is
 * shortly before the run_started entry, in the same transaction. */
static enum status check_message(const struct turn_request *q, struct arena *a, struct err *e)
{
    enum { BEFORE = 8 };
    struct log  *l = q->session->log;
    struct sv    thread = q->session->loom.thread;
    struct sb    op_id = sb_in(a, 0);
    struct entry started, n;
    bool         found = false, other = false;

    if (!q->message.s)
        return ST_OK;
    sb_addf(&op_id, "run:" SV_FMT, SV_ARG(q->request_id));
    if (log_begin(l, thread, STORE_READ, e))
        return err_code(e);
    enum status s = log_find_op(l, thread, sb_sv(&op_id), a, &started, &found, e);
    for (int64_t i = 1; !s && found && !other && i <= BEFORE && i <= started.seq; i++) {
        bool there;
        s = log_entry(l, thread, started.seq - i, a, &n, &there, e);
        other = !s && there && is_other(&n, q, a);
    }
    log_abort(l);
    return !s && other ? log_op_id_taken(q->request_id, e) : s;
}

/* A repeated request: continue its turn, or return its outcome. */
static enum status again(const struct turn_request *q, struct arena *a, const struct run_state *s,
                         struct turn_outcome *out, struct err *e)
{
    static const char *const outcomes[] = { [RUN_COMPLETED] = "completed", [RUN_ERROR] = "failed" };

    if (check_message(q, a, e))
        return err_code(e);
    if (s->active)
        return turn_resume(q, a, out, e);
    *out = (struct turn_outcome){ .run = s->run_id,
                                  .outcome = s->cancel_reason.n ? "cancelled" : outcomes[s->status],
                                  .reason = s->termination_reason,
                                  .text = SV(""),
                                  .rounds = s->iteration,
                                  .used = { .cost = -1 } };
    return ST_OK;
}

static bool is_active(void *ctx, struct sv run, struct sv thread, struct sv agent)
{
    struct turn_work *t = ctx;
    struct run_ref    who = { thread, agent, agent, 0 };
    struct run_state  s;
    struct err        ignored;

    return run_status(t->s->log, &who, t->a, &s, &ignored) != ST_OK ||
           (s.active && sv_eq(s.run_id, run));
}

static void hint_busy(struct turn_work *t, struct err *e)
{
    struct sv thread = t->s->loom.thread;
    struct sb b = sb_in(t->a, 0);

    sb_adds(&b, "heddle talk ");
    sb_add_shell(&b, thread);
    sb_adds(&b, " --agent ");
    sb_add_shell(&b, t->run.agent);
    err_hint(e,
             "it goes on elsewhere, or was interrupted: `" SV_FMT
             " --resume` goes on with it, `" SV_FMT "` ends it",
             SV_ARG(sb_sv(&b)), SV_ARG(run_cancel_words(thread, t->run.agent, t->a)));
}

enum status turn_run(const struct turn_request *q, struct arena *a, struct turn_outcome *out,
                     struct err *e)
{
    struct turn_work t = run_of(q, a, out);
    struct run_ref   who = { q->session->loom.thread, t.run.agent, q->speaker, 0 };
    struct run_state s = { 0 };
    struct err       ignored;

    spool_sweep(q->root_fd, is_active, &t);
    if (q->request_id.n && run_status(q->session->log, &who, a, &s, &ignored) == ST_OK &&
        sv_eq(s.request_id, q->request_id))
        return again(q, a, &s, out, e);
    /* A turn that cannot ask anybody does not begin: nothing is written. */
    if (q->ready && q->ready(q->ctx, q->session->agent.model, e))
        return err_code(e);
    t.run.id = q->request_id.n ? q->request_id : rand_id("turn_", 20, a);
    if (open_spool(&t, e) || turn_log_start(&t, e)) {
        t.over = true; /* nothing of it is in the log */
        if (strcmp(e->reason, "busy") == 0)
            hint_busy(&t, e);
        return finish(&t, false, err_code(e), e);
    }
    enum status st = turn_tell(
        &t, &(struct turn_event){ .type = TURN_STARTED, .text = t.run.id, .node = t.node.local },
        e);
    if (!st)
        st = turn_assemble(&t, &(struct turn_view){ .at = -1 }, e);
    if (st == ST_LIMIT_EXCEEDED) {
        struct err why = *e;
        st = fail(&t, &why, e);
    } else if (!st) {
        st = go_on(&t, false, e);
    }
    return finish(&t, true, st, e);
}

enum status turn_resume(const struct turn_request *q, struct arena *a, struct turn_outcome *out,
                        struct err *e)
{
    struct turn_work t = run_of(q, a, out);
    struct run_ref   who = { q->session->loom.thread, t.run.agent, q->speaker, 0 };
    bool             asked = false;

    if (run_status(q->session->log, &who, a, &t.state, e))
        return err_code(e);
    if (!t.state.active) {
        err_set(e, ST_NOT_FOUND, "no turn of " SV_FMT " is waiting to be resumed",
                SV_ARG(t.run.agent));
        err_reason(e, "idle");
        return err_hint(e, "begin one with --message");
    }
    t.run.id = t.state.run_id;
    if (open_spool(&t, e))
        return err_code(e);
    enum status st =
        turn_tell(&t, &(struct turn_event){ .type = TURN_RESUMED, .text = t.run.id }, e);
    if (!st)
        st = turn_reload(&t, &asked, e);
    st = cancelled(&t, st, e);
    if (!st && !t.over)
        st = go_on(&t, asked, e);
    return finish(&t, true, st, e);
}
