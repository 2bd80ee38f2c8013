/* A session: opening it, running the lines of a model or a person, recording what they did. */
#include "command/session.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/batch.h"
#include "command/once.h"
#include "command/result.h"
#include "command/scan.h"
#include "command/step.h"
#include "command/suggest.h"
#include "loom/piece.h"
#include "thread/kind.h"

#include <assert.h>

/* ---- opening ---------------------------------------------------------------------- */

static enum status describe(struct session *s, struct err *e)
{
    struct store_head head;

    if (s->env.describe && s->env.describe(s->env.describe_ctx, s->loom.thread, s->a,
                                           &s->loom.title, &s->loom.mode, e))
        return err_code(e);
    if (s->env.seed_mixed)
        return ST_OK;
    if (log_head(s->log, s->loom.thread, &head, e))
        return err_code(e);
    rand_mix((struct sv){ (const char *)head.chain.b, sizeof head.chain.b });
    return ST_OK;
}

static enum status set_up(struct session *s, struct log *log, const struct session_env *env,
                          struct sv thread, int64_t now, struct arena *a, struct err *e)
{
    *s = (struct session){ .log = log, .env = *env, .a = a };
    s->loom = (struct loom){ .log = log,
                             .thread = thread,
                             .a = a,
                             .now = now,
                             .describe = env->describe,
                             .ctx = env->describe_ctx };
    if (!s->env.result_tokens)
        s->env.result_tokens = RESULT_TOKENS;
    if (!s->env.budget)
        s->env.budget = CONTEXT_BUDGET;
    return describe(s, e);
}

static void want(const struct session_env *env, struct sv thread)
{
    if (env->want)
        env->want(env->describe_ctx, thread);
}

static void be(struct session *s, const struct agent *x)
{
    s->agent = *x;
    s->viewer = (struct viewer){ x->name, x->kind, x->permissions, NULL };
}

enum status session_open(struct session *s, struct log *log, const struct session_env *env,
                         struct sv thread, struct sv agent, int64_t now, struct arena *a,
                         struct err *e)
{
    struct agent x;

    want(env, thread);
    if (log_begin(log, GLOBAL_THREAD, STORE_READ, e))
        return err_code(e);
    enum status st = agent_named(log, agent, a, &x, e);
    if (!st)
        st = set_up(s, log, env, thread, now, a, e);
    log_abort(log);
    if (!st)
        be(s, &x);
    return st;
}

enum status session_open_person(struct session *s, struct log *log, const struct session_env *env,
                                struct sv thread, struct sv name, int64_t now, struct arena *a,
                                struct err *e)
{
    struct agent x = { .name = name, .kind = AUTHOR_HUMAN, .permissions = PERM_ALL };

    want(env, thread);
    if (log_begin(log, GLOBAL_THREAD, STORE_READ, e)) /* its views are now up to date */
        return err_code(e);
    enum status st = set_up(s, log, env, thread, now, a, e);
    log_abort(log);
    if (!st)
        be(s, &x);
    return st;
}

/* ---- helpers of the tools ---------------------------------------------------------- */

int64_t session_tokens(struct session *s, struct sv text, bool *exact)
{
    *exact = s->env.count_tokens != NULL;
    if (*exact)
        return (int64_t)s->env.count_tokens(s->env.tokens_ctx, text);
    return (int64_t)(utf8_count(text) + 3) / 4;
}

void session_parts(struct result *r, struct sv form, struct sv text)
{
    r->part_form = form;
    r->part_text = text;
}

void session_ask_all(struct session *s, struct model_asking *list, size_t n,
                     void (*wait)(void *ctx), void *wait_ctx)
{
    for (size_t i = 0; i < n; i++)
        list[i].q.cancel = s->env.cancel;
    if (s->env.ask_all) {
        s->env.ask_all(s->env.ask_ctx, list, n, wait, wait_ctx, s->a);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        list[i].q.wait = wait;
        list[i].q.wait_ctx = wait_ctx;
        list[i].status = s->env.ask(s->env.ask_ctx, &list[i].q, s->a, &list[i].out, &list[i].error);
        if (wait)
            wait(wait_ctx);
    }
}

enum status session_cancelled(const struct session *s, struct err *e)
{
    if (!s->env.cancel || !atomic_load(s->env.cancel))
        return ST_OK;
    err_set(e, ST_CONFLICT, "cancelled");
    return err_reason(e, "cancelled");
}

enum status session_pause(struct session *s, struct err *e)
{
    if (s->mode == STORE_WRITE)
        return log_commit(s->log, e);
    log_abort(s->log);
    return ST_OK;
}

