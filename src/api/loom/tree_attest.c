/* tree.attest: does a path still have the hashes it was written with? */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "loom/attest.h"

struct attest_params {
    struct sv thread, node;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct attest_params, thread), .value = "T",  .required = true, .help = "the thread" },
    { "node",   PARAM_TEXT, offsetof(struct attest_params, node),   .value = "ID", .help = "the end of the path (default: where you are)" },
    { 0 },
};
static const struct field attested_fields[] = {
    { "local_id", FIELD_TEXT, .help = "the node, in this tree" },
    { "hash",     FIELD_TEXT, .nullable = true, .help = "the hash it was written with" },
    { "is",       FIELD_TEXT, .help = "valid, or what does not verify" },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = attested_fields, .help = "the nodes of the path, root first" },
    { 0 },
};
/* clang-format on */

static enum status attest(struct request *r, struct session *s, struct sv node, struct err *e)
{
    struct attestation *list;
    struct node         end;
    size_t              n, bad = 0;

    if (session_node(s, node, &end, e) || attest_path(&s->loom, &end, &list, &n, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++) {
        bad += list[i].is != ATTEST_VALID;
        jw_open(r->doc, '{');
        jw_kstr(r->doc, "local_id", list[i].node.local);
        jw_kstr(r->doc, "hash", list[i].node.hash);
        jw_kstr(r->doc, "is", sv_of(attested_name(list[i].is)));
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    if (bad)
        err_set(&r->verdict, ST_CORRUPT, "%zu of %zu nodes on this path do not verify", bad, n);
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct attest_params *p = params_given;
    struct loom_call            c;

    if (loom_call_read(&c, r, p->thread, (struct sv){ 0 }, e))
        return err_code(e);
    return loom_call_close(&c, loom_node_hint(attest(r, &c.s, p->node, e), p->thread, e));
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        term_f(t, "[" SV_FMT "] " SV_FMT "\n", SV_ARG(json_text(&items->items[i], "local_id")),
               SV_ARG(json_text(&items->items[i], "is")));
}

const struct operation op_tree_attest = {
    .name = "tree.attest",
    .summary = "Check the hashes of a path and models' raw answers",
    .details =
        "Each node's hash covers its content, the hash of what it follows, its time and its "
        "author, and for a model's text the bytes the provider sent. Versions made by an edit in "
        "place break nothing.\n\n"
        "  heddle tree attest design",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .repeat = REPEAT_READS,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct attest_params),
    .answer = answer,
    .run = run,
    .print = print,
};
