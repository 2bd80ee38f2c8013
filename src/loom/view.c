/* The loom view: which entries concern the tree, and which function folds them. */
#include "loom/loom_internal.h"
#include "thread/kind.h"

/* sum/tree: the same for the tree; a final one starts the count of new nodes again. */
static enum status fold_tree_summary(struct rows *r, const struct entry *n, bool provisional,
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
    if (row_put_int(r, SV("sum/tree"), n->seq, e) || row_del(r, SV("closed"), e) ||
        rows_tree(r, &tree, e))
        return err_code(e);
    tree.unsummarised = 0;
    return rows_put_tree(r, &tree, e);
}

/* dsum/PATH: the entry that holds the newest summary of a document. One that a model made of its
 * last write ends the wait. */
static enum status fold_doc_summary(struct rows *r, const struct entry *n, const struct json *p,
                                    struct sv path, struct err *e)
{
    struct sv   todo = key_of_name("dtodo", path, r->a);
    int64_t     written = -1, covers = -1;
    struct json row;
    bool        waits;

    if (row_put_int(r, key_of_name("dsum", path, r->a), n->seq, e) ||
        row_json(r, todo, &row, &waits, e))
        return err_code(e);
    if (!waits || json_truth(json_find(p, "provisional")) ||
        !json_int(json_find(&row, "entry"), &written) ||
        !json_int(json_find(p, "covers"), &covers) || covers < written)
        return ST_OK;
    return row_del(r, todo, e);
}

/* dtodo/PATH: how an agent names the document, and its last write. */
static enum status fold_document(struct rows *r, const struct entry *n, const struct json *p,
                                 struct err *e)
{
    struct sb b = sb_in(r->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!json_text(p, "path").n)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "doc", json_text(p, "doc"));
    jw_kint(&w, "entry", n->seq);
    jw_kstr(&w, "path", json_text(p, "path"));
    jw_close(&w, '}');
    return row_put(r, key_of_name("dtodo", json_text(p, "path"), r->a), sb_sv(&b), e);
}

/* sum/SEQ: the entry that holds the newest summary of a node. A provisional one does not
 * replace another, and the node goes on waiting for a better one. */
static enum status fold_summary(struct rows *r, const struct entry *n, const struct json *p,
                                struct err *e)
{
    const struct json *target = json_find(p, "target");
    struct node        node;
    struct sv          key, old;
    bool               found = false, had = false;
    bool               provisional = json_truth(json_find(p, "provisional"));

    if (sv_is(json_text(target, "type"), "doc"))
        return fold_doc_summary(r, n, p, json_text(target, "doc"), e);
    if (!json_text(target, "node").n)
        return sv_is(json_text(target, "type"), "tree") ? fold_tree_summary(r, n, provisional, e)
                                                        : ST_OK;
    if (rows_find(r, json_text(target, "node"), &node, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    key = key_of_seq("sum", node.seq, r->a);
    if (!provisional)
        return row_put_int(r, key, n->seq, e) ? err_code(e)
                                              : rows_set_waiting(r, node.seq, WAITS_NOT, e);
    if (row_get(r, key, &old, &had, e))
        return err_code(e);
    if (had)
        return ST_OK;
    return row_put_int(r, key, n->seq, e) ? err_code(e)
                                          : rows_set_waiting(r, node.seq, WAITS_WITH_EXTRACT, e);
}

/* resp/HASH: the entry that holds the raw answer with this hash. */
static enum status fold_response(struct rows *r, const struct entry *n, const struct json *p,
                                 struct err *e)
{
    struct sv hash = json_text(p, "hash");

    return hash.n ? row_put_int(r, key_of_name("resp", hash, r->a), n->seq, e) : ST_OK;
}

static enum status fold(struct rows *f, const struct entry *n, struct err *e)
{
    static enum status (*const folds[])(struct rows *, const struct entry *, const struct json *,
                                        struct err *) = {
        [KIND_AI_MESSAGE] = fold_message,
        [KIND_AI_CONTEXT_OPERATION] = fold_lane_op,
        [KIND_LOOM_ANNOTATION] = fold_annotation,
        [KIND_LOOM_LINK] = fold_link,
        [KIND_LOOM_MARK] = fold_mark,
        [KIND_MEMORY_OPERATION] = fold_memory,
        [KIND_TOOL_ACTION] = fold_action,
        [KIND_SUMMARY] = fold_summary,
        [KIND_DOCUMENT_WRITE] = fold_document,
        [KIND_MODEL_RESPONSE] = fold_response,
    };
    enum kind   k = kind_of(n->kind);
    struct json p;

    if ((size_t)k >= COUNT(folds) || !folds[k])
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    return folds[k](f, n, &p, e);
}

const struct view loom_view = { .name = "loom", .version = 17, .fold = fold, .on_demand = true };
