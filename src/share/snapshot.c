/* Frozen copies: what a reference covers now, and where each copy lies.
 *
 * A copy of a source's `plan.md` goes to context/inherited/plan.md. When another source has that
 * first part of the name, it goes to context/inherited/SOURCE/plan.md, and when that is taken too,
 * to context/inherited/SOURCE~2/plan.md. A place belongs to one file of one source forever (the
 * rows spot/): a file keeps its place through every refresh, and a path that somebody noted never
 * leads to another thread's file, not even after the reference was dropped. */
#include "share/operation.h"

#include "base/map.h"
#include "base/path.h"
#include "share/limits.h"
#include "share/operation_internal.h"

struct places {
    struct share           *s;
    const struct share_ref *r;
    struct map              owner; /* place → struct sv: SOURCE-THREAD/PATH */
    struct map              place; /* SOURCE-THREAD/PATH → struct sv: the place */
    struct map              tops;  /* first part of a place → struct sv: the thread that has it */
    struct map              held;  /* places with a copy in them, and the directories above them */
};

static struct sv *boxed(struct sv v, struct arena *a)
{
    struct sv *box = ARENA_NEW(a, struct sv, 1);

    *box = v;
    return box;
}

static void own(struct places *p, struct sv place, struct sv owner)
{
    struct arena *a = p->s->a;
    struct sv     thread = sv_cut(owner, '/').head, top = sv_cut(place, '/').head;

    map_put(&p->owner, place, boxed(owner, a));
    map_put(&p->place, owner, boxed(place, a));
    if (!map_has(&p->tops, top))
        map_put(&p->tops, top, boxed(thread, a));
}

/* What `held` says of a path: a copy, or a directory above one. */
static const char marks[2] = { 0 };
#define IS_FILE ((void *)(uintptr_t)&marks[0])
#define IS_DIR ((void *)(uintptr_t)&marks[1])

static void hold(struct places *p, struct sv place)
{
    map_put(&p->held, place, IS_FILE);
    for (struct sv dir = path_dir(place); dir.n; dir = path_dir(dir))
        if (!map_find(&p->held, dir))
            map_put(&p->held, dir, IS_DIR);
}

static bool is_repeated(const struct share_ref *old, const struct share_ref *r)
{
    return sv_eq(old->id, r->id) || share_ref_repeats(old, r);
}

static enum status places_load(struct places *p, struct share *s, const struct share_ref *r,
                               struct err *e)
{
    struct sv         prefix = key_below_name("spot", r->from, s->a), *keys, *values;
    struct share_ref *refs;
    size_t            n, n_refs;

