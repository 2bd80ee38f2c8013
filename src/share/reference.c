/* References: cycles, frozen copies, live names, refresh. */
#include "share/operation.h"

#include "base/map.h"
#include "base/path.h"
#include "base/rand.h"
#include "share/operation_internal.h"

/* ---- cycles -------------------------------------------------------------------------------- */

/* All edges, read once: a chain of a hundred thousand costs one scan. */
struct reference_graph {
    struct map    nodes; /* id → struct reference_node */
    struct arena *a;
};
struct hop {
    struct reference_node *to;
};
struct reference_node {
    struct sv              id;
    struct reference_node *came_from;
    VEC(struct hop) hops;
    bool seen;
};

static struct reference_node *node_of(struct reference_graph *g, struct sv id)
{
    struct reference_node *n = map_find(&g->nodes, id);

    if (!n) {
        n = ARENA_NEW(g->a, struct reference_node, 1);
        n->id = sv_dup(id, g->a);
        map_put(&g->nodes, n->id, n);
    }
    return n;
}

static bool add_hop(void *ctx, const struct store_row *row)
{
    struct reference_graph *g = ctx;
    struct sv_cut           c = sv_cut(sv_cut(row->key, '/').tail, '/'); /* edge/FROM/TO */
    struct reference_node  *from = node_of(g, c.head), *to = node_of(g, c.tail);

    *vec_push(&from->hops, g->a) = (struct hop){ to };
    return true;
}

static enum status read_graph(struct share *s, struct reference_graph *g, struct err *e)
{
    struct rows r = rows_of_share(s, g->a);

    return row_each(&r, SV("edge/"), (struct sv){ 0 }, false, add_hop, g, e);
}

/* Depth first with an explicit stack, so that the depth is not limited. */
static struct reference_node *reach(struct reference_graph *g, struct reference_node *start,
                                    struct reference_node *goal)
{
    VEC(struct hop) todo = { 0 };

    *vec_push(&todo, g->a) = (struct hop){ start };
    start->seen = true;
    while (todo.n) {
        struct reference_node *n = todo.v[--todo.n].to;
        if (n == goal)
            return n;
        for (size_t i = n->hops.n; i-- > 0;) {
            struct reference_node *next = n->hops.v[i].to;
            if (next->seen)
                continue;
            next->seen = true;
            next->came_from = n;
            *vec_push(&todo, g->a) = (struct hop){ next };
        }
    }
    return NULL;
}

enum { PATH_SHOWN = 380 };

/* from → target → … → from, in full in the details, shortened in the middle in the text. */
static enum status circular(struct share *s, struct sv from, const struct sv *path, size_t n,
                            struct sv target, const char *given_as, struct err *e)
{
    struct sb b = sb_in(s->a, 0), d = sb_in(s->a, 0);
    struct jw w = jw_in(&d, 0);
    size_t    shown = 0;

    for (size_t i = 0; i < n; i++)
        shown += path[i].n + 5;
    for (size_t i = 0; i < n; i++) {
        bool skip = shown > PATH_SHOWN && i > 1 && i + 2 < n;
        if (skip && i > 2)
            continue;
        sb_addf(&b, "%s" SV_FMT, i ? " → " : "", SV_ARG(skip ? SV("…") : path[i]));
    }
    jw_open(&w, '{');
    jw_kstr(&w, "from", from);
    jw_kstr(&w, "target", target);
    share_op_list(&w, "path", path, n);
    jw_close(&w, '}');
    s->details = sb_sv(&d);
    err_set(e, ST_CONFLICT,
            "circular reference\nError: Cannot create %s %s " SV_FMT
            "\nReason: Circular reference detected (%s)",
            sv_is(sv_of(given_as), "--ref") ? "Thread with" : "reference with", given_as,
            SV_ARG(target), sb_sv(&b).s);
    err_reason(e, "circular_reference");
    return err_hint(e, "a thread may not come to depend on itself; leave this reference out");
}

static enum status found_cycle(struct share *s, struct sv from, const struct reference_node *end,
                               struct sv target, const char *given_as, struct err *e)
{
    VEC(struct sv) back = { 0 };

