/* continue: ask a subject model to go on from a node.
 *
 * The subject sees the conversation and nothing else: no ids, no annotations, no memory, no
 * thoughts, no commands. While it writes, the node is leased, so that a second agent does
 * not extend it at the same time; nothing is locked meanwhile. */
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/run.h"
#include "loom/provenance.h"
#include "loom/shown.h"
#include "thread/kind.h"

enum { SUBJECT_NODES_MAX = 2000 };

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
    struct session *s;
    struct node     from;
    struct agent    subject;
    struct sb       system;
    VEC(struct model_message) messages;
    struct sb last;     /* content of the last message, while it grows */
    int64_t   left_out; /* nodes at the start of a path that is too long */
};

/* Neighbours with the same role become one message. */
static void add_message(struct asking *q, enum model_role role, struct sv text)
{
    size_t n = q->messages.n;

    if (n && q->messages.v[n - 1].role == role) {
        sb_adds(&q->last, "\n\n");
    } else {
        vec_push(&q->messages, q->s->a)->role = role;
        q->last = sb_in(q->s->a, 0);
    }
    sb_add(&q->last, text);
    q->messages.v[q->messages.n - 1].content = sb_sv(&q->last);
}

static enum status add_node(struct asking *q, const struct node *n, bool buffer, struct sb *prose,
                            struct err *e)
{
    struct sv text;

    if (n->excluded)
        return ST_OK;
    if (node_text(&q->s->loom, n->seq, &text, e))
        return err_code(e);
    if (buffer) {
        sb_add(prose, text);
        return ST_OK;
    }
    text = sv_trim(text);
    if (!text.n)
        return ST_OK;
    if (!sv_is(n->as, "instruction")) {
        add_message(q, n->kind == AUTHOR_MODEL ? MODEL_ASSISTANT : MODEL_USER, text);
        return ST_OK;
    }
    sb_adds(&q->system, q->system.n ? "\n\n" : "");
    sb_add(&q->system, text);
    return ST_OK;
}

static enum status gather(struct asking *q, struct err *e)
{
    struct session *s = q->s;
    struct sb       prose = sb_in(s->a, 0);
    struct node    *path;
    size_t          n;
    bool            buffer;

    q->system = sb_in(s->a, 0);
    sb_add(&q->system, sv_trim(q->subject.system_prompt));
    if (q->from.depth + 1 > SUBJECT_NODES_MAX)
        q->left_out = q->from.depth + 1 - SUBJECT_NODES_MAX;
    if (loom_is_buffer(&s->loom, &buffer, e) ||
        node_path(&s->loom, s->agent.name, &q->from, q->left_out, &path, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (add_node(q, &path[i], buffer, &prose, e))
            return err_code(e);
    if (prose.n)
        add_message(q, MODEL_USER, sb_sv(&prose));
    return ST_OK;
}

/* ---- what comes back --------------------------------------------------------------- */

/* Text that was cut off keeps what arrived, and says so. */
static struct sv answer_text(struct session *s, const struct model_response *m)
{
    struct sb b = sb_in(s->a, 0);

    if (!m->interruption.n || !sv_trim(m->text).n)
        return m->text;
    struct sv text = m->text;
    while (text.n && (text.s[text.n - 1] == ' ' || text.s[text.n - 1] == '\n'))
        text.n--;
    sb_add(&b, text);
    sb_addf(&b, "\n\n[stream interrupted: " SV_FMT "]", SV_ARG(m->interruption));
    return sb_sv(&b);
}

/* The raw answer is evidence: kept as it came, under its hash. */
static enum status keep_response(struct session *s, const struct model_response *m, struct sv hash,
                                 struct err *e)
{
    struct sb b = sb_in(s->a, 0), body = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_lossy(&body, m->body);
    jw_open(&w, '{');
    jw_kint(&w, "answered_at", m->answered_at);
    jw_kint(&w, "asked_at", m->asked_at);
    jw_kstr(&w, "body", sb_sv(&body));
    jw_kstr(&w, "finish", m->finish);
    jw_kstr(&w, "hash", hash);
    jw_kstr(&w, "headers", m->headers);
    if (m->interruption.n)
        jw_kstr(&w, "interruption", m->interruption);
    jw_kstr(&w, "model", m->model);
    jw_kstr(&w, "provider", m->provider);
    if (m->request_id.n)
        jw_kstr(&w, "request_id", m->request_id);
    if (m->prompt_tokens >= 0)
        jw_kint(&w, "prompt_tokens", m->prompt_tokens);
    if (m->completion_tokens >= 0)
        jw_kint(&w, "completion_tokens", m->completion_tokens);
    jw_close(&w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_MODEL_RESPONSE), sb_sv(&b), NULL, e);
}

static enum status add_answer(struct asking *q, const struct model_response *m, struct node *made,
                              struct err *e)
{
    struct session *s = q->s;
    struct sb       text = sb_in(s->a, 0);
    struct sv       hash = provenance_response(m->headers, m->body, s->a);

