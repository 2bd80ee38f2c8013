/* Showing a tree, paths and branches as indented text. */
#include "base/clock.h"
#include "base/utf8.h"
#include "loom/show.h"
#include "loom/shown.h"

/* ---- drawing ---------------------------------------------------------------------- */

struct drawing {
    struct loom         *l;
    const struct viewer *v;
    struct sb           *b;
    int64_t              here;  /* slot of the viewer's position, or NO_NODE */
    int64_t              floor; /* no node deeper than this is drawn */
    size_t               lines;
};

static enum status add_id(struct drawing *d, const struct node *n, struct err *e)
{
    struct node shown;

    if (node_version(d->l, d->v->agent, n, &shown, e))
        return err_code(e);
    sb_addf(d->b, "[" SV_FMT "]%s", SV_ARG(shown.local), n->slot == d->here ? "*" : "");
    return ST_OK;
}

/* ` "Building on the..."`: the words that a line of the drawing begins with. */
static enum status add_words(struct drawing *d, const struct node *n, struct err *e)
{
    struct node shown;
    struct sv   text;
    bool        made;

    if (node_version(d->l, d->v->agent, n, &shown, e) ||
        node_summary(d->l, &shown, &text, &made, e))
        return err_code(e);
    if (!sv_trim(text).n)
        return ST_OK;
    sb_addc(d->b, ' ');
    sb_add_preview(d->b, text, PREVIEW_MEMORY);
    return ST_OK;
}

/* A child and the only child of it, and so on, on one line with the words of the first; *end is
 * where that stops. */
static enum status draw_chain(struct drawing *d, struct node n, struct node *end, size_t *column,
                              struct err *e)
{
    const struct node first = n;

    for (;;) {
        size_t start = d->b->n;
        if (add_id(d, &n, e))
            return err_code(e);
        *end = n;
        if (n.kids != 1 || n.depth >= d->floor)
            break;
        struct node *kids;
        size_t       count;
        if (node_children(d->l, n.seq, NO_NODE, 1, &kids, &count, e))
            return err_code(e);
        if (!count)
            break;
        sb_adds(d->b, " → ");
        *column += utf8_count((struct sv){ d->b->s + start, d->b->n - start });
        n = kids[0];
    }
    if (end->kids == 0)
        sb_adds(d->b, " (leaf)");
    else if (end->depth >= d->floor)
        sb_adds(d->b, " → ...");
    if (add_words(d, &first, e))
        return err_code(e);
    sb_addc(d->b, '\n');
    d->lines++;
    return ST_OK;
}

/* The children of `n`, each on a line of its own that begins with `prefix` (which is
 * `column` characters wide). */