enum status session_resume(struct session *s, struct err *e)
{
    return log_begin(s->log, s->loom.thread, s->mode, e);
}

enum status session_keep(struct session *s,
                         enum status (*write)(struct session *s, const void *what, struct err *e),
                         const void *what, struct err *e)
{
    enum status st;

    if (s->mode == STORE_WRITE)
        return write(s, what, e);
    log_abort(s->log);
    st = log_begin(s->log, s->loom.thread, STORE_WRITE, e);
    if (!st)
        st = write(s, what, e);
    if (!st)
        st = log_commit(s->log, e);
    if (!st)
        return log_begin(s->log, s->loom.thread, s->mode, e);
    log_abort(s->log);
    return st;
}

enum status session_node(struct session *s, struct sv id, struct node *out, struct err *e)
{
    bool found;

    if (id.s)
        return node_find_visible(&s->loom, id, out, e);
    if (loom_position(&s->loom, s->agent.name, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "the tree is empty");
    return err_hint(e, "say something first");
}

enum status session_passed(struct session *s, struct sv id, const struct node *parent,
                           struct err *e)
{
    struct node next;
    bool        found = false;

    s->passed = (struct sv){ 0 };
    if (!id.s && loom_went_on(&s->loom, s->agent.name, parent, &next, &found, e))
        return err_code(e);
    if (found)
        s->passed = next.local;
    return ST_OK;
}

enum status session_doc(struct session *s, struct sv name, struct doc *out, struct err *e)
{
    if (!s->env.docs.read)
        return err_set(e, ST_NOT_FOUND, "there are no documents here");
    return s->env.docs.read(s->env.docs.ctx, s->loom.thread, name, s->a, out, e);
}

/* ---- records ---------------------------------------------------------------------- */

enum status session_end_turn(struct session *s, const int64_t *named, size_t n, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    if (n) {
        jw_key(&w, "named");
        jw_open(&w, '[');
        for (size_t i = 0; i < n; i++)
            jw_int(&w, named[i]);
        jw_close(&w, ']');
    }
    jw_kstr(&w, "op", SV("turn"));
    bool ends = s->once.op_id.n && sv_eq(s->home, s->loom.thread);
    if (ends)
        jw_kint(&w, "steps", (int64_t)s->line);
    jw_close(&w, '}');
    struct loom_record put = { .agent = s->agent.name,
                               .kind = kind_name(KIND_MEMORY_OPERATION),
                               .payload = sb_sv(&b),
                               .op_id = ends ? once_end(s) : (struct sv){ 0 } };
    return loom_put(&s->loom, &put, NULL, e) ? err_code(e) : once_end_elsewhere(s, e);
}

static enum status record_turn(struct session *s, struct err *e)
{
    return session_end_turn(s, NULL, 0, e);
}

enum { LINE_KEPT = 500 };

struct loom session_records(const struct session *s)
{
    struct loom l = s->loom;

    if (s->run.id.n)
        l.thread = s->home;
    return l;
}

/* tool_action: the command and its result. */
static enum status record(struct session *s, struct result *r, struct err *e)
{
    struct loom       to = session_records(s);
    struct sb         b = sb_in(s->a, 0), line = sb_in(s->a, 0);
    struct jw         w = jw_in(&b, 0);
    struct store_head head;
    bool              placed;

    if (loom_is_placed(&to, s->agent.name, &placed, e) || log_head(s->log, to.thread, &head, e))
        return err_code(e);
    result_finish(s, r, head.rev);
    sb_add_lossy(&line, utf8_first(r->line, LINE_KEPT));
    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    if (!r->ok)
        jw_kstr(&w, "code", sv_of(status_word(r->error.code)));
    if (r->ok && r->doc_path.n) {
        jw_key(&w, "doc");
        jw_open(&w, '{');
        jw_kstr(&w, "hash", r->doc_hash);
        jw_kstr(&w, "path", r->doc_path);
        jw_close(&w, '}');
    }
    result_record_full(&w, r);
    if (!placed) /* the agent's name: from now on it has a position of its own */
        jw_kstr(&w, "kind", sv_of(author_kind_name(s->agent.kind)));
    jw_kstr(&w, "line", sb_sv(&line));
    if (r->object.n)
        jw_kstr(&w, "object", r->object);
    jw_kstr(&w, "outcome", r->ok ? SV("ok") : SV("error"));
    result_record(&w, s, r);
    jw_close(&w, '}');
    struct loom_record put = { .agent = s->agent.name,
                               .kind = kind_name(KIND_TOOL_ACTION),
                               .payload = sb_sv(&b),
                               .run = s->run,
                               .op_id = s->op_id };
    if (loom_put(&to, &put, &r->entry, e))
        return err_code(e);
    return s->closes_turn ? record_turn(s, e) : ST_OK;
}

/* What a line calls, unless it is refused before anything of the tree is read. */
static enum status read_call(struct session *s, struct result *r, struct call *c, struct err *e)
{
    enum status st = call_parse(r->line, s->a, c, e);

