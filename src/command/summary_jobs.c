/* The summaries that are due. */
#include "base/hash.h"
#include "base/sentence.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/company.h"
#include "command/summary.h"
#include "loom/pending.h"

enum {
    PENDING_AT_ONCE = 100,
    MAIN_PATH_MAX = 100, /* nodes of the main path, and branch points, in the prompt of a tree */
};

struct sv summary_trim(struct sv text)
{
    return sentence_whole(text);
}

/* What a model says on behalf of an agent with the model `whose`; out->model is absent when none
 * does. Only being cancelled is an error. */
static enum status ask(struct session *s, struct summary_job *job, struct sv whose,
                       struct sv prompt, int64_t tokens, struct summary_made *out, struct err *e)
{
    struct small_answer answer;
    struct err          why;

    if (session_cancelled(s, e))
        return err_code(e);
    if (!small_any(s, whose)) /* none is left: the last failure stays */
        return ST_OK;
    if (small_ask(s, whose, (struct sv){ 0 }, prompt, tokens, &answer, &why)) {
        job->last = why;
        return session_cancelled(s, e);
    }
    out->model = answer.model;
    out->text = answer.text;
    out->usage = answer.usage;
    return ST_OK;
}

static enum status store(struct session *s, struct summary_job *job, const struct summary_made *m,
                         struct err *e)
{
    if (summary_keep(s, m, e) || log_commit(s->log, e)) {
        log_abort(s->log);
        return err_code(e);
    }
    *(m->model.n || m->whole ? &job->made : &job->provisional) += 1;
    if (job->told)
        job->told(job->ctx, m);
    return ST_OK;
}

/* ---- a node ------------------------------------------------------------------------ */

static enum status prepare_node(struct session *s, int64_t seq, struct node *n, struct sv *whose,
                                struct sb *prompt, bool *hidden, struct err *e)
{
    int64_t by;

    if (node_at(&s->loom, seq, n, e) || node_hidden(&s->loom, n, &by, e))
        return err_code(e);
    *hidden = by != NO_NODE || n->withdrawn;
    if (*hidden)
        return ST_OK;
    return company_of_node(s, n, whose, e) ? err_code(e) : summary_prompt(s, n, prompt, e);
}

static enum status store_node(struct session *s, struct summary_job *job, const struct pending *p,
                              const struct node *n, struct summary_made *m, struct err *e)
{
    struct sv extract;
    bool      made;

    m->node = n->local;
    if (!m->model.n && p->provisional)
        return ST_OK; /* an extract is there already */
    if (log_begin(s->log, s->loom.thread, STORE_WRITE, e))
        return err_code(e);
    enum status st = node_summary(&s->loom, n, &extract, &made, e);
    if (st || made) { /* made: by someone else meanwhile */
        log_abort(s->log);
        return st;
    }
    if (!m->model.n)
        m->text = extract;
    return store(s, job, m, e);
}

static enum status do_node(struct session *s, struct summary_job *job, const struct pending *p,
                           struct err *e)
{
    struct node         n;
    struct sb           prompt = sb_in(s->a, 0);
    struct summary_made m = { 0 };
    struct sv           whose;
    bool                hidden;

    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = prepare_node(s, p->node, &n, &whose, &prompt, &hidden, e);
    log_abort(s->log);
    if (st || hidden)
        return st;
    if (ask(s, job, whose, sb_sv(&prompt), SUMMARY_TOKENS, &m, e))
        return err_code(e);
    job->waiting += !m.model.n;
    return store_node(s, job, p, &n, &m, e);
}

static enum status next_nodes(struct session *s, int64_t after, struct pending **list, size_t *n,
                              struct err *e)
{
    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = loom_pending(&s->loom, after, PENDING_AT_ONCE, list, n, e);
    log_abort(s->log);
    return st;
}

/* ---- a document -------------------------------------------------------------------- */

/* What a document says now, what is known of it, and on whose behalf it is summarised. Not *found:
 * it is gone, or cannot be read. */
