/* What an agent may not write, before a tool runs; and what changed while it ran. */
#include "base/map.h"
#include "share/asset.h"
#include "share/guard.h"
#include "share/share_internal.h"

/* ---- may it be written? -------------------------------------------------------------------- */

static bool is_below(struct sv path, struct sv dir)
{
    return sv_starts(path, dir) && (path.n == dir.n || path.s[dir.n] == '/');
}

/* The directories and files that heddle writes itself, and what holds them. */
static bool is_control(struct sv path)
{
    struct sv rest = sv_skip(path, sizeof ".leslie/" - 1);

    if (is_below(path, SV(".heddle")) || sv_is(path, ".leslie") || sv_is(path, ".leslie/threads") ||
        is_below(path, SV(".leslie/threads/.global")))
        return true;
    return sv_starts(path, SV(".leslie/")) && !sv_has(rest, '/') && sv_find(rest, SV(".json")) > 0;
}

/* "research" of .leslie/threads/research/design.md; *rest is what follows. */
static struct sv thread_of(struct sv path, struct sv *rest)
{
    struct sv dir = SV(".leslie/threads/");

    if (!sv_starts(path, dir))
        return (struct sv){ 0 };
    struct sv_cut c = sv_cut(sv_skip(path, dir.n), '/');
    *rest = c.tail;
    return c.head;
}

enum status guard_path(struct share *s, struct sv thread, struct sv path, struct guard_refusal *out,
                       struct err *e)
{
    struct sv rest = { 0 }, owner = thread_of(path, &rest), *targets;
    size_t    n;

