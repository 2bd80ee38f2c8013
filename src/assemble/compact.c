/* Planning a compaction: which messages it covers, which results become a line, what has to be
 * summarised. */
#include "assemble/compact.h"

#include "assemble/assemble.h"
#include "assemble/limit.h"
#include "assemble/talk.h"
#include "loom/memory.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/scan.h"

struct planning {
    struct compact_plan *plan;
    struct loom          loom;
    struct arena        *a;
    struct counts       *counts;
    struct context       now; /* the present context of the lane */
    size_t               end; /* how many of its messages are covered */
    struct node         *nodes;
    bool                *is_node; /* by message */
    struct pin          *pins;
    size_t               n_pins;
    VEC(struct message) snapshot;
    VEC(struct compact_part) parts;
    VEC(struct message) pinned;
};

static void not_due(struct compact_plan *p, const char *why)
{
    p->is_due = false;
    p->why_not = sv_of(why);
}

/* ---- is there something to do? ------------------------------------------------------------- */

static enum status check_lane(struct planning *x, struct sv name, struct err *e)
{
    struct lane lane;
    bool        found;

    if (lane_find(x->loom.log, x->loom.thread, name, x->a, &lane, &found, e))
        return err_code(e);
    return found || sv_eq(name, LANE_DEFAULT) ? ST_OK : lane_not_found(x->loom.thread, name, e);
}

static enum status find_lane(struct planning *x, struct node *tip, bool *found, struct err *e)
{
    const struct compact_request *q = &x->plan->q;
    struct node                   slot;

    if (q->lane.s) {
        x->plan->lane = q->lane;
        if (check_lane(x, q->lane, e))
            return err_code(e);
        return loom_lane_tip(&x->loom, q->lane, tip, found, e);
    }
    if (loom_position(&x->loom, q->agent, tip, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    slot = *tip;
    if (tip->slot != tip->seq && node_at(&x->loom, tip->slot, &slot, e))
        return err_code(e);
    x->plan->lane = slot.lane;
    return loom_lane_tip(&x->loom, slot.lane, tip, found, e);
}

/* Counted as it is sent to an aware agent; reading stops as soon as the answer is known. */
static enum status is_over(struct planning *x, const struct node *tip, bool *over, struct err *e)
{
    struct viewer     viewer = { .agent = x->plan->q.agent };
    struct talk_setup setup = {
        .loom = &x->loom, .viewer = &viewer, .counts = x->counts, .aware = true
    };
    struct talk t;
    size_t      limit = (size_t)x->plan->q.over;

    if (talk_open(&t, &setup, tip, x->a, e) || talk_read(&t, limit, SIZE_MAX, e))
        return err_code(e);
    *over = t.tokens > limit;
    return ST_OK;
}

/* ---- what is covered --------------------------------------------------------------------------
 */

static enum status find_nodes(struct planning *x, struct err *e)
{
    x->nodes = ARENA_NEW(x->a, struct node, x->now.n + 1);
    x->is_node = ARENA_NEW(x->a, bool, x->now.n + 1);
    for (size_t i = 0; i < x->now.n; i++) {
        const struct message *m = &x->now.messages[i];
        if (m->seq < 0 && talk_node_of(&x->loom, m, &x->nodes[i], &x->is_node[i], e))
            return err_code(e);
        if (m->seq >= 0 && node_at(&x->loom, m->seq, &x->nodes[i], e))
            return err_code(e);
        x->is_node[i] = x->is_node[i] || m->seq >= 0;
    }
    return ST_OK;
}

static enum status find_end(struct planning *x, struct err *e)
{
    struct render_report   unused = report_in(x->a);
    struct parsed_message *turns;
    int64_t                keep = x->plan->q.keep > 0 ? x->plan->q.keep : COMPACT_KEEP;
    size_t                 n;

    if (parsed_of(&x->now, x->a, &turns, &n, &unused, e))
        return err_code(e);
    size_t start = limit_start(turns, n, keep, x->a);
    x->end = start < n ? turns[start].message : x->now.n;
    return ST_OK;
}

/* A lane whose end is pruned: nobody is sent it, and no model may be sent it for a summary. */
static enum status check_seen(struct planning *x, struct err *e)
{
    struct loom_seen_of of = { .lane = x->plan->lane,
                               .at = STORE_TO_END,
                               .agent = x->plan->q.agent };
    struct loom_seen    seen;

    if (loom_seen(&x->loom, &of, &seen, e))
        return err_code(e);
    if (seen.hidden.s)
        not_due(x->plan,
                "the end of the lane is pruned: say something first, which begins another lane");
    return ST_OK;
}

static enum status read_lane(struct planning *x, struct err *e)
{
    struct compact_plan *p = x->plan;
    struct projection_of of = { p->q.loom.thread, p->lane, STORE_TO_END, { 0 } };
    struct projection    lane;

    if (project_start(x->loom.log, &of, x->a, &lane, e) || project_context(&lane, &x->now, e) ||
        find_nodes(x, e) || find_end(x, e))
        return err_code(e);
    p->anchor = lane.anchor;
    p->context = (struct context){ .system_prompt = x->now.system_prompt };
    p->kept = x->now.n - x->end;
    p->base = x->end ? x->now.messages[x->end - 1].seq : -1;
    if (p->base < 0)
        not_due(p, "nothing is older than the messages that stay");
    return ST_OK;
}

/* ---- results of tools ---------------------------------------------------------------------------
 */

/* "(shortened: 4,210 tokens; → view k3m2 full shows it)" */
static struct sv line_for(struct planning *x, size_t i, size_t tokens)
{
    struct sb b = sb_in(x->a, 0), json = sb_in(x->a, 0);

    sb_adds(&b, "(shortened: ");
    sb_add_commas(&b, (int64_t)tokens);
    sb_addf(&b, " tokens; → view " SV_FMT " full shows it)", SV_ARG(x->nodes[i].local));
    sb_add_json_string(&json, sb_sv(&b));
    return sb_sv(&json);
}

/* A part of a list that is a result, with the line in the place of its content. */
static struct sv shorten_parts(const struct json *content, struct sv line, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, '[');
    for (size_t i = 0; i < content->n; i++) {
        struct json part = content->items[i], text;
        struct err  ignored;
        sb_adds(&b, i ? "," : "");
        bool result = sv_is(json_text(&part, "type"), "tool_result");
        for (size_t k = 0; result && k < part.n; k++)
            if (sv_is(part.members[k].key, "content") &&
                json_parse(line, 0, a, &text, &ignored) == ST_OK)
                part.members[k].value = text;
        json_write(&b, &part);
    }
    sb_addc(&b, ']');
    return sb_sv(&b);
}

static bool holds_result(const struct json *content)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++)
        if (sv_is(json_text(&content->items[i], "type"), "tool_result"))
            return true;
    return false;
}

