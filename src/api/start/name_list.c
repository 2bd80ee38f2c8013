/* name.list: names of threads, lanes and so on, for doors that offer completion. */
#include "api/request.h"
#include "api/term.h"
#include "base/map.h"
#include "loom/agent.h"
#include "share/share.h"
#include "thread/lane.h"
#include "thread/scan.h"

enum { NAMES_MAX = 1000 };

struct names_params {
    struct sv kind, thread, prefix;
    int64_t   limit;
};

static const char *const kinds[] = { "thread", "lane", "agent", "node", "objective", NULL };

/* clang-format off */
static const struct param params[] = {
    { "kind",   PARAM_ENUM,   offsetof(struct names_params, kind),   .required = true, .values = kinds, .help = "names of what" },
    { "thread", PARAM_NAME,   offsetof(struct names_params, thread), .value = "T", .help = "whose lanes or nodes" },
    { "prefix", PARAM_TEXT,   offsetof(struct names_params, prefix), .value = "TEXT", .help = "only names that start so" },
    { "limit",  PARAM_NUMBER, offsetof(struct names_params, limit),  .value = "N", .min = 1, .max = NAMES_MAX, .fallback = "200", .help = "at most this many" },
    { 0 },
};
static const struct field name_fields[] = {
    { "name",  FIELD_TEXT, .help = "the name" },
    { "about", FIELD_TEXT, .optional = true, .help = "what a person knows it by" },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = name_fields, .help = "the names, each once" },
    { 0 },
};
/* clang-format on */

struct names {
    struct request            *r;
    const struct names_params *p;
    struct map                 seen;
};

static void put(struct names *n, struct sv name, struct sv about)
{
    struct jw *w = n->r->doc;

    if ((int64_t)n->seen.n >= n->p->limit || !sv_starts(name, n->p->prefix) ||
        sv_starts(name, SV(".")) || map_has(&n->seen, name))
        return;
    map_put(&n->seen, sv_dup(name, n->r->a), n);
    jw_open(w, '{');
    jw_kstr(w, "name", name);
    if (about.n)
        jw_kstr(w, "about", about);
    jw_close(w, '}');
}

/* ---- one function for each kind; the transaction is on the thread that it names ---------- */

static enum status put_spawned(void *ctx, const struct share_thread *t, struct err *e)
{
    (void)e;
    put(ctx, t->id, t->title);
    return ST_OK;
}

/* Spawned ones first, with their titles; then those that only have a log. */
static enum status put_threads(struct names *n, struct err *e)
{
    struct sv           *ids;
    struct share_thread *said;
    struct share         s;
    size_t               count, named;

    share_init(&s, &n->r->log, n->r->ws->root_fd, n->r->actor, n->r->a);
    if (share_threads(&s, put_spawned, n, e) || share_log_threads(&s, n->r->a, &said, &named, e) ||
        log_thread_ids(&n->r->log, n->r->a, &ids, &count, e))
        return err_code(e);
    for (size_t i = 0; i < named; i++)
        put(n, said[i].id, said[i].title);
    for (size_t i = 0; i < count; i++)
        put(n, ids[i], (struct sv){ 0 });
    return ST_OK;
}

static enum status put_objectives(struct names *n, struct err *e)
{
    struct share_objective *list;
    struct share            s;
    size_t                  count;

    share_init(&s, &n->r->log, n->r->ws->root_fd, n->r->actor, n->r->a);
    if (share_objectives(&s, n->r->a, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        put(n, list[i].id, list[i].title);
    return ST_OK;
}

static enum status put_agents(struct names *n, struct err *e)
{
    struct agent *list;
    size_t        count;

    if (agent_list(&n->r->log, n->r->a, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        put(n, list[i].name, list[i].model);
    return ST_OK;
}

static enum status put_lanes(struct names *n, struct err *e)
{
    struct lane *list;
    size_t       count;

    if (lane_list(&n->r->log, n->p->thread, n->r->a, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        put(n, list[i].name, (struct sv){ 0 });
    return ST_OK;
}

static enum status put_nodes(struct names *n, struct err *e)
{
    struct loom l = { .log = &n->r->log, .thread = n->p->thread, .a = n->r->a };
    struct sv  *list;
    size_t      count;

    if (loom_ids(&l, n->p->prefix, (size_t)n->p->limit, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        struct node found;
        struct sv   text = { 0 };
        if (node_find(&l, list[i], &found, e) == ST_OK && node_text(&l, found.seq, &text, e))
            return err_code(e);
        put(n, list[i], sv_cut(text, '\n').head);
    }
    return ST_OK;
}

static const struct {
    const char        *kind;
    bool               of_thread; /* it needs the parameter `thread` */
    const struct view *view;
    enum status (*put)(struct names *n, struct err *e);
} lists[] = {
    { "thread", false, NULL, put_threads },       { "lane", true, NULL, put_lanes },
    { "agent", false, NULL, put_agents },         { "node", true, &loom_view, put_nodes },
    { "objective", false, NULL, put_objectives },
};

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct names_params *p = params_given;
    struct names               n = { r, p, map_in(r->a) };
    size_t                     k = 0;

    while (!sv_is(p->kind, lists[k].kind))
        k++;
    if (lists[k].of_thread && !p->thread.n)
        return err_set(e, ST_USAGE, "%s names are those of a thread: thread is missing",
                       lists[k].kind);
    r->log.wanted = lists[k].view;
    if (log_begin(&r->log, lists[k].of_thread ? p->thread : GLOBAL_THREAD, STORE_READ, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    enum status s = lists[k].put(&n, e);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    log_abort(&r->log);
    return s;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        term_f(t, SV_FMT "\n", SV_ARG(json_text(&items->items[i], "name")));
}

const struct operation op_name_list = {
    .name = "name.list",
    .summary = "List the names of threads, lanes, agents, nodes or objectives",
    .group = GROUP_DOORS,
    .needs = NEEDS_LOG,
    .params = params,
    .params_size = sizeof(struct names_params),
    .answer = answer,
    .run = run,
    .print = print,
};
