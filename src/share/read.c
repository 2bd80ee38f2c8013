/* Finds the file that a name means for a thread. A name is looked for among the thread's own
 * assets, then among its frozen copies, then at the live origins, else it is `File not referenced`.
 * A path as the block shows it leads to that file and no other.
 *
 * A path below context/inherited/ belongs to one source file forever, so such a path always means
 * that copy: it is made again when it is not on the disk, and after its reference was dropped it
 * never means a file of another thread. */
#include "share/asset.h"

#include "base/path.h"
#include "share/share_internal.h"

#include <sys/stat.h>

#define THREADS SV(".leslie/threads/")
#define INHERITED SV("context/inherited/")

struct search {
    struct share     *s;
    struct sv         thread, name;
    struct sv         only; /* hits must be this thread's; absent: anyone's */
    struct share_ref *refs;
    size_t            n_refs;
    VEC(struct asset_found) hits;
    struct sv  folder; /* a directory of that name; or absent */
    bool       failed; /* something could not be looked at: why */
    struct err why, *e;
};

/* A path that cannot be examined may be the file that is meant: then q->failed is set, and no other
 * file is returned instead. A link that leads out of the workspace is not a file here. */
static bool is_file(struct search *q, struct sv path)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       r = share_open(q->s, path, O_PATH, &fd, q->e);

    if (!r && fstat(fd, &st) != 0)
        r = err_errno(q->e, "look at " SV_FMT, SV_ARG(path));
    if (r == ST_PERMISSION_DENIED)
        share_warn(q->s, "T402", (struct sv){ 0 }, "%s", q->e->text);
    else if (r && r != ST_NOT_FOUND && !q->failed) {
        q->failed = true;
        q->why = *q->e;
    }
    if (r)
        return false;
    if (S_ISDIR(st.st_mode))
        q->folder = path;
    return S_ISREG(st.st_mode);
}

static void add_hit(struct search *q, struct asset_found f)
{
    if (q->only.s && !sv_eq(q->only, f.thread))
        return;
    for (size_t i = 0; i < q->hits.n; i++)
        if (sv_eq(q->hits.v[i].path, f.path))
            return;
    *vec_push(&q->hits, q->s->a) = f;
}

static void hit(struct search *q, struct sv path, struct sv owner, const char *how)
{
    if (is_file(q, path))
        add_hit(q, (struct asset_found){ .path = path, .thread = owner, .how = how });
}

/* A copy the log knows is found whether or not it is on the disk. */
static void hit_copy(struct search *q, const struct share_ref *r, const struct share_file *f)
{
    add_hit(q, (struct asset_found){
                   .path = share_path(q->thread, "context/inherited", f->place, q->s->a),
                   .thread = r->target,
                   .how = "frozen",
                   .hash = f->hash,
                   .ref = r,
                   .file = f });
}

/* ---- where to look ------------------------------------------------------------------------ */

static void look_own(struct search *q)
{
    if (sv_is(sv_cut(q->name, '/').head, "context"))
        return;
    hit(q, share_path(q->thread, "", q->name, q->s->a), q->thread, "own");
    if (!q->hits.n)
        hit(q, share_path(q->thread, "artifacts", q->name, q->s->a), q->thread, "own");
}

static void look_global(struct search *q, struct sv name)
{
    if (sv_is(name, ".global/plan.md") || sv_is(name, ".global/registry.json"))
        hit(q, path_join(SV(".leslie/threads"), name, q->s->a), SHARE_GLOBAL, "live");
}

static void look_place(struct search *q, struct sv place)
{
    for (size_t i = 0; i < q->n_refs; i++)
        for (size_t k = 0; q->refs[i].frozen && k < q->refs[i].n_files; k++)
            if (sv_eq(q->refs[i].files[k].place, place))
                hit_copy(q, &q->refs[i], &q->refs[i].files[k]);
}

/* Does the query mean this file: NAME, or TARGET/NAME? */
static bool named(struct search *q, struct sv target, struct sv name)
{
    struct sv_cut c = sv_cut(q->name, '/');

    return sv_eq(q->name, name) || (c.found && sv_eq(c.head, target) && sv_eq(c.tail, name));
}