static enum status draw_children(struct drawing *d, const struct node *n, struct sv prefix,
                                 size_t column, struct err *e)
{
    struct node *kids;
    size_t       count, left = d->lines < TREE_LINES_MAX ? TREE_LINES_MAX - d->lines : 0;

    if (n->depth >= d->floor)
        return ST_OK;
    if (node_children(d->l, n->seq, NO_NODE, left < LIST_MAX ? left : LIST_MAX, &kids, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        bool        last = i + 1 == (size_t)n->kids;
        struct node end = { 0 };
        size_t      at = column + 3; /* where the [ of the chain's end stands */
        sb_addf(d->b, SV_FMT "%s", SV_ARG(prefix), last ? "└→ " : "├→ ");
        if (draw_chain(d, kids[i], &end, &at, e))
            return err_code(e);
        if (end.kids < 2)
            continue;
        struct sb below = sb_in(d->l->a, 0);
        sb_add(&below, prefix);
        sb_adds(&below, last ? " " : "│");
        sb_pad(&below, ' ', at - column - 1);
        if (draw_children(d, &end, sb_sv(&below), at, e))
            return err_code(e);
    }
    if (n->kids > (int64_t)count) {
        sb_addf(d->b, SV_FMT "└→ ... (", SV_ARG(prefix));
        sb_add_commas(d->b, n->kids - (int64_t)count);
        sb_adds(d->b, " more)\n");
    }
    return ST_OK;
}

/* Root [r001] → ... → [a7x2]* (you are here), and what hangs below its end. */
static enum status draw_from(struct drawing *d, const struct node *from, struct err *e)
{
    struct sb   blank = sb_in(d->l->a, 0);
    struct node root, slot = *from;
    size_t      start = d->b->n;

    if (slot.slot != slot.seq && node_at(d->l, slot.slot, &slot, e))
        return err_code(e);
    sb_adds(d->b, "Root ");
    if (slot.depth > 0) {
        if (node_ancestor(d->l, &slot, 0, &root, e) || add_id(d, &root, e))
            return err_code(e);
        sb_adds(d->b, slot.depth > 1 ? " → ... → " : " → ");
    }
    size_t column = utf8_count((struct sv){ d->b->s + start, d->b->n - start });
    if (add_id(d, &slot, e))
        return err_code(e);
    sb_adds(d->b, slot.seq == d->here ? " (you are here)\n" : "\n");
    sb_pad(&blank, ' ', column);
    d->floor += slot.depth;
    return draw_children(d, &slot, sb_sv(&blank), column, e);
}

/* `Tree: "Marie"`, without the end of the line, and the totals. */
static enum status add_title(struct loom *l, struct sb *b, struct tree *totals, struct err *e)
{
    struct sv title;

    if (loom_title(l, &title, e) || loom_tree(l, totals, e))
        return err_code(e);
    sb_adds(b, "Tree: \"");
    sb_add_oneline(b, title);
    sb_addc(b, '"');
    return ST_OK;
}

/* `10 nodes, 5 branches`. */
static void add_totals(struct sb *b, const struct tree *t, const char *between)
{
    sb_add_count(b, t->nodes, "node");
    sb_adds(b, between);
    sb_add_count_of(b, t->branches, "branch", "branches");
}

static enum status add_header(struct loom *l, struct sb *b, struct err *e)
{
    struct tree tree;

    if (add_title(l, b, &tree, e))
        return err_code(e);
    sb_adds(b, " (");
    add_totals(b, &tree, ", ");
    sb_adds(b, ")\n");
    return ST_OK;
}

/* Lanes that share nothing with others start trees of their own. */
static enum status add_other_roots(struct loom *l, const struct node *shown, struct sb *b,
                                   struct err *e)
{
    struct node *roots, top;
    size_t       n;

    if (loom_roots(l, LIST_MAX, &roots, &n, e) || node_ancestor(l, shown, 0, &top, e))
        return err_code(e);
    for (size_t i = 0, told = 0; i < n && n > 1; i++)
        if (roots[i].seq != top.seq)
            sb_addf(b, "%s[" SV_FMT "]", told++ ? ", " : "\nOther roots: ", SV_ARG(roots[i].local));
    sb_adds(b, n == LIST_MAX ? " and more\n" : n > 1 ? "\n" : "");
    return ST_OK;
}

enum status show_tree(struct loom *l, const struct viewer *v, const struct node *from,
                      int64_t depth, struct sb *b, struct err *e)
{
    struct drawing d = { .l = l, .v = v, .b = b, .here = NO_NODE, .floor = depth };
    struct node    here;
    bool           found;

    if (add_header(l, b, e) || loom_position(l, v->agent, &here, &found, e))
        return err_code(e);
    if (found)
        d.here = here.slot;
    if (!from && !found) {
        sb_adds(b, "(empty)\n");
        return ST_OK;
    }
    if (draw_from(&d, from ? from : &here, e) || add_other_roots(l, from ? from : &here, b, e))
        return err_code(e);
    sb_adds(b, "\n* = current position\n");
    return ST_OK;
}

enum status show_tree_summary(struct loom *l, struct sb *b, struct err *e)
{
    struct tree tree;

    if (add_title(l, b, &tree, e))
        return err_code(e);
    sb_addc(b, '\n');
    add_totals(b, &tree, " · ");
    sb_adds(b, " · ");
    sb_add_count_of(b, tree.leaves, "leaf", "leaves");
    sb_addc(b, '\n');
    struct sv themes;
    if (loom_themes(l, &themes, e))
        return err_code(e);
    if (themes.n) {
        sb_adds(b, "Main themes: ");
        sb_add_oneline(b, themes);
        sb_addc(b, '\n');
    }
    if (tree.root != NO_NODE) {
        sb_adds(b, "Last active: ");
        sb_add_ago(b, tree.last, l->now);
        sb_addc(b, '\n');
    }
    return ST_OK;
}

/* The first node and the last two; all when there are at most three. */
enum status show_short_path(struct loom *l, struct sv agent, const struct node *n, struct sb *b,
                            struct err *e)
{
    struct node   root, *tail;
    size_t        count;
    const int64_t from = n->depth <= 2 ? 0 : n->depth - 1;

    if (node_path(l, agent, n, from, &tail, &count, e))
        return err_code(e);
    if (from > 0) {
        struct node slot;
        if (node_ancestor(l, n, 0, &slot, e) || node_version(l, agent, &slot, &root, e))
            return err_code(e);
        sb_addf(b, SV_FMT " → ... → ", SV_ARG(root.local));
    }
    for (size_t i = 0; i < count; i++)
        sb_addf(b, "%s" SV_FMT, i ? " → " : "", SV_ARG(tail[i].local));
    return ST_OK;
}

/* ---- branches --------------------------------------------------------------------- */

/* The path to n, at most BRANCH_NODES_MAX nodes from its end; *left are not in it. */
static enum status branch(struct loom *l, const struct viewer *v, const struct node *n,
                          struct node **out, size_t *count, int64_t *left, struct err *e)
{
    *left = n->depth + 1 > BRANCH_NODES_MAX ? n->depth + 1 - BRANCH_NODES_MAX : 0;
    return node_path(l, v->agent, n, *left, out, count, e);
}

static void add_left_out(struct sb *b, int64_t left)
{
    if (!left)
        return;
    sb_adds(b, "(");
    sb_add_count(b, left, "earlier node");
    sb_adds(b, " not shown)\n");
}

enum status show_prose(struct loom *l, const struct viewer *v, const struct node *n, struct sb *b,
                       struct err *e)
{
    struct sb    all = sb_in(l->a, 0);
    struct node *path;
    size_t       count;
    int64_t      left;
    struct sv    text;

    if (branch(l, v, n, &path, &count, &left, e))
        return err_code(e);
    add_left_out(b, left);
    for (size_t i = 0; i < count; i++) {
        if (path[i].excluded)
            continue;
        if (node_text(l, path[i].seq, &text, e))
            return err_code(e);
        if (all.n)
            sb_adds(&all, path[i].kind == AUTHOR_MODEL ? "︱›" : "︱");
        sb_add(&all, text);
    }
    sb_add_shown(b, sb_sv(&all));
    sb_addc(b, '\n');
    return ST_OK;
}

enum status show_branch_nodes(struct loom *l, const struct viewer *v, const struct node *n,
                              struct sb *b, struct err *e)
{
    struct node *path;
    size_t       count;
    int64_t      left;

    if (branch(l, v, n, &path, &count, &left, e))
        return err_code(e);
    add_left_out(b, left);
    for (size_t i = 0; i < count; i++) {
        if (i)
            sb_addc(b, '\n');
        if (show_metadata(l, &path[i], true, b, e))
            return err_code(e);
    }
    return ST_OK;
}
