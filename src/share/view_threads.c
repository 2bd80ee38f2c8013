/* The fold: operations on objectives and threads, and what is said to a thread. */
#include "share/view_internal.h"

enum status view_fold_objective(struct view_op *o)
{
    struct arena          *a = o->f->a;
    struct share_objective obj = { .id = view_text(o, "id"),
                                   .title = view_text(o, "title"),
                                   .created = o->n->at,
                                   .updated = o->n->at,
                                   .seq = o->n->seq };
    struct store_row      *members;
    struct share_thread    t;
    bool                   found;
    size_t                 n;

    /* Threads may have named it before it came. */
    if (view_rows_of(o, key_below_name("member", obj.id, a), &members, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++) {
        struct sv id = sv_cut_last(members[i].key, '/').tail;
        if (view_find_thread(o, id, &t, &found))
            return err_code(o->e);
        obj.threads += found;
        obj.open += found && !share_thread_has_ended(t.status);
    }
    if (view_put(o, key_of_name("obj", obj.id, a), share_objective_row(&obj, a)) ||
        view_del(o, key_of_name("objgone", obj.id, a)) ||
        view_put(o, key_of_seq("objorder", obj.seq, a), obj.id))
        return err_code(o->e);
    return view_change_meta(o, 0, 1, true);
}

enum status view_fold_objective_delete(struct view_op *o)
{
    struct arena          *a = o->f->a;
    struct sv              key = key_of_name("obj", view_text(o, "id"), a), row;
    struct share_objective obj;
    bool                   found;

    if (view_get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (share_objective_read(row, a, &obj, o->e) || view_del(o, key) ||
        view_del(o, key_of_seq("objorder", obj.seq, a)) ||
        view_put(o, key_of_name("objgone", obj.id, a), view_seq_text(o->n->at, a)))
        return err_code(o->e);
    return view_change_meta(o, 0, -1, true);
}

enum status view_fold_spawn(struct view_op *o)
{
    const struct json  *copied = json_find(o->p, "inherited");
    struct share_thread t = {
        .id = view_text(o, "thread_id"),
        .title = view_text(o, "intent"),
        .objective = view_text(o, "objective"),
        .parent = view_text(o, "parent_id"),
        .executor = view_text(o, "executor"),
        .mode = view_text(o, "mode"),
        .tags = view_text(o, "tags"),
        .status = THREAD_ACTIVE,
        .created = o->n->at,
        .updated = o->n->at,
        .seq = o->n->seq,
    };
    struct share_ref r;

    if (view_add_thread(o, &t) || view_mend(o, t.id))
        return err_code(o->e);
    if (t.parent.s) {
        struct sb b = sb_in(o->f->a, 0);
        sb_addc(&b, '[');
        sb_add_json_string(&b, t.parent);
        sb_addc(&b, ']');
        if (view_put(o, key_of_name("dep", t.id, o->f->a), sb_sv(&b)))
            return err_code(o->e);
    }
    if (!json_is(copied, JSON_OBJECT))
        return ST_OK;
    if (share_ref_of_json(copied, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    return view_save_ref(o, &r);
}

/* lifecycle and transfer: `to` is the new status, `executor` perhaps the new executor. */
enum status view_fold_status(struct view_op *o)
{
    struct share_thread t;
    enum thread_status  to;
    bool                found;

    if (view_find_thread(o, view_text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found || !thread_status_of(view_text(o, "to"), &to))
        return ST_OK;
    if (view_text(o, "executor").n)
        t.executor = view_text(o, "executor");
    if (view_set_status(o, &t, to))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

enum status view_fold_rename(struct view_op *o)
{
    struct sv           id = view_text(o, "thread_id");
    struct share_thread t;
    bool                found;

    if (view_find_thread(o, id, &t, &found) || (!found && view_find_log_thread(o, id, &t)))
        return err_code(o->e);
    t.title = view_text(o, "title");
    if (!found)
        return view_save_log_thread(o, &t);
    t.updated = o->n->at;
    return view_save_thread(o, &t) ? err_code(o->e) : view_change_meta(o, 0, 0, false);
}

/* The one state that a thread which only has a log can be in. The files of other programs say
 * nothing of such a thread, so this is not a `lifecycle`, which those files would show. */
enum status view_fold_log_archive(struct view_op *o)
{
    struct sv           id = view_text(o, "thread_id");
    struct share_thread t;
    bool                found;

    if (view_find_thread(o, id, &t, &found) || (!found && view_find_log_thread(o, id, &t)))
        return err_code(o->e);
    if (found)
        return ST_OK;
    t.status = THREAD_ARCHIVED;
    return view_save_log_thread(o, &t);
}

enum status view_fold_session(struct view_op *o)
{
    struct share_thread t;
    bool                found;

    if (view_find_thread(o, view_text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    t.session = view_text(o, "session_id");
    t.updated = o->n->at;
    return view_save_thread(o, &t) ? err_code(o->e) : view_change_meta(o, 0, 0, false);
}

enum status view_add_injection(struct view_op *o, struct sv thread, struct sv actor, struct sv type,
                               struct sv content)
{
    struct sb b = sb_in(o->f->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "actor", actor);
    jw_kint(&w, "at", o->n->at);
    jw_kstr(&w, "content", content);
    jw_kint(&w, "seq", o->n->seq);
    jw_kstr(&w, "type", type);
    jw_close(&w, '}');
    if (view_put(o, key_of_name_seq("inject", thread, o->n->seq, o->f->a), sb_sv(&b)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

enum status view_fold_inject(struct view_op *o)
{
    return view_add_injection(o, view_text(o, "thread_id"), o->n->actor, view_text(o, "type"),
                              view_text(o, "content"));
}

enum status view_fold_deliver(struct view_op *o)
{
    const struct json *list = json_find(o->p, "injections");
    int64_t            seq;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        if (json_int(&list->items[i], &seq) &&
            view_del(o, key_of_name_seq("inject", view_text(o, "thread_id"), seq, o->f->a)))
            return err_code(o->e);
    return ST_OK;
}

enum status view_fold_worker(struct view_op *o)
{
    return view_put(o, key_of_name("worker", view_text(o, "thread_id"), o->f->a),
                    json_canonical(o->p, o->f->a));
}

enum status view_fold_remove(struct view_op *o)
{
    struct arena       *a = o->f->a;
    struct share_thread t;
    struct store_row   *rows;
    bool                found;
    size_t              n;

    if (view_del(o, key_of_name("log", view_text(o, "thread_id"), a)) ||
        view_find_thread(o, view_text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (view_drop_thread(o, &t) || view_rows_of(o, key_below_name("to", t.id, a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (view_drop_edge(o, t.id, rows[i].value))
            return err_code(o->e);
    if (view_drop_refs(o, "inh", t.id, (struct sv){ 0 }) ||
        view_drop_refs(o, "kept", t.id, (struct sv){ 0 }) ||
        view_del(o, key_of_name("dep", t.id, a)) ||
        view_rows_of(o, key_below_name("by", t.id, a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (view_put(o, key_of_names("broken", rows[i].value, t.id, a),
                     view_seq_text(o->n->seq, a)))
            return err_code(o->e);
    return ST_OK;
}
