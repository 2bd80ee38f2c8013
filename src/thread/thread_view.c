/* The fold behind lanes and active lanes (lane.h) and runs (run.h). Its rows:
 *
 *     lane/NAME      {"at":SEQ,"from":LANE,"seq":SEQ}, or {"seq":SEQ} if not forked
 *     active/AGENT   {"lane":NAME,"node":LOCAL,"since":SEQ}: where the agent is; without a node: at
 *                    the end of the lane
 *     was/AGENT/SEQ  the same, from this entry on: where the agent was
 *     marked         exists once a node was pruned, excluded, edited in place or switched to
 *     run/AGENT      the state of its run, and rows beside it: see run_state.h
 *     erased         exists once content of the thread was erased
 *     erasure/SEQ    an erasure or deletion whose files are not cleaned yet (erase.h)
 *     mark/NAME/SEQ  something happened here that a reader looks for (marks.h)
 *     deleted/ID     in .global: the seq of the entry that deleted a thread (deletion.h)
 *     rechain        {"chain":HEX,"rev":N}: the head before the chain became one of version 2
 */
#include "base/json.h"
#include "thread/anchor.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/marks.h"
#include "thread/run_state.h"
#include "thread/stage.h"

static enum status add_lane(struct rows *f, struct sv name, struct sv from, int64_t at, int64_t seq,
                            struct err *e)
{
    struct sv key = key_of_name("lane", name, f->a), old;
    bool      found;

    if (row_get(f, key, &old, &found, e))
        return err_code(e);
    if (found)
        return ST_OK; /* what a lane shares is fixed when it is created */
    struct sb b = sb_in(f->a, 0);
    struct jw w = jw_in(&b, 0);
    jw_open(&w, '{');
    if (from.s) {
        jw_kint(&w, "at", at < seq ? at : seq - 1);
        jw_kstr(&w, "from", from);
    }
    jw_kint(&w, "seq", seq);
    jw_close(&w, '}');
    return row_put(f, key, sb_sv(&b), e);
}

/* The agent is on this lane from entry `seq` on; a row for each change, so that the past is known.
 */
static enum status go_to(struct rows *f, struct sv agent, struct sv lane, struct sv node,
                         int64_t seq, struct err *e)
{
    struct sv   key = key_of_name("active", agent, f->a);
    struct json old;
    bool        found;

    if (row_json(f, key, &old, &found, e))
        return err_code(e);
    if (found && !node.n && sv_eq(json_text(&old, "lane"), lane) && !json_find(&old, "node"))
        return ST_OK;
    struct sb b = sb_in(f->a, 0);
    struct jw w = jw_in(&b, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "lane", lane);
    if (node.n)
        jw_kstr(&w, "node", node);
    jw_kint(&w, "since", seq);
    jw_close(&w, '}');
    return row_put(f, key, sb_sv(&b), e)
               ? err_code(e)
               : row_put(f, key_of_name_seq("was", agent, seq, f->a), sb_sv(&b), e);
}

/* What was said as a node moves its author, unless a model was asked for it or it was imported; a
 * version of a node is for the loom view. Most messages name no node, and are not parsed here. */
static enum status fold_node(struct rows *f, const struct entry *n, struct err *e)
{
    struct json p;

    if (sv_find(n->payload, SV("\"node\":{")) < 0)
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    const struct json *node = json_find(&p, "node");
    struct sv          via = json_text(node, "via"), author = json_text(node, "author");
    if (json_truth(json_find(node, "version")))
        return row_put(f, KEY_MARKED, SV("1"), e);
    if (!via.n || !author.n || sv_is(via, "continue") || sv_is(via, "import"))
        return ST_OK;
    return go_to(f, author, n->lane, (struct sv){ 0 }, n->seq, e);
}

static enum status fold_operation(struct rows *f, const struct entry *n, struct err *e)
{
    struct json        p;
    struct sv          agent, type;
    const struct json *op, *from;
    int64_t            at = -1;

    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    op = json_find(&p, "operation");
    type = json_text(op, "type");
    agent = json_text(&p, "agent");
    agent = agent.n ? agent : AGENT_DEFAULT;
    if (row_put(f, key_of_name_seq("applied", agent, n->seq, f->a), n->op_id, e))
        return err_code(e);
    if (sv_is(type, "fork")) {
        from = json_find(op, "from");
        json_int(json_find(from, "seq"), &at);
        if (add_lane(f, n->lane, json_text(from, "lane"), at, n->seq, e))
            return err_code(e);
        if (!json_truth(json_find(op, "switch")))
            return ST_OK;
    } else if (add_lane(f, n->lane, (struct sv){ 0 }, -1, n->seq, e)) {
        return err_code(e);
    }
    struct sv node = json_text(json_find(op, "meta"), "node");
    if (node.n && row_put(f, KEY_MARKED, SV("1"), e))
        return err_code(e);
    return go_to(f, agent, n->lane, node, n->seq, e);
}

/* The loom view knows which nodes are hidden, but it is not kept for every thread. */
static enum status fold_mark(struct rows *f, const struct entry *n, struct err *e)
{
    struct json p;

    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    struct sv mark = json_text(&p, "mark");
    return sv_is(mark, "exclude") || sv_is(mark, "prune") ? row_put(f, KEY_MARKED, SV("1"), e)
                                                          : ST_OK;
}

static enum status fold_erasure_done(struct rows *f, const struct entry *n, struct err *e)
{
    struct json p;
    int64_t     seq = -1;

    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    json_int(json_find(&p, "erasure"), &seq);
    return row_del(f, key_of_seq("erasure", seq, f->a), e);
}

/* The id stays reserved, and the files must be cleaned like those of an erasure; the entries of
 * .global about the thread were erased. */
static enum status fold_deletion(struct rows *f, const struct entry *n, struct err *e)
{
    struct json p;

    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    if (row_put_int(f, key_of_name("deleted", json_text(&p, "thread"), f->a), n->seq, e) ||
        row_put(f, SV("erased"), SV(""), e))
        return err_code(e);
    return row_put(f, key_of_seq("erasure", n->seq, f->a), SV(""), e);
}

static enum status fold(struct rows *f, const struct entry *n, struct err *e)
{
    enum kind k = kind_of(n->kind);

    if (log_mark_fold(f, n, e))
        return err_code(e);
    if (k == KIND_AI_MESSAGE && n->lane.n &&
        (add_lane(f, n->lane, (struct sv){ 0 }, -1, n->seq, e) || fold_node(f, n, e)))
        return err_code(e);
    if (k == KIND_AI_CONTEXT_OPERATION && fold_operation(f, n, e))
        return err_code(e);
    if (k == KIND_LOOM_MARK && fold_mark(f, n, e))
        return err_code(e);
    if (k == KIND_ERASURE)
        return row_put(f, SV("erased"), SV(""), e)
                   ? err_code(e)
                   : row_put(f, key_of_seq("erasure", n->seq, f->a), SV(""), e);
    if (k == KIND_THREAD_DELETION && log_is_global(f->thread))
        return fold_deletion(f, n, e);
    if (k == KIND_ERASURE_DONE)
        return fold_erasure_done(f, n, e);
    if (k == KIND_RECHAIN)
        return row_put(f, SV("rechain"), n->payload, e);
    return run_fold(f, n, e);
}

const struct view thread_view = { .name = "thread", .version = 6, .fold = fold };