    for (const struct reference_node *n = end; n; n = n->came_from)
        *vec_push(&back, s->a) = sv_dup(n->id, s->a);
    *vec_push(&back, s->a) = from;
    for (size_t i = 0; i < back.n / 2; i++) {
        struct sv t = back.v[i];
        back.v[i] = back.v[back.n - 1 - i];
        back.v[back.n - 1 - i] = t;
    }
    return circular(s, from, back.v, back.n, target, given_as, e);
}

static enum status has_rows(struct share *s, const char *prefix, struct sv id, bool *any,
                            struct err *e)
{
    struct rows       r = rows_of_share(s, s->a);
    struct store_row *rows;
    size_t            n;

    if (row_list(&r, key_below_name(prefix, id, s->a), (struct sv){ 0 }, 1, &rows, &n, e))
        return err_code(e);
    *any = n > 0;
    return ST_OK;
}

enum status share_check_cycle(struct share *s, struct sv from, struct sv target,
                              const char *given_as, struct err *e)
{
    struct arena           scratch = { 0 };
    struct reference_graph g = { .a = &scratch };
    bool                   out_of_target, into_from;

    if (sv_eq(from, target))
        return circular(s, from, (struct sv[]){ from, from }, 2, target, given_as, e);
    if (has_rows(s, "to", target, &out_of_target, e) || has_rows(s, "by", from, &into_from, e))
        return err_code(e);
    if (!out_of_target || !into_from)
        return ST_OK;
    g.nodes = map_in(&scratch);
    enum status r = read_graph(s, &g, e);
    if (!r) {
        struct reference_node *end = reach(&g, node_of(&g, target), node_of(&g, from));
        if (end)
            r = found_cycle(s, from, end, target, given_as, e);
    }
    arena_free(&scratch);
    return r;
}

/* ---- making one ---------------------------------------------------------------------------- */

/* Fill in what .refs.json lists for a live reference: the present names, and the directory
 * itself. */
enum status reference_live_names(struct share *s, struct share_ref *r, struct err *e)
{
    struct asset_list assets = { 0 };
    struct sv         dir = share_dir(r->target, s->a);
    size_t            n_warnings = s->warnings.n;
    struct share_ref *refs;
    size_t            n;

    if (share_refs(s, r->from, false, s->a, &refs, &n, e) || assets_of_ref(s, r, &assets, e))
        return err_code(e);
    if (r->missing)
        s->warnings.n = n_warnings;
    r->files = ARENA_NEW(s->a, struct share_file, assets.list.n + r->n_scope + 1);
    for (size_t i = 0; i < assets.list.n; i++) {
        struct sv source = sv_skip(assets.list.v[i].path, dir.n + 1);
        struct sv name = sv_starts(source, SV("artifacts/")) ? sv_skip(source, 10) : source;
        bool      taken = false;
        for (size_t k = 0; k < n; k++)
            for (size_t m = 0; m < refs[k].n_files && !refs[k].frozen; m++)
                taken = taken ||
                        (!sv_eq(refs[k].target, r->target) && sv_eq(refs[k].files[m].place, name));
        for (size_t k = 0; k < r->n_files; k++)
            taken = taken || sv_eq(r->files[k].place, name);
        r->files[r->n_files++] =
            (struct share_file){ .name = name,
                                 .source = source,
                                 .place = taken ? path_join(r->target, source, s->a) : name };
    }
    if (!r->n_scope)
        r->files[r->n_files++] = (struct share_file){ .name = SV("/"),
                                                      .source = SV(""),
                                                      .place = path_join(r->target, SV(""), s->a) };
    return ST_OK;
}

/* Places of an older list that the newer one does not have, what was in them, and all content that
 * the older one had. */
void share_op_gone(struct jw *w, const struct share_ref *old, const struct share_ref *now,
                   struct arena *a, size_t *removed)
{
    struct map kept = map_in(a);
    size_t     n = old->frozen ? old->n_files : 0;

