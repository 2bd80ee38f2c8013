/* Asking the model: its answer is scanned while it arrives, stored in a file, and stopped after the
 * first batch of commands. */
#include "agent/turn_internal.h"

#include "assemble/thinking.h"
#include "base/utf8.h"
#include "command/ask.h"

#include <string.h>

/* ---- listening ---------------------------------------------------------------------------- */

struct listener {
    struct turn_work *t;
    struct scan_watch watch;
    bool              watches; /* the agent may use tools */
    bool              quiet;   /* nothing is shown */
    struct err        gone;    /* error of an event that could not be sent; code ST_OK: none */
};

static void show(void *ctx, enum watch_part what, struct sv text)
{
    static const enum turn_event_type types[] = {
        [SCAN_PROSE] = TURN_TEXT, [SCAN_COMMAND] = TURN_COMMAND, [SCAN_THOUGHT] = TURN_THOUGHT
    };
    struct listener *l = ctx;

    if (l->gone.code == ST_OK && !l->quiet &&
        turn_tell(l->t, &(struct turn_event){ .type = types[what], .text = text }, &l->gone))
        return; /* on_event() passes it on */
}

static enum status on_event(void *ctx, const struct model_event *ev, struct err *e)
{
    struct listener *l = ctx;
    bool             enough = false;

    if (ev->type == MODEL_THINKING)
        return l->quiet
                   ? ST_OK
                   : turn_tell(l->t,
                               &(struct turn_event){ .type = TURN_THINKING, .text = ev->text }, e);
    if (ev->type != MODEL_TEXT)
        return ST_OK;
    if (l->watches) {
        enough = scan_watch_feed(&l->watch, ev->text);
    } else {
        sb_add(&l->watch.text, ev->text);
        show(l, SCAN_PROSE, ev->text);
    }
    if (l->gone.code != ST_OK) {
        *e = l->gone;
        return err_code(e);
    }
    return enough ? model_enough(e) : ST_OK;
}

static struct listener listen(struct turn_work *t)
{
    struct listener l = { .t = t };

    l.watches = t->s->agent.permissions & (PERM_loom_aware | PERM_doc_read | PERM_doc_write);
    return l;
}

/* ---- what of an answer counts ------------------------------------------------------------------
 */

/* A model that reached its token limit was cut off inside its last line. */
static void refuse_last(struct turn_work *t, struct turn_answer *x)
{
    struct scanned_line *last = x->scan.n ? &x->scan.lines[x->scan.n - 1] : NULL;
    struct sv            text = sv_trim(x->text);

    if (!last || last->is_think || last->is_refused || sv_ends(x->text, SV("\n")) ||
        last->text.s + last->text.n != text.s + text.n)
        return;
    last->refusal = ARENA_NEW(t->a, struct err, 1);
    last->is_refused = true;
    err_set(last->refusal, ST_LIMIT_EXCEEDED, "not run: your output ended inside of this line");
    err_hint(last->refusal, "give the command again");
}

static struct sv settled_prose(struct turn_work *t, const struct turn_answer *x)
{
    struct sb b = sb_in(t->a, 0);
    struct sv prose = t->x.buffer ? x->scan.prose : sv_trim(x->scan.prose);

    if (!sv_trim(prose).n)
        return SV("");
    if (!x->m.interruption.n)
        return prose;
    sb_add(&b, sv_trim(prose));
    sb_addf(&b, "\n\n[stream interrupted: " SV_FMT "]", SV_ARG(x->m.interruption));
    return sb_sv(&b);
}

void turn_scan(struct turn_work *t, struct turn_answer *x)
{
    struct listener l = listen(t);

    if (l.watches)
        scan_output(x->text, t->a, &x->scan);
    else
        x->scan = (struct scan){ .prose = x->text };
    if (sv_is(x->m.finish, "length") || sv_is(x->m.finish, "pause"))
        refuse_last(t, x);
    x->scan.prose = settled_prose(t, x);
}

/* The answer is complete. Without scanning for commands all of it was already shown. */
static void end_watch(struct listener *l)
{
    if (l->watches)
        scan_watch_end(&l->watch);
}

static void take_answer(struct turn_work *t, struct listener *l, struct turn_answer *out)
{
    struct sb valid = sb_in(t->a, 0);

    end_watch(l);
    sb_add_lossy(&valid, scan_watch_text(&l->watch));
    out->text = sb_sv(&valid);
    out->rest = sv_trim(scan_watch_rest(&l->watch));
    turn_scan(t, out);
    if (out->m.interruption.n)
        out->scan.n = out->scan.commands = 0; /* it is unknown whether more commands followed */
}

/* ---- the request -------------------------------------------------------------------------------
 */

/* *asked: the context as it is sent. */
static enum status make_request(struct turn_work *t, struct model_request *out,
                                struct context *asked, struct render_report *r, struct err *e)
{
    struct session      *s = t->s;
    struct sv            model = s->agent.model;
    const char          *name = model_dialect(model);
    struct body_settings how = ask_settings(model, &s->agent.settings);
    enum body_dialect    dialect;
    struct sb            body = sb_in(t->a, 0);