    *out = (struct guard_refusal){ GUARD_ALLOWED, owner };
    if (is_control(path))
        out->why = GUARD_CONTROL;
    else if (owner.n && is_below(rest, SV("context")))
        out->why = GUARD_COPY;
    if (out->why != GUARD_ALLOWED || !owner.n || sv_eq(owner, thread))
        return ST_OK;
    if (share_ids(s, SHARE_TARGETS, thread, s->a, &targets, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (sv_eq(targets[i], owner))
            out->why = GUARD_REFERENCE;
    if (s->strict)
        out->why = GUARD_REFERENCE;
    return ST_OK;
}

static void add_place(struct share *s, struct guard_place_list *out, struct sv path,
                      enum guard_why why, struct sv owner)
{
    *vec_push(&out->list, s->a) =
        (struct guard_place){ .path = path, .refusal = { .why = why, .owner = owner } };
}

/* Where a thread's copies and pointers are, when it has any; what cannot be looked at may be there.
 */
static void add_copies(struct share *s, struct sv thread, struct guard_place_list *out)
{
    static const char *const dirs[] = { "inherited", "live" };

    for (size_t i = 0; i < COUNT(dirs); i++) {
        struct fs_item *list;
        struct err      ignored;
        size_t          n;
        enum status st = fs_list(s->root, share_path(thread, "context", sv_of(dirs[i]), s->a), s->a,
                                 &list, &n, &ignored);
        if (st ? st != ST_NOT_FOUND : n > 0) {
            add_place(s, out, share_path(thread, "", SV("context"), s->a), GUARD_COPY, thread);
            return;
        }
    }
}

/* Every directory of a thread but its own. */
static enum status add_others(struct share *s, struct sv thread, struct guard_place_list *out,
                              struct err *e)
{
    struct fs_item *list;
    size_t          n = 0;
    enum status     r = fs_list(s->root, SV(".leslie/threads"), s->a, &list, &n, e);

    if (r)
        return r == ST_NOT_FOUND ? ST_OK : r;
    for (size_t i = 0; i < n; i++)
        if (list[i].kind == FS_DIR && !sv_eq(list[i].name, thread))
            add_place(s, out, share_dir(list[i].name, s->a), GUARD_REFERENCE,
                      sv_dup(list[i].name, s->a));
    return ST_OK;
}

static enum status add_files(struct share *s, struct sv thread, struct guard_place_list *out,
                             struct err *e)
{
    struct guard_mark_list marks;

    if (guard_marks(s, thread, 0, &marks, e))
        return err_code(e);
    for (size_t i = 0; i < marks.list.n; i++) {
        struct guard_refusal x;
        if (guard_path(s, thread, marks.list.v[i].path, &x, e))
            return err_code(e);
        *vec_push(&out->list, s->a) =
            (struct guard_place){ .path = marks.list.v[i].path, .refusal = x, .is_file = true };
    }
    return ST_OK;
}

enum status guard_places(struct share *s, struct sv thread, struct sv path, bool files,
                         struct guard_place_list *out, struct err *e)
{
    static const struct {
        const char *path;
        bool        holds, is_file;
    } own[] = {
        { ".heddle", false, false },
        { ".heddle/heddle.db", false, true },
        { ".leslie", true, false },
        { ".leslie/threads", true, false },
        { ".leslie/threads/.global", false, false },
        { ".leslie/thread_relations.json", false, true },
        { ".leslie/objectives.json", false, true },
        { ".leslie/workspace.json", false, true },
    };
    struct sv rest = { 0 }, *targets, other = thread_of(path, &rest);
    size_t    n;

    *out = (struct guard_place_list){ 0 };
    if (share_ids(s, SHARE_TARGETS, thread, s->a, &targets, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        add_place(s, out, share_dir(targets[i], s->a), GUARD_REFERENCE, targets[i]);
    if (s->strict && add_others(s, thread, out, e))
        return err_code(e);
    if (thread.n)
        add_copies(s, thread, out);
    if (other.n && !sv_eq(other, thread))
        add_copies(s, other, out);
    for (size_t i = 0; i < COUNT(own); i++)
        *vec_push(&out->list, s->a) = (struct guard_place){ .path = sv_of(own[i].path),
                                                            .refusal = { GUARD_CONTROL, { 0 } },
                                                            .holds = own[i].holds,
                                                            .is_file = own[i].is_file };
    return files ? add_files(s, thread, out, e) : ST_OK;
}

/* ---- what changed? ------------------------------------------------------------------------- */

struct guard_taking {
    struct share           *s;
    struct guard_mark_list *out;
    uint64_t                left; /* bytes that may still be hashed */
};

static enum status add(struct guard_taking *t, struct guard_mark m, struct err *e)
{
    bool    found;
    int64_t size;

    if (fs_mark(t->s->root, m.path, &m.mark, &found, e))
        return err_code(e);
    if (!found)
        m.mark = (struct fs_mark){ 0 };
    if (found && !m.hash.n && m.mark.size <= t->left) {
        enum status st = object_hash_of(t->s, m.path, &m.hash, &size, e);
        if (st && st != ST_NOT_FOUND)
            return st;
        t->left -= m.mark.size;
    }
    *vec_push(&t->out->list, t->s->a) = m;
    return ST_OK;
}

static enum status add_live(struct guard_taking *t, const struct share_ref *r, struct err *e)
{
    struct scope_files files = { 0 };
    size_t             n_warnings = t->s->warnings.n;

    if (share_scope_collect(t->s, r->target, r->scope, r->n_scope, &files, e))
        return err_code(e);
    t->s->warnings.n = n_warnings; /* missing files of a scope are reported elsewhere */
    for (size_t i = 0; i < files.list.n; i++) {
        struct sv path = share_path(r->target, "", files.list.v[i].source, t->s->a);
        if (add(t, (struct guard_mark){ .path = path, .owner = r->target }, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status guard_marks(struct share *s, struct sv thread, uint64_t hash_bytes,
                        struct guard_mark_list *out, struct err *e)
{
    struct guard_taking t = { s, out, hash_bytes };
    struct share_ref   *refs;
    size_t              n;

    *out = (struct guard_mark_list){ 0 };
    if (share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        const struct share_ref *r = &refs[i];
        if (!r->frozen && add_live(&t, r, e))
            return err_code(e);
        for (size_t k = 0; r->frozen && k < r->n_files; k++) {
            struct sv path = share_path(r->from, "context/inherited", r->files[k].place, s->a);
            if (add(&t, (struct guard_mark){ path, r->target, r->files[k].hash, { 0 } }, e))
                return err_code(e);
        }
    }
    return ST_OK;
}

static enum status is_other(struct share *s, const struct guard_mark *was,
                            const struct fs_mark *now, bool *out, struct err *e)
{
    struct sv hash = { 0 };
    int64_t   size;

    *out = !fs_mark_eq(&was->mark, now);
    if (!*out || !was->hash.n || !now->inode)
        return ST_OK;
    enum status st = object_hash_of(s, was->path, &hash, &size, e);
    if (st && st != ST_NOT_FOUND)
        return st;
    *out = !sv_eq(hash, was->hash);
    return ST_OK;
}

enum status guard_marks_changed(struct share *s, struct sv thread,
                                const struct guard_mark_list *before, struct guard_mark_list *out,
                                struct err *e)
{
    struct guard_mark_list now;
    struct map             known = map_in(s->a), left = map_in(s->a);
    bool                   other;

    *out = (struct guard_mark_list){ 0 };
    if (guard_marks(s, thread, 0, &now, e))
        return err_code(e);
    for (size_t i = 0; i < now.list.n; i++)
        map_put(&left, now.list.v[i].path, &now.list.v[i]);
    for (size_t i = 0; i < before->list.n; i++) {
        const struct guard_mark *was = &before->list.v[i], *is = map_find(&left, was->path);
        struct fs_mark           none = { 0 };
        if (map_has(&known, was->path))
            continue;
        map_put(&known, was->path, out);
        if (is_other(s, was, is ? &is->mark : &none, &other, e))
            return err_code(e);
        if (other)
            *vec_push(&out->list, s->a) = *was;
    }
    for (size_t i = 0; i < now.list.n; i++) /* put into another thread's directory */
        if (!map_has(&known, now.list.v[i].path)) {
            map_put(&known, now.list.v[i].path, out);
            *vec_push(&out->list, s->a) = now.list.v[i];
        }
    return ST_OK;
}
