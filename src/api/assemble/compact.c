/* compact: replaces older messages of a lane by a summary, or takes that back. */
#include "api/assemble/compact_settings.h"
#include "api/loom/loom_call.h"
#include "api/payload/token_choice.h"
#include "api/term.h"
#include "base/utf8.h"
#include "command/compact_session.h"
#include "loom/shown.h"

struct compact_params {
    struct sv thread, agent, lane, model, instructions, summary, last, op_id;
    int64_t   keep;
    bool      preview, results, undo;
};

/* clang-format off */
#define AT(field) offsetof(struct compact_params, field)
static const char *const actions[] = { "compacted", "preview", "nothing", "undone", NULL };
static const struct param params[] = {
    { "thread",       PARAM_NAME,   AT(thread),       .value = "T", .required = true, .help = "the thread" },
    { "lane",         PARAM_TEXT,   AT(lane),         .value = "L", .help = "the lane (default: the one that the agent is on)" },
    { "agent",        PARAM_TEXT,   AT(agent),        .value = "A", .help = "for whom: its pins stay word for word (default: you)" },
    { "keep",         PARAM_NUMBER, AT(keep),         .value = "N", .min = 1, .max = 1000000, .help = "leave the last N messages as they are (default: compact.keep of the settings, 8)" },
    { "preview",      PARAM_FLAG,   AT(preview),      .help = "say what would be done, and do nothing; no model is asked" },
    { "results",      PARAM_FLAG,   AT(results),      .help = "only shorten old results of tools to a line each" },
    { "undo",         PARAM_FLAG,   AT(undo),         .help = "take the newest compaction of the lane back" },
    { "model",        PARAM_TEXT,   AT(model),        .value = "P:ID", .help = "the model that makes the summary; none: the messages' first sentences (default: compact.model of the settings, then the model of summaries)" },
    { "instructions", PARAM_TEXT,   AT(instructions), .value = "TEXT", .help = "what the summary should keep (default: compact.instructions of the settings)" },
    { "summary",      PARAM_TEXT,   AT(summary),      .value = "TEXT", .help = "the summary itself, as you want it; no model is asked" },
    { "last",         PARAM_TEXT,   AT(last),         .value = "ID", .help = "the last message to be replaced, as a preview named it: it is refused when that is another one now" },
    { "op_id",        PARAM_TEXT,   AT(op_id),        .value = "ID", .help = "name of the operation: with the same one it is done once" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",        FIELD_TEXT,   .help = "the thread" },
    { "lane",          FIELD_TEXT,   .nullable = true, .help = "the lane" },
    { "action",        FIELD_ENUM,   .values = actions, .help = "what was done" },
    { "why",           FIELD_TEXT,   .nullable = true, .help = "why nothing was done" },
    { "op_id",         FIELD_TEXT,   .nullable = true, .help = "name of the operation, for the log" },
    { "entry",         FIELD_NUMBER, .nullable = true, .help = "the entry that holds it" },
    { "deferred",      FIELD_FLAG,   .help = "it is applied when the agent's run ends" },
    { "undone",        FIELD_TEXT,   .nullable = true, .help = "op_id of the compaction that was taken back" },
    { "covered",       FIELD_NUMBER, .help = "messages that are replaced" },
    { "kept",          FIELD_NUMBER, .help = "messages that stay" },
    { "first",         FIELD_TEXT,   .nullable = true, .help = "the first node of those that are replaced" },
    { "last",          FIELD_TEXT,   .nullable = true, .help = "and the last" },
    { "results",       FIELD_NUMBER, .help = "results of tools that become a line" },
    { "before",        FIELD_NUMBER, .help = "tokens of the conversation before" },
    { "after",         FIELD_NUMBER, .help = "and afterwards" },
    { "model",         FIELD_TEXT,   .nullable = true, .help = "who made the summary; extract: no model; given: whoever asked; null: there is none" },
    { "summary",       FIELD_TEXT,   .nullable = true, .help = "its text" },
    { 0 },
};
/* clang-format on */

struct compacting {
    struct loom_call      c;
    struct compact_how    how;
    struct compact_plan   plan;
    struct op_result      result;
    struct compact_undone undone;
    struct tokens        *tokens;
    struct counts         counts;
    bool                  is_undo, is_preview;
};

static void write_result(struct jw *w, const struct compacting *x)
{
    bool done = x->result.op_id.n > 0;

    jw_kstr(w, "op_id", done ? x->result.op_id : (struct sv){ 0 });
    jw_kint_if(w, "entry", done, x->result.seq);
    jw_kbool(w, "deferred", x->result.deferred);
    jw_kstr(w, "undone", x->is_undo ? x->undone.op_id : (struct sv){ 0 });
}

static void write_plan(struct jw *w, const struct compact_plan *p)
{
    const struct sv none = { 0 };
    bool            summary = p->is_due && p->summarizes;

    jw_kint(w, "covered", p->is_due ? p->covered : 0);
    jw_kint(w, "kept", (int64_t)p->kept);
    jw_kstr(w, "first", p->first.n ? p->first : none);
    jw_kstr(w, "last", p->last.n ? p->last : none);
    jw_kint(w, "results", p->is_due && !p->summarizes ? (int64_t)p->results : 0);
    jw_kint(w, "before", (int64_t)p->before);
    jw_kint(w, "after", (int64_t)p->after);
    jw_kstr(w, "model", summary ? p->model.n ? p->model : SV("extract") : none);
    jw_key(w, "summary");
    if (summary && p->summary.s) {
        struct sb b = sb_in(w->b->a, 0);
        sb_add_lossy(&b, p->summary);
        jw_str(w, sb_sv(&b));
    } else {
        jw_null(w);
    }
}

static void write_document(struct request *r, const struct compact_params *p,
                           const struct compacting *x)
{
    struct jw  *w = r->doc;
    const char *action = x->is_undo        ? "undone"
                         : !x->plan.is_due ? "nothing"
                         : x->is_preview   ? "preview"
                                           : "compacted";
    struct sv   lane = x->is_undo ? x->result.lane : x->plan.lane;

    jw_open(w, '{');
    jw_kstr(w, "thread", p->thread);
    jw_kstr(w, "lane", lane.n ? lane : (struct sv){ 0 });
    jw_kstr(w, "action", sv_of(action));
    jw_kstr(w, "why", x->is_undo || x->plan.is_due ? (struct sv){ 0 } : x->plan.why_not);
    write_result(w, x);
    write_plan(w, &x->plan);
    jw_close(w, '}');
}

static enum status open_counter(struct request *r, struct compacting *x, struct err *e)
{
    struct token_choice choice;

    if (token_counter_open(r->ws, x->c.s.agent.model, &choice, &x->tokens, e))
        return err_code(e);
    counts_init(&x->counts, x->tokens, choice.thousandths);
    return ST_OK;
}

static enum status compact(struct request *r, const struct compact_params *p, struct compacting *x,
                           struct err *e)
{
    struct compact_settings set = compact_settings(r->ws, x->c.s.agent.model);

    if (p->undo)
        return session_compact_undo(&x->c.s, p->lane, p->op_id, &x->undone, &x->result, e);
    x->how = (struct compact_how){ .lane = p->lane,
                                   .counts = &x->counts,
                                   .keep = p->keep == PARAM_UNSET ? set.keep : p->keep,
                                   .results_only = p->results,
                                   .instructions =
                                       p->instructions.s ? p->instructions : set.instructions,
                                   .model = p->model.s ? p->model : set.model,
                                   .named = p->model.s != NULL,
                                   .summary = p->summary,
                                   .last = p->last,
                                   .op_id = p->op_id,
                                   .preview = p->preview };
    if (sv_is(x->how.model, "none"))
        x->how.model = (struct sv){ 0 };
    return session_compact(&x->c.s, &x->how, &x->plan, &x->result, e);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct compact_params *p = given;
    struct compacting            x = { .is_undo = p->undo, .is_preview = p->preview };

    if (p->undo && (p->preview || p->results || p->last.s))
        return err_set(e, ST_USAGE, "--undo goes with no other choice");
    if (p->summary.s && (p->undo || p->results || p->model.s || p->instructions.s))
        return err_set(e, ST_USAGE,
                       "--summary is the text itself: --undo, --results, --model and "
                       "--instructions do not go with it");
    if (loom_call_open(&x.c, r, p->thread, p->agent, e))
        return loom_call_close(&x.c, err_code(e));
    enum status s = loom_call_find_tree(r, p->thread, e);
    s = s ? s : open_counter(r, &x, e);
    s = s ? s : compact(r, p, &x, e);
    if (!s)
        write_document(r, p, &x);
    counts_release(&x.counts);
    tokens_close(x.tokens);
    return loom_call_close(&x.c, s);
}

/* ---- for a person ------------------------------------------------------------------------------
 */

static void print_change(const struct json *doc, struct term *t)
{
    int64_t results = json_number(doc, "results");

    if (results) {
        sb_add_count_of(t->out, results, "result", "results");
        term_f(t, " of tools shortened to a line each: ");
    } else {
        sb_add_count_of(t->out, json_number(doc, "covered"), "message", "messages");
        term_f(t, ", [");
        term_text(t, json_text(doc, "first"));
        term_f(t, "] to [");
        term_text(t, json_text(doc, "last"));
        term_f(t, "], become a summary");
        if (!json_text(doc, "summary").s) {
            term_f(t, " by ");
            term_text(t, json_text(doc, "model"));
        }
        term_f(t, ": ");
    }
    sb_add_commas(t->out, json_number(doc, "before"));
    term_f(t, json_text(doc, "model").s && !json_text(doc, "summary").s ? " → at most " : " → ");
    sb_add_commas(t->out, json_number(doc, "after"));
    term_f(t, " tokens; ");
    sb_add_count_of(t->out, json_number(doc, "kept"), "message stays", "messages stay");
    term_f(t, "\n");
}

static void print(const struct json *doc, struct term *t)
{
    struct sv action = json_text(doc, "action"), summary = json_text(doc, "summary");

    if (sv_is(action, "nothing")) {
        term_f(t, "nothing to do: ");
        term_text(t, json_text(doc, "why"));
        term_f(t, "\n");
        return;
    }
    if (sv_is(action, "undone")) {
        term_f(t, "undone: ");
        term_text(t, json_text(doc, "undone"));
        term_f(t, "\n");
        return;
    }
    if (sv_is(action, "preview"))
        term_f(t, "would be done: ");
    print_change(doc, t);
    if (summary.s) {
        term_f(t, "\n");
        term_text(t, summary);
        term_f(t, sv_ends(summary, SV("\n")) ? "" : "\n");
    }
    if (!sv_is(action, "compacted"))
        return;
    term_f(t, "%s`heddle compact ", summary.s ? "\n" : "");
    sb_add_shell(t->out, json_text(doc, "thread"));
    if (!sv_is(json_text(doc, "lane"), "default")) {
        term_f(t, " --lane ");
        sb_add_shell(t->out, json_text(doc, "lane"));
    }
    term_f(t, " --undo` takes it back\n");
}

const struct operation op_compact = {
    .name = "compact",
    .summary = "Replace older messages of a conversation by a summary",
    .details =
        "The messages before the last ones become one message, which a model makes of them:\n"
        "compact.model, else loom.summary_model, else that of the agent (with no model, their "
        "first\n"
        "sentences). It is a context operation: the log keeps everything, the\n"
        "nodes are still there to be found, viewed and pinned, and --undo brings the conversation\n"
        "back as it was. Messages that come while the model works stay. What the agent has pinned\n"
        "stays word for word, and a call is never parted from its result.\n\n"
        "--summary takes the text from you, for instance what --preview showed, edited; with "
        "--last\n"
        "nothing is replaced that came since.\n\n"
        "--results needs no model: old results of tools become one line each, with their size and\n"
        "the id under which they can be read.\n\n"
        "In `heddle talk` it happens by itself when the conversation reaches compact.at percent "
        "of\n"
        "the budget, first with the results alone; compact.auto false switches that off.\n\n"
        "  heddle compact design --agent Collab --keep 6 --preview\n"
        "  heddle compact design --agent Collab --results\n"
        "  heddle compact design --keep 6 --summary 'SQLite it is: one table, append-only.'",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_RUN,
    .repeat = REPEAT_KEY,
    .repeat_key = "op_id",
    .once = true, /* its entry has the op_id too: what was applied is found without the record */
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct compact_params),
    .answer = answer,
    .run = run,
    .print = print,
};
