/* Hiding and showing subtrees.
 *
 * A prune marks one node. What it hides is found by strands, not by nodes: the rest of the
 * node's own strand (a row q/STRAND/SEQ says from where) and every strand that forks off
 * below it, however deep, whose `cover` counts the prunes above it. So whether a node is
 * hidden costs two reads, a nested prune stays apart from the one around it, and pruning
 * costs the number of strands below, not of nodes. */
#include "base/vec.h"
#include "loom/loom_internal.h"

/* A stretch of strand still to be walked: from this node to the strand's end. */
struct stretch_below {
    int64_t strand, from;
    bool    counted; /* nothing pruned lies between it and where the walk began */
};

struct prune_walk {
    struct rows *r;
    VEC(struct stretch_below) todo;
    struct tally tally;
    int64_t      cover; /* added to the cover of every strand below: +1, -1, or 0 */
};

/* The first prune on this strand after `from`, or NO_NODE. */
static enum status next_prune(struct rows *r, int64_t strand, int64_t from, int64_t *out,
                              struct err *e)
{
    struct store_row *row;
    size_t            n;

    if (row_list(r, key_below(key_of_seq("q", strand, r->a), r->a),
                 key_of_seq2("q", strand, from + 1, r->a), 1, &row, &n, e))
        return err_code(e);
    *out = n ? key_last(row->key) : NO_NODE;
    return ST_OK;
}

struct version_count {
    int64_t before, n;
};

static bool count_version(void *ctx, const struct store_row *row)
{
    struct version_count *c = ctx;
    int64_t               slot = key_last(sv_cut_last(row->key, '/').head);

    if (c->before != NO_NODE && slot >= c->before)
        return false;
    c->n++;
    return true;
}

/* Add the visible nodes of a stretch, up to the first prune on it. */
static enum status count_stretch(struct prune_walk *w, const struct stretch_below *at, int64_t stop,
                                 struct err *e)
{
    struct rows         *r = w->r;
    struct strand        s;
    struct node          first, end;
    struct version_count versions = { .before = stop };

    if (rows_strand(r, at->strand, &s, e) || rows_node(r, at->from, &first, e) ||
        rows_node(r, stop == NO_NODE ? s.end : stop, &end, e) ||
        row_each(r, key_below(key_of_seq("v", at->strand, r->a), r->a),
                 key_of_seq2("v", at->strand, at->from, r->a), false, count_version, &versions, e))
        return err_code(e);
    if (stop != NO_NODE && rows_node(r, end.parent, &end, e))
        return err_code(e);
    w->tally.nodes += end.depth - first.depth + 1 + versions.n;
    w->tally.leaves += end.kids == 0;
    return ST_OK;
}

static enum status count_point(struct prune_walk *w, int64_t parent, struct err *e)
{
    struct node n;

    if (rows_node(w->r, parent, &n, e))
        return err_code(e);
    if (n.kids >= 2) {
        w->tally.branches += n.kids;
        w->tally.points++;
    }
    return ST_OK;
}

/* Strands that fork off at or after at->from are walked later. */
static enum status walk_forks(struct prune_walk *w, const struct stretch_below *at, int64_t stop,
                              struct err *e)
{
    struct rows      *r = w->r;
    struct store_row *rows;
    size_t            n;
    int64_t           last_point = NO_NODE;

    if (row_list(r, key_below(key_of_seq("f", at->strand, r->a), r->a),
                 key_of_seq2("f", at->strand, at->from, r->a), SIZE_MAX, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        int64_t     child = key_last(rows[i].key);
        int64_t     parent = key_last(sv_cut_last(rows[i].key, '/').head);
        bool        before_stop = stop == NO_NODE || parent < stop;
        struct node first;
        if (rows_node(r, child, &first, e))
            return err_code(e);
        if (at->counted && before_stop && parent != last_point && count_point(w, parent, e))
            return err_code(e);
        last_point = parent;
        *vec_push(&w->todo, r->a) =
            (struct stretch_below){ child, child, at->counted && before_stop && !first.pruned };
    }
    return ST_OK;
}

static enum status change_cover(struct prune_walk *w, int64_t strand, struct err *e)
{
    struct strand s;

