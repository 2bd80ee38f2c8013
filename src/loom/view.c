/* The loom view: which entries say something about the tree, and who folds them. */
#include "loom/loom_internal.h"
#include "thread/kind.h"

/* sum/tree: the same for the tree; a final one starts the count of new nodes again. */
static enum status fold_tree_summary(struct loom_rows *r, const struct entry *n, bool provisional,
                                     struct err *e)
{
    struct tree tree;
    struct sv   old;
    bool        had = false;

    if (provisional) {
        if (row_get(r, SV("sum/tree"), &old, &had, e))
            return err_code(e);
        return had ? ST_OK : row_put_int(r, SV("sum/tree"), n->seq, e);
    }
    if (row_put_int(r, SV("sum/tree"), n->seq, e) || rows_tree(r, &tree, e))
        return err_code(e);
    tree.unsummarised = 0;
    return rows_put_tree(r, &tree, e);
}

/* sum/SEQ: the entry that holds the newest summary of a node. A provisional one does not
 * replace another, and the node goes on waiting for a better one. */
static enum status fold_summary(struct loom_rows *r, const struct entry *n, const struct json *p,
                                struct err *e)
{
    const struct json *target = json_find(p, "target");
    struct node        node;
    struct sv          key, todo, old;
    bool               found = false, had = false;
    bool               provisional = json_truth(json_find(p, "provisional"));

    if (!json_text(target, "node").n)
        return sv_is(json_text(target, "type"), "tree") ? fold_tree_summary(r, n, provisional, e)
                                                        : ST_OK;
    if (rows_find(r, json_text(target, "node"), &node, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    key = key1("sum", node.seq, r->a);
    todo = key1("todo", node.seq, r->a);
    if (!provisional)
        return row_put_int(r, key, n->seq, e) ? err_code(e) : row_del(r, todo, e);
    if (row_get(r, key, &old, &had, e))
        return err_code(e);
    if (had)
        return ST_OK;
    return row_put_int(r, key, n->seq, e) ? err_code(e) : row_put(r, todo, SV("provisional"), e);
}

/* resp/HASH: the entry that holds the raw answer with this hash. */
static enum status fold_response(struct loom_rows *r, const struct entry *n, const struct json *p,
                                 struct err *e)
{
    struct sv hash = json_text(p, "hash");

    return hash.n ? row_put_int(r, key_of_name("resp", hash, r->a), n->seq, e) : ST_OK;
}

static enum status fold(struct fold *f, const struct entry *n, struct err *e)
{
    static enum status (*const folds[])(struct loom_rows *, const struct entry *,
                                        const struct json *, struct err *) = {
        [KIND_AI_MESSAGE] = fold_message,
        [KIND_AI_CONTEXT_OPERATION] = fold_lane_op,
        [KIND_LOOM_ANNOTATION] = fold_annotation,
        [KIND_LOOM_LINK] = fold_link,
        [KIND_LOOM_MARK] = fold_mark,
        [KIND_MEMORY_OPERATION] = fold_memory,
        [KIND_TOOL_ACTION] = fold_action,
        [KIND_SUMMARY] = fold_summary,
        [KIND_MODEL_RESPONSE] = fold_response,
    };
    struct loom_rows r = rows_of_fold(f);
    enum kind        k = kind_of(n->kind);
    struct json      p;

    if ((size_t)k >= COUNT(folds) || !folds[k])
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    return folds[k](&r, n, &p, e);
}

const struct view loom_view = { .name = "loom", .version = 12, .fold = fold, .on_demand = true };
