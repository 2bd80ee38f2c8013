/* Bringing the work of threads together.
 *
 * Each file of a source is compared with the target's and with what they had in common: what
 * the source inherited from the target, or the target from the source. A side that did not
 * change gives way. Lines changed on both sides in different ways are a conflict, and
 * the strategy says what then:
 *
 *     interactive   both versions stand in the file between markers, for a person to settle
 *     agent-first   the source's lines are taken
 *     human         the target stays; the source's file is put beside it as NAME.from-SOURCE
 *     strict        the whole merge is refused
 *
 * Everything is worked out first; then one entry is appended, and the files follow it. */
#include "share/operation.h"

#include "base/map.h"
#include "base/path.h"
#include "share/operation_internal.h"

struct merged_file {
    struct sv path;          /* below the target's folder */
    struct sv before, after; /* hashes; before absent: there was none */
    struct sv bytes;
    bool      exists;
};

enum strategy { INTERACTIVE, AGENT_FIRST, HUMAN, STRICT };

struct merge {
    struct share               *s;
    const struct merge_request *r;
    struct merge_result        *out;
    struct map                  files; /* path → struct merged_file */
    enum strategy               strategy;
    struct err                 *e;
};

static enum status read_file(struct share *s, struct sv path, struct sv *bytes, bool *exists,
                             struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    enum status       r = share_open(s, path, O_RDONLY | O_NONBLOCK, &fd, e);

    if (!r)
        r = fs_read_fd(fd, 0, s->a, bytes, e);
    *exists = r == ST_OK;
    return r == ST_NOT_FOUND ? ST_OK : r;
}

static struct sv hash_of(struct sv bytes, struct arena *a)
{
    struct hash h = hash_blake2b(&bytes, 1);

    return hash_hex(&h, a);
}

/* The target's file as the merge has it so far. */
static enum status target_file(struct merge *m, struct sv path, struct merged_file **out)
{
    struct merged_file *f = map_find(&m->files, path);

    if (!f) {
        f = ARENA_NEW(m->s->a, struct merged_file, 1);
        f->path = path;
        if (read_file(m->s, share_path(m->r->target, "", path, m->s->a), &f->bytes, &f->exists,
                      m->e))
            return err_code(m->e);
        if (f->exists)
            f->before = hash_of(f->bytes, m->s->a);
        map_put(&m->files, path, f);
    }
    *out = f;
    return ST_OK;
}

/* What `holder` has of `origin`'s file: the frozen copy, if there is one. */
static enum status copy_held(struct merge *m, struct sv holder, struct sv origin, struct sv name,
                             struct sv *bytes, bool *found)
{
    struct share_ref *refs;
    size_t            n;

    *found = false;
    if (share_refs(m->s, holder, true, m->s->a, &refs, &n, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < n && !*found; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files && !*found; k++) {
            if (!sv_eq(refs[i].target, origin) || !sv_eq(refs[i].files[k].name, name))
                continue;
            if (read_file(m->s,
                          share_path(holder, "context/inherited", refs[i].files[k].place, m->s->a),
                          bytes, found, m->e))
                return err_code(m->e);
        }
    return ST_OK;
}

static enum status find_base(struct merge *m, struct sv source, struct sv name, struct sv *bytes,
                             bool *found)
{
    if (copy_held(m, source, m->r->target, name, bytes, found))
        return err_code(m->e);
    return *found ? ST_OK : copy_held(m, m->r->target, source, name, bytes, found);
}

static void note(struct merge *m, bool conflict, struct sv path)
{
    size_t n = conflict ? m->out->conflicts.n : m->out->merged.n;

    for (size_t i = 0; i < n; i++)
        if (sv_eq(conflict ? m->out->conflicts.v[i] : m->out->merged.v[i], path))
            return;
    if (conflict)
        *vec_push(&m->out->conflicts, m->s->a) = path;
    else
        *vec_push(&m->out->merged, m->s->a) = path;
}

static void take(struct merge *m, struct merged_file *f, struct sv bytes)
{
    f->bytes = bytes;
    f->exists = true;
    note(m, false, f->path);
}

static enum status refuse(struct merge *m, struct sv path)
{
    struct sb b = sb_in(m->s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "file", path);
    jw_close(&w, '}');
    m->s->details = sb_sv(&b);
    err_set(m->e, ST_CONFLICT, "Merge conflict detected: " SV_FMT, SV_ARG(path));
    err_reason(m->e, "merge_conflict");
    return err_hint(m->e, "nothing was changed; --dry-run lists all conflicts, --strategy "
                          "interactive writes both versions into the file");
}

/* Both changed it. `merged` has the lines with markers or the source's; absent when the two
 * could not be compared line by line. */
static enum status conflict(struct merge *m, struct sv source, struct merged_file *f,
                            struct sv theirs, struct sv merged)
{
    struct merged_file *beside = NULL;
    struct sb           b = sb_in(m->s->a, 0);

    note(m, true, f->path);
    switch (m->strategy) {
    case STRICT: return m->r->dry_run ? ST_OK : refuse(m, f->path);
    case AGENT_FIRST: take(m, f, merged.s ? merged : theirs); return ST_OK;
    case INTERACTIVE:
        if (merged.s) {
            take(m, f, merged);
            return ST_OK;
        }
        break;
    case HUMAN: break;
    }
    sb_addf(&b, SV_FMT ".from-" SV_FMT, SV_ARG(f->path), SV_ARG(source));
    if (target_file(m, sb_sv(&b), &beside) || !beside)
        return err_code(m->e);
    take(m, beside, theirs);
    return ST_OK;
}

static bool is_text(struct sv v)
{
    return !sv_has(v, 0);
}

static enum status merge_file(struct merge *m, struct sv source, const struct scope_file *file)
{
    struct merged_file *f;
    struct sv           theirs, base = { 0 }, merged = { 0 };
    bool                exists, has_base, clean = false;
    struct err          why;
    enum merge_side     side = m->strategy == AGENT_FIRST ? MERGE_THEIRS : MERGE_MARKERS;