    if (!w->cover)
        return ST_OK;
    if (rows_strand(w->r, strand, &s, e))
        return err_code(e);
    s.cover += w->cover;
    return rows_put_strand(w->r, &s, e);
}

static enum status walk_below(struct prune_walk *w, const struct node *n, struct err *e)
{
    *vec_push(&w->todo, w->r->a) = (struct stretch_below){ n->strand, n->seq, true };
    for (size_t i = 0; i < w->todo.n; i++) {
        struct stretch_below at = w->todo.v[i];
        int64_t              stop;
        if (i > 0 && change_cover(w, at.strand, e))
            return err_code(e);
        if (next_prune(w->r, at.strand, at.from, &stop, e) ||
            (at.counted && count_stretch(w, &at, stop, e)) || walk_forks(w, &at, stop, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status rows_tally(struct rows *r, const struct node *n, struct tally *out, struct err *e)
{
    struct prune_walk w = { .r = r };

    if (walk_below(&w, n, e))
        return err_code(e);
    *out = w.tally;
    return ST_OK;
}

static void add_tally(struct tree *t, const struct tally *by, int64_t sign)
{
    t->nodes += sign * by->nodes;
    t->branches += sign * by->branches;
    t->points += sign * by->points;
    t->leaves += sign * by->leaves;
}

/* Update the totals when a parent goes from `kids` children to `kids` + sign. */
static void recount_parent(struct tree *t, struct node *parent, int64_t sign)
{
    int64_t before = parent->kids, after = before + sign;

    t->branches += (after >= 2 ? after : 0) - (before >= 2 ? before : 0);
    t->points += (after >= 2) - (before >= 2);
    t->leaves += (after == 0) - (before == 0);
    parent->kids = after;
}

/* Record on its strand that the node is pruned, or no longer pruned. */
static enum status mark_strand(struct rows *r, const struct node *n, bool hide, struct err *e)
{
    struct strand s;
    struct sv     key = key_of_seq2("q", n->strand, n->seq, r->a);

    if (hide ? row_put(r, key, SV(""), e) : row_del(r, key, e))
        return err_code(e);
    if (rows_strand(r, n->strand, &s, e))
        return err_code(e);
    s.prunes += hide ? 1 : -1;
    return rows_put_strand(r, &s, e);
}

enum status fold_prune(struct rows *r, struct node *n, bool hide, int64_t by_entry, struct err *e)
{
    struct prune_walk w = { .r = r, .cover = hide ? 1 : -1 };
    struct tree       tree;
    struct node       parent;
    int64_t           cover, by, sign = hide ? -1 : 1;

    if (n->slot != n->seq && rows_node(r, n->slot, n, e))
        return err_code(e);
    if (n->pruned == hide || n->parent == NO_NODE)
        return ST_OK;
    if (!hide && mark_strand(r, n, hide, e))
        return err_code(e);
    if (rows_cover(r, n, &cover, &by, e) || walk_below(&w, n, e) ||
        (hide && mark_strand(r, n, hide, e)))
        return err_code(e);
    n->pruned = hide;
    if (row_put(r, key_of_seq2("qh", n->seq, by_entry, r->a), hide ? SV("1") : SV("0"), e) ||
        rows_put_node(r, n, e) || rows_node(r, n->parent, &parent, e) || rows_tree(r, &tree, e))
        return err_code(e);
    if (cover == 0) { /* else another prune hides it as well, and nothing visible changes */
        add_tally(&tree, &w.tally, sign);
        recount_parent(&tree, &parent, sign);
    } else {
        parent.kids += sign;
    }
    return rows_put_node(r, &parent, e) ? err_code(e) : rows_put_tree(r, &tree, e);
}
