/* objective.create, objective.delete, objective.list, objective.status: the goals that threads work
 * on. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/path.h"
#include "share/operation.h"

/* ---- create, delete ------------------------------------------------------------------ */

struct create_params {
    struct sv title, id, id_from, op_id;
};

/* clang-format off */
static const struct param create_params[] = {
    { "title", PARAM_TEXT, offsetof(struct create_params, title), .required = true, .value = "TITLE", .help = "what is to be reached" },
    { "id",    PARAM_TEXT, offsetof(struct create_params, id),    .value = "ID", .help = "take this id instead of making one" },
    { "id_from", PARAM_ENUM, offsetof(struct create_params, id_from), .values = share_id_sources, .fallback = "title", .help = "what an id is made from when none is given: the title, or chance" },
    PARAM_ONCE(struct create_params),
    { 0 },
};
static const struct field created[] = {
    { "id",      FIELD_TEXT, .help = "name of the objective" },
    { "title",   FIELD_TEXT, .help = "what is to be reached" },
    { "log_dir", FIELD_TEXT, .help = "the directory for logs of programs that work towards it" },
    { 0 },
};
/* clang-format on */

static enum status create(struct request *r, const void *params, struct err *e)
{
    const struct create_params *p = params;
    struct share                s;
    struct sv                   id;
    struct objective_request    q = { .title = p->title,
                                      .id = p->id,
                                      .random_id = sv_is(p->id_from, "random") };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_objective_create(&s, &q, &id, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "id", id);
    jw_kstr(r->doc, "title", p->title);
    jw_kstr(r->doc, "log_dir",
            path_join(path_join(r->ws->root, SV(".leslie/logs"), r->a), id, r->a));
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_id(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT "\n", SV_ARG(json_text(doc, "id")));
}

const struct operation op_objective_create = {
    .name = "objective.create",
    .summary = "Make an objective, and print its id",
    .details = "Without --id the id is made from the title: this one would be ship-the-lexer.\n\n"
               "  heddle objective create 'Ship the lexer' --id lexer",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = create_params,
    .params_size = sizeof(struct create_params),
    .answer = created,
    .run = create,
    .print = print_id,
};

struct id_params {
    struct sv id, op_id;
};

/* clang-format off */
#define OBJECTIVE { "id", PARAM_TEXT, offsetof(struct id_params, id), .required = true, .value = "ID", .help = "the objective" }
static const struct param id_params[] = { OBJECTIVE, { 0 } };
static const struct param delete_params[] = { OBJECTIVE, PARAM_ONCE(struct id_params), { 0 } };
static const struct field deleted[] = {
    { "id",      FIELD_TEXT, .help = "the objective" },
    { "deleted", FIELD_FLAG, .help = "that it is gone" },
    { 0 },
};
/* clang-format on */

static enum status delete (struct request *r, const void *params, struct err *e) {
    const struct id_params *p = params; struct share s;

    if (share_call_begin(r, &s, STORE_WRITE, e) ||
        share_objective_delete(&s, p->id, e)) return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "id", p->id);
    jw_kbool(r->doc, "deleted", true);
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_deleted(const struct json *doc, struct term *t)
{
    term_f(t, "deleted " SV_FMT "\n", SV_ARG(json_text(doc, "id")));
}

const struct operation op_objective_delete = {
    .name = "objective.delete",
    .summary = "Delete an objective that has no threads",
    .details = "`heddle objective create TITLE --id ID` makes it again.\n\n"
               "  heddle objective create 'By mistake' --id mistake\n"
               "  heddle objective delete mistake",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = delete_params,
    .params_size = sizeof(struct id_params),
    .answer = deleted,
    .run = delete,
    .print = print_deleted,
};

/* ---- list ---------------------------------------------------------------------------- */

static const struct field listed[] = {
    { "items", FIELD_LIST, .of = objective_fields, .help = "the objectives, as they were made" },
    { 0 },
};

static enum status list(struct request *r, const void *params, struct err *e)
{
    struct share            s;
    struct share_objective *all;
    size_t                  n;

    (void)params;
    if (share_call_begin(r, &s, STORE_READ, e) || share_objectives(&s, r->a, &all, &n, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(r->doc, '{');
        if (objective_members(r->doc, &s, &all[i], e))
            return share_call_fail(r, &s, e);
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

static void print_list(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "OBJECTIVE", "STATUS", "THREADS", "TITLE", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *o = &items->items[i];
        struct sb          count = sb_in(t->a, 0);
        sb_addf(&count, "%lld (%lld open)", share_doc_number(o, "threads"),
                share_doc_number(o, "open"));
        term_row(&table, t->a,
                 (struct sv[]){ json_text(o, "id"), json_text(o, "status"), sb_sv(&count),
                                json_text(o, "title") });
    }
    term_table(&table, t);
    if (!items->n)
        term_f(t, "no objectives yet; `heddle objective create TITLE` makes one\n");
}

const struct operation op_objective_list = {
    .name = "objective.list",
    .summary = "List the objectives",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .answer = listed,
    .run = list,
    .print = print_list,
};

/* ---- status -------------------------------------------------------------------------- */

static const struct field objective_thread[] = {
    { "id", FIELD_TEXT, .help = "the thread" },
    { "status", FIELD_ENUM, .values = thread_states, .help = "its state" },
    { "title", FIELD_TEXT, .nullable = true, .help = "what it is for" },
    { 0 },
};
static const struct field shown[] = {
    OBJECTIVE_FIELDS,
    { "items", FIELD_LIST, .of = objective_thread, .help = "its threads, as they were made" },
    { 0 },
};

static enum status put_threads(struct share *s, struct sv objective, struct jw *w, struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (share_ids(s, SHARE_MEMBERS, objective, s->a, &ids, &n, e))
        return err_code(e);
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        struct share_thread t;
        if (share_thread(s, ids[i], &t, e))
            return err_code(e);
        jw_open(w, '{');
        jw_kstr(w, "id", t.id);
        jw_kstr(w, "status", sv_of(thread_status_name(t.status)));
        jw_kstr(w, "title", t.title);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    return ST_OK;
}

static enum status status(struct request *r, const void *params, struct err *e)
{
    const struct id_params *p = params;
    struct share            s;
    struct share_objective  o;

    if (share_call_begin(r, &s, STORE_READ, e) || share_objective(&s, p->id, &o, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    if (objective_members(r->doc, &s, &o, e) || put_threads(&s, o.id, r->doc, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

static void print_status(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "THREAD", "STATUS", "TITLE", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    term_f(t, SV_FMT "  " SV_FMT "\n", SV_ARG(json_text(doc, "id")),
           SV_ARG(json_text(doc, "status")));
    term_text(t, json_text(doc, "title"));
    term_f(t, "\nthreads: %lld, open: %lld\n", share_doc_number(doc, "threads"),
           share_doc_number(doc, "open"));
    for (size_t i = 0; i < items->n; i++)
        term_row(&table, t->a,
                 (struct sv[]){ json_text(&items->items[i], "id"),
                                json_text(&items->items[i], "status"),
                                json_text(&items->items[i], "title") });
    if (items->n)
        term_f(t, "\n");
    term_table(&table, t);
}

const struct operation op_objective_status = {
    .name = "objective.status",
    .summary = "Show an objective and its threads",
    .details = "An objective is completed when it has threads and all of them have ended.\n\n"
               "  heddle objective status parser",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .params = id_params,
    .params_size = sizeof(struct id_params),
    .answer = shown,
    .run = status,
    .print = print_status,
};
