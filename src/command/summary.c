/* Making one summary of a node, a document or a stretch of nodes: its prompt, the answer, and
 * keeping it. */
#include "command/summary.h"

#include "base/json.h"
#include "base/sentence.h"
#include "base/utf8.h"
#include "command/company.h"
#include "command/evidence.h"
#include "loom/pending.h"
#include "thread/kind.h"

/* What a node is known by: its summary when one was made, else its text. */
static enum status known_by(struct session *s, const struct node *n, struct sv *out, struct err *e)
{
    bool made;

    if (node_summary(&s->loom, n, out, &made, e))
        return err_code(e);
    return made ? ST_OK : node_text(&s->loom, n->seq, out, e);
}

/* The parent, and the grandparent too where the node itself says little. */
enum status summary_prompt(struct session *s, const struct node *n, struct sb *b, struct err *e)
{
    struct node parent, grandparent;
    struct sv   title, text, before = { 0 }, above = { 0 };
    bool        exact;

    if (loom_title(&s->loom, &title, e) || node_text(&s->loom, n->seq, &text, e))
        return err_code(e);
    if (n->parent != NO_NODE &&
        (node_at(&s->loom, n->parent, &parent, e) || known_by(s, &parent, &before, e)))
        return err_code(e);
    if (n->parent != NO_NODE && parent.parent != NO_NODE &&
        session_tokens(s, text, &exact) < SUMMARY_SHORT &&
        (node_at(&s->loom, parent.parent, &grandparent, e) || known_by(s, &grandparent, &above, e)))
        return err_code(e);
    show_node_summary_prompt(b, title, above, before, text);
    return ST_OK;
}

static void add_target(struct jw *w, const struct summary_made *m)
{
    jw_key(w, "target");
    jw_open(w, '{');
    if (m->node.n) {
        jw_kstr(w, "node", m->node);
    } else {
        if (m->doc.n)
            jw_kstr(w, "doc", m->doc);
        jw_kstr(w, "type", m->doc.n ? SV("doc") : SV("tree"));
    }
    jw_close(w, '}');
}

enum status summary_keep(struct session *s, const struct summary_made *m, struct err *e)
{
    struct sb b = sb_in(s->a, 0), valid = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_lossy(&valid, sv_trim(m->text));
    jw_open(&w, '{');
    if (m->covers)
        jw_kint(&w, "covers", m->covers);
    if (m->model.n)
        jw_kstr(&w, "model", m->model);
    if (m->of.n)
        jw_kstr(&w, "of", m->of);
    if (!m->model.n && !m->whole)
        jw_kbool(&w, "provisional", true);
    add_target(&w, m);
    jw_kstr(&w, "text", sb_sv(&valid));
    if (m->model.n && (m->usage.input >= 0 || m->usage.output >= 0)) {
        jw_key(&w, "usage");
        evidence_usage(&w, &m->usage);
    }
    jw_close(&w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_SUMMARY), sb_sv(&b), NULL, e);
}

static enum status keep(struct session *s, const void *made, struct err *e)
{
    return summary_keep(s, made, e);
}

enum status session_summarise(struct session *s, const struct node *n, struct err *e)
{
    struct small_answer answer;
    struct sb           b = sb_in(s->a, 0);
    struct sv           text, model;
    struct err          failed;
    bool                made;

    if (!s->env.small)
        return ST_OK;
    if (company_of_node(s, n, &model, e))
        return err_code(e);
    if (!small_any(s, model))
        return ST_OK;
    if (node_summary(&s->loom, n, &text, &made, e))
        return err_code(e);
    if (made)
        return ST_OK;
    if (summary_prompt(s, n, &b, e) || session_pause(s, e))
        return err_code(e);
    enum status st =
        small_ask(s, model, (struct sv){ 0 }, sb_sv(&b), SUMMARY_TOKENS, &answer, &failed);
    if (session_resume(s, e))
        return err_code(e);
    if (st)
        return ST_OK;
    struct summary_made m = {
        .node = n->local, .text = answer.text, .model = answer.model, .usage = answer.usage
    };
    return session_keep(s, keep, &m, e);
}

/* ---- documents ------------------------------------------------------------------------ */

enum { EXTRACT_WORDS = 60 };

/* The first sentence that is not a heading. */
struct sv summary_doc_extract(struct sv text)
{
    while (text.n) {
        struct sv_cut c = sv_cut(text, '\n');
        struct sv     line = sv_trim(c.head);
        if (line.n && line.s[0] != '#')
            return sentence_first(line, EXTRACT_WORDS);
        text = c.found ? c.tail : SV("");
    }
    return SV("");
}