    if (c->tool)
        r->verb = sv_of(c->tool->name);
    if (s->refusal) {
        *e = *s->refusal;
        return err_code(e);
    }
    if (st) {
        suggest_command(s, r->line, e);
        return st;
    }
    assert(c->tool); /* what parses is a call of a tool */
    if (call_each_count(c) > 1) {
        err_set(e, ST_INVALID_SYNTAX, "a list of nodes is not one command");
        return err_hint(e, "one → line for each");
    }
    return permission_check(s->agent.permissions, c->tool->needs, e);
}

static enum status run_call(struct session *s, struct call *c, struct result *r, struct err *e)
{
    if (batch_settle(s, c, e) || c->tool->run(s, c, r, e))
        return err_code(e);
    return s->in_turn ? result_settle(s, c, r, e) : ST_OK;
}

/* The same; when it names a thread whose tree has to be folded first and is too long for this
 * transaction, that is done outside of it, and the call is run again. */
static enum status run_or_fold(struct session *s, struct call *c, struct result *r)
{
    struct result before = *r;

    s->log->repeats = true;
    enum status st = run_call(s, c, r, &r->error);
    s->log->repeats = false;
    if (!st || !log_is_behind(s->log, &r->error))
        return st;
    log_abort(s->log);
    if (!log_again(s->log, &r->error) || log_begin(s->log, s->loom.thread, s->mode, &r->error))
        return err_code(&r->error);
    *r = before;
    return run_call(s, c, r, &r->error);
}

static enum status commit_record(struct session *s, struct result *r, struct err *e)
{
    bool quiet = r->silent && r->ok; /* a thought leaves no trace of its own */
    if ((quiet ? s->closes_turn && record_turn(s, e) : record(s, r, e)) || log_commit(s->log, e)) {
        log_abort(s->log);
        return err_code(e);
    }
    return ST_OK;
}

/* Bytes that are not text become U+FFFD: what a command leaves in the log is text. */
static struct sv valid_line(struct session *s, struct sv line)
{
    struct sb b = sb_in(s->a, 0);

    if (utf8_invalid(line) < 0)
        return line;
    sb_add_lossy(&b, line);
    return sb_sv(&b);
}

/* An error of the session, not of the command. */
static enum status give_up(struct session *s, const struct err *why, struct err *e)
{
    log_abort(s->log);
    *e = *why;
    return err_code(e);
}

/* A tool that only looks reads in a read transaction, so that others can write meanwhile, and
 * leaves its trace in a short one of its own. Of a command that failed only its record is kept;
 * when the disk is full, writing the record fails. */
static enum status record_afterwards(struct session *s, struct result *r, struct err *e)
{
    log_abort(s->log);
    return log_begin(s->log, s->loom.thread, STORE_WRITE, e) ? err_code(e) : commit_record(s, r, e);
}

enum status session_line(struct session *s, struct sv line, struct result *out, struct err *e)
{
    struct call c;
    bool        done;

    line = valid_line(s, line);
    *out = (struct result){
        .text = sb_in(s->a, 0), .line = line, .undoes = -1, .entry = -1, .ok = true
    };
    out->verb = sv_cut(sv_trim(line), ' ').head;
    if (out->verb.n > 40)
        out->verb = SV("?");
    step_begin(s);
    if (step_done(s, out, &done, e))
        return err_code(e);
    if (done)
        return step_restore(s, out, e);
    enum status st = read_call(s, out, &c, &out->error);
    s->mode = st || tool_only_looks(c.tool) ? STORE_READ : STORE_WRITE;
    if (!st) {
        if (log_begin(s->log, s->loom.thread, s->mode, e))
            return err_code(e);
        st = run_or_fold(s, &c, out);
    }
    if (st == ST_CORRUPT)
        return give_up(s, &out->error, e);
    out->ok = st == ST_OK;
    return st || s->mode == STORE_READ ? record_afterwards(s, out, e) : commit_record(s, out, e);
}

/* ---- saying ----------------------------------------------------------------------- */

static enum status add_said(struct session *s, struct sv text, struct sv at, const char *via,
                            struct node *out, struct err *e)
{
    struct new_node n = { .text = text,
                          .author = s->agent.name,
                          .kind = s->agent.kind,
                          .via = via,
                          .op_id = s->in_turn ? once_node(s) : s->once.op_id };
    struct node     parent;
    bool            found = true;

