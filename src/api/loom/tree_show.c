/* tree.show: a thread as a tree, drawn or as nested nodes. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "loom/agent.h"
#include "loom/show.h"

struct show_params {
    struct sv thread, from, agent, form;
    int64_t   depth;
    bool      summary;
};

static const char *const forms[] = { "nodes", "text", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_NAME,   offsetof(struct show_params, thread),  .value = "T",  .required = true, .help = "the thread" },
    { "from",    PARAM_TEXT,   offsetof(struct show_params, from),    .value = "ID", .help = "start at this node (default: where the agent is, or the root)" },
    { "depth",   PARAM_NUMBER, offsetof(struct show_params, depth),   .value = "N",  .min = 1, .max = TREE_DEPTH_MAX, .fallback = "5", .help = "levels below it (default 5, at most 50)" },
    { "agent",   PARAM_TEXT,   offsetof(struct show_params, agent),   .value = "A",  .help = "whose position and versions are shown (default: yours)" },
    { "summary", PARAM_FLAG,   offsetof(struct show_params, summary), .help = "only the totals" },
    { "form",    PARAM_ENUM,   offsetof(struct show_params, form),    .values = forms, .fallback = "nodes", .help = "nested nodes, or the drawing that a person or model reads" },
    { 0 },
};
static const struct field node_fields[] = {
    { "local_id",      FIELD_TEXT,   .help = "the node, in this tree" },
    { "author",        FIELD_TEXT,   .help = "who wrote it" },
    { "kind",          FIELD_ENUM,   .values = loom_author_kinds, .help = "what the author is" },
    { "at",            FIELD_TIME,   .help = "when it was written" },
    { "seq",           FIELD_NUMBER, .help = "its entry in the log" },
    { "lane",          FIELD_TEXT,   .help = "the lane it was written on" },
    { "summary",       FIELD_TEXT,   .help = "its summary, or its first sentence" },
    { "continuations", FIELD_NUMBER, .help = "how many nodes follow it" },
    { "annotations",   FIELD_NUMBER, .help = "how many annotations it has" },
    { "links",         FIELD_NUMBER, .help = "how many links it has" },
    { "versions",      FIELD_NUMBER, .help = "how many versions it has" },
    { "bookmarked",    FIELD_FLAG,   .help = "whether it is bookmarked" },
    { "excluded",      FIELD_FLAG,   .help = "whether it is left out of what models are sent" },
    { "children",      FIELD_LIST,   .item = FIELD_OBJECT, .help = "the nodes that follow it, of the same shape" },
    { 0 },
};
static const struct field answer[] = {
    { "title",    FIELD_TEXT,   .help = "what the tree is called" },
    { "mode",     FIELD_ENUM,   .values = tree_modes, .help = "whether an edit makes a branch (dialogue) or a version in place (buffer)" },
    { "nodes",    FIELD_NUMBER, .help = "how many nodes there are" },
    { "branches", FIELD_NUMBER, .help = "how many branches there are" },
    { "leaves",   FIELD_NUMBER, .help = "how many nodes nothing follows" },
    { "depth",    FIELD_NUMBER, .help = "depth of the deepest node" },
    { "position", FIELD_TEXT,   .nullable = true, .help = "where the agent is; null in an empty tree" },
    { "tree",     FIELD_OBJECT, .of = node_fields, .optional = true, .nullable = true, .help = "the node where it starts; null in an empty tree" },
    { "text",     FIELD_TEXT,   .optional = true, .help = "the drawing, when the form is text" },
    { 0 },
};
/* clang-format on */

enum { NODES_MAX = 1000 };

struct nested {
    struct loom *l;
    struct jw   *w;
    int64_t      floor;
    size_t       left;
};

static enum status write_below(struct nested *t, const struct node *n, struct err *e);

static enum status write_children(struct nested *t, const struct node *n, struct err *e)
{
    struct node *kids;
    size_t       count;

