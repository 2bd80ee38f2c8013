/* `tree`: the thread drawn as a tree, for a person. */
#include "base/clock.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "front/loom_env.h"
#include "loom/attest.h"

struct tree_opts {
    struct sv from, agent, title, mode;
    int64_t   depth;
    bool      summary;
};

static const struct opt tree_table[] = {
    { OPT_TEXT, "from", "ID", "start at this node (default: where the agent is, or the root)",
      offsetof(struct tree_opts, from), 0 },
    { OPT_NUMBER, "depth", "N", "levels below it (default 5, at most 50)",
      offsetof(struct tree_opts, depth), 0 },
    { OPT_TEXT, "agent", "A", "whose position and versions are shown (default: yours)",
      offsetof(struct tree_opts, agent), 0 },
    { OPT_FLAG, "summary", NULL, "only the totals", offsetof(struct tree_opts, summary), 0 },
    { 0 },
};

static const struct opt set_table[] = {
    { OPT_TEXT, "title", "TEXT", "what the tree is called", offsetof(struct tree_opts, title), 0 },
    { OPT_TEXT, "mode", "M", "dialogue or buffer; before the first node",
      offsetof(struct tree_opts, mode), 0 },
    { 0 },
};

enum { JSON_NODES_MAX = 1000 };

/* ---- as JSON ---------------------------------------------------------------------- */

struct json_tree {
    struct loom *l;
    struct jw   *w;
    int64_t      floor;
    size_t       left;
};

static enum status write_below(struct json_tree *t, const struct node *n, struct err *e)
{
    struct node *kids;
    size_t       count;
    struct sv    text;
    bool         made;

    if (node_summary(t->l, n, &text, &made, e))
        return err_code(e);
    jw_open(t->w, '{');
    jw_kstr(t->w, "local_id", n->local);
    jw_kstr(t->w, "author", n->author);
    jw_kstr(t->w, "kind", sv_of(author_kind_name(n->kind)));
    jw_kint(t->w, "at", n->at);
    jw_kint(t->w, "seq", n->seq);
    jw_kstr(t->w, "summary", text);
    jw_kint(t->w, "continuations", n->kids);
    jw_kint(t->w, "annotations", n->notes);
    jw_kint(t->w, "links", n->links);
    jw_kint(t->w, "versions", n->versions);
    jw_kbool(t->w, "bookmarked", n->bookmarked);
    jw_kbool(t->w, "excluded", n->excluded);
    jw_key(t->w, "children");
    jw_open(t->w, '[');
    if (n->depth < t->floor && t->left) {
        if (node_children(t->l, n->seq, NO_NODE, t->left, &kids, &count, e))
            return err_code(e);
        for (size_t i = 0; i < count && t->left; i++) {
            t->left--;
            if (write_below(t, &kids[i], e))
                return err_code(e);
        }
    }
    jw_close(t->w, ']');
    jw_close(t->w, '}');
    return ST_OK;
}

static enum status print_json(struct app *app, struct session *s, const struct node *from,
                              int64_t depth, struct err *e)
{
    struct jw        w = jw_in(&app->out, 0);
    struct json_tree t = { &s->loom, &w, depth + (from ? from->depth : 0), JSON_NODES_MAX };
    struct tree      totals;
    struct node      here;
    struct sv        title;
    bool             found;

    if (loom_tree(&s->loom, &totals, e) || loom_title(&s->loom, &title, e) ||
        loom_position(&s->loom, s->agent.name, &here, &found, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "title", title);
    jw_kstr(&w, "mode", totals.mode);
    jw_kint(&w, "nodes", totals.nodes);
    jw_kint(&w, "branches", totals.branches);
    jw_kint(&w, "leaves", totals.leaves);
    jw_kint(&w, "depth", totals.depth);
    jw_key(&w, "position");
    jw_str(&w, found ? here.local : (struct sv){ 0 });
    jw_key(&w, "tree");
    if (!from)
        jw_null(&w);
    else if (write_below(&t, from, e))
        return err_code(e);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- drawn ------------------------------------------------------------------------ */

/* A person who has not been here yet starts at the root. */
static enum status start(struct session *s, const struct tree_opts *o, struct node *out,
                         bool *found, struct err *e)
{
    struct tree tree;

    *found = true;
    if (o->from.s)
        return node_find_visible(&s->loom, o->from, out, e);
    if (loom_tree(&s->loom, &tree, e))
        return err_code(e);
    *found = tree.root != NO_NODE;
    return *found ? node_at(&s->loom, tree.root, out, e) : ST_OK;
}

static enum status draw(struct app *app, struct session *s, const struct tree_opts *o,
                        struct err *e)
{
    int64_t     depth = o->depth == OPT_UNSET ? TREE_DEPTH : o->depth;
    struct node from;
    bool        found;
    struct sb   b = sb_in(app->a, 0);

    if (depth < 1 || depth > TREE_DEPTH_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "--depth must be between 1 and %d", TREE_DEPTH_MAX);
    if (start(s, o, &from, &found, e))
        return err_code(e);
    if (app->json)
        return print_json(app, s, found ? &from : NULL, depth, e);
    if (o->summary ? show_tree_summary(&s->loom, &b, e)
                   : show_tree(&s->loom, &s->viewer, found ? &from : NULL, depth, &b, e))
        return err_code(e);
    sb_add_plain(&app->out, sb_sv(&b));
    return ST_OK;
}

static enum status run_tree(struct app *app, const void *opts, struct err *e)
{
    const struct tree_opts *o = opts;
    struct loom_env         env;
    struct session          s;

    loom_env_init(&env, app);
    if (loom_env_open(&env, app_arg(app, 0), o->agent, &s, e) ||
        loom_thread_check(app, app_arg(app, 0), e) ||
        log_begin(&app->log, app_arg(app, 0), STORE_READ, e))
        return err_code(e);
    enum status st = draw(app, &s, o, e);
    log_abort(&app->log);
    return loom_node_hint(st, app_arg(app, 0), e);
}

/* ---- set -------------------------------------------------------------------------- */

static enum status set(struct app *app, struct loom *l, const struct tree_opts *o, struct err *e)
{
    struct tree tree;

    if (loom_tree(l, &tree, e))
        return err_code(e);
    if (o->mode.s && tree.root != NO_NODE && !sv_eq(o->mode, tree.mode)) {
        err_set(e, ST_CONFLICT, "the mode of a tree is fixed with its first node");
        return err_hint(e, "this tree is in " SV_FMT " mode", SV_ARG(tree.mode));
    }
    if (loom_describe(l, app->actor, o->title, o->mode, e))
        return err_code(e);
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '{');
        jw_kstr(&w, "thread", app_arg(app, 0));
        jw_kstr(&w, "title", o->title.n ? o->title : tree.title);
        jw_kstr(&w, "mode", o->mode.n ? o->mode : tree.mode);
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
    }
    return ST_OK;
}