    if (at.s ? node_find_visible(&s->loom, at, &parent, e)
             : loom_position(&s->loom, s->agent.name, &parent, &found, e))
        return err_code(e);
    if (found && session_passed(s, at, &parent, e))
        return err_code(e);
    if (found)
        n.parent = &parent;
    return loom_add(&s->loom, &n, out, e);
}

enum status session_say(struct session *s, struct sv text, struct sv at, const char *via,
                        struct node *out, struct err *e)
{
    bool again = false;

    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    if ((!s->in_turn && once_say(s, text, at, &again, out, e)) ||
        (!again && (add_said(s, text, at, via, out, e) || (s->closes_turn && record_turn(s, e)) ||
                    log_commit(s->log, e)))) {
        log_abort(s->log);
        return err_code(e);
    }
    if (again)
        log_abort(s->log);
    return ST_OK;
}

/* The agent goes to a node, unless it is there: what follows answers that node. */
static enum status go(struct session *s, struct sv to, struct err *e)
{
    struct node here, node;
    bool        found;

    if (node_find_visible(&s->loom, to, &node, e) ||
        loom_position(&s->loom, s->agent.name, &here, &found, e))
        return err_code(e);
    return found && here.seq == node.seq
               ? ST_OK
               : loom_switch(&s->loom, s->agent.name, s->agent.kind, &node, e);
}

/* ---- turns ------------------------------------------------------------------------ */

static enum status too_many(const struct scan *scan, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < scan->n; i++)
        n += !scan->lines[i].is_refused; /* what does not run does not count */
    if (n <= TURN_COMMANDS_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "%zu commands in one turn", n);
    return err_hint(e, "use at most %d at a time; nothing was run", TURN_COMMANDS_MAX);
}

/* What is stored of a turn's prose. In buffer mode the nodes of a path are one text: spaces at the
 * ends of one are part of it. */
static enum status settle_prose(struct session *s, struct sv *prose, struct err *e)
{
    bool buffer;

    if (!sv_trim(*prose).n) {
        *prose = SV("");
        return ST_OK;
    }
    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = loom_is_buffer(&s->loom, &buffer, e);
    log_abort(s->log);
    if (!st && !buffer)
        *prose = sv_trim(*prose);
    return st;
}

/* All of an output, as if nothing in it were a command. */
static struct scan all_prose(struct sv output)
{
    while (output.n && output.s[output.n - 1] == '\n') /* of the pipe it came through */
        output.n--;
    return (struct scan){ .prose = output };
}

/* What comes before the first line: has it been done, is the head the expected one, where does the
 * agent go? A turn without a line writes no claim: there is nothing that could be done twice. */
static enum status start_turn(struct session *s, struct sv output, bool empty, bool *again,
                              struct err *e)
{
    struct sv at = s->once.at;

    *again = false;
    if (!at.s && !s->once.op_id.n && !s->once.has_expect)
        return ST_OK;
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    if (once_begin(s, output, again, e) || (!*again && at.s && go(s, at, e)) ||
        (!*again && !empty && once_claim(s, output, e)) || (!*again && log_commit(s->log, e))) {
        log_abort(s->log);
        return err_code(e);
    }
    if (*again)
        log_abort(s->log);
    return ST_OK;
}

static enum status run_turn(struct session *s, const struct scan *scan, struct turn *out,
                            struct err *e)
{
    enum status st = ST_OK;

    s->in_turn = true;
    if (scan->prose.n) {
        s->closes_turn = scan->n == 0;
        st = session_say(s, scan->prose, (struct sv){ 0 }, "turn", &out->node, e);
        out->has_node = !st;
    }
    st = st ? st : batch_run(s, scan, out, e);
    s->in_turn = s->closes_turn = false; /* in any case: the next line is not part of this turn */
    return st;
}

enum status session_turn(struct session *s, struct sv output, struct turn *out, struct err *e)
{
    struct sb   valid = sb_in(s->a, 0);
    struct scan scan;
    bool        again;

    sb_add_lossy(&valid, output);
    output = sb_sv(&valid);
    *out = (struct turn){ 0 };
    if (s->agent.permissions & (PERM_loom_aware | PERM_doc_read | PERM_doc_write))
        scan_output(output, s->a, &scan);
    else
        scan = all_prose(output);
    if (too_many(&scan, e) || settle_prose(s, &scan.prose, e) ||
        start_turn(s, output, !scan.prose.n && !scan.n, &again, e))
        return err_code(e);
    out->discarded = scan.discarded;
    return again ? once_restore(s, out, e) : run_turn(s, &scan, out, e);
}