static void look_copies(struct search *q)
{
    for (size_t i = 0; i < q->n_refs; i++)
        for (size_t k = 0; q->refs[i].frozen && k < q->refs[i].n_files; k++)
            if (named(q, q->refs[i].target, q->refs[i].files[k].name))
                hit_copy(q, &q->refs[i], &q->refs[i].files[k]);
}

/* What another program put below context/inherited/: at its exact path, and nowhere else. */
static void look_unknown(struct search *q, struct sv place)
{
    if (!q->only.s)
        hit(q, share_path(q->thread, "context/inherited", place, q->s->a), sv_cut(place, '/').head,
            "frozen");
}

static bool covers(const struct share_ref *r, struct sv name)
{
    struct sv bare = sv_starts(name, SV("artifacts/")) ? sv_skip(name, 10) : name;

    return share_scope_covers(r->scope, r->n_scope, name) ||
           share_scope_covers(r->scope, r->n_scope, bare);
}

static void look_live(struct search *q)
{
    for (size_t i = 0; i < q->n_refs; i++) {
        const struct share_ref *r = &q->refs[i];
        struct sv_cut           c = sv_cut(q->name, '/');
        struct sv               name = q->name;
        if (r->frozen)
            continue;
        if (c.found && sv_eq(c.head, r->target))
            name = c.tail;
        if (!covers(r, name))
            continue;
        size_t before = q->hits.n;
        hit(q, share_path(r->target, "", name, q->s->a), r->target, "live");
        if (q->hits.n == before)
            hit(q, share_path(r->target, "artifacts", name, q->s->a), r->target, "live");
    }
}

/* ---- what to say when there is not one ------------------------------------------------------ */

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

static enum status not_referenced(struct search *q, const char *why)
{
    err_set(q->e, ST_NOT_FOUND, "File not referenced: '" SV_FMT "'%s", SV_ARG(q->name), why);
    return err_reason(q->e, "file");
}

static enum status not_there(struct search *q)
{
    struct sb b = sb_in(q->s->a, 0);

    if (q->folder.s) {
        err_set(q->e, ST_INVALID_SYNTAX, "'" SV_FMT "' is a directory", SV_ARG(q->name));
        return err_hint(q->e, "name a file below it: ls " SH_FMT, SV_ARG(q->folder));
    }
    if (q->only.s)
        sb_addf(&b,
                "; it was the copy of a file of " SV_FMT ", which this thread does not reference",
                SV_ARG(q->only));
    (void)not_referenced(q, sb_sv(&b).s);
    return err_hint(q->e,
                    "`heddle status " SH_FMT "` shows what it can read; `heddle reference "
                    "--from " SH_FMT " --target " SH_FMT "` adds more",
                    SV_ARG(q->thread), SV_ARG(q->thread), SV_ARG(q->only.s ? q->only : SV("T")));
}

/* ---- paths as the block shows them ----------------------------------------------------------- */

/* A frozen reference shows its copy; the origin may hold something else by now. */
static enum status frozen_instead(struct search *q, struct sv target, struct sv source)
{
    for (size_t i = 0; i < q->n_refs; i++)
        for (size_t k = 0; q->refs[i].frozen && k < q->refs[i].n_files; k++) {
            const struct share_file *f = &q->refs[i].files[k];
            if (!sv_eq(q->refs[i].target, target) || !sv_eq(f->source, source))
                continue;
            (void)not_referenced(q, "; it is referenced frozen");
            return err_hint(q->e, "read its copy: " SV_FMT,
                            SV_ARG(share_path(q->thread, "context/inherited", f->place, q->s->a)));
        }
    return ST_OK;
}

static enum status look_origin(struct search *q, struct sv target, struct sv source)
{
    for (size_t i = 0; i < q->n_refs; i++)
        if (!q->refs[i].frozen && sv_eq(q->refs[i].target, target) && covers(&q->refs[i], source))
            hit(q, share_path(target, "", source, q->s->a), target, "live");
    return q->hits.n ? ST_OK : frozen_instead(q, target, source);
}

static void look_copy_at(struct search *q, struct sv place)
{
    look_place(q, place);
    if (!q->hits.n)
        look_unknown(q, place);
}

