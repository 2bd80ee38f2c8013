/* The read rule: own assets by their own name, then the frozen copy, then the live origin,
 * else `File not referenced`. */
#include "share/asset.h"

#include "base/path.h"
#include "share/share_internal.h"

#include <sys/stat.h>

struct search {
    struct share *s;
    struct sv     thread, name;
    VEC(struct asset_found) hits;
    struct sv  folder; /* a folder of that name; or absent */
    bool       failed; /* something could not be looked at: why */
    struct err why, *e;
};

/* What cannot be looked at may be the file that is meant: then q->failed, and no other file is
 * given in its place. A link that leads out is nobody's file. */
static bool is_file(struct search *q, struct sv path)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       r = fs_open(q->s->root, path, O_PATH, &fd, q->e);

    if (!r && fstat(fd, &st) != 0)
        r = err_errno(q->e, "look at " SV_FMT, SV_ARG(path));
    if (r && r != ST_NOT_FOUND && r != ST_PERMISSION_DENIED && !q->failed) {
        q->failed = true;
        q->why = *q->e;
    }
    if (r)
        return false;
    if (S_ISDIR(st.st_mode))
        q->folder = path;
    return S_ISREG(st.st_mode);
}

static void hit(struct search *q, struct sv path, struct sv owner, const char *how, struct sv hash)
{
    if (!is_file(q, path))
        return;
    for (size_t i = 0; i < q->hits.n; i++)
        if (sv_eq(q->hits.v[i].path, path))
            return;
    *vec_push(&q->hits, q->s->a) = (struct asset_found){ path, owner, how, hash };
}

static void look_own(struct search *q)
{
    if (sv_is(sv_cut(q->name, '/').head, "context"))
        return;
    hit(q, share_path(q->thread, "", q->name, q->s->a), q->thread, "own", (struct sv){ 0 });
    if (!q->hits.n)
        hit(q, share_path(q->thread, "artifacts", q->name, q->s->a), q->thread, "own",
            (struct sv){ 0 });
}

static void look_global(struct search *q)
{
    if (sv_is(q->name, ".global/plan.md") || sv_is(q->name, ".global/registry.json"))
        hit(q, path_join(SV(".leslie/threads"), q->name, q->s->a), SHARE_GLOBAL, "live",
            (struct sv){ 0 });
}

/* NAME, or TARGET/NAME when that says which. */
static bool named(struct search *q, struct sv target, struct sv name)
{
    struct sv_cut c = sv_cut(q->name, '/');

    return sv_eq(q->name, name) || (c.found && sv_eq(c.head, target) && sv_eq(c.tail, name));
}

/* The copy at exactly this path, and whose it is. */
static void look_exact_copy(struct search *q, const struct share_ref *refs, size_t n)
{
    struct sv path = share_path(q->thread, "context/inherited", q->name, q->s->a);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            if (sv_eq(refs[i].files[k].place, q->name))
                hit(q, path, refs[i].target, "frozen", refs[i].files[k].hash);
    if (!q->hits.n) /* put there by another program */
        hit(q, path, sv_cut(q->name, '/').head, "frozen", (struct sv){ 0 });
}

static void look_copies(struct search *q, const struct share_ref *refs, size_t n)
{
    struct fs_item *items;
    size_t          n_items;
    struct sv       dir = share_path(q->thread, "context", SV("inherited"), q->s->a);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            if (named(q, refs[i].target, refs[i].files[k].name))
                hit(q, path_join(dir, refs[i].files[k].place, q->s->a), refs[i].target, "frozen",
                    refs[i].files[k].hash);
    if (q->hits.n)
        return;
    enum status r = fs_list(q->s->root, dir, q->s->a, &items, &n_items, q->e);
    if (r && r != ST_NOT_FOUND && !q->failed) {
        q->failed = true;
        q->why = *q->e;
    }
    if (r)
        return;
    for (size_t i = 0; i < n_items; i++)
        if (items[i].kind == FS_DIR)
            hit(q, path_join(path_join(dir, items[i].name, q->s->a), q->name, q->s->a),
                items[i].name, "frozen", (struct sv){ 0 });
}

static void look_live(struct search *q, const struct share_ref *refs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct share_ref *r = &refs[i];
        struct sv_cut           c = sv_cut(q->name, '/');
        struct sv               name = q->name;
        if (r->frozen)
            continue;
        if (c.found && sv_eq(c.head, r->target))
            name = c.tail;
        if (!scope_covers(r->scope, r->n_scope, name))
            continue;
        size_t before = q->hits.n;
        hit(q, share_path(r->target, "", name, q->s->a), r->target, "live", (struct sv){ 0 });
        if (q->hits.n == before)
            hit(q, share_path(r->target, "artifacts", name, q->s->a), r->target, "live",
                (struct sv){ 0 });
    }
}

static enum status ambiguous(struct search *q)
{
    struct sb b = sb_in(q->s->a, 250);

    for (size_t i = 0; i < q->hits.n; i++)
        sb_addf(&b, "%s" SV_FMT "/" SV_FMT, i ? ", " : "", SV_ARG(q->hits.v[i].thread),
                SV_ARG(q->name));
    err_set(q->e, ST_CONFLICT, "'" SV_FMT "' is the name of %zu files", SV_ARG(q->name), q->hits.n);
    err_reason(q->e, "ambiguous");
    return err_hint(q->e, "say which: %s", sb_sv(&b).s);
}

static enum status not_there(struct search *q)
{
    if (q->folder.s) {
        err_set(q->e, ST_INVALID_SYNTAX, "'" SV_FMT "' is a folder", SV_ARG(q->name));
        return err_hint(q->e, "name a file below it: ls " SV_FMT, SV_ARG(q->folder));
    }
    err_set(q->e, ST_NOT_FOUND, "File not referenced: '" SV_FMT "'", SV_ARG(q->name));
    err_reason(q->e, "file");
    return err_hint(q->e,
                    "`heddle status " SV_FMT "` shows what it can read; `heddle reference "
                    "--from " SV_FMT " --target T` adds more",
                    SV_ARG(q->thread), SV_ARG(q->thread));
}

enum status asset_find(struct share *s, struct sv thread, struct sv name, struct asset_found *out,
                       struct err *e)
{
    struct search       q = { .s = s, .thread = thread, .e = e };
    struct share_thread t;
    struct share_ref   *refs;
    size_t              n;

    if (share_thread(s, thread, &t, e) || path_normal(name, s->a, &q.name, e))
        return err_code(e);
    if (!q.name.n)
        return err_set(e, ST_INVALID_SYNTAX, "the name is empty");
    if (share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    look_own(&q);
    if (!q.hits.n && !q.failed)
        look_exact_copy(&q, refs, n);
    if (!q.hits.n && !q.failed)
        look_copies(&q, refs, n);
    if (!q.hits.n && !q.failed)
        look_live(&q, refs, n);
    if (!q.hits.n && !q.failed)
        look_global(&q);
    if (q.failed) {
        *e = q.why;
        return err_code(e);
    }
    if (!q.hits.n)
        return not_there(&q);
    if (q.hits.n > 1)
        return ambiguous(&q);
    *out = q.hits.v[0];
    return ST_OK;
}
