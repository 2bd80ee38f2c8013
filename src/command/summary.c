#include "command/summary.h"

#include "base/json.h"
#include "base/utf8.h"
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

enum status summary_keep(struct session *s, const struct summary_made *m, struct err *e)
{
    struct sb b = sb_in(s->a, 0), valid = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_lossy(&valid, sv_trim(m->text));
    jw_open(&w, '{');
    if (m->model.n)
        jw_kstr(&w, "model", m->model);
    else
        jw_kbool(&w, "provisional", true);
    jw_key(&w, "target");
    jw_open(&w, '{');
    jw_kstr(&w, m->node.n ? "node" : "type", m->node.n ? m->node : SV("tree"));
    jw_close(&w, '}');
    jw_kstr(&w, "text", sb_sv(&valid));
    jw_close(&w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_SUMMARY), sb_sv(&b), NULL, e);
}

enum status session_summarise(struct session *s, const struct node *n, struct err *e)
{
    struct model_response answer;
    struct sb             b = sb_in(s->a, 0);
    struct sv             text;
    struct err            failed;
    bool                  made;

    if (!s->env.ask || !s->env.summary_model.n)
        return ST_OK;
    if (node_summary(&s->loom, n, &text, &made, e))
        return err_code(e);
    if (made)
        return ST_OK;
    if (summary_prompt(s, n, &b, e) || session_pause(s, e))
        return err_code(e);
    struct model_message asked = { MODEL_USER, sb_sv(&b) };
    struct model_request q = {
        .model = s->env.summary_model, .messages = &asked, .n = 1, .max_tokens = SUMMARY_TOKENS
    };
    enum status st = s->env.ask(s->env.ask_ctx, &q, s->a, &answer, &failed);
    if (session_resume(s, e))
        return err_code(e);
    if (st || !sv_trim(answer.text).n)
        return ST_OK;
    struct summary_made m = { n->local, answer.text, s->env.summary_model };
    return summary_keep(s, &m, e);
}
