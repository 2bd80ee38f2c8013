/* Nodes found by what was done to them: marked, or edited. */
#include "base/vec.h"
#include "loom/loom_internal.h"

enum status loom_marked(struct loom *l, enum node_mark mark, struct node **out, size_t *count,
                        struct err *e)
{
    static const struct sv prefixes[] = { [NODE_BOOKMARKED] = SV_STATIC("b/"),
                                          [NODE_EXCLUDED] = SV_STATIC("e/"),
                                          [NODE_PRUNED] = SV_STATIC("q/") };
    struct rows            r = rows_of_loom(l);
    struct store_row      *rows;
    size_t                 n;

    if (row_list(&r, prefixes[mark], (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct node, n ? n : 1);
    *count = n;
    return rows_nodes(&r, rows, n, *out, e);
}

/* Edits of a7x2 are a7x2', a7x2'' and so on, whichever of them was edited. */
enum status node_edits(struct loom *l, const struct node *n, struct node **out, size_t *count,
                       struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct sb   id = sb_in(l->a, 0);
    struct sv   first = n->local;
    struct node each;
    bool        found = true;
    VEC(struct node) list = { 0 };

    while (first.n && first.s[first.n - 1] == '\'')
        first.n--;
    sb_add(&id, first);
    while (found) {
        if (rows_find(&r, sb_sv(&id), &each, &found, e))
            return err_code(e);
        if (found && !each.withdrawn)
            *vec_push(&list, l->a) = each;
        sb_addc(&id, '\'');
    }
    *out = list.v;
    *count = list.n;
    return ST_OK;
}
