/* tree.set: the title, description and mode of a tree. */
#include "api/loom/loom_call.h"
#include "api/term.h"

struct set_params {
    struct sv thread, title, description, mode, op_id;
    int64_t   expect;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct set_params, thread), .value = "T",    .required = true, .help = "the thread" },
    { "title",  PARAM_TEXT, offsetof(struct set_params, title),  .value = "TEXT", .help = "what the tree is called" },
    { "description", PARAM_TEXT, offsetof(struct set_params, description), .value = "TEXT", .help = "what it is about, for the model that summarizes it; empty: none" },
    { "mode",   PARAM_TEXT, offsetof(struct set_params, mode),   .value = "M",    .help = "dialogue or buffer; before the first node" },
    PARAM_ONCE(struct set_params),
    PARAM_EXPECT(struct set_params),
    { 0 },
};
static const struct field answer[] = {
    { "thread", FIELD_TEXT, .help = "the thread" },
    { "title",  FIELD_TEXT, .nullable = true, .help = "what the tree is called; null: it has no title of its own" },
    { "description", FIELD_TEXT, .nullable = true, .help = "what it is about; null: nothing was said" },
    { "mode",   FIELD_ENUM, .values = tree_modes, .help = "whether an edit makes a branch (dialogue) or a version in place (buffer)" },
    { 0 },
};
/* clang-format on */

static enum status set(struct request *r, struct loom *l, const struct set_params *p, struct err *e)
{
    struct tree tree;

    if (loom_tree(l, &tree, e))
        return err_code(e);
    if (p->mode.s && tree.root != NO_NODE && !sv_eq(p->mode, tree.mode)) {
        err_set(e, ST_CONFLICT, "the mode of a tree is fixed with its first node");
        return err_hint(e, "this tree is in " SV_FMT " mode", SV_ARG(tree.mode));
    }
    struct tree_words words = { p->title, p->description, p->mode };
    if (loom_describe(l, r->actor, &words, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kstr(r->doc, "title", p->title.n ? p->title : tree.title);
    struct sv about = p->description.s ? p->description : tree.description;
    jw_kstr(r->doc, "description", about.n ? about : (struct sv){ 0 });
    jw_kstr(r->doc, "mode", p->mode.n ? p->mode : tree.mode);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct set_params *p = params_given;
    struct loom_call         c;

    if (!p->title.n && !p->description.s && !p->mode.n)
        return err_set(e, ST_USAGE, "give --title, --description or --mode");
    if (loom_call_open(&c, r, p->thread, (struct sv){ 0 }, e) ||
        log_begin(&r->log, p->thread, STORE_WRITE, e))
        return loom_call_close(&c, err_code(e));
    return loom_call_close(&c, loom_call_commit(r, set(r, &c.s.loom, p, e), e));
}

const struct operation op_tree_set = {
    .name = "tree.set",
    .summary = "Give a tree its title, description and mode",
    .details =
        "In dialogue mode an edit makes a branch; in buffer mode it makes a version in place, "
        "and what follows stays. The mode is fixed once there is a node. The description is part "
        "of what a model is asked when it summarizes the tree; without one the title is.\n\n"
        "  heddle tree set story --title 'The house'\n"
        "  heddle tree set story --description 'A ghost story, told by the house.'",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    OPERATION_ONCE,
    .joins = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct set_params),
    .answer = answer,
    .run = run,
    .print = term_nothing,
};