static enum status run_set(struct app *app, const void *opts, struct err *e)
{
    const struct tree_opts *o = opts;
    struct loom_env         env;
    struct session          session;

    if (!o->title.n && !o->mode.n)
        return err_set(e, ST_USAGE, "give --title or --mode");
    loom_env_init(&env, app);
    if (loom_env_open(&env, app_arg(app, 0), (struct sv){ 0 }, &session, e) ||
        log_begin(&app->log, app_arg(app, 0), STORE_WRITE, e))
        return err_code(e);
    enum status s = set(app, &session.loom, o, e);
    if (!s)
        s = log_commit(&app->log, e);
    if (s)
        log_abort(&app->log);
    return s;
}

/* ---- attest ------------------------------------------------------------------------ */

static const struct opt attest_table[] = {
    { OPT_TEXT, "node", "ID", "the end of the path (default: where you are)",
      offsetof(struct tree_opts, from), 0 },
    { 0 },
};

static enum status print_attested(struct app *app, const struct attestation *list, size_t n,
                                  struct err *e)
{
    struct jw w = jw_in(&app->out, 0);
    size_t    bad = 0;

    if (app->json)
        jw_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        const char *is = attested_name(list[i].is);
        bad += list[i].is != ATTEST_VALID;
        if (!app->json) {
            sb_addf(&app->out, "[" SV_FMT "] %s\n", SV_ARG(list[i].node.local), is);
            continue;
        }
        jw_open(&w, '{');
        jw_kstr(&w, "local_id", list[i].node.local);
        jw_kstr(&w, "hash", list[i].node.hash);
        jw_kstr(&w, "is", sv_of(is));
        jw_close(&w, '}');
    }
    if (app->json) {
        jw_close(&w, ']');
        sb_addc(&app->out, '\n');
    }
    if (!bad)
        return ST_OK;
    return err_set(e, ST_CORRUPT, "%zu of %zu nodes on this path do not verify", bad, n);
}

static enum status attest(struct app *app, struct session *s, struct sv node, struct err *e)
{
    struct attestation *list;
    struct node         n;
    size_t              count;

    if (session_node(s, node, &n, e) || attest_path(&s->loom, &n, &list, &count, e))
        return err_code(e);
    return print_attested(app, list, count, e);
}

static enum status run_attest(struct app *app, const void *opts, struct err *e)
{
    const struct tree_opts *o = opts;
    struct loom_env         env;
    struct session          s;

    loom_env_init(&env, app);
    if (loom_env_open(&env, app_arg(app, 0), (struct sv){ 0 }, &s, e) ||
        loom_thread_check(app, app_arg(app, 0), e) ||
        log_begin(&app->log, app_arg(app, 0), STORE_READ, e))
        return err_code(e);
    enum status st = attest(app, &s, o->from, e);
    log_abort(&app->log);
    return loom_node_hint(st, app_arg(app, 0), e);
}

const struct command cmd_tree_attest = {
    .name = "tree attest",
    .synopsis = "T [--node ID]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Check the hashes of a path and models' raw answers",
    .details =
        "Each node's hash covers its content, the hash of what it follows, its time and its "
        "author, and for a model's text the bytes the provider sent. Versions made by an edit in "
        "place break nothing.\n\n"
        "  heddle tree attest design",
    .opts = attest_table,
    .opts_size = sizeof(struct tree_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_attest,
};

const struct command cmd_tree = {
    .name = "tree",
    .synopsis = "T [--from ID] [--depth N] [--agent A] [--summary]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Draw a thread as a tree",
    .details = "  heddle tree design\n  heddle tree design --from a7x2 --depth 10",
    .opts = tree_table,
    .opts_size = sizeof(struct tree_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_tree,
};

const struct command cmd_tree_set = {
    .name = "tree set",
    .synopsis = "T [--title TEXT] [--mode dialogue|buffer]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Give a tree its title and mode",
    .details =
        "In dialogue mode an edit makes a branch; in buffer mode it makes a version in place, "
        "and what follows stays. The mode is fixed once there is a node.\n\n"
        "  heddle tree set story --title 'The house'",
    .opts = set_table,
    .opts_size = sizeof(struct tree_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_set,
};