static bool is_pinned(const struct planning *x, size_t i)
{
    for (size_t k = 0; x->is_node[i] && k < x->n_pins; k++)
        if (x->pins[k].node.n && sv_eq(x->pins[k].node, x->nodes[i].local))
            return true;
    return false;
}

/* The message with its results shortened; *out is true when it had one that is worth it. */
static enum status shorten(struct planning *x, size_t i, size_t tokens, struct message *m,
                           bool *out, struct err *e)
{
    bool        tool = sv_is(m->role, "tool");
    struct json content;

    *out = false;
    if (tokens <= COMPACT_LINE_OVER || !x->is_node[i] || is_pinned(x, i) ||
        (!tool && !sv_is(m->role, "user")))
        return ST_OK;
    if (json_parse(m->content, 0, x->a, &content, e))
        return err_in(e, "a stored message");
    if (!tool && !holds_result(&content))
        return ST_OK;
    m->content =
        tool ? line_for(x, i, tokens) : shorten_parts(&content, line_for(x, i, tokens), x->a);
    *out = true;
    return ST_OK;
}

/* ---- the snapshot without a summary, and what a summary is made of
 * ---------------------------------- */

static struct sv refs_of(const struct planning *x, size_t i)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "node", x->nodes[i].local);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status tokens_of(struct planning *x, const struct message *m, struct sv *text,
                             size_t *tokens, struct err *e)
{
    if (talk_plain(m, x->a, text, e))
        return err_code(e);
    *tokens = counts_of(x->counts, *text) + ASSEMBLY_MESSAGE_TOKENS;
    return ST_OK;
}

static struct sv who_said(const struct message *m)
{
    return sv_is(m->role, "assistant") ? SV("model")
           : sv_is(m->role, "tool")    ? SV("tool")
                                       : SV("human");
}

/* The summary of an earlier compaction counts for the messages that it covered. */
static void add_part(struct planning *x, size_t i, struct sv text, size_t tokens)
{
    const struct message *m = &x->now.messages[i];
    struct compact_plan  *p = x->plan;
    struct compact_part  *part = vec_push(&x->parts, x->a);
    struct json           refs = { .type = JSON_NULL };
    struct err            ignored;

    *part = (struct compact_part){
        .who = who_said(m), .text = text, .tokens = tokens, .stands_for = 1
    };
    if (x->is_node[i])
        part->node = x->nodes[i].local;
    part->is_summary = m->seq < 0 && m->refs.s &&
                       json_parse(m->refs, 0, x->a, &refs, &ignored) == ST_OK &&
                       sv_is(json_text(&refs, "compaction"), "summary");
    if (part->is_summary && json_number(&refs, "messages") > 0)
        part->stands_for = json_number(&refs, "messages");
    p->covered += part->stands_for;
    if (!p->first.n)
        p->first = part->is_summary ? json_text(&refs, "first") : part->node;
    p->last = part->node.n ? part->node : p->last;
}

