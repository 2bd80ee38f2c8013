/* Lists of the whole tree, and of the versions of a node. */
#include "loom/show.h"
#include "loom/shown.h"

/* `  [b3k9] model · "Building on..."`, without the end of the line. */
static enum status add_node(struct loom *l, const struct node *n, struct sb *b, struct err *e)
{
    struct sv text;
    bool      made;

    if (node_summary(l, n, &text, &made, e))
        return err_code(e);
    sb_addf(b, "  [" SV_FMT "] %s · ", SV_ARG(n->local), author_kind_name(n->kind));
    sb_add_preview(b, text, PREVIEW_LIST);
    return ST_OK;
}

void show_more(struct sb *b, int64_t hidden)
{
    if (hidden <= 0)
        return;
    sb_adds(b, "  ... ");
    sb_add_commas(b, hidden);
    sb_adds(b, " more\n");
}

void show_head(struct sb *b, size_t n, const char *one, const char *many)
{
    if (n)
        sb_add_count_of(b, (int64_t)n, one, many);
    else
        sb_adds(b, many);
    sb_adds(b, n ? ":\n" : ": none\n");
}

/* Those that can be seen, in place. */
static enum status keep_visible(struct loom *l, struct node *list, size_t *n, struct err *e)
{
    size_t  kept = 0;
    int64_t by;

    for (size_t i = 0; i < *n; i++) {
        if (node_hidden(l, &list[i], &by, e))
            return err_code(e);
        if (by == NO_NODE && !list[i].withdrawn)
            list[kept++] = list[i];
    }
    *n = kept;
    return ST_OK;
}

enum status show_marked(struct loom *l, enum node_mark mark, struct sb *b, struct err *e)
{
    struct node *list;
    size_t       n;

    if (loom_marked(l, mark, &list, &n, e) || keep_visible(l, list, &n, e))
        return err_code(e);
    if (mark == NODE_BOOKMARKED)
        show_head(b, n, "bookmark", "bookmarks");
    else
        show_head(b, n, "excluded node", "excluded nodes");
    for (size_t i = 0; i < n && i < LIST_MAX; i++) {
        if (add_node(l, &list[i], b, e))
            return err_code(e);
        if (mark == NODE_BOOKMARKED)
            show_remark(b, "label", list[i].label);
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)n - LIST_MAX);
    return ST_OK;
}

/* How much a prune hides, and whether another one hides all of that anyway. */
static enum status add_extent(struct loom *l, const struct node *n, struct sb *b, struct err *e)
{
    struct node parent, outer;
    int64_t     below, by;

    if (loom_below(l, n, &below, e) || node_at(l, n->parent, &parent, e) ||
        node_hidden(l, &parent, &by, e))
        return err_code(e);
    sb_adds(b, " · ");
    sb_add_count(b, below, "descendant");
    if (by == NO_NODE)
        return ST_OK;
    if (node_at(l, by, &outer, e))
        return err_code(e);
    sb_addf(b, " · within the prune of [" SV_FMT "]", SV_ARG(outer.local));
    return ST_OK;
}

enum status show_pruned(struct loom *l, struct sb *b, struct err *e)
{
    struct node *list;
    size_t       n;

    if (loom_marked(l, NODE_PRUNED, &list, &n, e))
        return err_code(e);
    show_head(b, n, "pruned branch", "pruned branches");
    for (size_t i = 0; i < n && i < LIST_MAX; i++) {
        if (add_node(l, &list[i], b, e) || add_extent(l, &list[i], b, e))
            return err_code(e);
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)n - LIST_MAX);
    return ST_OK;
}

/* (shown) is the one of several in one place that the viewer sees. */
static enum status add_standing(struct loom *l, const struct viewer *v, const struct node *n,
                                struct sb *b, struct err *e)
{
    struct node slot, seen;
    int64_t     by;

    if (node_at(l, n->slot, &slot, e) || node_version(l, v->agent, &slot, &seen, e) ||
        node_hidden(l, n, &by, e))
        return err_code(e);
    if (slot.versions && seen.seq == n->seq)
        sb_adds(b, " (shown)");
    if (by != NO_NODE)
        sb_adds(b, " (pruned)");
    return ST_OK;
}

enum status show_versions(struct loom *l, const struct viewer *v, const struct node *n,
                          struct sb *b, struct err *e)
{
    struct node *list;
    size_t       count;

    if (node_edits(l, n, &list, &count, e))
        return err_code(e);
    sb_addf(b, "[" SV_FMT "] versions:%s\n", SV_ARG(n->local), count > 1 ? "" : " none");
    for (size_t i = 0; count > 1 && i < count && i < LIST_MAX; i++) {
        if (add_node(l, &list[i], b, e) || add_standing(l, v, &list[i], b, e))
            return err_code(e);
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)count - LIST_MAX);
    return ST_OK;
}