    for (size_t i = 0; now->frozen && i < now->n_files; i++)
        map_put(&kept, now->files[i].place, (void *)&now->files[i]);
    jw_key(w, "gone");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (!map_has(&kept, old->files[i].place)) {
            jw_str(w, old->files[i].place);
            if (removed)
                ++*removed;
        }
    jw_close(w, ']');
    jw_key(w, "gone_was");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (!map_has(&kept, old->files[i].place))
            jw_str(w, old->files[i].hash);
    jw_close(w, ']');
    jw_key(w, "gone_hashes");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, old->files[i].hash);
    jw_close(w, ']');
}

bool share_ref_repeats(const struct share_ref *a, const struct share_ref *b)
{
    if (a->n_scope != b->n_scope || a->frozen != b->frozen || a->inherit != b->inherit ||
        !sv_eq(a->target, b->target))
        return false;
    for (size_t i = 0; i < a->n_scope; i++)
        if (!sv_eq(a->scope[i], b->scope[i]))
            return false;
    return true;
}

/* The reference that this one repeats, and so replaces; NULL: none. */
static enum status find_repeated(struct share *s, const struct share_ref *r,
                                 const struct share_ref **old, struct err *e)
{
    struct share_ref *refs;
    size_t            n;

    *old = NULL;
    if (share_refs(s, r->from, false, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (share_ref_repeats(&refs[i], r))
            *old = &refs[i];
    return ST_OK;
}

static enum status append_reference(struct share *s, const struct share_ref *r,
                                    const struct share_ref *old, const struct sv_list *given,
                                    struct err *e)
{
    static const struct share_ref none;
    struct sb                     b;
    struct jw                     w = share_op_start(s, &b, "reference");

    share_ref_write(&w, r);
    share_op_list(&w, "given_scope", given->v, given->n);
    share_op_gone(&w, old ? old : &none, r, s->a, NULL);
    return share_op_finish(s, &w, &b, e);
}

enum status share_reference(struct share *s, const struct reference_request *q,
                            struct share_ref *out, struct err *e)
{
    struct share_thread     from, target;
    const struct share_ref *old;
    bool                    found;
    struct share_ref        r = {
               .id = rand_hex_id("ref-", s->a), .from = q->from, .target = q->target, .frozen = q->frozen
    };

    if (share_thread(s, q->from, &from, e) || name_check(q->target, "target", e) ||
        share_check_cycle(s, q->from, q->target, q->given_as, e) ||
        share_scope_normal(s, q->scope.v, q->scope.n, &r.scope, &r.n_scope, e) ||
        share_thread_find(s, q->target, &target, &found, e))
        return err_code(e);
    r.missing = !found;
    if (!found)
        share_warn(s, "W202", q->target, "Referenced Thread " SV_FMT " not found",
                   SV_ARG(q->target));
    if (find_repeated(s, &r, &old, e) ||
        (r.frozen && found ? snapshot_take(s, &r, old, e) : reference_live_names(s, &r, e)))
        return err_code(e);
    if (r.missing)
        r.n_files = 0;
    if (append_reference(s, &r, old, &q->scope, e))
        return err_code(e);
    r.at = clock_now_ms();
    *out = r;
    return ST_OK;
}

/* ---- refresh -----------------------------------------------------------------------------------
 */

static bool in_scope(const struct sv *scope, size_t n, struct sv name)
{
    return n == 0 || share_scope_covers(scope, n, name);
}

/* Take the new files inside the scope and the old ones outside of it. */
static void keep_outside(struct share *s, const struct share_ref *old, struct share_ref *now,
                         const struct sv *scope, size_t n)
{
    struct share_file *files = ARENA_NEW(s->a, struct share_file, old->n_files + now->n_files + 1);
    size_t             k = 0;

    for (size_t i = 0; i < now->n_files; i++)
        if (in_scope(scope, n, now->files[i].name))
            files[k++] = now->files[i];
    for (size_t i = 0; i < old->n_files; i++)
        if (!in_scope(scope, n, old->files[i].name))
            files[k++] = old->files[i];
    now->files = files;
    now->n_files = k;
}

static void count_changes(const struct share_ref *old, struct refresh_result *res)
{
    for (size_t i = 0; i < res->ref.n_files; i++) {
        const struct share_file *f = &res->ref.files[i], *was = NULL;
        for (size_t k = 0; k < old->n_files; k++)
            if (sv_eq(old->files[k].place, f->place))
                was = &old->files[k];
        res->added += was == NULL;
        res->changed += was && !sv_eq(was->hash, f->hash);
    }
}

/* Keep all copies: the source is gone, or everything that the reference covers, so the copies may
 * be all that is left.
 */
static enum status keep_all(struct share *s, const struct share_ref *old, const char *why,
                            struct refresh_result *res, struct err *e)
{
    *res = (struct refresh_result){ .ref = *old, .source_gone = true };
    share_warn(s, "W202", old->target, "%s%s", why,
               old->frozen && old->n_files ? "; the frozen copies of it are kept" : "");
    return share_copies_place(s, old, e);
}

/* *why NULL: the source is there. */
static enum status gone_because(struct share *s, const struct share_ref *r, bool has_row,
                                const char **why, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    bool      gone;

    *why = NULL;
    if (share_source_is_gone(s, r->target, has_row, &gone, e))
        return err_code(e);
    if (!gone)
        return ST_OK;
    if (has_row)
        sb_addf(&b, SV_FMT " is gone", SV_ARG(share_dir(r->target, s->a)));
    else
        sb_addf(&b, "Referenced Thread " SV_FMT " not found", SV_ARG(r->target));
    *why = sb_sv(&b).s;
    return ST_OK;
}

static enum status refresh_one(struct share *s, const struct share_ref *old, const struct sv *scope,
                               size_t n, struct refresh_result *res, struct err *e)
{
    struct share_thread t;
    bool                found;
    struct sb           b;

    *res = (struct refresh_result){ .ref = *old };
    res->ref.files = NULL;
    res->ref.n_files = 0;
    if (share_thread_find(s, old->target, &t, &found, e))
        return err_code(e);
    const char *gone;
    if (gone_because(s, old, found, &gone, e))
        return err_code(e);
    if (gone)
        return keep_all(s, old, gone, res, e);
    res->ref.missing = false;
    if (old->frozen ? snapshot_take(s, &res->ref, old, e) : reference_live_names(s, &res->ref, e))
        return err_code(e);
    if (old->frozen && old->n_files && !res->ref.n_files) {
        struct sb what = sb_in(s->a, 0);
        sb_addf(&what, "Thread '" SV_FMT "' has nothing of it any more", SV_ARG(old->target));
        return keep_all(s, old, sb_sv(&what).s, res, e);
    }
    if (old->frozen)
        keep_outside(s, old, &res->ref, scope, n);
    count_changes(old, res);
    struct jw w = share_op_start(s, &b, "refresh");
    share_ref_write(&w, &res->ref);
    share_op_gone(&w, old, &res->ref, s->a, &res->removed);
    res->ref.at = clock_now_ms();
    return share_op_finish(s, &w, &b, e);
}

enum status share_refresh(struct share *s, const struct refresh_request *q,
                          struct refresh_result **out, size_t *n, struct err *e)
{
    struct share_thread t;
    struct share_ref   *refs;
    struct sv          *scope;
    size_t              n_refs, n_scope;
    VEC(struct refresh_result) done = { 0 };

    if (share_thread(s, q->from, &t, e) ||
        share_scope_normal(s, q->scope.v, q->scope.n, &scope, &n_scope, e) ||
        share_refs(s, q->from, true, s->a, &refs, &n_refs, e))
        return err_code(e);
    for (size_t i = 0; i < n_refs; i++) {
        if (q->target.s && !sv_eq(refs[i].target, q->target))
            continue;
        if (refresh_one(s, &refs[i], scope, n_scope, vec_push(&done, s->a), e))
            return err_code(e);
    }
    if (!done.n) {
        err_set(e, ST_NOT_FOUND, "Thread '" SV_FMT "' has no reference%s" SV_FMT, SV_ARG(q->from),
                q->target.s ? " to " : "", SV_ARG(q->target));
        return err_hint(e, "`heddle reference --from " SH_FMT " --target T` makes one",
                        SV_ARG(q->from));
    }
    *out = done.v;
    *n = done.n;
    return ST_OK;
}