static enum status look_at_doc(struct session *s, const struct pending_doc *p, struct doc *d,
                               struct doc_summary *had, struct sv *whose, bool *found,
                               struct err *e)
{
    struct err gone;

    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    *found = session_doc(s, p->name, d, &gone) == ST_OK && sv_eq(d->path, p->path);
    enum status st = loom_doc_summary(&s->loom, p->path, had, e);
    st = st ? st : summary_doc_company(s, p->entry, whose, e);
    log_abort(s->log);
    return st;
}

/* A summary of just this text is not made again; its entry only says that the write is covered. */
static enum status do_doc(struct session *s, struct summary_job *job, const struct pending_doc *p,
                          struct err *e)
{
    struct summary_made m = { .doc = p->path, .covers = p->entry };
    struct doc_summary  had;
    struct doc          d;
    struct sv           whose;
    bool                found;

    if (look_at_doc(s, p, &d, &had, &whose, &found, e))
        return err_code(e);
    bool same = found && had.text.s && sv_eq(had.of, d.hash), final = same && !had.provisional;
    m.whole = found && !final && summary_doc_is_whole(&d);
    if (found && !final && !m.whole &&
        ask(s, job, whose, summary_doc_prompt(s, &d), SUMMARY_TOKENS, &m, e))
        return err_code(e);
    job->waiting += found && !m.model.n && !m.whole && !final;
    if (!found || (!m.model.n && !m.whole && same))
        return ST_OK;
    m.of = d.hash;
    if (!m.model.n)
        m.text = m.whole ? sv_trim(d.text) : summary_doc_extract(d.text);
    if (!sv_trim(m.text).n)
        return ST_OK; /* only headings */
    return log_begin(s->log, s->loom.thread, STORE_WRITE, e) ? err_code(e) : store(s, job, &m, e);
}

static enum status do_docs(struct session *s, struct summary_job *job, struct err *e)
{
    struct pending_doc *list;
    size_t              n;

    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = loom_pending_docs(&s->loom, PENDING_AT_ONCE, &list, &n, e);
    log_abort(s->log);
    for (size_t i = 0; !st && i < n; i++)
        st = do_doc(s, job, &list[i], e);
    return st;
}

/* ---- the tree ---------------------------------------------------------------------- */

struct tree_told {
    VEC(struct node) nodes;
    VEC(struct sv) summaries;
    struct sv whose; /* the model of the agent on whose behalf the tree is summarised */
};

static void add_node(struct session *s, struct tree_told *t, const struct node *n)
{
    for (size_t i = 0; i < t->nodes.n; i++)
        if (t->nodes.v[i].slot == n->slot)
            return;
    *vec_push(&t->nodes, s->a) = *n;
}

/* What no company has seen yet, as what people said and no agent has answered, is left out, unless
 * a model was set for it. */
static enum status tell_nodes(struct session *s, struct tree_told *t, struct err *e)
{
    bool set = small_any(s, (struct sv){ 0 });

    if (company_of_nodes(s, t->nodes.v, t->nodes.n, &t->whose, e))
        return err_code(e);
    for (size_t i = 0; i < t->nodes.n; i++) {
        struct sv text, model = { 0 };
        bool      made;
        if ((!set && company_of_node(s, &t->nodes.v[i], &model, e)) ||
            node_summary(&s->loom, &t->nodes.v[i], &text, &made, e))
            return err_code(e);
        if (set || model_company(model).n)
            *vec_push(&t->summaries, s->a) = text;
    }
    return ST_OK;
}

/* The nodes of the main path, which is that of the lane every thread starts with, then the branch
 * points beside it. */
static enum status tree_prompt(struct session *s, struct sv *whose, struct sb *b, struct err *e)
{
    struct tree_told t = { 0 };
    struct tree      tree;
    struct node      tip, *list;
    struct sv        title;
    size_t           n = 0, n_points;
    bool             found;

