/* thread.graph: objectives, threads, and who reads whom. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/map.h"
#include "share/asset.h"
#include "share/share_internal.h"

struct graph_params {
    struct sv format, objective;
};

/* clang-format off */
static const char *const formats[] = { "text", "dot", "mermaid", NULL };
static const char *const edge_states[] = { "fresh", "stale", "edited", "deleted", "missing", "broken", NULL };

static const struct param params[] = {
    { "format",    PARAM_ENUM, offsetof(struct graph_params, format),    .values = formats, .fallback = "text", .help = "how to draw it (default: text)" },
    { "objective", PARAM_TEXT, offsetof(struct graph_params, objective), .value = "ID", .help = "only this objective" },
    { 0 },
};
static const struct field objective_drawn[] = {
    { "id",      FIELD_TEXT, .help = "name of the objective" },
    { "title",   FIELD_TEXT, .nullable = true, .help = "what is to be reached" },
    { "status",  FIELD_ENUM, .values = objective_states, .help = "completed: it has threads, and all have ended" },
    { "threads", FIELD_NUMBER, .help = "how many threads it has" },
    { "open",    FIELD_NUMBER, .help = "how many of them have not ended" },
    { 0 },
};
static const struct field thread_drawn[] = {
    { "id",        FIELD_TEXT, .help = "name of the thread" },
    { "title",     FIELD_TEXT, .nullable = true, .help = "the first line of what it is for" },
    { "objective", FIELD_TEXT, .nullable = true, .help = "what it works towards" },
    { "parent_id", FIELD_TEXT, .nullable = true, .help = "the thread that spawned it" },
    { "status",    FIELD_ENUM, .values = thread_states, .help = "its state" },
    { 0 },
};
static const struct field edge_drawn[] = {
    { "from",    FIELD_TEXT, .help = "the thread that reads" },
    { "target",  FIELD_TEXT, .help = "the thread that is read" },
    { "binding", FIELD_ENUM, .values = share_bindings, .help = "live or frozen" },
    { "state",   FIELD_ENUM, .values = edge_states, .help = "broken: there is no such thread" },
    { "scope",   FIELD_LIST, .help = "what it is limited to; none: everything" },
    { 0 },
};
static const struct field answer[] = {
    { "format",     FIELD_ENUM, .values = formats, .help = "how text draws it" },
    { "objectives", FIELD_LIST, .of = objective_drawn, .help = "in the order in which they were made" },
    { "threads",    FIELD_LIST, .of = thread_drawn, .help = "in the order in which they were made" },
    { "edges",      FIELD_LIST, .of = edge_drawn, .help = "by the thread that reads" },
    { 0 },
};
/* clang-format on */

/* ---- the document -------------------------------------------------------------------- */

struct graph_reader {
    struct sv id;
    VEC(struct share_ref) refs;
};

struct graph_gathering {
    struct share *s;
    struct jw    *w;
    struct map    readers; /* id → struct graph_reader, in order of creation */
    struct sv     only;
};

static enum status put_thread(void *ctx, const struct share_thread *t, struct err *e)
{
    struct graph_gathering *g = ctx;
    struct arena           *a = g->s->a;

    (void)e;
    if (g->only.s && !sv_eq(g->only, t->objective))
        return ST_OK;
    struct graph_reader *n = ARENA_NEW(a, struct graph_reader, 1);
    n->id = sv_dup(t->id, a);
    map_put(&g->readers, n->id, n);
    jw_open(g->w, '{');
    jw_kstr(g->w, "id", t->id);
    jw_kstr(g->w, "title", sv_cut(t->title, '\n').head);
    jw_kstr(g->w, "objective", t->objective);
    jw_kstr(g->w, "parent_id", t->parent);
    jw_kstr(g->w, "status", sv_of(thread_status_name(t->status)));
    jw_close(g->w, '}');
    return ST_OK;
}

static enum status put_objectives(struct graph_gathering *g, struct err *e)
{
    struct share_objective *all;
    size_t                  n;

    if (share_objectives(g->s, g->s->a, &all, &n, e))
        return err_code(e);
    jw_key(g->w, "objectives");
    jw_open(g->w, '[');
    for (size_t i = 0; i < n; i++) {
        if (g->only.s && !sv_eq(g->only, all[i].id))
            continue;
        jw_open(g->w, '{');
        jw_kstr(g->w, "id", all[i].id);
        jw_kstr(g->w, "title", all[i].title);
        jw_kstr(g->w, "status", sv_of(share_objective_status_of(&all[i])));
        jw_kint(g->w, "threads", all[i].threads);
        jw_kint(g->w, "open", all[i].open);
        jw_close(g->w, '}');
    }
    jw_close(g->w, ']');
    return ST_OK;
}

