/* `graph`: objectives, threads, and who reads whom. */
#include "base/map.h"
#include "front/cli/command.h"
#include "front/share/door.h"
#include "share/asset.h"
#include "share/share_internal.h"

struct graph_opts {
    struct sv format, objective;
};

static const struct opt graph_opts[] = {
    { OPT_TEXT, "format", "text|dot|mermaid", "how to draw it (default: text)",
      offsetof(struct graph_opts, format), 0 },
    { OPT_TEXT, "objective", "ID", "only this objective", offsetof(struct graph_opts, objective),
      0 },
    { 0 },
};

struct below {
    struct node *n;
};
struct node {
    struct share_thread t;
    size_t              number;
    VEC(struct below) children;
    VEC(struct share_ref) refs;
};

struct graph {
    struct door            *d;
    struct map              nodes; /* id → struct node, in order of creation */
    struct map              roots; /* objective → struct roots */
    struct share_objective *objectives;
    size_t                  n_objectives;
    struct sv               only;
    struct sb              *out;
};

struct roots {
    VEC(struct below) list;
};

/* ---- gathering ------------------------------------------------------------------------------ */

static struct sv keep(struct sv v, struct arena *a)
{
    return v.s ? sv_dup(v, a) : v;
}

static enum status add_node(void *ctx, const struct share_thread *t, struct err *e)
{
    struct graph *g = ctx;
    struct arena *a = g->d->app->a;

    (void)e;
    if (g->only.s && !sv_eq(g->only, t->objective))
        return ST_OK;
    struct node *n = ARENA_NEW(a, struct node, 1);
    n->t = (struct share_thread){ .id = keep(t->id, a),
                                  .title = keep(sv_cut(t->title, '\n').head, a),
                                  .objective = keep(t->objective, a),
                                  .parent = keep(t->parent, a),
                                  .executor = keep(t->executor, a),
                                  .status = t->status };
    n->number = g->nodes.n;
    map_put(&g->nodes, n->t.id, n);
    return ST_OK;
}

static struct node *node_at(const struct graph *g, size_t i)
{
    return g->nodes.items[i].value;
}

/* Below its parent, if that is drawn and belongs to the same objective. */
static struct node *parent_of(const struct graph *g, const struct node *n)
{
    struct node *p = n->t.parent.s ? map_find(&g->nodes, n->t.parent) : NULL;

    return p && sv_eq(p->t.objective, n->t.objective) ? p : NULL;
}

static struct roots *roots_of(struct graph *g, struct sv objective)
{
    struct roots *r = map_find(&g->roots, objective);

    if (!r) {
        r = ARENA_NEW(g->d->app->a, struct roots, 1);
        map_put(&g->roots, objective, r);
    }
    return r;
}

static enum status gather(struct graph *g, struct err *e)
{
    struct arena *a = g->d->app->a;
    struct sv    *rows;
    size_t        n;

    g->nodes = map_in(a);
    g->roots = map_in(a);
    if (share_objectives(&g->d->s, a, &g->objectives, &g->n_objectives, e) ||
        share_threads(&g->d->s, add_node, g, e) ||
        share_rows_below(&g->d->s, SV("ref/"), false, a, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < g->nodes.n; i++) {
        struct node *p = parent_of(g, node_at(g, i));
        if (p)
            *vec_push(&p->children, a) = (struct below){ node_at(g, i) };
        else
            *vec_push(&roots_of(g, node_at(g, i)->t.objective)->list, a) =
                (struct below){ node_at(g, i) };
    }
    for (size_t i = 0; i < n; i++) {
        struct share_ref r;
        if (ref_read(rows[i], a, &r, e))
            return err_code(e);
        struct node *from = map_find(&g->nodes, r.from);
        if (from)
            *vec_push(&from->refs, a) = r;
    }
    return ST_OK;
}

/* "", "broken", or what is not fresh about its copies. */
static enum status mark_of(struct graph *g, const struct share_ref *r, const char **mark,
                           struct err *e)
{
    struct share_thread t;
    enum freshness      f = REF_FRESH;
    bool                found = map_has(&g->nodes, r->target);

