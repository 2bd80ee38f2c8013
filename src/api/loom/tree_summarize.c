/* tree.summarize, tree.close: make the summaries that a tree waits for. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "command/summary.h"
#include "loom/shown.h"

struct summarize_params {
    struct sv thread;
    bool      all;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct summarize_params, thread), .value = "T", .required = true, .help = "the thread" },
    { "all",    PARAM_FLAG, offsetof(struct summarize_params, all),    .help = "the tree too, even if fewer than 10 nodes are new" },
    { 0 },
};
static const struct param close_params[] = {
    { "thread", PARAM_NAME, offsetof(struct summarize_params, thread), .value = "T", .required = true, .help = "the thread" },
    { 0 },
};
static const struct field summary_fields[] = {
    { "node",        FIELD_TEXT, .nullable = true, .help = "the node, in its tree; null: the summary of a document, or of the tree" },
    { "doc",         FIELD_TEXT, .optional = true, .help = "the path of the document" },
    { "model",       FIELD_TEXT, .nullable = true, .help = "the model that made it; null: an extract" },
    { "provisional", FIELD_FLAG, .help = "whether the next call tries again" },
    { "text",        FIELD_TEXT, .help = "the summary" },
    { 0 },
};
static const struct field answer[] = {
    { "summaries",    FIELD_LIST,   .of = summary_fields, .help = "those that were made, in order" },
    { "waiting",      FIELD_NUMBER, .help = "nodes and documents that have no final summary yet" },
    { "tree_waits",   FIELD_FLAG,   .help = "whether a summary of the tree is due and was not made" },
    { "last_failure", FIELD_TEXT,   .optional = true, .help = "what the model that was asked last answered, when it failed" },
    { 0 },
};
/* clang-format on */

static void made(void *ctx, const struct summary_made *m)
{
    struct request *r = ctx;
    struct jw      *w = r->doc;

    jw_open(w, '{');
    jw_kstr(w, "node", m->node);
    if (m->doc.n)
        jw_kstr(w, "doc", m->doc);
    jw_kstr(w, "model", m->model);
    jw_kbool(w, "provisional", !m->model.n);
    jw_klossy(w, "text", sv_trim(m->text));
    jw_close(w, '}');
}

/* Remarks for a person beside the summaries. */
static void remark(struct request *r, const struct summary_job *job)
{
    if (!job->waiting && !job->tree_waits)
        return;
    if (job->last.code == ST_OK)
        request_remark(r, "no agent's model makes summaries of some of it: extracts stand in; "
                          "loom.summary_model names one for all");
    else
        request_remark(r, "%lld node%s%s without a summary: %s", (long long)job->waiting,
                       job->waiting == 1 ? "" : "s", job->tree_waits ? " and the tree" : "",
                       job->last.text);
}

/* What was made before an error came is stored: it is answered, and the error is the verdict. */
static enum status summarize(struct request *r, struct session *s, struct summary_job *job,
                             struct err *e)
{
    jw_open(r->doc, '{');
    jw_key(r->doc, "summaries");
    jw_open(r->doc, '[');
    enum status st = session_summarise_pending(s, job, e);
    if (st && !job->made && !job->provisional)
        return st;
    if (st)
        r->verdict = *e;
    else
        remark(r, job);
    jw_close(r->doc, ']');
    jw_kint(r->doc, "waiting", job->waiting);
    jw_kbool(r->doc, "tree_waits", job->tree_waits);
    if (job->last.code != ST_OK)
        jw_klossy(r->doc, "last_failure", sv_of(job->last.text));
    jw_close(r->doc, '}');
    return ST_OK;
}

/* `before` (may be NULL) writes what makes a summary due. */
static enum status work(struct request *r, const struct summarize_params *p,
                        enum status (*before)(struct request *r, struct session *s, struct err *e),
                        struct err *e)
{
    struct summary_job job = { .tree = p->all, .told = made, .ctx = r };
    struct loom_call   c;

    if (loom_thread_check(&r->log, p->thread, e))
        return err_code(e);
    if (loom_call_open(&c, r, p->thread, (struct sv){ 0 }, e) || (before && before(r, &c.s, e)))
        return loom_call_close(&c, err_code(e));
    return loom_call_close(&c, summarize(r, &c.s, &job, e));
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    return work(r, given, NULL, e);
}

static enum status mark_closed(struct request *r, struct session *s, struct err *e)
{
    if (log_begin(&r->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    return loom_call_commit(r, loom_close(&s->loom, s->agent.name, e), e);
}

static enum status run_close(struct request *r, const void *given, struct err *e)
{
    return work(r, given, mark_closed, e);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *list = json_find(doc, "summaries");
    int64_t            waiting = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct json *x = &list->items[i];
        struct sv          node = json_text(x, "node"), path = json_text(x, "doc");
        if (node.n)
            term_f(t, "[" SV_FMT "] ", SV_ARG(node));
        else if (path.n)
            term_f(t, SV_FMT ": ", SV_ARG(path));
        else
            term_f(t, "tree: ");
        sb_add_oneline(t->out, json_text(x, "text"));
        term_f(t, "%s\n", json_truth(json_find(x, "provisional")) ? " (provisional)" : "");
    }
    json_int(json_find(doc, "waiting"), &waiting);
    if (!list->n && !waiting && !json_truth(json_find(doc, "tree_waits")))
        term_f(t, "nothing to summarize\n");
}

const struct operation op_tree_summarize = {
    .name = "tree.summarize",
    .summary = "Make the summaries that a tree waits for",
    .details =
        "Nodes have no summary when they are written. This asks a model for those that are "
        "missing, a parent before its children, for those of documents that were written, and "
        "after every 10 new nodes, or once somebody has left the tree, for one of the tree. A text "
        "of at most 30 words is its own summary.\n\n"
        "A text goes to the company whose agent wrote it; what a person wrote, to one whose agent "
        "has answered it; the tree, if all its agents are of one company. For anthropic that is "
        "Claude 3.5 Haiku and for openai GPT-4o mini, or, when the provider says that they are "
        "gone, what models.small names; for other companies it is the agent's own model, or what "
        "models.small names. loom.summary_model is asked instead of all of them. A key alone sends "
        "nothing anywhere, and the first text for a company that is not the agent's own is "
        "announced.\n\n"
        "Where no model answers, the first sentence is stored for the time being, and the "
        "next call tries again. What a model made of the same content is not made again. Pruned "
        "nodes wait until they are restored.\n\n"
        "  heddle summarize design\n"
        "  heddle summarize design --all --json",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_RUN,
    .repeat = REPEAT_SAME,
    .cancels = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct summarize_params),
    .answer = answer,
    .run = run,
    .print = print,
};

const struct operation op_tree_close = {
    .name = "tree.close",
    .summary = "Leave a tree: its summaries are made, and one of the whole tree",
    .details = "`heddle talk` does it when a conversation ends, and → switch with tree: when an "
               "agent goes to another tree: whoever comes back later, or looks in from elsewhere, "
               "finds a summary. It is made as `heddle summarize` makes it, when nodes were "
               "written since the last one; if no model answers, the next `heddle summarize` "
               "tries again. Nothing is locked or hidden: a closed tree goes on with the next "
               "message.\n\n"
               "  heddle tree close design",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_RUN,
    .repeat = REPEAT_SAME,
    .cancels = true,
    .view = &loom_view,
    .params = close_params,
    .params_size = sizeof(struct summarize_params),
    .answer = answer,
    .run = run_close,
    .print = print,
};
