#include "loom/pending.h"

#include "base/vec.h"
#include "loom/loom_internal.h"

enum status loom_pending(struct loom *l, int64_t after, size_t max, struct pending **out, size_t *n,
                         struct err *e)
{
    struct loom_rows  r = rows_of_loom(l);
    struct store_row *rows;
    struct sv         from = after == NO_NODE ? (struct sv){ 0 } : key1("todo", after + 1, l->a);

    if (row_list(&r, SV("todo/"), from, max, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct pending, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = (struct pending){ key_last(rows[i].key), rows[i].value.n > 0 };
    return ST_OK;
}

enum status loom_pending_tree(struct loom *l, int64_t *nodes, bool *has_any, struct err *e)
{
    struct loom_rows r = rows_of_loom(l);
    struct tree      tree;
    int64_t          entry;

    if (loom_tree(l, &tree, e) || row_int(&r, SV("sum/tree"), NO_NODE, &entry, e))
        return err_code(e);
    *nodes = tree.unsummarised;
    *has_any = entry != NO_NODE;
    return ST_OK;
}

/* ---- branch points ----------------------------------------------------------------- */

struct points {
    VEC(int64_t) seqs;
    struct arena *a;
    size_t        max;
};

/* f/STRAND/PARENT/CHILD: the first fork of a node makes it a branch point. */
static bool keep_point(void *ctx, const struct store_row *row)
{
    struct points *p = ctx;
    int64_t        at = key_last(sv_cut_last(row->key, '/').head);

    if (!p->seqs.n || p->seqs.v[p->seqs.n - 1] != at)
        *vec_push(&p->seqs, p->a) = at;
    return p->seqs.n < p->max;
}

enum status loom_branch_points(struct loom *l, size_t max, struct node **out, size_t *n,
                               struct err *e)
{
    struct loom_rows r = rows_of_loom(l);
    struct points    p = { .a = l->a, .max = max };

    if (row_each(&r, SV("f/"), (struct sv){ 0 }, false, keep_point, &p, e))
        return err_code(e);
    *n = 0;
    *out = ARENA_NEW(l->a, struct node, p.seqs.n ? p.seqs.n : 1);
    for (size_t i = 0; i < p.seqs.n; i++) {
        struct node *node = &(*out)[*n];
        int64_t      by;
        if (rows_node(&r, p.seqs.v[i], node, e) || node_hidden(l, node, &by, e))
            return err_code(e);
        *n += by == NO_NODE && node->kids > 1;
    }
    return ST_OK;
}
