/* Which summaries are due, and where a tree branches. */
#include "loom/pending.h"

#include "base/vec.h"
#include "loom/loom_internal.h"

struct waiting_scan {
    VEC(struct pending) nodes;
    struct arena *a;
    int64_t       after;
    size_t        max;
};

static bool keep_waiting(void *ctx, const struct store_row *row)
{
    struct waiting_scan *s = ctx;
    int64_t              block = key_last(row->key);

    for (size_t i = 0; i < row->value.n && s->nodes.n < s->max; i++)
        if (row->value.s[i] != WAITS_NOT && block + (int64_t)i > s->after)
            *vec_push(&s->nodes, s->a) =
                (struct pending){ block + (int64_t)i, row->value.s[i] == WAITS_WITH_EXTRACT };
    return s->nodes.n < s->max;
}

enum status loom_pending(struct loom *l, int64_t after, size_t max, struct pending **out, size_t *n,
                         struct err *e)
{
    struct rows         r = rows_of_loom(l);
    struct waiting_scan s = { .a = l->a, .after = after, .max = max };
    int64_t             from = after + 1;

    if (row_each(&r, SV("todo/"), key_of_seq("todo", from - from % WAITING_BLOCK, l->a), false,
                 keep_waiting, &s, e))
        return err_code(e);
    *out = s.nodes.v;
    *n = s.nodes.n;
    return ST_OK;
}

static enum status read_summary(struct loom *l, int64_t entry, struct doc_summary *out,
                                struct sv *model, struct err *e)
{
    struct json p;

    if (loom_payload(l, entry, &p, e))
        return err_code(e);
    out->text = json_text(&p, "text");
    out->of = json_text(&p, "of");
    out->provisional = json_truth(json_find(&p, "provisional"));
    *model = json_text(&p, "model");
    return ST_OK;
}

enum status loom_pending_tree(struct loom *l, struct pending_tree *out, struct err *e)
{
    struct rows        r = rows_of_loom(l);
    struct doc_summary last = { 0 };
    struct tree        tree;
    struct sv          row;
    int64_t            entry;

    *out = (struct pending_tree){ 0 };
    if (loom_tree(l, &tree, e) || row_int(&r, SV("sum/tree"), NO_NODE, &entry, e) ||
        row_get(&r, SV("closed"), &row, &out->closed, e))
        return err_code(e);
    out->nodes = tree.unsummarised;
    out->has_any = entry != NO_NODE;
    if (out->has_any && read_summary(l, entry, &last, &out->model, e))
        return err_code(e);
    out->of = last.of;
    return ST_OK;
}

/* ---- documents --------------------------------------------------------------------- */

enum status loom_pending_docs(struct loom *l, size_t max, struct pending_doc **out, size_t *n,
                              struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    struct json       v;

    if (row_list(&r, SV("dtodo/"), (struct sv){ 0 }, max, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct pending_doc, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++) {
        if (json_parse(rows[i].value, 0, l->a, &v, e))
            return err_in(e, "a document that waits for its summary");
        (*out)[i] = (struct pending_doc){ json_text(&v, "path"), json_text(&v, "doc"),
                                          json_number(&v, "entry") };
    }
    return ST_OK;
}

enum status loom_doc_summary(struct loom *l, struct sv path, struct doc_summary *out, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct sv   model;
    struct json row;
    int64_t     entry;
    bool        waits;

    *out = (struct doc_summary){ 0 };
    if (row_int(&r, key_of_name("dsum", path, l->a), NO_NODE, &entry, e) ||
        row_json(&r, key_of_name("dtodo", path, l->a), &row, &waits, e))
        return err_code(e);
    if (waits)
        out->written = json_number(&row, "entry");
    return entry == NO_NODE ? ST_OK : read_summary(l, entry, out, &model, e);
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
    struct rows   r = rows_of_loom(l);
    struct points p = { .a = l->a, .max = max };

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