    if (!found && share_thread_find(&g->d->s, r->target, &t, &found, e))
        return err_code(e);
    if (found && r->frozen && ref_freshness(&g->d->s, r, &f, e))
        return err_code(e);
    *mark = !found ? "broken" : f == REF_FRESH ? "" : freshness_name(f);
    return ST_OK;
}

static const char *sign_of(enum thread_status s)
{
    static const char *const signs[] = { "●", "◐", "◌", "✓", "✗", "❄", "▪" };

    return signs[s];
}

/* ---- text -------------------------------------------------------------------------------------
 */

enum { DEPTH_DRAWN = 24 };

struct visit {
    struct node *n;
    int          depth;
    bool         last;
};

static void put_lead(struct sb *out, const bool *last, int depth)
{
    for (int i = 0; i < depth && i < DEPTH_DRAWN; i++)
        sb_adds(out, i + 1 == depth ? (last[i] ? "└─ " : "├─ ") : (last[i] ? "   " : "│  "));
    if (depth > DEPTH_DRAWN)
        sb_addf(out, "… (%d deep) ", depth);
}

static enum status put_refs(struct graph *g, const struct node *n, const bool *last, int depth,
                            struct err *e)
{
    for (size_t i = 0; i < n->refs.n; i++) {
        const struct share_ref *r = &n->refs.v[i];
        const char             *mark;
        if (mark_of(g, r, &mark, e))
            return err_code(e);
        for (int k = 0; k < depth && k < DEPTH_DRAWN; k++)
            sb_adds(g->out, last[k] ? "   " : "│  ");
        sb_addf(g->out, "%s    %s " SV_FMT, n->children.n ? "│" : " ", r->frozen ? "▣" : "→",
                SV_ARG(r->target));
        for (size_t k = 0; k < r->n_scope; k++)
            sb_addf(g->out, "%s" SV_FMT, k ? "," : ":", SV_ARG(r->scope[k]));
        sb_addf(g->out, "%s%s\n", *mark ? "  ! " : "", mark);
    }
    return ST_OK;
}

/* With a list of its own: a chain of threads may be as deep as it likes. */
static enum status put_tree(struct graph *g, struct node *root, bool is_last, struct err *e)
{
    struct arena *a = g->d->app->a;
    VEC(struct visit) todo = { 0 };
    bool last[DEPTH_DRAWN + 1] = { 0 };

    *vec_push(&todo, a) = (struct visit){ root, 1, is_last };
    while (todo.n) {
        struct visit v = todo.v[--todo.n];
        if (v.depth <= DEPTH_DRAWN)
            last[v.depth - 1] = v.last;
        put_lead(g->out, last, v.depth);
        sb_addf(g->out, "%s " SV_FMT "  ", sign_of(v.n->t.status), SV_ARG(v.n->t.id));
        sb_add_plain(g->out, v.n->t.title);
        if (v.n->t.status != THREAD_ACTIVE)
            sb_addf(g->out, "  (%s)", thread_status_name(v.n->t.status));
        sb_addc(g->out, '\n');
        if (put_refs(g, v.n, last, v.depth, e))
            return err_code(e);
        for (size_t i = v.n->children.n; i-- > 0;)
            *vec_push(&todo, a) =
                (struct visit){ v.n->children.v[i].n, v.depth + 1, i + 1 == v.n->children.n };
    }
    return ST_OK;
}

static enum status text_objective(struct graph *g, struct sv id, struct err *e)
{
    const struct roots *r = roots_of(g, id);