    enum status r =
        read_file(m->s, share_path(source, "", file->source, m->s->a), &theirs, &exists, m->e);
    if (r == ST_PERMISSION_DENIED) { /* a link out, or into .heddle: not work of the source */
        share_warn(m->s, "W203", source, "not merged: %s", m->e->text);
        return ST_OK;
    }
    if (r || target_file(m, file->source, &f) || find_base(m, source, file->name, &base, &has_base))
        return err_code(m->e);
    if (!exists || (f->exists && sv_eq(f->bytes, theirs)) || (has_base && sv_eq(base, theirs)))
        return ST_OK; /* gone meanwhile, the same, or not changed by the source */
    if (!f->exists && !has_base) {
        take(m, f, theirs);
        return ST_OK;
    }
    if (f->exists && has_base && sv_eq(f->bytes, base)) {
        take(m, f, theirs);
        return ST_OK;
    }
    if (f->exists && is_text(theirs) && is_text(f->bytes) && is_text(base) &&
        merge_text(has_base ? base : SV(""), f->bytes, theirs, m->r->target, source, side, m->s->a,
                   &merged, &clean, &why))
        merged = (struct sv){ 0 };
    if (merged.s && clean) {
        take(m, f, merged);
        return ST_OK;
    }
    return conflict(m, source, f, theirs, merged);
}

static bool wanted(const struct merge_request *r, struct sv path, struct arena *a)
{
    struct sv  normal;
    struct err ignored;

    for (size_t i = 0; i < r->scope.n; i++) {
        if (path_normal(r->scope.v[i], a, &normal, &ignored))
            continue;
        struct sv bare = sv_starts(path, SV("artifacts/")) ? sv_skip(path, 10) : path;
        if (!normal.n || scope_covers(&normal, 1, path) || scope_covers(&normal, 1, bare))
            return true;
    }
    return r->scope.n == 0;
}

static enum status merge_source(struct merge *m, struct sv source)
{
    struct scope_files files;

    if (scope_collect(m->s, source, NULL, 0, &files, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < files.list.n; i++)
        if (wanted(m->r, files.list.v[i].source, m->s->a) &&
            merge_file(m, source, &files.list.v[i]))
            return err_code(m->e);
    return ST_OK;
}

static enum status append_merge(struct merge *m)
{
    struct sb b;
    struct jw w = op_start(m->s, &b, "merge");

    op_list(&w, "sources", m->r->sources.v, m->r->sources.n);
    jw_kstr(&w, "target", m->r->target);
    jw_kstr(&w, "conflict_strategy", m->r->strategy);
    op_list(&w, "conflicts", m->out->conflicts.v, m->out->conflicts.n);
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; i < m->out->merged.n; i++) {
        struct merged_file *f = map_find(&m->files, m->out->merged.v[i]);
        if (object_put(m->s, f->bytes, &f->after, m->e))
            return err_code(m->e);
        jw_open(&w, '{');
        jw_kstr(&w, "path", f->path);
        jw_kstr(&w, "before", f->before);
        jw_kstr(&w, "after", f->after);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    return op_finish(m->s, &w, &b, m->e);
}

static enum status check_merge(struct merge *m)
{
    static const char *const names[] = { "interactive", "agent-first", "human", "strict" };
    struct share_thread      t;
    size_t                   k = 0;

    while (k < COUNT(names) && !sv_is(m->r->strategy, names[k]))
        k++;
    if (k == COUNT(names)) {
        err_set(m->e, ST_USAGE, "'" SV_FMT "' is no conflict strategy", SV_ARG(m->r->strategy));
        return err_hint(m->e, "interactive, agent-first, human, strict");
    }
    m->strategy = (enum strategy)k;
    if (!m->r->sources.n)
        return err_set(m->e, ST_INVALID_SYNTAX, "there are no sources to merge");
    if (share_thread(m->s, m->r->target, &t, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < m->r->scope.n; i++) {
        struct sv normal;
        if (path_normal(m->r->scope.v[i], m->s->a, &normal, m->e))
            return err_in(m->e, "scope");
    }
    for (size_t i = 0; i < m->r->sources.n; i++) {
        if (share_thread(m->s, m->r->sources.v[i], &t, m->e))
            return err_code(m->e);
        if (sv_eq(m->r->sources.v[i], m->r->target))
            return err_set(m->e, ST_INVALID_SYNTAX, "a thread cannot be merged into itself");
    }
    return ST_OK;
}

enum status share_merge(struct share *s, const struct merge_request *r, struct merge_result *out,
                        struct err *e)
{
    struct merge m = { .s = s, .r = r, .out = out, .files = map_in(s->a), .e = e };

    *out = (struct merge_result){ 0 };
    if (check_merge(&m))
        return err_code(e);
    for (size_t i = 0; i < r->sources.n; i++)
        if (merge_source(&m, r->sources.v[i]))
            return err_code(e);
    return r->dry_run ? ST_OK : append_merge(&m);
}