/* "fresh", "broken", or what is not fresh about its copies. */
static enum status state_of(struct graph_gathering *g, const struct share_ref *r, const char **out,
                            struct err *e)
{
    struct share_thread t;
    enum freshness      f = REF_FRESH;
    bool                found = map_has(&g->readers, r->target);

    if (!found && share_thread_find(g->s, r->target, &t, &found, e))
        return err_code(e);
    if (found && r->frozen && share_ref_freshness(g->s, r, &f, e))
        return err_code(e);
    *out = found ? freshness_name(f) : "broken";
    return ST_OK;
}

static enum status put_edge(struct graph_gathering *g, const struct share_ref *r, struct err *e)
{
    const char *state;

    if (state_of(g, r, &state, e))
        return err_code(e);
    jw_open(g->w, '{');
    jw_kstr(g->w, "from", r->from);
    jw_kstr(g->w, "target", r->target);
    jw_kstr(g->w, "binding", share_binding_of(r));
    jw_kstr(g->w, "state", sv_of(state));
    jw_ktexts(g->w, "scope", r->scope, r->n_scope);
    jw_close(g->w, '}');
    return ST_OK;
}

static enum status put_edges(struct graph_gathering *g, struct err *e)
{
    struct arena *a = g->s->a;
    struct sv    *rows;
    size_t        n;

