/* tree.export: a tree for another loom, or a path as a text. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "loom/exchange.h"

struct export_params {
    struct sv thread, format, node;
};

static const char *const formats[] = { "openloom", "markdown", "json", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct export_params, thread), .value = "T",  .required = true, .help = "the thread" },
    { "format", PARAM_ENUM, offsetof(struct export_params, format), .value = "F",  .values = formats, .fallback = "openloom", .refusal = "takes openloom, markdown or json", .help = "openloom (default), markdown or json" },
    { "node",   PARAM_TEXT, offsetof(struct export_params, node),   .value = "ID", .help = "markdown: the end of the path (default: where you are)" },
    { 0 },
};
static const struct field answer[] = {
    { "thread", FIELD_TEXT, .help = "the thread" },
    { "format", FIELD_ENUM, .values = formats, .help = "what the stream is" },
    { 0 },
};
/* clang-format on */

static enum status export_path(struct request *r, struct loom *l, struct sv node, struct err *e)
{
    struct node n;
    bool        found = true;

    if (node.s ? node_find(l, node, &n, e) : loom_position(l, r->actor, &n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_NOT_FOUND, "the tree is empty");
    return export_markdown(l, r->actor, &n, r->out, e);
}

static enum status export_as(struct request *r, struct loom *l, const struct export_params *p,
                             struct err *e)
{
    if (sv_is(p->format, "markdown"))
        return export_path(r, l, p->node, e);
    return sv_is(p->format, "json") ? export_json(l, r->out, e)
                                    : export_open_loom(l, r->actor, r->out, e);
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct export_params *p = params_given;
    struct loom_call            c;

    if (request_needs_out(r, e) || loom_call_read(&c, r, p->thread, (struct sv){ 0 }, e))
        return err_code(e);
    enum status s = export_as(r, &c.s.loom, p, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kstr(r->doc, "format", p->format);
    jw_close(r->doc, '}');
    return loom_call_close(&c, loom_node_hint(s, p->thread, e));
}

const struct operation op_tree_export = {
    .name = "tree.export",
    .summary = "Write a tree for another loom, or a path as a text",
    .details =
        "openloom is Open Loom 2.0, with pruned branches marked; what an imported file carried "
        "beside its nodes is written again. markdown is the path to one node, as you see it: "
        "without "
        "what is excluded. json is heddle's "
        "own list of nodes. (`heddle log export` writes the whole log, loss-free.)\n\n"
        "  heddle export design --format markdown > design.md",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct export_params),
    .answer = answer,
    .run = run,
    .print = term_nothing, /* the stream is what a person wants */
};
