/* list: what hangs from a node, and what there is of a kind in the whole tree or beyond it. */
#include "command/run.h"
#include "loom/shown.h"
#include "thread/scan.h"

static enum status needs_node(struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "list needs something to act on");
    return err_hint(e, "→ %s", tool_find(SV("list"))->syntax[0]);
}

/* ---- of a node ----------------------------------------------------------------------- */

static enum status list_of_doc(struct session *s, struct sv doc, struct sv kind, struct result *r,
                               struct err *e)
{
    if (!sv_is(kind, "links")) {
        err_set(e, ST_INVALID_SYNTAX, "a document has links only");
        return err_hint(e, "→ list doc:\"name\" links");
    }
    return show_doc_links(&s->loom, doc, &r->text, e);
}

static enum status list_of_node(struct session *s, const struct call *c, struct sv kind,
                                struct result *r, struct err *e)
{
    struct sb   object = sb_in(s->a, 0);
    struct node n;

    if (call_has(c, "doc"))
        return list_of_doc(s, call_text(c, "doc"), kind, r, e);
    if (!call_has(c, "id"))
        return needs_node(e);
    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    sb_addf(&object, SV_FMT " " SV_FMT, SV_ARG(n.local), SV_ARG(kind));
    r->object = sb_sv(&object);
    if (sv_is(kind, "continuations"))
        return show_continuations(&s->loom, &s->viewer, &n, &r->text, e);
    if (sv_is(kind, "annotations"))
        return show_annotations(&s->loom, &n, &r->text, e);
    if (sv_is(kind, "versions"))
        return show_versions(&s->loom, &s->viewer, &n, &r->text, e);
    return show_links(&s->loom, &n, &r->text, e);
}

/* ---- of everything ------------------------------------------------------------------- */

static enum status list_bookmarks(struct session *s, struct sb *b, struct err *e)
{
    return show_marked(&s->loom, NODE_BOOKMARKED, b, e);
}

static enum status list_excluded(struct session *s, struct sb *b, struct err *e)
{
    return show_marked(&s->loom, NODE_EXCLUDED, b, e);
}

static enum status list_pruned(struct session *s, struct sb *b, struct err *e)
{
    return show_pruned(&s->loom, b, e);
}

static enum status list_agents(struct session *s, struct sb *b, struct err *e)
{
    struct agent *list;
    size_t        n;

    if (agent_list(s->log, s->a, &list, &n, e))
        return err_code(e);
    show_head(b, n, "agent", "agents");
    for (size_t i = 0; i < n && i < LIST_MAX; i++) {
        sb_adds(b, "  ");
        sb_add_name(b, list[i].name);
        sb_addf(b, " · %s", author_kind_name(list[i].kind));
        if (list[i].model.n) {
            sb_adds(b, " · ");
            sb_add_oneline(b, list[i].model);
        }
        if (list[i].permissions) {
            sb_adds(b, " · ");
            permissions_list(b, list[i].permissions);
        }
        sb_adds(b, sv_eq(list[i].name, s->agent.name) ? " (you)\n" : "\n");
    }
    show_more(b, (int64_t)n - LIST_MAX);
    return ST_OK;
}

static enum status list_docs(struct session *s, struct sb *b, struct err *e)
{
    struct doc_name *list = NULL;
    size_t           n = 0;

    if (permission_check(s->agent.permissions, PERM_doc_read, e) ||
        (s->env.docs.list && s->env.docs.list(s->env.docs.ctx, s->loom.thread, s->a, &list, &n, e)))
        return err_code(e);
    show_head(b, n, "document", "documents");
    for (size_t i = 0; i < n && i < LIST_MAX; i++) {
        sb_adds(b, "  ");
        show_target(b, &(struct link_target){ .doc = list[i].name }, true);
        if (list[i].from.n) {
            sb_adds(b, " (of thread ");
            sb_add_oneline(b, list[i].from);
            sb_adds(b, ", read-only)");
        }
        sb_addc(b, '\n');
    }
    show_more(b, (int64_t)n - LIST_MAX);
    return ST_OK;
}

static enum status add_tree(struct session *s, const struct store_thread *x, struct sb *b,
                            struct err *e)
{
    struct loom l;
    struct tree tree;
    struct sv   title, thread = x->id;
    bool        kept = log_keeps(s->log, &x->head, &loom_view);

    if (loom_other(&s->loom, thread, &l, e) ||
        (kept && (loom_tree(&l, &tree, e) || loom_title(&l, &title, e))))
        return err_code(e);
    if (!kept)
        title = l.title.n ? l.title : thread;
    sb_adds(b, "  tree:\"");
    sb_add_oneline(b, title);
    sb_adds(b, "\"");
    if (!sv_eq(title, thread))
        sb_addf(b, " (" SV_FMT ")", SV_ARG(thread));
    sb_adds(b, " · ");
    if (kept)
        sb_add_count(b, tree.nodes, "node");
    else
        sb_adds(b, "not opened yet");
    sb_adds(b, sv_eq(thread, s->loom.thread) ? " (you are here)\n" : "\n");
    return ST_OK;
}

static enum status list_trees(struct session *s, struct sb *b, struct err *e)
{
    struct store_thread *threads;
    size_t               n, trees = 0;

    if (log_threads(s->log, s->a, &threads, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!sv_eq(threads[i].id, GLOBAL_THREAD))
            threads[trees++] = threads[i];
    sb_add_count(b, (int64_t)trees, "tree");
    sb_adds(b, trees ? ":\n" : "\n");
    for (size_t i = 0; i < trees && i < LIST_MAX; i++)
        if (add_tree(s, &threads[i], b, e))
            return err_code(e);
    show_more(b, (int64_t)trees - LIST_MAX);
    return ST_OK;
}

/* clang-format off */
static const struct {
    const char *kind;
    enum status (*list)(struct session *s, struct sb *b, struct err *e);
} of_everything[] = {
    { "bookmarks", list_bookmarks }, { "excluded", list_excluded }, { "pruned", list_pruned },
    { "agents",    list_agents },    { "docs",     list_docs },     { "trees",  list_trees },
};
/* clang-format on */

RUN(list)
{
    struct sv kind = call_text(c, "kind");

    for (size_t i = 0; i < COUNT(of_everything); i++) {
        if (!sv_is(kind, of_everything[i].kind))
            continue;
        if (call_has(c, "id") || call_has(c, "doc")) {
            err_set(e, ST_INVALID_SYNTAX, "%s are not listed of one node", of_everything[i].kind);
            return err_hint(e, "→ list %s", of_everything[i].kind);
        }
        r->object = kind;
        return of_everything[i].list(s, &r->text, e);
    }
    return list_of_node(s, c, kind, r, e);
}
