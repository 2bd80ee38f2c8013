/* Annotations, links, bookmarks, exclusions, the tree's own title and mode, leases. */
#include "loom/loom_internal.h"
#include "thread/kind.h"

static enum status named_node(struct rows *r, const struct json *p, struct node *out, bool *found,
                              struct err *e)
{
    if (rows_find(r, json_text(p, "node"), out, found, e))
        return err_code(e);
    if (*found && out->slot != out->seq)
        return rows_node(r, out->slot, out, e);
    return ST_OK;
}

/* ---- annotations ------------------------------------------------------------------ */

enum status fold_annotation(struct rows *r, const struct entry *n, const struct json *p,
                            struct err *e)
{
    struct node node;
    struct tree tree;
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    bool        found;

    if (named_node(r, p, &node, &found, e) || rows_tree(r, &tree, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    tree.annotations++;
    node.notes++;
    jw_open(&w, '{');
    jw_kint(&w, "at", n->at);
    jw_kstr(&w, "author", json_text(p, "agent"));
    jw_kint(&w, "entry", n->seq);
    jw_kstr(&w, "kind", json_text(p, "kind"));
    jw_kint(&w, "node", node.seq);
    jw_close(&w, '}');
    if (row_put(r, key_of_seq("ann", tree.annotations, r->a), sb_sv(&b), e) ||
        row_put(r, key_of_seq2("a", node.seq, tree.annotations, r->a), SV(""), e) ||
        rows_put_node(r, &node, e))
        return err_code(e);
    return rows_put_tree(r, &tree, e);
}

static enum status fold_unannotate(struct rows *r, const struct json *p, struct err *e)
{
    int64_t     number = 0, slot = NO_NODE;
    struct json v;
    struct node node;
    bool        found;

    json_int(json_find(p, "annotation"), &number);
    if (row_json(r, key_of_seq("ann", number, r->a), &v, &found, e))
        return err_code(e);
    if (!found || !json_int(json_find(&v, "node"), &slot))
        return ST_OK;
    if (rows_node(r, slot, &node, e))
        return err_code(e);
    node.notes--;
    if (row_del(r, key_of_seq("ann", number, r->a), e) ||
        row_del(r, key_of_seq2("a", slot, number, r->a), e))
        return err_code(e);
    return rows_put_node(r, &node, e);
}

/* ---- links ------------------------------------------------------------------------ */

/* One end of a link: x/SLOT/ENTRY for a node, y/NAME/ENTRY for a document. `other` is the target at
 * the other end. */
static enum status put_end(struct rows *r, struct sv key, const struct json *other,
                           const struct json *p, bool incoming, struct err *e)
{
    struct sb b = sb_in(r->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kbool(&w, "incoming", incoming);
    if (json_text(p, "note").s)
        jw_kstr(&w, "note", json_text(p, "note"));
    jw_key(&w, "target");
    jw_raw(&w, json_canonical(other, r->a));
    jw_close(&w, '}');
    return row_put(r, key, sb_sv(&b), e);
}

/* The far end as seen from there: this node. */
static struct json as_target(struct sv local, struct arena *a)
{
    struct json_member *m = ARENA_NEW(a, struct json_member, 2);

    m[0] = (struct json_member){ SV("node"), json_of(local) };
    m[1] = (struct json_member){ SV("type"), json_of(SV("node")) };
    return (struct json){ .type = JSON_OBJECT, .n = 2, .members = m };
}

static enum status link_far_end(struct rows *r, const struct entry *n, const struct json *p,
                                const struct node *node, struct err *e)
{
    const struct json *target = json_find(p, "target");
    struct sv          type = json_text(target, "type");
    struct json        back = as_target(node->local, r->a);
    struct node        far;
    bool               found;

    if (sv_is(type, "doc"))
        return put_end(r, key_of_name_seq("y", json_text(target, "doc"), n->seq, r->a), &back, p,
                       true, e);
    if (!sv_is(type, "node"))
        return ST_OK;
    if (named_node(r, target, &far, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    far.links++;
    if (put_end(r, key_of_seq2("x", far.seq, n->seq, r->a), &back, p, true, e))
        return err_code(e);
    return rows_put_node(r, &far, e);
}

enum status fold_link(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    struct node node;
    bool        found;

    if (named_node(r, p, &node, &found, e))
        return err_code(e);
    if (!found || !json_find(p, "target"))
        return ST_OK;
    node.links++;
    if (put_end(r, key_of_seq2("x", node.seq, n->seq, r->a), json_find(p, "target"), p,
                json_truth(json_find(p, "incoming")), e) ||
        rows_put_node(r, &node, e))
        return err_code(e);
    return link_far_end(r, n, p, &node, e);
}

static enum status fold_unlink(struct rows *r, const struct json *p, struct err *e)
{
    const struct json *target = json_find(p, "target");
    struct node        node, far;
    int64_t            entry = NO_NODE;
    bool               found, far_found = false;

    if (!json_int(json_find(p, "link"), &entry))
        return ST_OK;
    if (named_node(r, p, &node, &found, e))
        return err_code(e);
    struct sv row = { 0 };
    if (found && row_get(r, key_of_seq2("x", node.seq, entry, r->a), &row, &found, e))
        return err_code(e);
    if (!found) /* no such link, or gone already */
        return ST_OK;
    node.links--;
    if (row_del(r, key_of_seq2("x", node.seq, entry, r->a), e) || rows_put_node(r, &node, e) ||
        row_del(r, key_of_name_seq("y", json_text(target, "doc"), entry, r->a), e))
        return err_code(e);
    if (sv_is(json_text(target, "type"), "node") && named_node(r, target, &far, &far_found, e))
        return err_code(e);
    if (!far_found)
        return ST_OK;
    far.links--;
    return row_del(r, key_of_seq2("x", far.seq, entry, r->a), e) ? err_code(e)
                                                                 : rows_put_node(r, &far, e);
}

/* ---- marks on nodes --------------------------------------------------------------- */

/* A version was withdrawn: the slot shows the newest remaining one. */
static enum status fold_withdraw(struct rows *r, struct node *n, struct err *e)
{
    struct node       slot, each;
    struct store_row *rows;
    size_t            count;
    struct tree       tree;
    int64_t           cover, by;

    if (n->slot == n->seq || n->withdrawn)
        return ST_OK;
    n->withdrawn = true;
    if (rows_put_node(r, n, e) || rows_node(r, n->slot, &slot, e) || rows_tree(r, &tree, e) ||
        rows_cover(r, &slot, &cover, &by, e) ||
        row_del(r, key_of_seq3("v", n->strand, n->slot, n->seq, r->a), e) ||
        row_list(r, key_below(key_of_seq2("v", n->strand, n->slot, r->a), r->a), (struct sv){ 0 },
                 SIZE_MAX, &rows, &count, e))
        return err_code(e);
    slot.latest = slot.seq;
    slot.versions--;
    tree.nodes -= cover == 0;
    for (size_t i = 0; i < count; i++) {
        if (rows_node(r, key_last(rows[i].key), &each, e))
            return err_code(e);
        slot.latest = each.withdrawn ? slot.latest : each.seq;
    }
    return rows_put_node(r, &slot, e) ? err_code(e) : rows_put_tree(r, &tree, e);
}

/* A row for each marked node, so that listing them reads nothing else. */
static enum status index_mark(struct rows *r, const char *prefix, const struct node *n, bool set,
                              struct err *e)
{
    struct sv key = key_of_seq(prefix, n->seq, r->a);

    return set ? row_put(r, key, SV(""), e) : row_del(r, key, e);
}

/* `by`: the entry that marks it. */
static enum status mark_node(struct rows *r, struct sv mark, int64_t by, const struct json *p,
                             struct node *n, struct err *e)
{
    if (sv_is(mark, "prune") || sv_is(mark, "restore"))
        return fold_prune(r, n, sv_is(mark, "prune"), by, e);
    if (sv_is(mark, "withdraw"))
        return fold_withdraw(r, n, e);
    if (sv_is(mark, "bookmark") || sv_is(mark, "unbookmark")) {
        n->bookmarked = sv_is(mark, "bookmark");
        n->label = n->bookmarked ? json_text(p, "label") : (struct sv){ 0 };
        if (index_mark(r, "b", n, n->bookmarked, e))
            return err_code(e);
    } else if (sv_is(mark, "exclude") || sv_is(mark, "include")) {
        n->excluded = sv_is(mark, "exclude");
        if (index_mark(r, "e", n, n->excluded, e) ||
            row_put(r, key_of_seq2("eh", n->seq, by, r->a), n->excluded ? SV("1") : SV("0"), e))
            return err_code(e);
    } else {
        return ST_OK;
    }
    return rows_put_node(r, n, e);
}

/* ---- the tree itself, and leases --------------------------------------------------- */

static enum status describe_tree(struct rows *r, const struct json *p, struct err *e)
{
    struct tree tree;

    const struct json *kept = json_find(p, "kept"); /* of an imported tree, and its file */
    const struct json *file = json_find(p, "kept_file");
    if (rows_tree(r, &tree, e) || (kept && row_put(r, SV("kept"), json_canonical(kept, r->a), e)) ||
        (file && row_put(r, SV("kept/file"), json_canonical(file, r->a), e)))
        return err_code(e);
    if (json_text(p, "title").s)
        tree.title = json_text(p, "title");
    if (json_text(p, "description").s)
        tree.description = json_text(p, "description");
    if (sv_is(json_text(p, "mode"), "dialogue") || sv_is(json_text(p, "mode"), "buffer"))
        tree.mode = json_text(p, "mode");
    return rows_put_tree(r, &tree, e);
}

static enum status fold_lease(struct rows *r, const struct entry *n, const struct json *p,
                              struct node *node, bool takes, struct err *e)
{
    struct sv   key = key_of_seq("lease", node->slot, r->a);
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    int64_t     until = n->at;
    struct json held;
    bool        found = false;

    if (!takes) { /* only the agent's own lease: it may have expired and belong to another agent by
                     now */
        if (row_json(r, key, &held, &found, e))
            return err_code(e);
        bool own = found && sv_eq(json_text(&held, "agent"), json_text(p, "agent"));
        return own ? row_del(r, key, e) : ST_OK;
    }
    json_int(json_find(p, "until"), &until);
    jw_open(&w, '{');
    jw_kstr(&w, "agent", json_text(p, "agent"));
    jw_kint(&w, "at", n->at);
    jw_kint(&w, "until", until);
    jw_close(&w, '}');
    return row_put(r, key, sb_sv(&b), e);
}

enum status fold_mark(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    struct sv   mark = json_text(p, "mark");
    struct node node;
    bool        found;

    if (sv_is(mark, "tree"))
        return describe_tree(r, p, e);
    if (sv_is(mark, "close"))
        return row_put(r, SV("closed"), SV(""), e);
    if (sv_is(mark, "unannotate"))
        return fold_unannotate(r, p, e);
    if (sv_is(mark, "unlink"))
        return fold_unlink(r, p, e);
    if (rows_find(r, json_text(p, "node"), &node, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (sv_is(mark, "lease") || sv_is(mark, "release"))
        return fold_lease(r, n, p, &node, sv_is(mark, "lease"), e);
    return mark_node(r, mark, n->seq, p, &node, e);
}
