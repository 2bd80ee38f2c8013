/* Links between nodes, documents and trees, seen from either end. */
#include "loom/loom_internal.h"
#include "loom/write.h"
#include "thread/kind.h"

void link_target_json(struct jw *w, const struct link_target *t)
{
    jw_open(w, '{');
    if (t->doc.s) {
        jw_kstr(w, "doc", t->doc);
        if (t->section.n)
            jw_kstr(w, "section", t->section);
    }
    if (t->node.n)
        jw_kstr(w, "node", t->node);
    if (t->tree.s) {
        jw_kstr(w, "title", t->tree_title);
        jw_kstr(w, "tree", t->tree);
    }
    jw_kstr(w, "type", t->doc.s ? SV("doc") : t->tree.s ? SV("tree") : SV("node"));
    jw_close(w, '}');
}

static struct sv payload(struct loom *l, struct sv agent, struct sv node,
                         const struct link_target *to, struct sv note, bool incoming)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    jw_kbool(&w, "incoming", incoming);
    jw_kstr(&w, "node", node);
    if (note.s)
        jw_kstr(&w, "note", note);
    jw_key(&w, "target");
    link_target_json(&w, to);
    jw_close(&w, '}');
    return sb_sv(&b);
}

struct link_target link_target_of(const struct json *v)
{
    return (struct link_target){ .node = json_text(v, "node"),
                                 .doc = json_text(v, "doc"),
                                 .section = json_text(v, "section"),
                                 .tree = json_text(v, "tree"),
                                 .tree_title = json_text(v, "title") };
}

static enum status read_link(struct loom *l, const struct store_row *row, struct link *out,
                             struct err *e)
{
    struct json v;

    if (json_parse(row->value, 0, l->a, &v, e))
        return err_in(e, "a link");
    const struct json *t = json_find(&v, "target");
    *out = (struct link){ .note = json_text(&v, "note"),
                          .incoming = json_truth(json_find(&v, "incoming")),
                          .entry = key_last(row->key) };
    out->target = link_target_of(t);
    return ST_OK;
}

/* The prefix ends before the entry's number: a document's name may go on with a slash of its own.
 */
static enum status read_links(struct loom *l, struct sv prefix, struct link **out, size_t *count,
                              struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            n;

    if (row_list(&r, prefix, (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct link, n ? n : 1);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!sv_has(sv_skip(rows[i].key, prefix.n), '/') &&
            read_link(l, &rows[i], &(*out)[(*count)++], e))
            return err_code(e);
    return ST_OK;
}

enum status loom_links(struct loom *l, const struct node *n, struct link **out, size_t *count,
                       struct err *e)
{

    return read_links(l, key_below(key_of_seq("x", n->slot, l->a), l->a), out, count, e);
}

enum status loom_doc_links(struct loom *l, struct sv doc, struct link **out, size_t *count,
                           struct err *e)
{
    return read_links(l, key_of_names("y", doc, SV(""), l->a), out, count, e);
}

static bool same_target(const struct link_target *a, const struct link_target *b)
{
    return sv_eq(a->node, b->node) && sv_eq(a->doc, b->doc) && sv_eq(a->section, b->section) &&
           sv_eq(a->tree, b->tree);
}

/* The node of the other tree to which its side of a link is attached: the named node, else the
 * root. *found is false when there is neither. */
static enum status far_end(struct loom *l, const struct link_target *to, struct loom *other,
                           struct node *out, bool *found, struct err *e)
{
    struct tree tree;

    *found = true;
    if (loom_other(l, to->tree, other, e))
        return err_code(e);
    if (to->node.n)
        return node_find(other, to->node, out, e);
    if (loom_tree(other, &tree, e))
        return err_code(e);
    *found = tree.root != NO_NODE;
    return *found ? node_at(other, tree.root, out, e) : ST_OK;
}

static enum status link_other_tree(struct loom *l, struct sv agent, const struct node *from,
                                   const struct link_target *to, struct sv note, struct err *e)
{
    struct loom        other;
    struct link_target back = { .node = from->local, .tree = l->thread };
    struct node        far;
    bool               found;

    if (far_end(l, to, &other, &far, &found, e) || loom_title(l, &back.tree_title, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    struct link link = { .target = back, .note = note, .incoming = true };
    return link_append(&other, agent, &far, &link, NULL, e);
}

enum status link_append(struct loom *l, struct sv agent, const struct node *from,
                        const struct link *link, int64_t *entry, struct err *e)
{
    return loom_append(l, agent, kind_name(KIND_LOOM_LINK),
                       payload(l, agent, from->local, &link->target, link->note, link->incoming),
                       entry, e);
}

enum status loom_link(struct loom *l, struct sv agent, const struct node *from,
                      const struct link_target *to, struct sv note, int64_t *entry, struct err *e)
{
    struct link *links;
    size_t       n;

    if (loom_links(l, from, &links, &n, e))
        return err_code(e);
    *entry = -1;
    for (size_t i = 0; i < n; i++)
        if (same_target(&links[i].target, to))
            return ST_OK;
    if (link_append(l, agent, from, &(struct link){ .target = *to, .note = note }, entry, e))
        return err_code(e);
    return to->tree.s ? link_other_tree(l, agent, from, to, note, e) : ST_OK;
}

static enum status append_unlink(struct loom *l, struct sv agent, struct sv node,
                                 const struct link *link, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    jw_kint(&w, "link", link->entry);
    jw_kstr(&w, "mark", SV("unlink"));
    jw_kstr(&w, "node", node);
    jw_key(&w, "target");
    link_target_json(&w, &link->target);
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

static enum status unlink_other_tree(struct loom *l, struct sv agent, const struct node *from,
                                     const struct link_target *to, struct err *e)
{
    struct link_target back = { .node = from->local, .tree = l->thread };
    struct loom        other;
    struct node        far;
    struct link       *links;
    size_t             n;
    bool               found;

    if (far_end(l, to, &other, &far, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (loom_links(&other, &far, &links, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (links[i].incoming && same_target(&links[i].target, &back))
            return append_unlink(&other, agent, far.local, &links[i], e);
    return ST_OK;
}

enum status loom_unlink(struct loom *l, struct sv agent, const struct node *n, int64_t entry,
                        struct err *e)
{
    struct link *links;
    size_t       count;

    if (loom_links(l, n, &links, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        if (links[i].entry != entry)
            continue;
        if (append_unlink(l, agent, n->local, &links[i], e))
            return err_code(e);
        return links[i].target.tree.s ? unlink_other_tree(l, agent, n, &links[i].target, e) : ST_OK;
    }
    return ST_OK;
}
