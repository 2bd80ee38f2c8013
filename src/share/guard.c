/* Hashes of the files that a thread may only read, before and after a worker ran. */
#include "share/guard.h"

#include "base/map.h"
#include "share/asset.h"
#include "share/share_internal.h"

static enum status add(struct share *s, struct guarded_list *out, struct guarded g, struct err *e)
{
    int64_t     size;
    enum status r = object_hash_of(s, g.path, &g.hash, &size, e);

    if (r && r != ST_NOT_FOUND)
        return r;
    if (r)
        g.hash = (struct sv){ 0 };
    *vec_push(&out->list, s->a) = g;
    return ST_OK;
}

static enum status add_ref(struct share *s, const struct share_ref *r, struct guarded_list *out,
                           struct err *e)
{
    struct scope_files files = { 0 };
    size_t             n_warnings = s->warnings.n;

    for (size_t i = 0; r->frozen && i < r->n_files; i++) {
        struct sv path = share_path(r->from, "context/inherited", r->files[i].place, s->a);
        if (add(s, out, (struct guarded){ .path = path, .owner = r->target, .frozen = true }, e))
            return err_code(e);
    }
    if (!r->frozen && share_scope_collect(s, r->target, r->scope, r->n_scope, &files, e))
        return err_code(e);
    s->warnings.n = n_warnings; /* missing files of a scope are reported elsewhere */
    for (size_t i = 0; i < files.list.n; i++) {
        struct sv path = share_path(r->target, "", files.list.v[i].source, s->a);
        if (add(s, out, (struct guarded){ .path = path, .owner = r->target }, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status guard_take(struct share *s, struct sv thread, struct guarded_list *out, struct err *e)
{
    struct share_ref *refs;
    size_t            n;

    *out = (struct guarded_list){ 0 };
    if (share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (add_ref(s, &refs[i], out, e))
            return err_code(e);
    return ST_OK;
}

/* The hash that the log gives a frozen copy; absent: none. */
static struct sv logged(struct share *s, const struct share_ref *refs, size_t n, struct sv path)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            if (sv_eq(share_path(refs[i].from, "context/inherited", refs[i].files[k].place, s->a),
                      path))
                return refs[i].files[k].hash;
    return (struct sv){ 0 };
}

static bool same_hash(struct sv a, struct sv b)
{
    return a.n == b.n && (!a.n || sv_eq(a, b));
}

enum status guard_changed(struct share *s, struct sv thread, const struct guarded_list *before,
                          struct guarded_list *out, struct err *e)
{
    struct guarded_list now;
    struct map          known = map_in(s->a), told = map_in(s->a);
    struct share_ref   *refs;
    size_t              n;

    *out = (struct guarded_list){ 0 };
    if (guard_take(s, thread, &now, e) || share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < before->list.n; i++) {
        struct guarded g = before->list.v[i];
        struct sv      was = g.hash;
        map_put(&known, g.path, out);
        if (map_has(&told, g.path))
            continue;
        map_put(&told, g.path, out);
        struct guarded_list one = { 0 };
        if (add(s, &one, g, e))
            return err_code(e);
        if (!same_hash(was, one.list.v[0].hash) &&
            !(g.frozen && same_hash(one.list.v[0].hash, logged(s, refs, n, g.path))))
            *vec_push(&out->list, s->a) = one.list.v[0];
    }
    for (size_t i = 0; i < now.list.n; i++) /* put into another thread's directory */
        if (!now.list.v[i].frozen && !map_has(&known, now.list.v[i].path))
            *vec_push(&out->list, s->a) = now.list.v[i];
    return ST_OK;
}