    if (!body_dialect_of(sv_of(name ? name : "offline"), &dialect))
        return err_set(e, ST_NOT_FOUND, "no body is made for the dialect %s", name);
    how.stream = dialect != BODY_OFFLINE;
    how.cache = t->x.cache;
    how.token = t->token;
    how.user_last = how.user_last && !t->pauses; /* a paused answer is the last message */
    struct context whole = t->x.context;
    whole.n -= t->token.n ? t->paused : 0; /* the provider has the first part */
    if (thinking_settle(&whole, model, t->a, asked, r, e) ||
        body_write(dialect, asked, &how, t->a, &body, r, e))
        return err_code(e);
    *out = (struct model_request){ .model = model,
                                   .body = sb_sv(&body),
                                   .event = on_event,
                                   .cancel = &t->cancel,
                                   .wait = turn_log_wait,
                                   .wait_ctx = t };
    return ST_OK;
}

static enum status tell_report(struct turn_work *t, const struct render_report *r, struct err *e)
{
    for (size_t i = 0; i < r->list.n; i++) {
        struct sb b = sb_in(t->a, 0);
        repair_write(&b, &r->list.v[i]);
        if (turn_tell_change(t, sb_sv(&b), e))
            return err_code(e);
    }
    return ST_OK;
}

static struct sv answer_name(struct turn_work *t)
{
    struct sb b = sb_in(t->a, 0);

    sb_addf(&b, "%lld", (long long)t->round);
    return sb_sv(&b);
}

/* ---- answers that had come ---------------------------------------------------------------------
 */

/* The answer that an earlier process had received. *found is false when it is missing or
 * incomplete. */
static enum status read_file(struct turn_work *t, const struct model_request *q,
                             struct turn_answer *out, bool *found, struct err *e)
{
    struct listener      l = listen(t);
    struct model_request again = *q;
    struct sv            headers, bytes;
    bool                 there;

    *found = false;
    if (!t->q->replay ||
        spool_answer_read(&t->spool, answer_name(t), t->a, &headers, &bytes, &there, e))
        return t->q->replay ? err_code(e) : ST_OK;
    if (!there || !bytes.n)
        return ST_OK;
    /* Read it once without showing it: an incomplete answer is asked for again, and would be shown
     * twice. */
    l.quiet = true;
    again.ctx = &l;
    again.wait = NULL;
    scan_watch_init(&l.watch, t->a, show, &l);
    enum status st = t->q->replay(t->q->ctx, &again, headers, bytes, t->a, &out->m, found, e);
    end_watch(&l);
    if (st || !*found)
        return *found ? st : ST_OK;
    l.quiet = false;
    scan_watch_init(&l.watch, t->a, show, &l);
    if (t->q->replay(t->q->ctx, &again, headers, bytes, t->a, &out->m, found, e))
        return err_code(e);
    take_answer(t, &l, out);
    return ST_OK;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static enum status ask_now(struct turn_work *t, struct model_request *q, struct turn_answer *out,
                           struct err *e)
{
    struct listener     l = listen(t);
    struct spool_answer file = spool_answer_of(&t->spool, answer_name(t));
    bool                told = file.failed;

    scan_watch_init(&l.watch, t->a, show, &l);
    /* cppcheck-suppress autoVariables ; put back below */
    q->ctx = &l;
    q->received = spool_receive;
    /* cppcheck-suppress autoVariables ; put back below */
    q->received_ctx = &file;
    enum status st = t->ask(t->ask_ctx, q, t->a, &out->m, e);
    q->ctx = q->received_ctx = NULL;
    q->received = NULL;
    spool_answer_end(&file);
    if (st) {
        end_watch(&l);
        return st;
    }
    take_answer(t, &l, out);
    if (file.failed)
        return turn_notice(t, e, "the answer could not be kept below .heddle/turns while it came%s",
                           told ? ": the file cannot be made" : "");
    return ST_OK;
}

enum status turn_ask(struct turn_work *t, bool asked, struct turn_answer *out, struct err *e)
{
    struct render_report report = report_in(t->a);
    struct model_request q;
    struct context       context;
    bool                 found = false;

    *out = (struct turn_answer){ 0 };
    if (make_request(t, &q, &context, &report, e) || (asked && read_file(t, &q, out, &found, e)))
        return err_code(e);
    if (asked && !found &&
        turn_notice(t, e,
                    "the model had been asked when the turn was interrupted, and what it "
                    "answered is not known: it is asked again"))
        return err_code(e);
    if (!found && (tell_report(t, &report, e) || turn_log_request(t, q.body, asked, e) ||
                   ask_now(t, &q, out, e)))
        return err_code(e);
    out->details = thinking_keep(q.model, out->m.kept, &context, t->a);
    return ST_OK;
}
