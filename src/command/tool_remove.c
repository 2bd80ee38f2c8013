/* unlink and unannotate: take away what was attached to a node. The log keeps it, and undo puts it
 * back. */
#include "base/json.h"
#include "command/run.h"
#include "loom/shown.h"

/* ---- annotations -------------------------------------------------------------------- */

static enum status no_annotation(struct sv id, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "annotation [" SV_FMT "] does not exist in this tree",
            SV_ARG(sv_first(id, 40)));
    return err_hint(e, "→ list ID annotations shows their numbers, such as ann-3");
}

/* A note belongs to who wrote it; a person may take away anybody's. */
static enum status check_owner(struct session *s, const struct annotation *x, struct err *e)
{
    if (s->agent.kind == AUTHOR_HUMAN || sv_eq(x->author, s->agent.name))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "annotation [ann-%lld] is not yours", (long long)x->number);
    return err_hint(e, "ask a person to take it away, or add one of your own");
}

static struct sv undo_note(struct session *s, const struct annotation *x, struct sv node)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", SV("annotate"));
    jw_kstr(&w, "node", node);
    jw_kstr(&w, "text", x->text);
    jw_close(&w, '}');
    return sb_sv(&b);
}

RUN(unannotate)
{
    struct sv         id = call_text(c, "id");
    struct annotation x;
    struct node       on;
    int64_t           number;
    bool              found = false;

    if (!tool_annotation_number(id, &number))
        return no_annotation(id, e);
    if (loom_annotation(&s->loom, number, &x, &found, e))
        return err_code(e);
    if (!found)
        return no_annotation(id, e);
    if (check_owner(s, &x, e) || node_at(&s->loom, x.node, &on, e) ||
        loom_unannotate(&s->loom, s->agent.name, number, e))
        return err_code(e);
    r->object = id;
    r->undo = undo_note(s, &x, on.local);
    sb_addf(&r->text, "✓ annotation [ann-%lld] taken from [" SV_FMT "]\n", (long long)number,
            SV_ARG(on.local));
    return ST_OK;
}

/* ---- links -------------------------------------------------------------------------- */

/* Does a link lead to what was named? A document without a section is any link to it. */
static bool leads_to(const struct link_target *t, const struct link_target *named)
{
    if (named->doc.s)
        return sv_eq(t->doc, named->doc) &&
               (!named->section.s || sv_eq(t->section, named->section));
    if (named->tree.s)
        return (sv_eq(t->tree, named->tree) || sv_eq(t->tree_title, named->tree)) &&
               (!named->node.s || sv_eq(t->node, named->node));
    return !t->tree.s && sv_eq(t->node, named->node);
}

static enum status named_target(struct session *s, const struct call *c, struct link_target *out,
                                struct err *e)
{
    struct node n;

    *out = (struct link_target){ .doc = call_text(c, "doc"),
                                 .section = call_text(c, "section"),
                                 .tree = call_text(c, "tree"),
                                 .node = call_text(c, "node") };
    if (!call_has(c, "target"))
        return ST_OK;
    if (node_find(&s->loom, call_text(c, "target"), &n, e))
        return err_code(e);
    out->node = n.local;
    return ST_OK;
}

static struct sv undo_link(struct session *s, const struct link *x, struct sv node)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", SV("link"));
    jw_kstr(&w, "node", node);
    if (x->note.s)
        jw_kstr(&w, "note", x->note);
    jw_key(&w, "target");
    link_target_json(&w, &x->target);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* The one link of `n` that leads to what was named. */
static enum status find_link(struct session *s, const struct node *n,
                             const struct link_target *named, struct link *out, struct err *e)
{
    struct link *links;
    size_t       count, times = 0;

    if (loom_links(&s->loom, n, &links, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (leads_to(&links[i].target, named)) {
            times++;
            *out = links[i];
        }
    if (times == 1)
        return ST_OK;
    err_set(e, times ? ST_INVALID_SYNTAX : ST_NOT_FOUND,
            times ? "[" SV_FMT "] has several such links" : "[" SV_FMT "] has no such link",
            SV_ARG(n->local));
    return err_hint(e, "→ list " SV_FMT " links shows them%s", SV_ARG(n->local),
                    times ? "; name the section: or node:" : "");
}

RUN(unlink)
{
    struct node        n;
    struct link_target named;
    struct link        link;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e) || named_target(s, c, &named, e) ||
        find_link(s, &n, &named, &link, e) ||
        loom_unlink(&s->loom, s->agent.name, &n, link.entry, e))
        return err_code(e);
    r->object = n.local;
    r->undo = undo_link(s, &link, n.local);
    sb_addf(&r->text, "✓ unlinked [" SV_FMT "] from ", SV_ARG(n.local));
    show_target(&r->text, &link.target, true);
    sb_addc(&r->text, '\n');
    return ST_OK;
}
