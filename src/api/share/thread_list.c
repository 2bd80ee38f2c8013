/* thread.list: which threads there are. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/map.h"
#include "thread/scan.h"

struct list_params {
    struct sv status, objective, parent;
    bool      shared;
};

/* clang-format off */
static const struct param params[] = {
    { "status",    PARAM_ENUM, offsetof(struct list_params, status),    .value = "STATUS", .values = thread_states, .help = "only threads in this state" },
    { "objective", PARAM_TEXT, offsetof(struct list_params, objective), .value = "ID", .help = "only threads of this objective" },
    { "parent",    PARAM_TEXT, offsetof(struct list_params, parent),    .value = "T",  .help = "only children of this thread" },
    { "shared",    PARAM_FLAG, offsetof(struct list_params, shared),    .help = "only threads that share work: those made with spawn" },
    { 0 },
};
static const struct field answer[] = {
    { "items",    FIELD_LIST, .of = thread_fields, .help = "the threads, in the order in which they were made; then those that only have a log, by id" },
    { "filtered", FIELD_FLAG, .help = "whether only some of the threads were asked for" },
    { 0 },
};
/* clang-format on */

struct listing {
    struct jw                *w;
    const struct list_params *p;
    struct map                logs; /* id → struct store_thread; without those that were listed */
};

static bool is_filtered(const struct list_params *p)
{
    return p->status.s || p->objective.s || p->parent.s || p->shared;
}

static enum status each(void *ctx, const struct share_thread *t, struct err *e)
{
    struct listing            *l = ctx;
    const struct list_params  *p = l->p;
    const struct store_thread *own = map_find(&l->logs, t->id);

    (void)e;
    if (own)
        map_put(&l->logs, t->id, NULL);
    if ((p->status.s && !sv_is(p->status, thread_status_name(t->status))) ||
        (p->objective.s && !sv_eq(p->objective, t->objective)) ||
        (p->parent.s && !sv_eq(p->parent, t->parent)))
        return ST_OK;
    jw_open(l->w, '{');
    thread_members(l->w, t, own ? own->head.rev : 0);
    jw_close(l->w, '}');
    return ST_OK;
}

/* Threads that the log knows; those of the program itself begin with a dot. */
static enum status find_logs(struct request *r, struct share *s, struct listing *l, struct err *e)
{
    struct store_thread *all;
    size_t               n;
    struct err           why;

    l->logs = map_in(s->a);
    if (log_threads(s->log, s->a, &all, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (sv_starts(all[i].id, SV(".")))
            continue;
        map_put(&l->logs, all[i].id, &all[i]);
        if (log_thread_ends_whole(&all[i], &why))
            request_warn(r, (struct sv){ 0 }, all[i].id, "%s", why.text);
    }
    return ST_OK;
}

/* Of those that only have a log a filter can ask for the archived ones. */
static enum status put_logs(struct share *s, struct listing *l, struct err *e)
{
    const struct list_params *p = l->p;
    struct map                said = map_in(s->a);
    struct share_thread      *list;
    size_t                    n;

    if (p->objective.s || p->parent.s || p->shared)
        return ST_OK;
    if (share_log_threads(s, s->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        map_put(&said, list[i].id, &list[i]);
    for (size_t i = 0; i < l->logs.n; i++) {
        const struct store_thread *t = l->logs.items[i].value;
        const struct share_thread *of = t ? map_find(&said, t->id) : NULL;
        bool                       archived = of && of->status == THREAD_ARCHIVED;
        if (!t || (p->status.s && !(archived && sv_is(p->status, "archived"))))
            continue;
        jw_open(l->w, '{');
        log_thread_members(l->w, s, t->id, &t->head, of);
        jw_close(l->w, '}');
    }
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct list_params *p = params_given;
    struct listing            l = { .w = r->doc, .p = p };
    struct share              s;

    if (share_call_begin(r, &s, STORE_READ, e) || find_logs(r, &s, &l, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    if (share_threads(&s, each, &l, e) || put_logs(&s, &l, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, ']');
    jw_kbool(r->doc, "filtered", is_filtered(p));
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

/* What stands for the title of a thread that nobody gave one. */
static struct sv title_of(const struct json *item, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    int64_t   n = json_number(item, "entries");

    if (json_text(item, "title").s || !share_doc_is_log(item))
        return json_text(item, "title");
    sb_addc(&b, '(');
    sb_add_commas(&b, n);
    sb_adds(&b, n == 1 ? " entry)" : " entries)");
    return sb_sv(&b);
}

/* A cell of what is not known of a thread that only has a log. */
static struct sv known(const struct json *item, const char *key)
{
    struct sv v = json_text(item, key);

    return v.s || !share_doc_is_log(item) ? v : SV("-");
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const heads[] = {
        "THREAD", "STATUS", "EXECUTOR", "OBJECTIVE", "TITLE", NULL
    };
    const struct json *items = json_find(doc, "items");
    struct term_table  table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *item = &items->items[i];
        term_row(&table, t->a,
                 (struct sv[]){ json_text(item, "id"), known(item, "status"),
                                known(item, "executor"), known(item, "objective"),
                                title_of(item, t->a) });
    }
    term_table(&table, t);
    if (!items->n)
        term_f(t, "%s\n",
               json_truth(json_find(doc, "filtered"))
                   ? "no such threads; `heddle list` shows all"
                   : "no threads; `heddle spawn --intent TEXT --objective ID` makes one");
}

const struct operation op_thread_list = {
    .name = "thread.list",
    .summary = "List the threads",
    .details =
        "Those that were made with `heddle spawn`, then those that only have a log, from\n"
        "`heddle log append`, `heddle say` or a run: of these only the number of entries is\n"
        "known, and what `heddle thread rename` and `thread archive` said of them.\n"
        "\n"
        "  heddle list --objective parser --status active",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .params = params,
    .params_size = sizeof(struct list_params),
    .answer = answer,
    .run = run,
    .print = print,
};
