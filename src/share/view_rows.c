/* The fold: rows of threads and objectives, and the counts that go with them. view.c lists all
 * rows. */
#include "share/view_internal.h"

struct sv view_seq_text(int64_t seq, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_int(&b, seq);
    return sb_sv(&b);
}

enum status view_rows_of(struct view_op *o, struct sv prefix, struct store_row **out, size_t *n)
{
    return rows_below(o->f, prefix, out, n, o->e);
}

enum status view_find_thread(struct view_op *o, struct sv id, struct share_thread *t, bool *found)
{
    struct sv row;

    if (view_get(o, key_of_name("thread", id, o->f->a), &row, found))
        return err_code(o->e);
    return *found ? share_thread_read(row, o->f->a, t, o->e) : ST_OK;
}

enum status view_save_thread(struct view_op *o, const struct share_thread *t)
{
    return view_put(o, key_of_name("thread", t->id, o->f->a), share_thread_row(t, o->f->a));
}

enum status view_find_log_thread(struct view_op *o, struct sv id, struct share_thread *t)
{
    struct sv row;
    bool      found;

    *t = (struct share_thread){ .id = id };
    if (view_get(o, key_of_name("log", id, o->f->a), &row, &found))
        return err_code(o->e);
    return found ? share_thread_read(row, o->f->a, t, o->e) : ST_OK;
}

enum status view_save_log_thread(struct view_op *o, struct share_thread *t)
{
    t->updated = o->n->at;
    return view_put(o, key_of_name("log", t->id, o->f->a), share_thread_row(t, o->f->a));
}

/* When a change was made: an import says when the file was written, so that a clone that only reads
 * gives the files the bytes they have. `in_objective`: the time of the row itself counts. */
static int64_t time_of(struct view_op *o, int64_t not_before, bool in_objective)
{
    int64_t written, updated;

    if (!json_int(json_find(o->p, "written"), &written))
        return o->n->at;
    if (in_objective && json_int(json_find(o->p, "updated"), &updated))
        written = updated;
    return written > not_before ? written : not_before;
}

enum status view_change_meta(struct view_op *o, int threads, int objectives, bool in_objective)
{
    struct share_meta m = { 0 };
    struct sv         row;
    bool              found;

    if (view_get(o, SV("meta"), &row, &found) || (found && share_meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    m.at = time_of(o, m.at, false);
    if (in_objective)
        m.objectives_at = time_of(o, m.objectives_at, true);
    m.threads += threads;
    m.objectives += objectives;
    return view_put(o, SV("meta"), share_meta_row(&m, o->f->a));
}

/* Add to the counts of an objective; one that is not there has none. */
static enum status count_in_objective(struct view_op *o, struct sv id, int threads, int open)
{
    struct sv              key = key_of_name("obj", id, o->f->a), row;
    struct share_objective obj;
    bool                   found;

    if (view_get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (share_objective_read(row, o->f->a, &obj, o->e))
        return err_code(o->e);
    obj.threads += threads;
    obj.open += open;
    obj.updated = time_of(o, obj.updated, true);
    if (view_put(o, key, share_objective_row(&obj, o->f->a)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, true);
}

enum status view_set_status(struct view_op *o, struct share_thread *t, enum thread_status to)
{
    int open = (share_thread_has_ended(to) ? 0 : 1) - (share_thread_has_ended(t->status) ? 0 : 1);

    t->status = to;
    t->updated = o->n->at;
    if (view_save_thread(o, t))
        return err_code(o->e);
    return count_in_objective(o, t->objective, 0, open);
}

enum status view_add_thread(struct view_op *o, const struct share_thread *t)
{
    struct arena *a = o->f->a;

    if (view_save_thread(o, t) || view_del(o, key_of_name("log", t->id, a)) ||
        view_del(o, key_of_names("bad", SV("threads"), t->id, a)) ||
        view_del(o, key_of_names("bad", SV("relations"), t->id, a)) ||
        view_put(o, key_of_names("member", t->objective, t->id, a), SV("")) ||
        count_in_objective(o, t->objective, 1, share_thread_has_ended(t->status) ? 0 : 1))
        return err_code(o->e);
    if (t->parent.s && view_put(o, key_of_name_seq("child", t->parent, t->seq, a), t->id))
        return err_code(o->e);
    return view_change_meta(o, 1, 0, false);
}

enum status view_drop_thread(struct view_op *o, const struct share_thread *t)
{
    struct arena *a = o->f->a;

    if (view_del(o, key_of_name("thread", t->id, a)) ||
        view_del(o, key_of_names("member", t->objective, t->id, a)) ||
        count_in_objective(o, t->objective, -1, share_thread_has_ended(t->status) ? 0 : -1))
        return err_code(o->e);
    if (t->parent.s && view_del(o, key_of_name_seq("child", t->parent, t->seq, a)))
        return err_code(o->e);
    return view_change_meta(o, -1, 0, false);
}
