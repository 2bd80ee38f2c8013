/* Dropping references, changing their binding, restoring them; deleting objectives.
 *
 * What a reference was before is kept with the content of its copies (the rows kept/), so that each
 * of these can be undone: unreference by rebind, rebind by rebind --as-before, the deletion of an
 * objective by making it again. */
#include "share/operation.h"

#include "share/operation_internal.h"

static bool is_meant(const struct share_ref *r, struct sv target, struct sv id)
{
    return (!target.s || sv_eq(r->target, target)) && (!id.s || sv_eq(r->id, id));
}

static enum status none_such(struct sv from, struct sv target, struct sv id, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "Thread '" SV_FMT "' has no reference %s" SV_FMT, SV_ARG(from),
            id.s ? "" : "to ", SV_ARG(id.s ? id : target));
    err_reason(e, "reference");
    return err_hint(e, "`heddle status " SH_FMT "` shows those it has", SV_ARG(from));
}

/* References of a thread: the current ones, or those that were dropped or had another binding. */
static enum status refs_meant(struct share *s, struct sv from, struct sv target, struct sv id,
                              bool kept, struct ref_list *out, struct err *e)
{
    struct share_ref *refs;
    struct sv        *rows;
    size_t            n;

    if (!kept && share_refs(s, from, true, s->a, &refs, &n, e))
        return err_code(e);
    if (kept) {
        if (share_rows_below(s, key_below_name("kept", from, s->a), false, s->a, &rows, &n, e))
            return err_code(e);
        refs = ARENA_NEW(s->a, struct share_ref, n + 1);
        for (size_t i = 0; i < n; i++)
            if (share_ref_read(rows[i], s->a, &refs[i], e))
                return err_code(e);
    }
    for (size_t i = 0; i < n; i++)
        if (is_meant(&refs[i], target, id))
            *vec_push(&out->list, s->a) = refs[i];
    return ST_OK;
}

static enum status check_request(struct share *s, struct sv from, struct sv target, struct sv id,
                                 struct err *e)
{
    struct share_thread t;

    if (!target.s && !id.s) {
        err_set(e, ST_USAGE, "which reference? give --target or --ref");
        return err_hint(e, "`heddle status " SH_FMT "` shows them", SV_ARG(from));
    }
    return share_thread(s, from, &t, e);
}

/* ---- unreference ------------------------------------------------------------------------------
 */

enum status share_unreference(struct share *s, struct sv from, struct sv target, struct sv id,
                              struct ref_list *out, struct err *e)
{
    static const struct share_ref none;

    *out = (struct ref_list){ 0 };
    if (check_request(s, from, target, id, e) || refs_meant(s, from, target, id, false, out, e))
        return err_code(e);
    if (!out->list.n)
        return none_such(from, target, id, e);
    for (size_t i = 0; i < out->list.n; i++) {
        struct sb        b;
        struct share_ref r = out->list.v[i];
        struct jw        w = share_op_start(s, &b, "unreference");
        r.n_files = 0; /* the log has them */
        share_ref_write(&w, &r);
        share_op_gone(&w, &out->list.v[i], &none, s->a, NULL);
        if (share_op_finish(s, &w, &b, e))
            return err_code(e);
    }
    return ST_OK;
}

/* ---- rebind -------------------------------------------------------------------------------------
 */

static enum status append_rebind(struct share *s, const struct share_ref *old,
                                 const struct share_ref *now, struct err *e)
{
    static const struct share_ref none;
    struct sb                     b;
    struct jw                     w = share_op_start(s, &b, "rebind");

    share_ref_write(&w, now);
    if (now->at)
        jw_kint(&w, "at", now->at);
    share_op_gone(&w, old ? old : &none, now, s->a, NULL);
    return share_op_finish(s, &w, &b, e);
}

/* Take copies (frozen) or names (live) of the present files. */
static enum status fill(struct share *s, struct share_ref *r, struct err *e)
{
    struct share_thread t;
    bool                found, gone;

    r->files = NULL;
    r->n_files = 0;
    r->at = 0;
    if (share_thread_find(s, r->target, &t, &found, e) ||
        share_source_is_gone(s, r->target, found, &gone, e))
        return err_code(e);
    r->missing = !found;
    if (r->frozen && gone) {
        err_set(e, ST_CONFLICT, "there is nothing to freeze: thread '" SV_FMT "' %s",
                SV_ARG(r->target), found ? "has no directory" : "does not exist");
        return err_reason(e, "source_gone");
    }
    if (r->frozen)
        return snapshot_take(s, r, NULL, e);
    return found ? reference_live_names(s, r, e) : ST_OK;
}

