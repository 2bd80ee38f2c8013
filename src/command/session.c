#include "command/session.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/batch.h"
#include "command/result.h"
#include "command/scan.h"
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
    if (store_head(s->log->store, s->loom.thread, &head, e))
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

static void be(struct session *s, const struct agent *x)
{
    s->agent = *x;
    s->viewer = (struct viewer){ x->name, x->kind, x->permissions };
}

enum status session_open(struct session *s, struct log *log, const struct session_env *env,
                         struct sv thread, struct sv agent, int64_t now, struct arena *a,
                         struct err *e)
{
    struct agent x;
    bool         found;

    if (log_begin(log, GLOBAL_THREAD, STORE_READ, e))
        return err_code(e);
    enum status st = agent_find(log, agent, a, &x, &found, e);
    log_abort(log);
    if (st)
        return st;
    if (!found) {
        err_set(e, ST_NOT_FOUND, "agent '" SV_FMT "' not found", SV_ARG(agent));
        return err_hint(e, "`heddle agent add " SH_FMT " --kind human|model` makes it",
                        SV_ARG(agent));
    }
    if (set_up(s, log, env, thread, now, a, e))
        return err_code(e);
    be(s, &x);
    return ST_OK;
}

enum status session_open_person(struct session *s, struct log *log, const struct session_env *env,
                                struct sv thread, struct sv name, int64_t now, struct arena *a,
                                struct err *e)
{
    struct agent x = { .name = name, .kind = AUTHOR_HUMAN, .permissions = PERM_ALL };

    if (log_begin(log, GLOBAL_THREAD, STORE_READ, e)) /* its views are now up to date */
        return err_code(e);
    log_abort(log);
    if (set_up(s, log, env, thread, now, a, e))
        return err_code(e);
    be(s, &x);
    return ST_OK;
}

/* ---- helpers of the tools ---------------------------------------------------------- */

int64_t session_tokens(struct session *s, struct sv text, bool *exact)
{
    *exact = s->env.count_tokens != NULL;
    if (*exact)
        return (int64_t)s->env.count_tokens(s->env.tokens_ctx, text);
    return (int64_t)(utf8_count(text) + 3) / 4;
}

void session_parts(struct session *s, struct sv form, struct sv text, struct result *r)
{
    struct sb b = sb_in(s->a, 0);
    int64_t   first, all;

    if ((int64_t)text.n <= s->env.result_tokens) /* a token has a byte at least */
        return;
    all = piece_lines(text);
    piece_start(text, (size_t)s->env.result_tokens * 5 / 2, &first);
    sb_addf(&b, "use → " SV_FMT " lines:1-%lld and so on to %lld", SV_ARG(form), (long long)first,
            (long long)all);
    r->rest = sb_sv(&b);
}

enum status session_pause(struct session *s, struct err *e)
{
    return log_commit(s->log, e);
}

enum status session_resume(struct session *s, struct err *e)
{
    return log_begin(s->log, s->loom.thread, STORE_WRITE, e);
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

static enum status record_turn(struct session *s, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    jw_kstr(&w, "op", SV("turn"));
    jw_close(&w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_MEMORY_OPERATION), sb_sv(&b), NULL,
                       e);
}

enum { LINE_KEPT = 500 };

/* tool_action: what was issued and what came of it. */
static enum status record(struct session *s, const struct result *r, struct err *e)
{
    struct sb b = sb_in(s->a, 0), line = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);
    bool      placed;

    if (loom_is_placed(&s->loom, s->agent.name, &placed, e))
        return err_code(e);
    sb_add_lossy(&line, utf8_first(r->line, LINE_KEPT));
    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    if (!r->ok)
        jw_kstr(&w, "code", sv_of(status_word(r->error.code)));
    if (!placed) /* who it is: from now on it has a place of its own */
        jw_kstr(&w, "kind", sv_of(author_kind_name(s->agent.kind)));
    jw_kstr(&w, "line", sb_sv(&line));
    if (r->object.n)
        jw_kstr(&w, "object", r->object);
    jw_kstr(&w, "outcome", r->ok ? SV("ok") : SV("error"));
    if (r->results)
        jw_kint(&w, "results", r->results);
    if (r->ok && r->undo.n) {
        jw_key(&w, "undo");
        jw_raw(&w, r->undo);
    }
    if (r->undoes >= 0)
        jw_kint(&w, r->ok ? "undoes" : "passes", r->undoes);
    if (r->ok && r->doc_path.n) {
        jw_key(&w, "doc");
        jw_open(&w, '{');
        jw_kstr(&w, "hash", r->doc_hash);
        jw_kstr(&w, "path", r->doc_path);
        jw_close(&w, '}');
    }
    if (r->ok)
        result_record(&w, r, s->a);
    jw_kstr(&w, "verb", r->verb);
    jw_close(&w, '}');
    if (loom_append(&s->loom, s->agent.name, kind_name(KIND_TOOL_ACTION), sb_sv(&b), NULL, e))
        return err_code(e);
    return s->closes_turn ? record_turn(s, e) : ST_OK;
}