/* Pinned messages stay verbatim after the summary: as text, since the call of a pinned result is no
 * longer sent. */
static void keep_pinned(struct planning *x, size_t i, struct sv text)
{
    const char *role = sv_is(x->now.messages[i].role, "assistant") ? "assistant" : "user";

    if (!is_pinned(x, i))
        return;
    struct message *m = vec_push(&x->pinned, x->a);
    *m = message_of_text(role, text, x->a);
    m->at = x->now.messages[i].at;
    m->refs = refs_of(x, i);
}

/* One covered message: as it is kept when only results are shortened, and as a part of what is to
 * be summarised. */
static enum status cover(struct planning *x, size_t i, struct err *e)
{
    struct compact_plan *p = x->plan;
    struct message       m = x->now.messages[i];
    struct sv            text;
    size_t               before, after;
    bool                 shortened;

    if (x->is_node[i] && x->nodes[i].excluded)
        return ST_OK;
    if (tokens_of(x, &m, &text, &before, e) || shorten(x, i, before, &m, &shortened, e) ||
        tokens_of(x, &m, &text, &after, e))
        return err_code(e);
    p->before += before;
    p->after += after;
    p->results += shortened;
    p->result_tokens += shortened ? before : 0;
    m.seq = -1;
    m.whole = (struct sv){ 0 };
    m.thinking = m.reasoning_details = (struct sv){ 0 };
    if (x->is_node[i] && !m.refs.s)
        m.refs = refs_of(x, i);
    *vec_push(&x->snapshot, x->a) = m;
    add_part(x, i, text, after);
    keep_pinned(x, i, text);
    return ST_OK;
}

static enum status cover_all(struct planning *x, struct err *e)
{
    struct compact_plan *p = x->plan;
    struct sv            text;
    size_t               tokens;

    p->from = x->now.messages[0].seq;
    for (size_t i = 0; i < x->end; i++)
        if (cover(x, i, e))
            return err_code(e);
    for (size_t i = x->end; i < x->now.n; i++) {
        if (tokens_of(x, &x->now.messages[i], &text, &tokens, e))
            return err_code(e);
        p->tail += tokens;
    }
    p->before += p->tail;
    p->after += p->tail;
    p->parts = x->parts.v;
    p->n_parts = x->parts.n;
    p->pinned = x->pinned.v;
    p->n_pinned = x->pinned.n;
    p->context.messages = x->snapshot.v;
    p->context.n = x->snapshot.n;
    return ST_OK;
}

static void decide(struct compact_plan *p)
{
    bool enough = p->q.enough && p->after <= (size_t)p->q.enough;

    p->summarizes = !p->q.results_only && !enough;
    if (!p->summarizes && !p->results)
        not_due(p, "no result of a tool is long enough to be shortened");
}

enum status compact_prepare(const struct compact_request *q, struct arena *a,
                            struct compact_plan *out, struct err *e)
{
    struct planning x = { .plan = out, .loom = q->loom, .a = a, .counts = q->counts };
    struct node     tip;
    bool            buffer, found, over = true;

    x.loom.a = a;
    *out = (struct compact_plan){ .q = *q, .is_due = true, .anchor = -1, .from = -1, .base = -1 };
    if (loom_is_buffer(&x.loom, &buffer, e))
        return err_code(e);
    if (buffer) {
        err_set(e, ST_INVALID_SYNTAX, "a tree in buffer mode is one text, which has no summary");
        return err_hint(e, "what is too long is cut when it is sent: `heddle assemble --explain`");
    }
    if (find_lane(&x, &tip, &found, e))
        return err_code(e);
    if (!found) {
        not_due(out, "there are no messages");
        return ST_OK;
    }
    if (q->over && is_over(&x, &tip, &over, e))
        return err_code(e);
    if (!over) {
        not_due(out, "the conversation is short enough");
        return ST_OK;
    }
    if (q->agent.n && memory_pins(&x.loom, q->agent, &x.pins, &x.n_pins, e))
        return err_code(e);
    if (check_seen(&x, e) || !out->is_due)
        return out->is_due ? err_code(e) : ST_OK;
    if (read_lane(&x, e) || (out->is_due && cover_all(&x, e)))
        return err_code(e);
    if (out->is_due)
        decide(out);
    return ST_OK;
}