    if (n->depth >= t->floor || !t->left)
        return ST_OK;
    if (node_children(t->l, n->seq, NO_NODE, t->left, &kids, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count && t->left; i++) {
        t->left--;
        if (write_below(t, &kids[i], e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status write_below(struct nested *t, const struct node *n, struct err *e)
{
    struct sv text;
    bool      made;

    if (node_summary(t->l, n, &text, &made, e))
        return err_code(e);
    jw_open(t->w, '{');
    jw_kstr(t->w, "local_id", n->local);
    jw_kstr(t->w, "author", n->author);
    jw_kstr(t->w, "kind", sv_of(author_kind_name(n->kind)));
    jw_ktime(t->w, "at", n->at);
    jw_kint(t->w, "seq", n->seq);
    jw_kstr(t->w, "lane", n->lane);
    jw_kstr(t->w, "summary", text);
    jw_kint(t->w, "continuations", n->kids);
    jw_kint(t->w, "annotations", n->notes);
    jw_kint(t->w, "links", n->links);
    jw_kint(t->w, "versions", n->versions);
    jw_kbool(t->w, "bookmarked", n->bookmarked);
    jw_kbool(t->w, "excluded", n->excluded);
    jw_key(t->w, "children");
    jw_open(t->w, '[');
    if (write_children(t, n, e))
        return err_code(e);
    jw_close(t->w, ']');
    jw_close(t->w, '}');
    return ST_OK;
}

/* A person who has not been here yet starts at the root. */
static enum status start(struct session *s, struct sv from, struct node *out, bool *found,
                         struct err *e)
{
    struct tree tree;

    *found = true;
    if (from.s)
        return node_find_visible(&s->loom, from, out, e);
    if (loom_tree(&s->loom, &tree, e))
        return err_code(e);
    *found = tree.root != NO_NODE;
    return *found ? node_at(&s->loom, tree.root, out, e) : ST_OK;
}

static enum status write_totals(struct jw *w, struct session *s, struct err *e)
{
    struct tree totals;
    struct node here;
    struct sv   title;
    bool        found;

    if (loom_tree(&s->loom, &totals, e) || loom_title(&s->loom, &title, e) ||
        loom_position(&s->loom, s->agent.name, &here, &found, e))
        return err_code(e);
    jw_kstr(w, "title", title);
    jw_kstr(w, "mode", totals.mode);
    jw_kint(w, "nodes", totals.nodes);
    jw_kint(w, "branches", totals.branches);
    jw_kint(w, "leaves", totals.leaves);
    jw_kint(w, "depth", totals.depth);
    jw_key(w, "position");
    jw_str(w, found ? here.local : (struct sv){ 0 });
    return ST_OK;
}

static enum status write_drawing(struct jw *w, struct session *s, const struct show_params *p,
                                 const struct node *from, struct err *e)
{
    struct sb b = sb_in(s->a, 0);

    if (p->summary ? show_tree_summary(&s->loom, &b, e)
                   : show_tree(&s->loom, &s->viewer, from, p->depth, &b, e))
        return err_code(e);
    jw_kstr(w, "text", sb_sv(&b));
    return ST_OK;
}

static enum status write_nodes(struct jw *w, struct session *s, const struct show_params *p,
                               const struct node *from, struct err *e)
{
    struct nested t = { &s->loom, w, p->depth + (from ? from->depth : 0), NODES_MAX };

    jw_key(w, "tree");
    if (from)
        return write_below(&t, from, e);
    jw_null(w);
    return ST_OK;
}

static enum status answer_tree(struct request *r, struct session *s, const struct show_params *p,
                               struct err *e)
{
    struct node from;
    bool        found;

    if (start(s, p->from, &from, &found, e))
        return err_code(e);
    jw_open(r->doc, '{');
    if (write_totals(r->doc, s, e) ||
        (sv_is(p->form, "text") ? write_drawing(r->doc, s, p, found ? &from : NULL, e)
                                : write_nodes(r->doc, s, p, found ? &from : NULL, e)))
        return err_code(e);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct show_params *p = params_given;
    struct loom_call          c;

    if (loom_call_read(&c, r, p->thread, p->agent, e))
        return err_code(e);
    return loom_call_close(&c, loom_node_hint(answer_tree(r, &c.s, p, e), p->thread, e));
}

static void print(const struct json *doc, struct term *t)
{
    term_text(t, json_text(doc, "text"));
}

const struct operation op_tree_show = {
    .name = "tree.show",
    .summary = "Draw a thread as a tree",
    .details = "  heddle tree design\n  heddle tree design --from a7x2 --depth 10",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct show_params),
    .answer = answer,
    .run = run,
    .print = print,
};