    for (size_t i = 0; i < r->list.n; i++)
        if (put_tree(g, r->list.v[i].n, i + 1 == r->list.n, e))
            return err_code(e);
    return ST_OK;
}

static enum status as_text(struct graph *g, struct err *e)
{
    for (size_t i = 0; i < g->n_objectives; i++) {
        const struct share_objective *o = &g->objectives[i];
        if (g->only.s && !sv_eq(g->only, o->id))
            continue;
        sb_addf(g->out, "%s◎ " SV_FMT "  ", g->out->n ? "\n" : "", SV_ARG(o->id));
        sb_add_plain(g->out, sv_cut(o->title, '\n').head);
        sb_addf(g->out, "  (%s, %lld of %lld open)\n", objective_status(o), (long long)o->open,
                (long long)o->threads);
        if (text_objective(g, o->id, e))
            return err_code(e);
    }
    if (!g->n_objectives)
        sb_adds(g->out, "no objectives yet; `heddle objective create TITLE` makes one\n");
    else
        sb_adds(g->out, "\n→ live   ▣ frozen   ! needs attention\n");
    return ST_OK;
}

/* ---- dot and mermaid ------------------------------------------------------------------------- */

/* Text inside double quotes of either language. */
static void quoted(struct sb *out, struct sv v, bool mermaid)
{
    sb_addc(out, '"');
    for (size_t i = 0; i < v.n; i++) {
        if ((unsigned char)v.s[i] < 0x20)
            sb_addc(out, ' ');
        else if (mermaid && (v.s[i] == '"' || v.s[i] == '#' || v.s[i] == '<' || v.s[i] == '>' ||
                             v.s[i] == '&'))
            sb_addf(out, "#%d;", v.s[i]);
        else if (v.s[i] == '"' || v.s[i] == '\\')
            sb_addf(out, "\\%c", v.s[i]);
        else
            sb_addc(out, v.s[i]);
    }
    sb_addc(out, '"');
}

static void put_label(struct graph *g, const struct node *n, bool mermaid)
{
    struct sb label = sb_in(g->d->app->a, 0);

    sb_addf(&label, SV_FMT ": " SV_FMT " (%s)", SV_ARG(n->t.id), SV_ARG(n->t.title),
            thread_status_name(n->t.status));
    quoted(g->out, sb_sv(&label), mermaid);
}

/* The other end of an edge: a node of the drawing, or one that is not there. */
static void put_end(struct graph *g, struct sv id, bool mermaid)
{
    const struct node *n = map_find(&g->nodes, id);

    if (n)
        sb_addf(g->out, "t%zu", n->number);
    else if (!mermaid)
        quoted(g->out, id, false);
    else {
        sb_adds(g->out, "x");
        sb_add_hex(g->out, id.s, id.n);
        sb_adds(g->out, "[");
        quoted(g->out, id, true);
        sb_adds(g->out, "]");
    }
}

static enum status put_edges(struct graph *g, const struct node *n, bool mermaid, struct err *e)
{
    const struct node *p = parent_of(g, n);