    sb_add_lossy(&text, answer_text(s, m));
    struct new_node n = { .text = sb_sv(&text),
                          .author = q->subject.name,
                          .kind = AUTHOR_MODEL,
                          .parent = &q->from,
                          .via = "continue",
                          .response = hash,
                          .asked_by = s->agent.name };
    return keep_response(s, m, hash, e) ? err_code(e) : loom_add(&s->loom, &n, made, e);
}

struct answers {
    VEC(struct model_response) list;
    int64_t    failed;
    struct err last; /* of the failures */
};

/* Renew the lease. *lost: it ran out while the model wrote, and is another's by now. */
static enum status renew(struct asking *q, bool *lost, struct err *e)
{
    struct session *s = q->s;

    if (session_resume(s, e))
        return err_code(e);
    enum status st = lease_take(&s->loom, s->agent.name, &q->from, e);
    *lost = st == ST_CONFLICT;
    if (!st)
        return session_pause(s, e);
    log_abort(s->log);
    return *lost ? ST_OK : st;
}

/* Ask n times. Nothing is locked here; the lease is renewed before it runs out. When it is lost,
 * what came so far is kept, and no more is asked for. */
static enum status ask_all(struct asking *q, int64_t n, int64_t tokens, struct answers *out,
                           struct err *e)
{
    struct session      *s = q->s;
    struct model_request request = { .model = q->subject.model,
                                     .system = sb_sv(&q->system),
                                     .messages = q->messages.v,
                                     .n = q->messages.n,
                                     .max_tokens = tokens };

    for (int64_t i = 0; i < n; i++) {
        struct model_response m;
        if (s->env.ask(s->env.ask_ctx, &request, s->a, &m, &out->last) == ST_OK &&
            sv_trim(m.text).n)
            *vec_push(&out->list, s->a) = m;
        else if (out->failed++ == 0 && out->last.code == ST_OK)
            err_set(&out->last, ST_MODEL_ERROR, "the model said nothing");
        int64_t now = clock_now_ms();
        bool    due = now - s->loom.now > LEASE_MS / 2 && i + 1 < n, lost = false;
        s->loom.now = now;
        if (due && renew(q, &lost, e))
            return err_code(e);
        if (lost) {
            out->failed += n - i - 1;
            out->last = *e;
            break;
        }
    }
    return ST_OK;
}

static enum status check_limits(const struct call *c, struct err *e)
{
    int64_t n = call_count(c, "n", 1), tokens = call_count(c, "tokens", 1);

    if (n < 1 || n > CONTINUATIONS_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max continuations per request is %d", CONTINUATIONS_MAX);
        return err_hint(e, n < 1 ? "use n:1 or more" : "use n:%d or less", CONTINUATIONS_MAX);
    }
    if (tokens >= 1 && tokens <= 1000000)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "tokens must be between 1 and 1,000,000");
    return err_hint(e, tokens < 1 ? "use tokens:1 or more" : "use tokens:1000000 or less");
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
    if (q->left_out) {
        sb_adds(b, "  (the first ");
        sb_add_count(b, q->left_out, "node");
        sb_adds(b, " of the path not sent: the last ");
        sb_add_commas(b, SUBJECT_NODES_MAX);
        sb_adds(b, " are)\n");
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
    struct asking  q = { .s = s };
    struct answers got = { 0 };

    if (check_limits(c, e) || session_node(s, call_text(c, "from"), &q.from, e) ||
        find_subject(s, call_text(c, "agent"), &q.subject, e) || gather(&q, e))
        return err_code(e);
    if (!q.messages.n) {
        err_set(e, ST_NOT_FOUND, "nothing is left to send of the path to [" SV_FMT "]",
                SV_ARG(q.from.local));
        return err_hint(e, "→ view branch:" SV_FMT " as:nodes shows what is excluded",
                        SV_ARG(q.from.local));
    }
    if (!s->env.ask)
        return err_set(e, ST_MODEL_ERROR, "no model can be asked here");
    if (lease_take(&s->loom, s->agent.name, &q.from, e) || session_pause(s, e) ||
        ask_all(&q, call_count(c, "n", 1), call_count(c, "tokens", q.subject.max_tokens), &got,
                e) ||
        session_resume(s, e) || lease_release(&s->loom, s->agent.name, &q.from, e))
        return err_code(e);
    if (got.list.n)
        return tell(&q, c, &got, r, e);
    if (session_pause(s, e)) /* the lease is given back even so */
        return err_code(e);
    *e = got.last;
    return e->code = ST_MODEL_ERROR;
}