    *p = (struct places){ s,
                          r,
                          .owner = map_in(s->a),
                          .place = map_in(s->a),
                          .tops = map_in(s->a),
                          .held = map_in(s->a) };
    if (share_rows_below(s, prefix, true, s->a, &keys, &n, e) ||
        share_rows_below(s, prefix, false, s->a, &values, &n, e) ||
        share_refs(s, r->from, true, s->a, &refs, &n_refs, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        own(p, keys[i], values[i]);
    for (size_t i = 0; i < n_refs; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++)
            if (!is_repeated(&refs[i], r))
                hold(p, refs[i].files[k].place);
    return ST_OK;
}

/* Is there something at this place, or in its way, that the log does not know? */
static enum status is_free_on_disk(struct places *p, struct sv place, const struct share_file *f,
                                   bool *out, struct err *e)
{
    struct sv    path = share_path(p->r->from, "context/inherited", place, p->s->a), hash;
    enum fs_kind kind;
    int64_t      size;

    *out = false;
    enum status r = fs_kind(p->s->root, path, &kind, e);
    if (r == ST_PERMISSION_DENIED) { /* a link on the way leads out: placing the copy reports it */
        *out = true;
        return ST_OK;
    }
    if (r || (kind == FS_FILE && object_hash_of(p->s, path, &hash, &size, e)))
        return err_code(e);
    if (kind != FS_MISSING) {
        *out = kind == FS_FILE && sv_eq(hash, f->hash);
        return ST_OK;
    }
    for (struct sv dir = path_dir(place); dir.n; dir = path_dir(dir)) {
        const struct sv *owner = map_find(&p->owner, dir);
        if (owner && sv_eq(sv_cut(*owner, '/').head, p->r->target))
            continue; /* a copy that this operation removes */
        path = share_path(p->r->from, "context/inherited", dir, p->s->a);
        if (fs_kind(p->s->root, path, &kind, e))
            return err_code(e);
        if (kind != FS_MISSING && kind != FS_DIR)
            return ST_OK;
    }
    *out = true;
    return ST_OK;
}

/* Can a file be at this place: is the place not a directory of other copies, and not below one? */
static bool fits(struct places *p, struct sv place)
{
    if (map_find(&p->held, place) == IS_DIR)
        return false;
    for (struct sv dir = path_dir(place); dir.n; dir = path_dir(dir))
        if (map_find(&p->held, dir) == IS_FILE)
            return false;
    return true;
}

static enum status is_free(struct places *p, struct sv place, const struct share_file *f, bool *out,
                           struct err *e)
{
    const struct sv *top = map_find(&p->tops, sv_cut(place, '/').head);

    *out = !map_has(&p->owner, place) && !map_has(&p->held, place) && fits(p, place) &&
           (!top || sv_eq(*top, p->r->target));
    return *out ? is_free_on_disk(p, place, f, out, e) : ST_OK;
}

static enum status new_place(struct places *p, struct share_file *f, struct err *e)
{
    bool is;

    f->place = f->name;
    for (int i = 1; i < PLACE_TRIES; i++) {
        if (is_free(p, f->place, f, &is, e))
            return err_code(e);
        if (is)
            return ST_OK;
        struct sb b = sb_in(p->s->a, 0);
        sb_add(&b, p->r->target);
        if (i > 1)
            sb_addf(&b, "~%d", i);
        f->place = path_join(sb_sv(&b), f->name, p->s->a);
    }
    return err_set(e, ST_LIMIT_EXCEEDED, "there is no place left for a copy of '" SV_FMT "'",
                   SV_ARG(f->source));
}

/* Known places first: a new file must not take what one of them needs. */
static enum status give_places(struct places *p, struct share_ref *r, struct err *e)
{
    for (int known = 1; known >= 0; known--)
        for (size_t i = 0; i < r->n_files; i++) {
            struct share_file *f = &r->files[i];
            struct sv          owner = path_join(r->target, f->source, p->s->a);
            const struct sv   *place = map_find(&p->place, owner);
            if (f->place.s || (known && !place))
                continue;
            if (place && fits(p, *place))
                f->place = *place;
            else if (new_place(p, f, e))
                return err_code(e);
            own(p, f->place, owner);
            hold(p, f->place);
        }
    return ST_OK;
}

static const struct share_file *copy_of_source(const struct share_ref *old, struct sv source)
{
    for (size_t i = 0; old && old->frozen && i < old->n_files; i++)
        if (sv_eq(old->files[i].source, source))
            return &old->files[i];
    return NULL;
}

enum status snapshot_take(struct share *s, struct share_ref *r, const struct share_ref *old,
                          struct err *e)
{
    struct scope_files now;
    struct places      places;

    if (share_scope_collect(s, r->target, r->scope, r->n_scope, &now, e) ||
        places_load(&places, s, r, e))
        return err_code(e);
    r->files = ARENA_NEW(s->a, struct share_file, now.list.n + 1);
    r->n_files = 0;
    for (size_t i = 0; i < now.list.n; i++) {
        struct share_file f = { .name = now.list.v[i].name, .source = now.list.v[i].source };
        struct sv         path = share_path(r->target, "", f.source, s->a);
        enum status       st = object_put_file(s, path, &f, e);
        if (st == ST_NOT_FOUND || st == ST_PERMISSION_DENIED) {
            const struct share_file *had = copy_of_source(old, f.source);
            share_warn(s, "W203", r->target, "not copied%s: %s",
                       had ? ", the copy made before stays" : "", e->text);
            if (!had)
                continue;
            f = *had;
            f.place = (struct sv){ 0 };
        } else if (st) {
            return st;
        }
        r->files[r->n_files++] = f;
    }
    return give_places(&places, r, e);
}

enum status share_source_is_gone(struct share *s, struct sv target, bool has_row, bool *out,
                                 struct err *e)
{
    enum fs_kind kind = FS_MISSING;

    if (has_row && fs_kind(s->root, share_dir(target, s->a), &kind, e))
        return err_code(e);
    *out = kind != FS_DIR;
    return ST_OK;
}

/* ---- copies on disk ---------------------------------------------------------------------- */

static enum status hint_refresh(const struct share_ref *r, struct err *e)
{
    return err_hint(
        e, "`heddle refresh --from " SH_FMT " --target " SH_FMT "` copies what the source has now",
        SV_ARG(r->from), SV_ARG(r->target));
}

enum status copy_restore(struct share *s, const struct share_ref *r, const struct share_file *f,
                         struct err *e)
{
    struct sv path = share_path(r->from, "context/inherited", f->place, s->a);

    if (share_hash_is_erased(f->hash)) {
        err_set(e, ST_NOT_FOUND, "the frozen copy " SV_FMT " was erased", SV_ARG(path));
        err_reason(e, "copy");
        return hint_refresh(r, e);
    }
    if (object_place(s, f, path, e) == ST_OK)
        return ST_OK;
    if (sv_is(sv_of(e->reason), "object")) {
        bool damaged = e->code == ST_CORRUPT;
        err_set(e, damaged ? ST_CORRUPT : ST_NOT_FOUND,
                "the frozen copy " SV_FMT " is gone, and its stored content is %s", SV_ARG(path),
                damaged ? "damaged" : "gone too");
        err_reason(e, "copy");
        return hint_refresh(r, e);
    }
    return err_code(e);
}

/* Makes as many copies as possible; returns the error of the last one that failed. */
enum status share_copies_place(struct share *s, const struct share_ref *r, struct err *e)
{
    enum status worst = ST_OK;
    struct err  why;

    for (size_t i = 0; r->frozen && i < r->n_files; i++) {
        enum status one = copy_restore(s, r, &r->files[i], &why);
        if (one && sv_is(sv_of(why.reason), "copy")) {
            share_warn(s, "T502", r->from, "%s", why.text);
        } else if (one) {
            worst = one;
            *e = why;
        }
    }
    return worst;
}

enum status share_copies_of(struct share *s, struct sv from, struct sv id, struct err *e)
{
    struct share_ref *refs;
    size_t            n;
    enum status       worst = ST_OK;

    if (share_refs(s, from, true, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if ((!id.s || sv_eq(refs[i].id, id)) && share_copies_place(s, &refs[i], e))
            worst = err_code(e);
    return worst;
}
