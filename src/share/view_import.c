/* The fold: what other programs wrote into the files, as imports have it. */
#include "share/record.h"
#include "share/view_internal.h"

#include "base/path.h"

/* An inject that another program wrote into operations[]: it is delivered like one of heddle's. */
static enum status fold_foreign_inject(struct view_op *o)
{
    struct json         record;
    struct share_thread t;
    struct err          ignored;
    bool                found;

    if (json_parse(view_text(o, "record"), 0, o->f->a, &record, &ignored))
        return view_change_meta(o, 0, 0, false);
    const struct json *params = json_find(&record, "params");
    struct sv          thread = json_text(params, "thread_id"), type = json_text(params, "type");
    if (name_check(thread, "thread", &ignored) || name_check(type, "type", &ignored))
        return view_change_meta(o, 0, 0, false);
    if (view_find_thread(o, thread, &t, &found))
        return err_code(o->e);
    if (!found || !json_text(params, "content").n)
        return view_change_meta(o, 0, 0, false);
    return view_add_injection(o, thread, json_text(&record, "operator"), type,
                              json_text(params, "content"));
}

static void thread_of_import(struct view_op *o, const struct json *r, struct share_thread *t)
{
    t->created = t->updated = o->n->at;
    t->status = THREAD_ACTIVE;
    record_of_entry(r, &record_thread, o->f->a, t);
    if (!t->executor.n)
        t->executor = SV("agent");
}

static enum status import_thread(struct view_op *o)
{
    struct share_thread old, t = { .seq = o->n->seq };
    bool                found;

    thread_of_import(o, o->p, &t);
    if (view_find_thread(o, t.id, &old, &found))
        return err_code(o->e);
    if (found) {
        t.seq = old.seq;
        t.mode = old.mode;
        if (view_drop_thread(o, &old))
            return err_code(o->e);
    }
    return view_add_thread(o, &t) ? err_code(o->e) : view_mend(o, t.id);
}

static enum status import_objective(struct view_op *o)
{
    struct share_objective old = { 0 };
    struct sv              key = key_of_name("obj", view_text(o, "id"), o->f->a), row;
    bool                   found;

    if (view_get(o, key, &row, &found))
        return err_code(o->e);
    if (!found && (view_fold_objective(o) || view_get(o, key, &row, &found)))
        return err_code(o->e);
    if (share_objective_read(row, o->f->a, &old, o->e))
        return err_code(o->e);
    old.extra = old.listed = (struct sv){ 0 };
    record_of_entry(o->p, &record_objective, o->f->a, &old);
    if (view_put(o, key, share_objective_row(&old, o->f->a)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, true);
}

/* A reference that stands in a file: it was made when its operation there says. */
static enum status import_edge(struct view_op *o)
{
    struct share_ref r;

    if (share_ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    if (!r.at)
        r.at = o->n->at;
    if (view_save_ref(o, &r) ||
        (!r.inherit && view_add_edge(o, r.from, r.target, r.missing, o->n->seq)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

static enum status import_relation(struct view_op *o)
{
    struct arena      *a = o->f->a;
    struct sv          id = view_text(o, "id");
    const struct json *gone = json_find(o->p, "remove");

    for (size_t i = 0; json_is(gone, JSON_ARRAY) && i < gone->n; i++)
        if (view_drop_edge(o, id, json_sv(&gone->items[i])))
            return err_code(o->e);
    if (view_text(o, "depends_on").s &&
        view_put(o, key_of_name("dep", id, a), view_text(o, "depends_on")))
        return err_code(o->e);
    if (view_text(o, "extra").s && view_put(o, key_of_name("relx", id, a), view_text(o, "extra")))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

static enum status import_root(struct view_op *o)
{
    struct share_meta m = { 0 };
    struct sv         row;
    bool              found;

    if (view_get(o, SV("meta"), &row, &found) || (found && share_meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    m.extra = view_text(o, "extra");
    m.extra_meta = view_text(o, "extra_meta");
    return view_put(o, SV("meta"), share_meta_row(&m, o->f->a));
}

enum status view_fold_import(struct view_op *o)
{
    struct sv what = view_text(o, "what");

    if (sv_is(what, "thread"))
        return import_thread(o);
    if (sv_is(what, "objective"))
        return import_objective(o);
    if (sv_is(what, "edge"))
        return import_edge(o);
    if (sv_is(what, "unreference"))
        return view_fold_unreference(o);
    if (sv_is(what, "rebind"))
        return view_fold_rebind(o);
    if (sv_is(what, "relation"))
        return import_relation(o);
    if (sv_is(what, "root"))
        return import_root(o);
    if (sv_is(what, "bad")) {
        struct sv key = key_of_names("bad", view_text(o, "section"), view_text(o, "key"), o->f->a);
        return view_text(o, "value").s ? view_put(o, key, view_text(o, "value")) : view_del(o, key);
    }
    if (sv_is(what, "operation") && json_is(json_find(o->p, "deliver"), JSON_TRUE))
        return fold_foreign_inject(o);
    return view_change_meta(o, 0, 0, false); /* "operation": the entry itself is the record */
}