/* The owner of a place, present or former. */
static enum status owner_of_place(struct search *q, struct sv place)
{
    struct sv row;
    bool      found;

    if (share_row(q->s, key_of_names("spot", q->thread, place, q->s->a), &row, &found, q->e))
        return err_code(q->e);
    if (found)
        q->only = sv_cut(row, '/').head;
    return ST_OK;
}

static enum status look_path(struct search *q, struct sv path)
{
    struct sv_cut c = sv_cut(sv_skip(path, THREADS.n), '/');

    if (sv_is(c.head, ".global")) {
        look_global(q, sv_skip(path, THREADS.n));
        return ST_OK;
    }
    if (!sv_eq(c.head, q->thread))
        return look_origin(q, c.head, c.tail);
    if (sv_starts(c.tail, INHERITED)) {
        struct sv place = sv_skip(c.tail, INHERITED.n);
        if (owner_of_place(q, place))
            return err_code(q->e);
        look_copy_at(q, place);
    } else if (!sv_is(sv_cut(c.tail, '/').head, "context")) {
        hit(q, path, q->thread, "own");
    }
    return ST_OK;
}

static enum status look_name(struct search *q)
{
    look_own(q);
    if (q->hits.n)
        return ST_OK;
    look_place(q, q->name);
    if (!q->hits.n && owner_of_place(q, q->name))
        return err_code(q->e);
    if (!q->hits.n)
        look_copies(q);
    if (!q->hits.n)
        look_unknown(q, q->name);
    if (!q->hits.n)
        look_live(q);
    if (!q->hits.n)
        look_global(q, q->name);
    return ST_OK;
}

enum status asset_find(struct share *s, struct sv thread, struct sv name, struct asset_found *out,
                       struct err *e)
{
    struct search       q = { .s = s, .thread = thread, .e = e };
    struct share_thread t;

    if (share_thread(s, thread, &t, e) || path_normal(name, s->a, &q.name, e))
        return err_code(e);
    if (!q.name.n)
        return err_set(e, ST_INVALID_SYNTAX, "the name is empty");
    if (share_refs(s, thread, true, s->a, &q.refs, &q.n_refs, e))
        return err_code(e);
    if (sv_starts(q.name, INHERITED))
        q.name = path_join(share_dir(thread, s->a), q.name, s->a);
    if (sv_starts(q.name, THREADS) ? look_path(&q, q.name) : look_name(&q))
        return err_code(e);
    if (q.failed) { /* it may be the file that was meant */
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

/* ---- the bytes --------------------------------------------------------------------------------
 */

static bool is_what_was_frozen(const struct asset_found *f, struct sv bytes, struct arena *a)
{
    struct hash h = hash_blake2b(&bytes, 1);

    return !f->hash.n || sv_eq(hash_hex(&h, a), f->hash);
}

/* Restore a missing copy or, in a read-only workspace, read its stored content. */
static enum status read_again(struct share *s, const struct asset_found *f, struct arena *a,
                              struct sv *bytes, struct err *e)
{
    if (copy_restore(s, f->ref, f->file, e) == ST_OK)
        return fs_read(s->root, f->path, 0, a, bytes, e);
    if (sv_is(sv_of(e->reason), "copy"))
        return err_code(e);
    return object_read(s, f->hash, a, bytes, e);
}

enum status asset_read(struct share *s, const struct asset_found *f, struct arena *a,
                       struct sv *bytes, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    enum status       r = share_open(s, f->path, O_RDONLY | O_NONBLOCK, &fd, e);

    if (r == ST_NOT_FOUND && f->ref)
        r = read_again(s, f, a, bytes, e);
    else if (!r)
        r = fs_read_fd(fd, 0, a, bytes, e);
    if (r)
        return r;
    if (is_what_was_frozen(f, *bytes, a))
        return ST_OK;
    err_set(e, ST_CORRUPT, "the frozen copy " SV_FMT " was changed after it was made",
            SV_ARG(f->path));
    return err_hint(e, "move it away and read it again: its content is kept; `heddle refresh` "
                       "copies what the source has now");
}