    if (share_rows_below(g->s, SV("ref/"), false, a, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct share_ref r;
        if (share_ref_read(rows[i], a, &r, e))
            return err_code(e);
        struct graph_reader *from = map_find(&g->readers, r.from);
        if (from)
            *vec_push(&from->refs, a) = r;
    }
    jw_key(g->w, "edges");
    jw_open(g->w, '[');
    for (size_t k = 0; k < g->readers.n; k++) {
        const struct graph_reader *from = g->readers.items[k].value;
        for (size_t i = 0; i < from->refs.n; i++)
            if (put_edge(g, &from->refs.v[i], e))
                return err_code(e);
    }
    jw_close(g->w, ']');
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct graph_params *p = params_given;
    struct share               s;
    struct share_objective     unused;
    struct graph_gathering     g = { .s = &s, .w = r->doc, .only = p->objective };

    g.readers = map_in(r->a);
    if (share_call_begin(r, &s, STORE_READ, e) ||
        (g.only.s && share_objective(&s, g.only, &unused, e)))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "format", p->format);
    if (put_objectives(&g, e))
        return share_call_fail(r, &s, e);
    jw_key(r->doc, "threads");
    jw_open(r->doc, '[');
    if (share_threads(&s, put_thread, &g, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, ']');
    if (put_edges(&g, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

/* ---- the drawing --------------------------------------------------------------------- */

struct below {
    struct graph_node *n;
};
struct below_edge {
    const struct json *edge;
};
struct graph_node {
    struct sv id, title, objective, parent, status;
    size_t    number;
    VEC(struct below) children;
    VEC(struct below_edge) edges;
};

struct roots {
    VEC(struct below) list;
};

struct graph {
    struct map         nodes; /* id → struct graph_node, in order of creation */
    struct map         roots; /* objective → struct roots */
    const struct json *objectives;
    struct arena      *a;
    struct sb         *out;
};

static struct graph_node *node_at(const struct graph *g, size_t i)
{
    return g->nodes.items[i].value;
}

/* Below its parent, if that is drawn and belongs to the same objective. */
static struct graph_node *parent_of(const struct graph *g, const struct graph_node *n)
{
    struct graph_node *p = n->parent.s ? map_find(&g->nodes, n->parent) : NULL;

    return p && sv_eq(p->objective, n->objective) ? p : NULL;
}

static struct roots *roots_of(struct graph *g, struct sv objective)
{
    struct roots *r = map_find(&g->roots, objective);

    if (!r) {
        r = ARENA_NEW(g->a, struct roots, 1);
        map_put(&g->roots, objective, r);
    }
    return r;
}

static void gather(struct graph *g, const struct json *threads, const struct json *edges)
{
    for (size_t i = 0; i < threads->n; i++) {
        const struct json *t = &threads->items[i];
        struct graph_node *n = ARENA_NEW(g->a, struct graph_node, 1);
        n->id = json_text(t, "id");
        n->title = json_text(t, "title");
        n->objective = json_text(t, "objective");
        n->parent = json_text(t, "parent_id");
        n->status = json_text(t, "status");
        n->number = i;
        map_put(&g->nodes, n->id, n);
    }
    for (size_t i = 0; i < g->nodes.n; i++) {
        struct graph_node *n = node_at(g, i), *p = parent_of(g, n);
        if (p)
            *vec_push(&p->children, g->a) = (struct below){ n };
        else
            *vec_push(&roots_of(g, n->objective)->list, g->a) = (struct below){ n };
    }
    for (size_t i = 0; i < edges->n; i++) {
        struct graph_node *from = map_find(&g->nodes, json_text(&edges->items[i], "from"));
        if (from)
            *vec_push(&from->edges, g->a) = (struct below_edge){ &edges->items[i] };
    }
}

static bool is_frozen(const struct json *edge)
{
    return sv_is(json_text(edge, "binding"), "frozen");
}

/* What is to be said of its state; nothing when it is fresh. */
static struct sv mark_of(const struct json *edge)
{
    struct sv state = json_text(edge, "state");

    return sv_is(state, "fresh") ? SV("") : state;
}

static const char *sign_of(struct sv status)
{
    static const char *const signs[] = { "●", "◐", "◌", "✓", "✗", "❄", "▪" };
    size_t                   i = 0;

    while (thread_states[i] && !sv_is(status, thread_states[i]))
        i++;
    return i < COUNT(signs) ? signs[i] : " ";
}

/* ---- text -------------------------------------------------------------------------------------
 */

enum { DEPTH_DRAWN = 24 };

struct visit {
    struct graph_node *n;
    int                depth;
    bool               last;
};

static void put_lead(struct sb *out, const bool *last, int depth)
{
    for (int i = 0; i < depth && i < DEPTH_DRAWN; i++)
        sb_adds(out, i + 1 == depth ? (last[i] ? "└─ " : "├─ ") : (last[i] ? "   " : "│  "));
    if (depth > DEPTH_DRAWN)
        sb_addf(out, "… (%d deep) ", depth);
}

static void put_refs(struct graph *g, const struct graph_node *n, const bool *last, int depth)
{
    for (size_t i = 0; i < n->edges.n; i++) {
        const struct json *edge = n->edges.v[i].edge, *scope = json_find(edge, "scope");
        struct sv          mark = mark_of(edge);
        for (int k = 0; k < depth && k < DEPTH_DRAWN; k++)
            sb_adds(g->out, last[k] ? "   " : "│  ");
        sb_addf(g->out, "%s    %s " SV_FMT, n->children.n ? "│" : " ", is_frozen(edge) ? "▣" : "→",
                SV_ARG(json_text(edge, "target")));
        for (size_t k = 0; k < scope->n; k++)
            sb_addf(g->out, "%s" SV_FMT, k ? "," : ":", SV_ARG(json_sv(&scope->items[k])));
        sb_addf(g->out, "%s" SV_FMT "\n", mark.n ? "  ! " : "", SV_ARG(mark));
    }
}

/* With an explicit stack, because a chain of threads may be of any depth. */
static void put_tree(struct graph *g, struct graph_node *root, bool is_last)
{
    VEC(struct visit) todo = { 0 };
    bool last[DEPTH_DRAWN + 1] = { 0 };

    *vec_push(&todo, g->a) = (struct visit){ root, 1, is_last };
    while (todo.n) {
        struct visit v = todo.v[--todo.n];
        if (v.depth <= DEPTH_DRAWN)
            last[v.depth - 1] = v.last;
        put_lead(g->out, last, v.depth);
        sb_addf(g->out, "%s " SV_FMT "  ", sign_of(v.n->status), SV_ARG(v.n->id));
        sb_add_plain(g->out, v.n->title);
        if (!sv_is(v.n->status, "active"))
            sb_addf(g->out, "  (" SV_FMT ")", SV_ARG(v.n->status));
        sb_addc(g->out, '\n');
        put_refs(g, v.n, last, v.depth);
        for (size_t i = v.n->children.n; i-- > 0;)
            *vec_push(&todo, g->a) =
                (struct visit){ v.n->children.v[i].n, v.depth + 1, i + 1 == v.n->children.n };
    }
}

static void as_text(struct graph *g)
{
    for (size_t i = 0; i < g->objectives->n; i++) {
        const struct json  *o = &g->objectives->items[i];
        const struct roots *r = roots_of(g, json_text(o, "id"));
        sb_addf(g->out, "%s◎ " SV_FMT "  ", i ? "\n" : "", SV_ARG(json_text(o, "id")));
        sb_add_plain(g->out, sv_cut(json_text(o, "title"), '\n').head);
        sb_addf(g->out, "  (" SV_FMT ", %lld of %lld open)\n", SV_ARG(json_text(o, "status")),
                share_doc_number(o, "open"), share_doc_number(o, "threads"));
        for (size_t k = 0; k < r->list.n; k++)
            put_tree(g, r->list.v[k].n, k + 1 == r->list.n);
    }
    if (!g->objectives->n)
        sb_adds(g->out, "no objectives yet; `heddle objective create TITLE` makes one\n");
    else
        sb_adds(g->out, "\n→ live   ▣ frozen   ! needs attention\n");
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

static void put_label(struct graph *g, const struct graph_node *n, bool mermaid)
{
    struct sb label = sb_in(g->a, 0);

    sb_addf(&label, SV_FMT ": " SV_FMT " (" SV_FMT ")", SV_ARG(n->id), SV_ARG(n->title),
            SV_ARG(n->status));
    quoted(g->out, sb_sv(&label), mermaid);
}

/* The other end of an edge: a node of the drawing, or one that is not there. */
static void put_end(struct graph *g, struct sv id, bool mermaid)
{
    const struct graph_node *n = map_find(&g->nodes, id);

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

static void draw_edge(struct graph *g, const struct json *edge, bool mermaid)
{
    struct sv   mark = mark_of(edge), binding = json_text(edge, "binding");
    const char *gap = mark.n ? " " : "";

    if (mermaid)
        sb_addf(g->out, "%s|" SV_FMT "%s" SV_FMT "| ", is_frozen(edge) ? "-.->" : "-->",
                SV_ARG(binding), gap, SV_ARG(mark));
    else
        sb_adds(g->out, "-> ");
    put_end(g, json_text(edge, "target"), mermaid);
    if (!mermaid)
        sb_addf(g->out, " [label=\"" SV_FMT "%s" SV_FMT "\", style=%s%s];", SV_ARG(binding), gap,
                SV_ARG(mark), is_frozen(edge) ? "dashed" : "solid", mark.n ? ", color=red" : "");
    sb_addc(g->out, '\n');
}

static void draw_edges(struct graph *g, const struct graph_node *n, bool mermaid)
{
    const struct graph_node *p = parent_of(g, n);

    if (p)
        sb_addf(g->out, mermaid ? "  t%zu --- t%zu\n" : "  t%zu -> t%zu [arrowhead=none];\n",
                p->number, n->number);
    for (size_t i = 0; i < n->edges.n; i++) {
        sb_addf(g->out, "  t%zu ", n->number);
        draw_edge(g, n->edges.v[i].edge, mermaid);
    }
}

static void draw_objective(struct graph *g, size_t i, bool mermaid)
{
    const struct json *o = &g->objectives->items[i];

    sb_addf(g->out, mermaid ? "  subgraph o%zu[" : "  subgraph cluster_%zu {\n    label=", i);
    quoted(g->out, json_text(o, "title"), mermaid);
    sb_adds(g->out, mermaid ? "]\n" : ";\n");
    for (size_t k = 0; k < g->nodes.n; k++) {
        const struct graph_node *n = node_at(g, k);
        if (!sv_eq(n->objective, json_text(o, "id")))
            continue;
        sb_addf(g->out, mermaid ? "    t%zu[" : "    t%zu [label=", n->number);
        put_label(g, n, mermaid);
        sb_adds(g->out, mermaid ? "]\n" : "];\n");
    }
    sb_adds(g->out, mermaid ? "  end\n" : "  }\n");
}

static void as_drawing(struct graph *g, bool mermaid)
{
    sb_adds(g->out,
            mermaid ? "flowchart LR\n" : "digraph threads {\n  rankdir=LR;\n  node [shape=box];\n");
    for (size_t i = 0; i < g->objectives->n; i++)
        draw_objective(g, i, mermaid);
    for (size_t k = 0; k < g->nodes.n; k++)
        draw_edges(g, node_at(g, k), mermaid);
    if (!mermaid)
        sb_adds(g->out, "}\n");
}

static void print(const struct json *doc, struct term *t)
{
    struct sv    format = json_text(doc, "format");
    struct graph g = { .objectives = json_find(doc, "objectives"), .a = t->a, .out = t->out };

    g.nodes = map_in(t->a);
    g.roots = map_in(t->a);
    gather(&g, json_find(doc, "threads"), json_find(doc, "edges"));
    if (sv_is(format, "text"))
        as_text(&g);
    else
        as_drawing(&g, sv_is(format, "mermaid"));
}

const struct operation op_thread_graph = {
    .name = "thread.graph",
    .summary = "Draw objectives, threads, and who reads whom",
    .details = "Frozen edges whose source has changed are marked stale; edges to a thread that\n"
               "is not there are marked broken.\n\n"
               "  heddle graph --format mermaid",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .params = params,
    .params_size = sizeof(struct graph_params),
    .answer = answer,
    .run = run,
    .print = print,
};
