/* Showing one node: its text, place, marks and neighbours. */
#include "base/clock.h"
#include "loom/show.h"
#include "loom/shown.h"

static void between(struct sb *b, size_t start)
{
    if (b->n > start)
        sb_adds(b, " · ");
}

/* "3 continuations · 1 annotation · bookmarked · excluded · 1 link", what is zero left out. */
static void add_counts(struct sb *b, const struct node *n, bool annotations)
{
    size_t start = b->n;

    if (n->kids)
        sb_add_count(b, n->kids, "continuation");
    if (n->notes && annotations) {
        between(b, start);
        sb_add_count(b, n->notes, "annotation");
    }
    if (n->bookmarked) {
        between(b, start);
        sb_adds(b, "bookmarked");
    }
    if (n->excluded) {
        between(b, start);
        sb_adds(b, "excluded");
    }
    if (n->links) {
        between(b, start);
        sb_add_count(b, n->links, "link");
    }
    if (n->versions) {
        between(b, start);
        sb_add_count(b, n->versions + 1, "version");
    }
}

/* Children, annotations and links belong to the slot; a version shows its slot's. */
static enum status with_slot_counts(struct loom *l, const struct node *n, struct node *out,
                                    struct err *e)
{
    struct node slot;

    *out = *n;
    if (n->slot == n->seq)
        return ST_OK;
    if (node_at(l, n->slot, &slot, e))
        return err_code(e);
    out->kids = slot.kids;
    out->notes = slot.notes;
    out->links = slot.links;
    out->versions = slot.versions;
    return ST_OK;
}

static enum status add_annotations(struct loom *l, const struct node *n, struct sb *b,
                                   struct err *e)
{
    struct annotation *list;
    size_t             count;

    if (loom_annotations(l, n, &list, &count, e))
        return err_code(e);
    if (!count)
        return ST_OK;
    sb_adds(b, "\nAnnotations:\n");
    for (size_t i = 0; i < count; i++) {
        sb_addf(b, "  [ann-%lld] \"", (long long)list[i].number);
        sb_add_oneline(b, list[i].text);
        sb_adds(b, "\"\n");
    }
    return ST_OK;
}

enum status show_node(struct loom *l, const struct node *node, enum show_flags flags, struct sb *b,
                      struct err *e)
{
    struct node n;
    struct sv   text;
    bool        made;

    if (with_slot_counts(l, node, &n, e) ||
        ((flags & SHOW_FULL) ? node_text(l, n.seq, &text, e)
                             : node_summary(l, &n, &text, &made, e)))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] %s · ", SV_ARG(n.local), author_kind_name(n.kind));
    sb_add_ago(b, n.at, l->now);
    sb_addf(b, " · depth:%lld\n", (long long)n.depth);
    if (flags & SHOW_FULL) {
        sb_add_shown(b, text);
        sb_addc(b, '\n');
    } else {
        sb_addc(b, '"');
        sb_add_oneline(b, text);
        sb_adds(b, "\"\n");
    }
    if ((flags & SHOW_ANNOTATIONS) && add_annotations(l, &n, b, e))
        return err_code(e);
    struct sb counts = sb_in(l->a, 0);
    add_counts(&counts, &n, !(flags & SHOW_ANNOTATIONS));
    if (counts.n)
        sb_addf(b, "\n" SV_FMT "\n", SV_ARG(sb_sv(&counts)));
    return ST_OK;
}

enum status show_annotation(struct loom *l, const struct annotation *n, struct sb *b, struct err *e)
{
    struct node on;

    if (node_at(l, n->node, &on, e))
        return err_code(e);
    sb_addf(b, "[ann-%lld] %s · ", (long long)n->number,
            n->kind == AUTHOR_HUMAN ? "human" : "collaborator");
    sb_add_ago(b, n->at, l->now);
    sb_addf(b, " · on [" SV_FMT "]\n\"", SV_ARG(on.local));
    sb_add_oneline(b, n->text);
    sb_adds(b, "\"\n");
    return ST_OK;
}

enum status show_metadata_head(struct loom *l, const struct node *node, bool relative, struct sb *b,
                               struct err *e)
{
    struct node n;
    size_t      start;

    if (with_slot_counts(l, node, &n, e))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] %s · ", SV_ARG(n.local), author_kind_name(n.kind));
    if (relative)
        sb_add_ago(b, n.at, l->now);
    else
        sb_add_minute(b, n.at);
    sb_addc(b, '\n');
    start = b->n;
    add_counts(b, &n, true);
    sb_adds(b, b->n > start ? "\n---\n" : "---\n");
    return ST_OK;
}

