/* What of a lane is seen: not what is pruned or excluded, and of each node the version that counts.
 */
#include "base/vec.h"
#include "loom/loom_internal.h"
#include "thread/lane.h"

#include <stdlib.h>

struct seeing {
    struct loom               *l;
    const struct loom_seen_of *of;
    struct loom_seen          *out;
    struct stretch            *path;
    size_t                     n_path;
};

/* The nodes for which the last row up to `at` says "1", in order. The rows of one node stand
 * together, in the order of the entries. */
static enum status marked_at(struct loom *l, struct sv prefix, int64_t at, int64_t **out,
                             size_t *count, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            n;
    VEC(int64_t) list = { 0 };

    if (row_list(&r, prefix, (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        int64_t node = key_last(sv_cut_last(rows[i].key, '/').head);
        bool    listed = list.n && list.v[list.n - 1] == node;
        bool    set = sv_is(rows[i].value, "1");
        if (key_last(rows[i].key) > at)
            continue;
        if (set && !listed)
            *vec_push(&list, l->a) = node;
        else if (!set && listed)
            list.n--;
    }
    *out = list.v;
    *count = list.n;
    return ST_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum status find_path(struct seeing *s, struct err *e)
{
    return lane_path(s->l->log, s->l->thread, s->out->lane, smaller(s->out->upto, s->of->at),
                     s->l->a, &s->path, &s->n_path, e);
}

static bool is_on_path(const struct seeing *s, const struct node *n)
{
    for (size_t i = 0; i < s->n_path; i++)
        if (sv_eq(s->path[i].lane, n->lane) && n->seq >= s->path[i].from && n->seq <= s->path[i].to)
            return true;
    return false;
}

/* The lane of a node, and the entries of it that belong to the node. */
static enum status end_at(struct seeing *s, const struct node *slot, struct err *e)
{
    s->out->lane = slot->lane;
    return lane_reach(s->l->log, s->l->thread, slot->lane, slot->seq, &s->out->upto, e);
}

/* The node that was named, unless it was the last of its lane when it was: then what came after it
 * belongs to it. */
static enum status end_at_named(struct seeing *s, struct err *e)
{
    struct node n;
    int64_t     upto;
    bool        found;

    if (!s->of->node.n)
        return ST_OK;
    if (node_local(s->l, s->of->node, &n, &found, e) ||
        (found && n.slot != n.seq && node_at(s->l, n.slot, &n, e)))
        return err_code(e);
    if (!found || !sv_eq(n.lane, s->of->lane))
        return ST_OK;
    if (lane_reach(s->l->log, s->l->thread, n.lane, n.seq, &upto, e))
        return err_code(e);
    s->out->upto = upto < s->of->since ? upto : STORE_TO_END;
    return ST_OK;
}

/* The path ends before the first pruned node on it. */
static enum status end_at_pruned(struct seeing *s, struct err *e)
{
    struct node n, parent;
    int64_t    *pruned;
    size_t      count;

    if (marked_at(s->l, SV("qh/"), s->of->at, &pruned, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        if (node_at(s->l, pruned[i], &n, e))
            return err_code(e);
        if (!is_on_path(s, &n))
            continue;
        s->out->hidden = n.local;
        if (node_at(s->l, n.parent, &parent, e) || end_at(s, &parent, e))
            return err_code(e);
        return find_path(s, e);
    }
    return ST_OK;
}

static void add_change(struct seeing *s, struct loom_change c)
{
    s->out->changes[s->out->n++] = c;
}

/* The version of a slot at the time: the agent's choice is known for now only. */
static enum status version_at(struct seeing *s, const struct node *slot, struct node *out,
                              struct err *e)
{
    struct node *list;
    size_t       n;

    if (s->of->at == STORE_TO_END)
        return node_version(s->l, s->of->agent, slot, out, e);
    if (node_versions(s->l, slot, &list, &n, e))
        return err_code(e);
    *out = list[0];
    for (size_t i = 1; i < n; i++)
        if (list[i].seq <= s->of->at && !list[i].withdrawn)
            *out = list[i];
    return ST_OK;
}

static bool has_seq(const int64_t *list, size_t n, int64_t seq)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == seq)
            return true;
    return false;
}

/* Slots of the path that show a version. */
static enum status find_versions(struct seeing *s, const struct store_row *rows, size_t n,
                                 const int64_t *excluded, size_t n_excluded, struct err *e)
{
    struct node slot = { .seq = NO_NODE }, shown;

    for (size_t i = 0; i < n; i++) {
        int64_t seq = key_last(sv_cut_last(rows[i].key, '/').head);
        if (seq == slot.seq)
            continue;
        if (node_at(s->l, seq, &slot, e))
            return err_code(e);
        if (!is_on_path(s, &slot))
            continue;
        if (version_at(s, &slot, &shown, e))
            return err_code(e);
        if (shown.seq != slot.seq && !has_seq(excluded, n_excluded, shown.seq))
            add_change(s, (struct loom_change){ slot.seq, shown.seq, { 0 } });
        else if (has_seq(excluded, n_excluded, shown.seq))
            add_change(s, (struct loom_change){ slot.seq, NO_NODE, shown.local });
    }
    return ST_OK;
}

static int by_seq(const void *a, const void *b)
{
    const struct loom_change *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* An excluded node is left out also where only a snapshot has it. */
static enum status find_changes(struct seeing *s, struct err *e)
{
    struct rows       r = rows_of_loom(s->l);
    struct store_row *rows;
    struct node       n;
    int64_t          *excluded;
    size_t            count, n_rows;

    if (marked_at(s->l, SV("eh/"), s->of->at, &excluded, &count, e) ||
        row_list(&r, SV("v/"), (struct sv){ 0 }, SIZE_MAX, &rows, &n_rows, e))
        return err_code(e);
    s->out->changes = ARENA_NEW(s->l->a, struct loom_change, count + n_rows + 1);
    if (find_versions(s, rows, n_rows, excluded, count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        if (node_at(s->l, excluded[i], &n, e))
            return err_code(e);
        if (n.slot == n.seq && n.versions == 0)
            add_change(s, (struct loom_change){ n.seq, NO_NODE, n.local });
    }
    qsort(s->out->changes, s->out->n, sizeof *s->out->changes, by_seq);
    return ST_OK;
}

enum status loom_seen(struct loom *l, const struct loom_seen_of *of, struct loom_seen *out,
                      struct err *e)
{
    struct seeing s = { .l = l, .of = of, .out = out };

    *out = (struct loom_seen){ .lane = of->lane, .upto = STORE_TO_END };
    if (end_at_named(&s, e) || find_path(&s, e) || end_at_pruned(&s, e) || find_changes(&s, e))
        return err_code(e);
    out->upto = smaller(out->upto, of->at);
    return ST_OK;
}
