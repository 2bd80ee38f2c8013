/* Computing the hashes of a path again and comparing them with what is recorded. */
#include "loom/attest.h"

#include "base/hash.h"
#include "loom/loom_internal.h"
#include "loom/provenance.h"

const char *attested_name(enum attested x)
{
    static const char *const names[] = { "valid", "hash mismatch", "raw answer changed",
                                         "raw answer missing" };

    return names[x];
}

static enum status check_raw(struct loom *l, const struct node *n, enum attested *is, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct json p;
    int64_t     seq;

    if (!n->response.n)
        return ST_OK;
    if (row_int(&r, key_of_name("resp", n->response, l->a), NO_NODE, &seq, e))
        return err_code(e);
    *is = ATTEST_MISSING;
    if (seq == NO_NODE)
        return ST_OK;
    if (loom_payload(l, seq, &p, e))
        return err_code(e);
    struct sv body = json_text(&p, "body"), packed = json_text(&p, "body_base64url");
    if (packed.s && !base64url_read(packed, l->a, &body))
        body = (struct sv){ 0 };
    struct sv now = provenance_response(json_text(&p, "headers"), body, l->a);
    *is = sv_eq(now, n->response) ? ATTEST_VALID : ATTEST_RAW;
    return ST_OK;
}

/* The hash of the node it was written after: the row of that node, which was itself checked if it
 * is on the path. A version that is not on the path is not checked. */
static enum status parent_hash(struct loom *l, const struct json *p, const struct node *n,
                               struct sv *out, struct err *e)
{
    struct rows        r = rows_of_loom(l);
    const struct json *named = json_find(json_find(p, "node"), "parent");
    struct node        parent;
    bool               found = n->parent != NO_NODE;

    *out = (struct sv){ 0 };
    if (json_is(named, JSON_STRING) && rows_find(&r, json_sv(named), &parent, &found, e))
        return err_code(e);
    if (!json_is(named, JSON_STRING) && found && rows_node(&r, n->parent, &parent, e))
        return err_code(e);
    if (found)
        *out = parent.hash;
    return ST_OK;
}

static enum status check_node(struct loom *l, const struct node *n, enum attested *is,
                              struct err *e)
{
    struct entry entry;
    struct json  p;
    struct sv    parent;

    *is = ATTEST_VALID;
    if (loom_entry(l, n->seq, &entry, &p, e) || parent_hash(l, &p, n, &parent, e))
        return err_code(e);
    struct provenance q = { .content = provenance_content(json_find(&p, "content"), l->a),
                            .parents = &parent,
                            .n_parents = parent.s ? 1 : 0,
                            .at = entry.at,
                            .author = n->author,
                            .response = n->response };
    if (!sv_eq(provenance_hash(&q, l->a), n->hash)) {
        *is = ATTEST_HASH;
        return ST_OK;
    }
    return check_raw(l, n, is, e);
}

enum status attest_path(struct loom *l, const struct node *n, struct attestation **out,
                        size_t *count, struct err *e)
{
    struct node *path;
    bool         broken = false;

    if (node_path(l, (struct sv){ 0 }, n, 0, &path, count, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct attestation, *count ? *count : 1);
    for (size_t i = 0; i < *count; i++) {
        struct attestation *x = &(*out)[i];
        x->node = path[i];
        if (check_node(l, &path[i], &x->is, e))
            return err_code(e);
        if (broken && x->is == ATTEST_VALID)
            x->is = ATTEST_HASH;
        broken = broken || x->is != ATTEST_VALID;
    }
    return ST_OK;
}
