/* thread.list: which threads there are. */
#include "api/share_call.h"
#include "api/term.h"

struct list_params {
    struct sv status, objective, parent;
};

/* clang-format off */
static const struct param params[] = {
    { "status",    PARAM_ENUM, offsetof(struct list_params, status),    .value = "STATUS", .values = thread_states, .help = "only threads in this state" },
    { "objective", PARAM_TEXT, offsetof(struct list_params, objective), .value = "ID", .help = "only threads of this objective" },
    { "parent",    PARAM_TEXT, offsetof(struct list_params, parent),    .value = "T",  .help = "only children of this thread" },
    { 0 },
};
static const struct field answer[] = {
    { "items",    FIELD_LIST, .of = thread_fields, .help = "the threads, in the order in which they were made" },
    { "filtered", FIELD_FLAG, .help = "whether only some of the threads were asked for" },
    { 0 },
};
/* clang-format on */

struct listing {
    struct jw                *w;
    const struct list_params *p;
};

static enum status each(void *ctx, const struct share_thread *t, struct err *e)
{
    struct listing           *l = ctx;
    const struct list_params *p = l->p;

    (void)e;
    if ((p->status.s && !sv_is(p->status, thread_status_name(t->status))) ||
        (p->objective.s && !sv_eq(p->objective, t->objective)) ||
        (p->parent.s && !sv_eq(p->parent, t->parent)))
        return ST_OK;
    jw_open(l->w, '{');
    thread_members(l->w, t);
    jw_close(l->w, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct list_params *p = params_given;
    struct listing            l = { r->doc, p };
    struct share              s;

    if (share_call_begin(r, &s, STORE_READ, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    if (share_threads(&s, each, &l, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, ']');
    jw_kbool(r->doc, "filtered", p->status.s || p->objective.s || p->parent.s);
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
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
                 (struct sv[]){ json_text(item, "id"), json_text(item, "status"),
                                json_text(item, "executor"), json_text(item, "objective"),
                                json_text(item, "title") });
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
    .details = "Those that were made with `heddle spawn`. Threads that only have a log, from\n"
               "`heddle log append` or `heddle say`, are in `heddle stats`.\n"
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
