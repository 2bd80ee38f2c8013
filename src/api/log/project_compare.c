/* project.compare: what two contexts of a thread have in common, and how they differ. */
#include "api/log/entry_doc.h"
#include "api/log/project_call.h"
#include "api/payload/token_choice.h"
#include "assemble/render.h"
#include "base/diff.h"
#include "base/hash.h"
#include "loom/agent.h"
#include "loom/node.h"
#include "thread/project.h"

enum { LINE_CHARS = 200 };

struct compare_params {
    struct sv thread, lane, vs_lane, agent;
    int64_t   at, vs, limit;
};

static const char *const changes[] = { "removed", "added", "same", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_NAME,   offsetof(struct compare_params, thread),  .value = "T",   .required = true, .help = "the thread" },
    { "lane",    PARAM_TEXT,   offsetof(struct compare_params, lane),    .value = "L",   .help = "the lane (default: where the agent is)" },
    { "at",      PARAM_NUMBER, offsetof(struct compare_params, at),      .value = "SEQ", .min = -1, .max = INT64_MAX, .help = "as it was after entry SEQ (default: now)" },
    { "vs",      PARAM_NUMBER, offsetof(struct compare_params, vs),      .value = "SEQ", .min = -1, .max = INT64_MAX, .help = "what it is compared with, as it was after entry SEQ; -1: with nothing (default: the entry before; with --vs-lane the same entry)" },
    { "vs_lane", PARAM_TEXT,   offsetof(struct compare_params, vs_lane), .value = "L",   .help = "the lane it is compared with (default: the same)" },
    { "limit",   PARAM_NUMBER, offsetof(struct compare_params, limit),   .value = "N",   .min = 1, .max = 1000, .fallback = "200", .help = "of each context at most its last N messages" },
    { "agent",   PARAM_TEXT,   offsetof(struct compare_params, agent),   .value = "A",   .help = "whose place (default: you, if you said or switched something here, else default)" },
    { 0 },
};
static const struct field side_fields[] = {
    { "lane",   FIELD_TEXT,   .help = "the lane" },
    { "at",     FIELD_NUMBER, .help = "the last entry that was considered; -1: none" },
    { "anchor", FIELD_NUMBER, .nullable = true, .help = "the entry of the snapshot it begins with" },
    { "whole",  FIELD_FLAG,   .help = "whether all messages that may differ were looked at; false: older ones are left out" },
    { 0 },
};
static const struct field item_fields[] = {
    { "change", FIELD_ENUM,   .values = changes, .help = "which context has it" },
    { "count",  FIELD_NUMBER, .optional = true, .help = "of same: how many messages" },
    { "seq",    FIELD_NUMBER, .optional = true, .nullable = true, .help = "the entry; null: it comes out of a snapshot, or is the prompt" },
    { "role",   FIELD_TEXT,   .optional = true, .help = "who speaks" },
    { "line",   FIELD_TEXT,   .optional = true, .help = "the start of what is said" },
    { "tokens", FIELD_NUMBER, .optional = true, .help = "of what is said" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",         FIELD_TEXT,   .help = "the thread" },
    { "before",         FIELD_OBJECT, .of = side_fields, .help = "what it is compared with" },
    { "after",          FIELD_OBJECT, .of = side_fields, .help = "what was asked for" },
    { "counted_by",     FIELD_TEXT,   .help = "how tokens were counted" },
    { "removed",        FIELD_NUMBER, .help = "how many messages only the first has" },
    { "removed_tokens", FIELD_NUMBER, .help = "and their tokens" },
    { "added",          FIELD_NUMBER, .help = "how many messages only the second has" },
    { "added_tokens",   FIELD_NUMBER, .help = "and their tokens" },
    { "items",          FIELD_LIST,   .of = item_fields, .help = "what differs, oldest first" },
    { 0 },
};
/* clang-format on */

/* One of the two contexts: of its messages those that may differ. */
struct compared {
    struct loom_seen  seen;
    struct projection p;
    struct context    c;
    bool              whole;
};

struct comparing {
    struct request              *r;
    const struct compare_params *given;
    struct compared              before, after;
    struct tokens               *tokens;
    size_t                       at[2]; /* which message of each comes next */
    int64_t                      same, n[2], sum[2];
};

/* ---- which messages -----------------------------------------------------------------------------
 */

/* The last entry up to which both follow the same path; -1: none. */
static int64_t shared_upto(const struct projection *a, const struct projection *b)
{
    int64_t upto = -1;

    for (size_t i = 0; i < a->n_path && i < b->n_path; i++) {
        const struct stretch *x = &a->path[i], *y = &b->path[i];
        if (!sv_eq(x->lane, y->lane) || x->from != y->from)
            break;
        upto = x->to < y->to ? x->to : y->to;
        if (x->to != y->to)
            break;
    }
    return upto;
}

struct compared_part {
    struct compared *x;
    struct arena    *a;
    int64_t          above;
    size_t           most;
    VEC(struct message) list;
};

static enum status take(void *ctx, const struct message *m, bool *more, struct err *e)
{
    struct compared_part *t = ctx;

    (void)e;
    *more = m->seq > t->above && t->list.n < t->most;
    if (m->seq > t->above && !*more)
        t->x->whole = false;
    if (*more)
        *vec_push(&t->list, t->a) = message_copy(m, t->a);
    return ST_OK;
}

/* The messages after entry `above`, which the other context lacks at least in part. */
static enum status take_behind(struct comparing *x, struct compared *side, int64_t above,
                               struct err *e)
{
    struct compared_part t = {
        .x = side, .a = x->r->a, .above = above, .most = (size_t)x->given->limit
    };

    side->whole = true;
    if (project_back(&side->p, STORE_TO_END, take, &t, e))
        return err_code(e);
    side->c.n = t.list.n;
    side->c.messages = ARENA_NEW(x->r->a, struct message, t.list.n + 1);
    for (size_t i = 0; i < t.list.n; i++)
        side->c.messages[i] = t.list.v[t.list.n - 1 - i];
    return ST_OK;
}

static enum status take_newest(struct comparing *x, struct compared *side, struct err *e)
{
    size_t                want = (size_t)x->given->limit;
    struct render_report  unused = report_in(x->r->a);
    struct render_options how = { .changes = side->seen.changes, .n_changes = side->seen.n };
    struct context        all;

    if (project_newest(&side->p, want, &all, &side->whole, e) ||
        render_changed(&side->p, &all, &how, &side->c, &unused, e))
        return err_code(e);
    if (side->c.n > want) { /* a few more, so that no call is cut from its result */
        side->c.messages += side->c.n - want;
        side->c.n = want;
        side->whole = false;
    }
    return ST_OK;
}

/* With the same snapshot below, and every message as it is in the log, only what is behind the
 * shared part of the paths can differ. */
static enum status take_messages(struct comparing *x, struct err *e)
{
    struct compared *a = &x->before, *b = &x->after;

    bool plain = !a->seen.n && !b->seen.n;
    if (plain && a->p.anchor == b->p.anchor && a->p.after == b->p.after && a->p.at >= 0) {
        int64_t upto = shared_upto(&a->p, &b->p);
        return take_behind(x, a, upto, e) ? err_code(e) : take_behind(x, b, upto, e);
    }
    return take_newest(x, a, e) ? err_code(e) : take_newest(x, b, e);
}

static enum status start(struct comparing *x, struct compared *side,
                         const struct project_asked *asked, struct err *e)
{
    struct projection_of of = { .thread = asked->thread };

    if (project_call_seen(x->r, asked, &side->seen, e))
        return err_code(e);
    of.lane = side->seen.lane;
    of.upto = side->seen.upto;
    return project_start(&x->r->log, &of, x->r->a, &side->p, e);
}

/* The two contexts; each is of the place where the agent was then, unless a lane was named. */
static enum status start_both(struct comparing *x, struct err *e)
{
    const struct compare_params *p = x->given;
    struct store_head            h;

    if (log_head(&x->r->log, p->thread, &h, e))
        return err_code(e);
    int64_t              at = p->at == PARAM_UNSET ? h.rev - 1 : p->at;
    int64_t              vs = p->vs != PARAM_UNSET ? p->vs : p->vs_lane.s ? at : at - 1;
    struct project_asked after = { p->thread, p->lane, p->agent, at };
    struct project_asked before = { p->thread, p->vs_lane.s ? p->vs_lane : p->lane, p->agent,
                                    vs < -1 ? -1 : vs };
    project_call_warn_end(x->r, p->thread, p->at, h.rev - 1);
    project_call_warn_end(x->r, p->thread, p->vs, h.rev - 1);
    return start(x, &x->after, &after, e) ? err_code(e) : start(x, &x->before, &before, e);
}

/* ---- what differs
 * -------------------------------------------------------------------------------- */

/* A line for each message: equal lines are equal messages, wherever they come from. */
static struct sv hash_lines(struct comparing *x, const struct context *c)
{
    struct sb b = sb_in(x->r->a, 0);

    for (size_t i = 0; i < c->n; i++) {
        struct sb text = sb_in(x->r->a, 0);
        message_write(&text, &c->messages[i]);
        struct sv   bytes = sb_sv(&text);
        struct hash h = hash_blake2b(&bytes, 1);
        sb_adds(&b, i ? "\n" : "");
        sb_add_hex(&b, h.b, sizeof h.b);
    }
    return sb_sv(&b);
}

static void end_same(struct comparing *x)
{
    struct jw *w = x->r->doc;

    if (!x->same)
        return;
    jw_open(w, '{');
    jw_kstr(w, "change", SV("same"));
    jw_kint(w, "count", x->same);
    jw_close(w, '}');
    x->same = 0;
}

static void put_item(struct comparing *x, bool added, int64_t seq, struct sv role, struct sv text)
{
    struct jw *w = x->r->doc;
    int64_t    tokens = (int64_t)tokens_count(x->tokens, text);

    end_same(x);
    x->n[added]++;
    x->sum[added] += tokens;
    jw_open(w, '{');
    jw_kstr(w, "change", added ? SV("added") : SV("removed"));
    jw_kint_if(w, "seq", seq >= 0, seq);
    jw_kstr(w, "role", role);
    jw_klossy(w, "line", loom_one_line(text, LINE_CHARS, x->r->a));
    jw_kint(w, "tokens", tokens);
    jw_close(w, '}');
}

static void put_message(struct comparing *x, bool added)
{
    const struct context *c = added ? &x->after.c : &x->before.c;
    const struct message *m = &c->messages[x->at[added]++];

    put_item(x, added, m->seq, m->role, entry_message_text(m, x->r->a));
}

static void each_line(void *ctx, char mark, struct sv line)
{
    struct comparing *x = ctx;

    (void)line;
    if (mark != ' ') {
        put_message(x, mark == '+');
        return;
    }
    x->same++;
    x->at[0]++;
    x->at[1]++;
}

static void put_items(struct comparing *x)
{
    const struct projection *a = &x->before.p, *b = &x->after.p;

    jw_key(x->r->doc, "items");
    jw_open(x->r->doc, '[');
    if (!sv_eq(a->system_prompt, b->system_prompt)) {
        if (a->system_prompt.n)
            put_item(x, false, -1, SV("system"), a->system_prompt);
        if (b->system_prompt.n)
            put_item(x, true, -1, SV("system"), b->system_prompt);
    }
    if (x->before.c.n && x->after.c.n) /* no text is one empty line */
        (void)diff_lines(hash_lines(x, &x->before.c), hash_lines(x, &x->after.c), each_line, x);
    while (x->at[0] < x->before.c.n)
        put_message(x, false);
    while (x->at[1] < x->after.c.n)
        put_message(x, true);
    end_same(x);
    jw_close(x->r->doc, ']');
}

/* ---- the document
 * -------------------------------------------------------------------------------- */

static void put_side(struct jw *w, const char *key, const struct compared *s)
{
    jw_key(w, key);
    jw_open(w, '{');
    jw_kstr(w, "lane", s->p.lane);
    jw_kint(w, "at", s->p.at);
    jw_kint_if(w, "anchor", s->p.anchor >= 0, s->p.anchor);
    jw_kbool(w, "whole", s->whole);
    jw_close(w, '}');
}

static enum status compare(struct comparing *x, struct err *e)
{
    struct jw *w = x->r->doc;

    if (start_both(x, e) || take_messages(x, e))
        return err_code(e);
    jw_open(w, '{');
    jw_kstr(w, "thread", x->given->thread);
    put_side(w, "before", &x->before);
    put_side(w, "after", &x->after);
    put_items(x);
    jw_kstr(w, "counted_by", sv_of(tokens_label(x->tokens)));
    jw_kint(w, "removed", x->n[0]);
    jw_kint(w, "removed_tokens", x->sum[0]);
    jw_kint(w, "added", x->n[1]);
    jw_kint(w, "added_tokens", x->sum[1]);
    jw_close(w, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct comparing    x = { .r = r, .given = given };
    struct token_choice choice;

    if (token_counter_open(r->ws, (struct sv){ 0 }, &choice, &x.tokens, e))
        return err_code(e);
    enum status s = project_call_begin(r, x.given->thread, e);
    if (!s)
        s = compare(&x, e);
    log_abort(&r->log);
    tokens_close(x.tokens);
    return s;
}

static void print_item(const struct json *item, struct term *t)
{
    struct sv change = json_text(item, "change"), role = json_text(item, "role");

    if (sv_is(change, "same")) {
        term_f(t, "  … %lld the same\n", (long long)json_number(item, "count"));
        return;
    }
    term_f(t, "%s %-9.*s ", sv_is(change, "added") ? "+" : "-", (int)role.n, role.s);
    sb_add_plain_line(t->out, json_text(item, "line"));
    term_f(t, " (%lld)\n", (long long)json_number(item, "tokens"));
}

static bool is_cut(const struct json *side)
{
    return json_is(json_find(side, "whole"), JSON_FALSE);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        print_item(&items->items[i], t);
    if (is_cut(json_find(doc, "before")) || is_cut(json_find(doc, "after")))
        term_f(t, "older messages are left out: --limit N looks at up to N of each context\n");
    term_f(t, "- %lld messages, %lld tokens\n", (long long)json_number(doc, "removed"),
           (long long)json_number(doc, "removed_tokens"));
    term_f(t, "+ %lld messages, %lld tokens\n", (long long)json_number(doc, "added"),
           (long long)json_number(doc, "added_tokens"));
}

const struct operation op_project_compare = {
    .name = "project.compare",
    .summary = "Compare two contexts: entry against entry, lane against lane",
    .details =
        "Messages that only one of them has, with their tokens. Without --vs an entry is compared\n"
        "with the one before it: what did it change? With --vs -1 everything is new, so that the\n"
        "context itself is listed.\n"
        "\n"
        "  heddle compare design --at 1204\n"
        "  heddle compare design --lane try-2 --vs-lane default",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct compare_params),
    .answer = answer,
    .run = run,
    .print = print,
};