    if (p)
        sb_addf(g->out, mermaid ? "  t%zu --- t%zu\n" : "  t%zu -> t%zu [arrowhead=none];\n",
                p->number, n->number);
    for (size_t i = 0; i < n->refs.n; i++) {
        const struct share_ref *r = &n->refs.v[i];
        const char             *mark;
        if (mark_of(g, r, &mark, e))
            return err_code(e);
        sb_addf(g->out, "  t%zu ", n->number);
        if (mermaid)
            sb_addf(g->out, "%s|%s%s%s| ", r->frozen ? "-.->" : "-->",
                    r->frozen ? "frozen" : "live", *mark ? " " : "", mark);
        else
            sb_adds(g->out, "-> ");
        put_end(g, r->target, mermaid);
        if (!mermaid)
            sb_addf(g->out, " [label=\"%s%s%s\", style=%s%s];", r->frozen ? "frozen" : "live",
                    *mark ? " " : "", mark, r->frozen ? "dashed" : "solid",
                    *mark ? ", color=red" : "");
        sb_addc(g->out, '\n');
    }
    return ST_OK;
}

static enum status as_drawing(struct graph *g, bool mermaid, struct err *e)
{
    sb_adds(g->out,
            mermaid ? "flowchart LR\n" : "digraph threads {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < g->n_objectives; i++) {
        const struct share_objective *o = &g->objectives[i];
        if (g->only.s && !sv_eq(g->only, o->id))
            continue;
        sb_addf(g->out, mermaid ? "  subgraph o%zu[" : "  subgraph cluster_%zu {\n    label=", i);
        quoted(g->out, o->title, mermaid);
        sb_adds(g->out, mermaid ? "]\n" : ";\n");
        for (size_t k = 0; k < g->nodes.n; k++) {
            const struct node *n = node_at(g, k);
            if (!sv_eq(n->t.objective, o->id))
                continue;
            sb_addf(g->out, mermaid ? "    t%zu[" : "    t%zu [label=", n->number);
            put_label(g, n, mermaid);
            sb_adds(g->out, mermaid ? "]\n" : "];\n");
        }
        sb_adds(g->out, mermaid ? "  end\n" : "  }\n");
    }
    for (size_t k = 0; k < g->nodes.n; k++)
        if (put_edges(g, node_at(g, k), mermaid, e))
            return err_code(e);
    if (!mermaid)
        sb_adds(g->out, "}\n");
    return ST_OK;
}

static enum status json_edges(struct graph *g, struct jw *w, struct err *e)
{
    jw_key(w, "edges");
    jw_open(w, '[');
    for (size_t k = 0; k < g->nodes.n; k++)
        for (size_t i = 0; i < node_at(g, k)->refs.n; i++) {
            const struct share_ref *r = &node_at(g, k)->refs.v[i];
            const char             *mark;
            if (mark_of(g, r, &mark, e))
                return err_code(e);
            jw_open(w, '{');
            jw_kstr(w, "from", r->from);
            jw_kstr(w, "target", r->target);
            jw_kstr(w, "binding", r->frozen ? SV("frozen") : SV("live"));
            jw_kstr(w, "state", sv_of(*mark ? mark : "fresh"));
            jw_close(w, '}');
        }
    jw_close(w, ']');
    return ST_OK;
}

static enum status as_json(struct graph *g, struct err *e)
{
    struct jw *w = g->d->data;

    jw_open(w, '{');
    jw_key(w, "threads");
    jw_open(w, '[');
    for (size_t k = 0; k < g->nodes.n; k++) {
        const struct share_thread *t = &node_at(g, k)->t;
        jw_open(w, '{');
        jw_kstr(w, "id", t->id);
        jw_kstr(w, "title", t->title);
        jw_kstr(w, "objective", t->objective);
        jw_kstr(w, "parent_id", t->parent);
        jw_kstr(w, "status", sv_of(thread_status_name(t->status)));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    if (json_edges(g, w, e))
        return err_code(e);
    jw_close(w, '}');
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct graph_opts *o = opts;
    struct door              d;
    struct graph             g = { .d = &d, .only = o->objective, .out = &d.text };
    struct share_objective   unused;
    bool                     mermaid = sv_is(o->format, "mermaid"), dot = sv_is(o->format, "dot");

    if (o->format.s && !mermaid && !dot && !sv_is(o->format, "text"))
        return err_set(e, ST_USAGE, "--format is text, dot or mermaid");
    if (door_open(&d, app, STORE_READ, e) ||
        (g.only.s && share_objective(&d.s, g.only, &unused, e)) || gather(&g, e))
        return door_fail(&d, e);
    enum status s = app->json        ? as_json(&g, e)
                    : mermaid || dot ? as_drawing(&g, mermaid, e)
                                     : as_text(&g, e);
    return s ? door_fail(&d, e) : door_done(&d, e);
}

const struct command cmd_graph = {
    .name = "graph",
    .synopsis = "[--format text|dot|mermaid] [--objective ID]",
    .group = GROUP_SHARE,
    .summary = "Draw objectives, threads, and who reads whom",
    .details = "Frozen edges whose source has changed are marked stale; edges to a thread that\n"
               "is not there are marked broken.\n\n"
               "  heddle graph --format mermaid",
    .opts = graph_opts,
    .opts_size = sizeof(struct graph_opts),
    .needs = NEEDS_ROOT,
    .run = run,
};