static enum status attempt(struct session *s, struct result *r, struct err *e)
{
    struct call c;
    enum status st = call_parse(r->line, s->a, &c, e);

    if (c.tool)
        r->verb = sv_of(c.tool->name);
    if (s->refusal) {
        *e = *s->refusal;
        return err_code(e);
    }
    if (st)
        return st;
    assert(c.tool); /* what parses is a call of a tool */
    if (call_each_count(&c) > 1) {
        err_set(e, ST_INVALID_SYNTAX, "a list of nodes is not one command");
        return err_hint(e, "one → line for each");
    }
    if (permission_check(s->agent.permissions, c.tool->needs, e))
        return err_code(e);
    if (batch_settle(s, &c, e) || c.tool->run(s, &c, r, e))
        return err_code(e);
    return s->in_turn ? result_settle(s, &c, r, e) : ST_OK;
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

/* Bytes that are no text become U+FFFD: what a command leaves in the log is text. */
static struct sv valid_line(struct session *s, struct sv line)
{
    struct sb b = sb_in(s->a, 0);

    if (utf8_invalid(line) < 0)
        return line;
    sb_add_lossy(&b, line);
    return sb_sv(&b);
}

enum status session_line(struct session *s, struct sv line, struct result *out, struct err *e)
{
    line = valid_line(s, line);
    *out = (struct result){ .text = sb_in(s->a, 0), .line = line, .undoes = -1, .ok = true };
    out->verb = sv_cut(sv_trim(line), ' ').head;
    if (out->verb.n > 40)
        out->verb = SV("?");
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    enum status st = attempt(s, out, &out->error);
    if (st == ST_CORRUPT) { /* trouble of the whole, not of the command */
        log_abort(s->log);
        *e = out->error;
        return st;
    }
    if (st) { /* nothing of it is kept but the record that it failed; a disk that is full fails
                 there */
        log_abort(s->log);
        out->ok = false;
        if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
            return err_code(e);
    }
    return commit_record(s, out, e);
}

/* ---- saying ----------------------------------------------------------------------- */

static enum status add_said(struct session *s, struct sv text, struct sv at, const char *via,
                            struct node *out, struct err *e)
{
    struct new_node n = {
        .text = text, .author = s->agent.name, .kind = s->agent.kind, .via = via
    };
    struct node parent;
    bool        found = true;

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
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    if (add_said(s, text, at, via, out, e) || (s->closes_turn && record_turn(s, e)) ||
        log_commit(s->log, e)) {
        log_abort(s->log);
        return err_code(e);
    }
    return ST_OK;
}

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

enum status session_go(struct session *s, struct sv to, struct err *e)
{
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    if (go(s, to, e) || log_commit(s->log, e)) {
        log_abort(s->log);
        return err_code(e);
    }
    return ST_OK;
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

/* What is stored of a turn's prose. In buffer mode the nodes of a path are one text: blanks at the
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

enum status session_turn(struct session *s, struct sv output, struct turn *out, struct err *e)
{
    struct sb   valid = sb_in(s->a, 0);
    struct scan scan;

    sb_add_lossy(&valid, output);
    output = sb_sv(&valid);
    *out = (struct turn){ 0 };
    if (s->agent.permissions & (PERM_loom_aware | PERM_doc_read | PERM_doc_write))
        scan_output(output, s->a, &scan);
    else
        scan = all_prose(output);
    if (too_many(&scan, e) || settle_prose(s, &scan.prose, e))
        return err_code(e);
    out->discarded = scan.discarded;
    enum status st = ST_OK;
    s->in_turn = true;
    if (scan.prose.n) {
        s->closes_turn = scan.n == 0;
        st = session_say(s, scan.prose, (struct sv){ 0 }, "turn", &out->node, e);
        out->has_node = !st;
    }
    st = st ? st : batch_run(s, &scan, out, e);
    s->in_turn = s->closes_turn = false; /* whatever came of it: the next line is no part of it */
    return st;
}