enum status show_metadata(struct loom *l, const struct node *n, bool relative, struct sb *b,
                          struct err *e)
{
    struct sv text;

    if (show_metadata_head(l, n, relative, b, e) || node_text(l, n->seq, &text, e))
        return err_code(e);
    sb_add_shown(b, text);
    sb_addc(b, '\n');
    return ST_OK;
}

void show_summary_head(const struct node *n, struct sb *b)
{
    sb_addf(b, "[" SV_FMT "] %s · ", SV_ARG(n->local), author_kind_name(n->kind));
    sb_add_minute(b, n->at);
    sb_adds(b, " · ");
}

/* ---- lists ------------------------------------------------------------------------ */

enum status show_continuations(struct loom *l, const struct viewer *v, const struct node *node,
                               struct sb *b, struct err *e)
{
    struct node n, *kids;
    size_t      count;

    if (with_slot_counts(l, node, &n, e) ||
        node_children(l, n.slot, NO_NODE, LIST_MAX, &kids, &count, e))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] → ", SV_ARG(node->local));
    sb_add_count(b, n.kids, "continuation");
    sb_adds(b, count ? ":\n" : "\n");
    for (size_t i = 0; i < count; i++) {
        struct node shown;
        struct sv   text;
        bool        made;
        if (node_version(l, v->agent, &kids[i], &shown, e) ||
            node_summary(l, &shown, &text, &made, e))
            return err_code(e);
        sb_addf(b, "  [" SV_FMT "] %s · ", SV_ARG(shown.local), author_kind_name(shown.kind));
        sb_add_preview(b, text, PREVIEW_LIST);
        if (kids[i].versions)
            sb_addf(b, " (%lld versions)", (long long)kids[i].versions + 1);
        sb_addc(b, '\n');
    }
    show_more(b, n.kids - (int64_t)count);
    return ST_OK;
}

enum status show_annotations(struct loom *l, const struct node *n, struct sb *b, struct err *e)
{
    struct annotation *list;
    size_t             count;

    if (loom_annotations(l, n, &list, &count, e))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] annotations:%s\n", SV_ARG(n->local), count ? "" : " none");
    for (size_t i = 0; i < count && i < LIST_MAX; i++) {
        sb_addf(b, "  [ann-%lld] %s · ", (long long)list[i].number,
                list[i].kind == AUTHOR_HUMAN ? "human" : "collaborator");
        sb_add_preview(b, list[i].text, PREVIEW_LIST);
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)count - LIST_MAX);
    return ST_OK;
}

void show_target(struct sb *b, const struct link_target *t, bool brackets)
{
    if (t->doc.s) {
        sb_adds(b, "doc:\"");
        sb_add_oneline(b, t->doc);
        sb_addc(b, '"');
        if (t->section.n) {
            sb_adds(b, " §");
            sb_add_oneline(b, t->section);
        }
        return;
    }
    if (t->node.n) {
        sb_adds(b, brackets ? "[" : "");
        sb_add_oneline(b, t->node);
        sb_adds(b, brackets ? "]" : "");
    }
    if (t->tree.s) {
        sb_addf(b, "%stree:\"", t->node.n ? " in " : "");
        sb_add_oneline(b, t->tree_title.n ? t->tree_title : t->tree);
        sb_addc(b, '"');
    }
}

void show_remark(struct sb *b, const char *what, struct sv text)
{
    if (!text.s)
        return;
    sb_addf(b, " (%s: \"", what);
    sb_add_oneline(b, text);
    sb_adds(b, "\")");
}

static void add_links(struct sb *b, const struct link *links, size_t count)
{
    for (size_t i = 0; i < count && i < LIST_MAX; i++) {
        sb_adds(b, "  → ");
        show_target(b, &links[i].target, true);
        show_remark(b, "note", links[i].note);
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)count - LIST_MAX);
}

enum status show_links(struct loom *l, const struct node *n, struct sb *b, struct err *e)
{
    struct link *links;
    size_t       count;

    if (loom_links(l, n, &links, &count, e))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] links:%s\n", SV_ARG(n->local), count ? "" : " none");
    add_links(b, links, count);
    return ST_OK;
}

enum status show_doc_links(struct loom *l, struct sv doc, struct sb *b, struct err *e)
{
    struct link *links;
    size_t       count;

    if (loom_doc_links(l, doc, &links, &count, e))
        return err_code(e);
    sb_adds(b, "doc:\"");
    sb_add_oneline(b, doc);
    sb_addf(b, "\" links:%s\n", count ? "" : " none");
    add_links(b, links, count);
    return ST_OK;
}