    if (loom_tree(&s->loom, &tree, e) || loom_title(&s->loom, &title, e) ||
        loom_lane_tip(&s->loom, SV("default"), &tip, &found, e))
        return err_code(e);
    int64_t from = found && tip.depth >= MAIN_PATH_MAX ? tip.depth + 1 - MAIN_PATH_MAX : 0;
    if (found && node_path(&s->loom, (struct sv){ 0 }, &tip, from, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        add_node(s, &t, &list[i]);
    if (loom_branch_points(&s->loom, MAIN_PATH_MAX, &list, &n_points, e))
        return err_code(e);
    for (size_t i = 0; i < n_points; i++)
        add_node(s, &t, &list[i]);
    if (tell_nodes(s, &t, e))
        return err_code(e);
    *whose = t.whose;
    show_tree_summary_prompt(b, tree.description.n ? tree.description : title, t.summaries.v,
                             t.summaries.n, tree.points);
    return ST_OK;
}

struct tree_state {
    struct pending_tree waits;
    bool                is_empty;
    struct sv           extract;
    struct sv           whose; /* the model of the agent on whose behalf it is summarised */
};

static enum status prepare_tree(struct session *s, struct tree_state *t, struct sb *prompt,
                                struct err *e)
{
    struct tree tree;
    struct node root;
    bool        made;

    if (loom_pending_tree(&s->loom, &t->waits, e) || loom_tree(&s->loom, &tree, e))
        return err_code(e);
    t->is_empty = tree.root == NO_NODE;
    if (t->is_empty)
        return ST_OK;
    if (node_at(&s->loom, tree.root, &root, e) ||
        node_summary(&s->loom, &root, &t->extract, &made, e))
        return err_code(e);
    return tree_prompt(s, &t->whose, prompt, e);
}

/* Is a summary due that was not made of just this by one of the models? */
static bool tree_is_due(const struct session *s, const struct summary_job *job,
                        const struct tree_state *t, struct sv of)
{
    const struct pending_tree *w = &t->waits;

    if (t->is_empty || (w->nodes < TREE_SUMMARY_EVERY && !w->closed && !job->tree))
        return false;
    return !sv_eq(w->of, of) || !small_has(s, t->whose, w->model);
}

static enum status do_tree(struct session *s, struct summary_job *job, struct err *e)
{
    struct tree_state   t = { 0 };
    struct sb           prompt = sb_in(s->a, 0);
    struct summary_made m = { 0 };

    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = prepare_tree(s, &t, &prompt, e);
    log_abort(s->log);
    if (st)
        return st;
    struct sv   asked = sb_sv(&prompt);
    struct hash h = hash_blake2b(&asked, 1);
    m.of = hash_hex(&h, s->a);
    if (!tree_is_due(s, job, &t, m.of))
        return ST_OK;
    if (ask(s, job, t.whose, asked, SUMMARY_TREE_TOKENS, &m, e))
        return err_code(e);
    job->tree_waits = !m.model.n;
    if (!m.model.n && t.waits.has_any)
        return ST_OK;
    m.text = m.model.n ? summary_trim(m.text) : t.extract;
    return log_begin(s->log, s->loom.thread, STORE_WRITE, e) ? err_code(e) : store(s, job, &m, e);
}

/* ---- all --------------------------------------------------------------------------- */

enum status session_summarise_pending(struct session *s, struct summary_job *job, struct err *e)
{
    struct arena    scratch = { 0 }; /* of one summary: there may be many */
    struct session  one = *s;
    struct pending *list;
    int64_t         after = NO_NODE;
    size_t          n = PENDING_AT_ONCE;
    enum status     st = ST_OK;

    one.a = one.loom.a = &scratch;
    while (!st && n == PENDING_AT_ONCE) {
        struct pending batch[PENDING_AT_ONCE];
        st = next_nodes(&one, after, &list, &n, e);
        for (size_t i = 0; !st && i < n; i++)
            batch[i] = list[i];
        for (size_t i = 0; !st && i < n; i++) {
            arena_free(&scratch);
            after = batch[i].node;
            st = do_node(&one, job, &batch[i], e);
        }
    }
    arena_free(&scratch);
    if (!st)
        st = do_docs(&one, job, e);
    if (!st)
        st = do_tree(&one, job, e);
    arena_free(&scratch);
    return st;
}