/* Refuse a reference that would be equal to an existing one. */
static enum status check_double(struct share *s, const struct share_ref *r, struct err *e)
{
    struct share_ref *refs;
    size_t            n;

    if (share_refs(s, r->from, true, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!sv_eq(refs[i].id, r->id) && share_ref_repeats(&refs[i], r)) {
            err_set(e, ST_CONFLICT, "reference " SV_FMT " is the same already", SV_ARG(refs[i].id));
            err_reason(e, "exists");
            return err_hint(e,
                            "`heddle unreference --from " SH_FMT " --ref " SH_FMT
                            "` drops the one that is not needed",
                            SV_ARG(r->from), SV_ARG(r->id));
        }
    return ST_OK;
}

static enum status bind_current(struct share *s, const struct rebind_request *q,
                                const struct share_ref *old, struct ref_list *out, struct err *e)
{
    struct share_ref now = *old;
    struct ref_list  before = { 0 };

    if (q->as_before) {
        if (refs_meant(s, q->from, old->target, old->id, true, &before, e))
            return err_code(e);
        if (!before.list.n)
            return ST_OK;
        now = before.list.v[0];
    } else {
        now.frozen = q->frozen;
        if (now.frozen == old->frozen)
            return ST_OK;
    }
    if (check_double(s, &now, e) || (!q->as_before && fill(s, &now, e)) ||
        append_rebind(s, old, &now, e))
        return err_code(e);
    *vec_push(&out->list, s->a) = now;
    return ST_OK;
}

/* As it was when it was dropped, unless a binding is given. */
static enum status bind_dropped(struct share *s, const struct rebind_request *q,
                                const struct share_ref *kept, struct ref_list *out, struct err *e)
{
    struct share_ref now = *kept;
    bool             anew = !now.frozen;

    if (q->has_binding && q->frozen != now.frozen) {
        now.frozen = q->frozen;
        anew = true;
    }
    if ((!now.inherit && share_check_cycle(s, now.from, now.target, "--target", e)) ||
        check_double(s, &now, e) || (anew && fill(s, &now, e)) || append_rebind(s, NULL, &now, e))
        return err_code(e);
    *vec_push(&out->list, s->a) = now;
    return ST_OK;
}

/* Of dropped references that differ in nothing but their age, the newest is meant. */
static bool is_newest(const struct ref_list *all, const struct share_ref *r)
{
    for (size_t i = 0; i < all->list.n; i++)
        if (all->list.v[i].seq > r->seq && sv_eq(all->list.v[i].target, r->target) &&
            share_ref_repeats(&all->list.v[i], r))
            return false;
    return true;
}

enum status share_rebind(struct share *s, const struct rebind_request *q, struct ref_list *out,
                         struct err *e)
{
    struct ref_list current = { 0 }, dropped = { 0 };

    *out = (struct ref_list){ 0 };
    if (check_request(s, q->from, q->target, q->id, e) ||
        refs_meant(s, q->from, q->target, q->id, false, &current, e) ||
        (!current.list.n && refs_meant(s, q->from, q->target, q->id, true, &dropped, e)))
        return err_code(e);
    if (!current.list.n && !dropped.list.n)
        return none_such(q->from, q->target, q->id, e);
    if (current.list.n && !q->has_binding && !q->as_before)
        return err_set(e, ST_USAGE,
                       "bind it how? give --binding live, --binding frozen or "
                       "--as-before");
    for (size_t i = 0; i < current.list.n; i++)
        if (bind_current(s, q, &current.list.v[i], out, e))
            return err_code(e);
    for (size_t i = 0; i < dropped.list.n; i++)
        if (is_newest(&dropped, &dropped.list.v[i]) &&
            bind_dropped(s, q, &dropped.list.v[i], out, e))
            return err_code(e);
    return ST_OK;
}

/* ---- objectives ---------------------------------------------------------------------------------
 */

enum status share_objective_delete(struct share *s, struct sv id, struct err *e)
{
    struct share_objective o;
    struct sb              b;

    if (share_objective(s, id, &o, e))
        return err_code(e);
    if (o.threads) {
        err_set(e, ST_CONFLICT, "Objective '" SV_FMT "' has %lld thread%s", SV_ARG(id),
                (long long)o.threads, o.threads == 1 ? "" : "s");
        err_reason(e, "not_empty");
        return err_hint(e,
                        "only an objective without threads can be deleted; `heddle objective "
                        "status " SV_FMT "` shows them",
                        SV_ARG(id));
    }
    struct jw w = share_op_start(s, &b, "objective_delete");
    jw_kstr(&w, "id", id);
    jw_kstr(&w, "title", o.title);
    return share_op_finish(s, &w, &b, e);
}