bool summary_doc_is_whole(const struct doc *d)
{
    return summary_doc_extract(d->text).n && sentence_within(d->text, LOOM_SUMMARY_WORDS);
}

enum status summary_doc_company(struct session *s, int64_t written, struct sv *model, struct err *e)
{
    struct json p;

    *model = s->agent.model;
    if (model->n || !written)
        return ST_OK;
    return loom_payload(&s->loom, written, &p, e)
               ? err_code(e)
               : company_of_author(s, json_text(&p, "agent"), model, e);
}

struct sv summary_doc_prompt(struct session *s, const struct doc *d)
{
    struct sb b = sb_in(s->a, 0);
    struct sv shown = utf8_first(d->text, SUMMARY_DOC_BYTES);

    show_doc_summary_prompt(&b, d->path, shown, shown.n < d->text.n);
    return sb_sv(&b);
}

enum status session_summarise_doc(struct session *s, const struct doc *d, struct sv *out,
                                  struct err *e)
{
    struct doc_summary  had;
    struct small_answer answer;
    struct sv           model;
    struct err          failed;

    if (loom_doc_summary(&s->loom, d->path, &had, e))
        return err_code(e);
    bool fits = had.text.s && sv_eq(had.of, d->hash), whole = summary_doc_is_whole(d);
    *out = fits ? had.text : whole ? sv_trim(d->text) : summary_doc_extract(d->text);
    if ((fits && !had.provisional) || whole || !sv_trim(d->text).n)
        return ST_OK;
    if (summary_doc_company(s, had.written, &model, e))
        return err_code(e);
    if (!small_any(s, model))
        return ST_OK;
    struct sv prompt = summary_doc_prompt(s, d);
    if (session_pause(s, e))
        return err_code(e);
    enum status st =
        small_ask(s, model, (struct sv){ 0 }, prompt, SUMMARY_TOKENS, &answer, &failed);
    if (session_resume(s, e))
        return err_code(e);
    if (st)
        return ST_OK;
    *out = answer.text;
    struct summary_made m = { .doc = d->path,
                              .text = answer.text,
                              .model = answer.model,
                              .of = d->hash,
                              .covers = had.written,
                              .usage = answer.usage };
    return session_keep(s, keep, &m, e);
}

/* ---- stretches ------------------------------------------------------------------------- */

enum { STRETCH_NODES_MAX = 500, STRETCH_TOKENS = 300 };

/* The nodes from one to another below it, and the agent on whose behalf they are summarised. */
static enum status find_stretch(struct session *s, const struct node *from, const struct node *to,
                                struct node **path, size_t *n, struct sv *model, struct err *e)
{
    if (to->depth - from->depth >= STRETCH_NODES_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "the stretch has more than %d nodes", STRETCH_NODES_MAX);
        return err_hint(e, "summarise it in parts");
    }
    if (node_path(&s->loom, s->agent.name, to, from->depth, path, n, e))
        return err_code(e);
    *model = s->agent.model;
    return model->n ? ST_OK : company_of_nodes(s, *path, *n, model, e);
}

/* The texts of a stretch, one after another, or what is known of them. */
static enum status gather(struct session *s, const struct node *path, size_t n, bool extracts,
                          struct sb *b, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct sv text;
        bool      made;
        if (extracts ? node_summary(&s->loom, &path[i], &text, &made, e)
                     : node_text(&s->loom, path[i].seq, &text, e))
            return err_code(e);
        sb_addf(b, "%s%s: ", i ? "\n\n" : "", author_kind_name(path[i].kind));
        sb_add(b, text);
    }
    return ST_OK;
}

enum status session_summarise_stretch(struct session *s, const struct node *from,
                                      const struct node *to, struct sv *out, struct err *e)
{
    struct small_answer answer;
    struct sb           b = sb_in(s->a, 0);
    struct node        *path;
    struct sv           model;
    struct err          why;
    size_t              n;

    if (find_stretch(s, from, to, &path, &n, &model, e))
        return err_code(e);
    bool ask = small_any(s, model);
    if (gather(s, path, n, !ask, &b, e))
        return err_code(e);
    *out = sb_sv(&b);
    if (!ask)
        return ST_OK;
    /* The model may take its time: others write meanwhile. */
    if (session_pause(s, e))
        return err_code(e);
    enum status st =
        small_ask(s, model,
                  SV("Summarize this part of a conversation in a few sentences. Keep names, facts "
                     "and decisions."),
                  sb_sv(&b), STRETCH_TOKENS, &answer, &why);
    if (session_resume(s, e))
        return err_code(e);
    if (st) {
        *e = why;
        return e->code = ST_MODEL_ERROR; /* whatever the reason: no model can be used */
    }
    *out = answer.text;
    return ST_OK;
}
