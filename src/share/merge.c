/* Bringing the work of threads together.
 *
 * Each file of a source is compared with the target's and with what they had in common: what the
 * last merge of the two took, else what one inherited from the other. A side that did not change
 * takes the other one's version; a file that the source had then and no longer has is removed.
 * Lines changed on both sides in different ways are a conflict, and the strategy says what then:
 *
 *     interactive   both versions stand in the file between markers, for a person to settle
 *     agent-first   the source's lines are taken; the target's text is kept in .meta/replaced/
 *     human         the target stays; the source's file is put beside it as NAME.from-SOURCE
 *     strict        the whole merge is refused
 *
 * A file that meets a directory of its name is refused under every strategy. The result is computed
 * first; then one entry is appended, and the files are written after the commit. */
#include "share/operation.h"

#include "base/map.h"
#include "base/path.h"
#include "share/operation_internal.h"

#include <sys/stat.h>

/* What is at a path. */
struct content {
    struct sv bytes;
    bool      exists, folder, exec;
};

struct merged_file {
    struct sv      path;          /* below the target's directory */
    struct sv      before, after; /* hashes; before absent: there was none */
    struct content was, now;      /* on disk, and as the merge has it so far */
    struct sv      source;        /* the source of the last change */
    struct sv theirs; /* the hash of the source's version; absent: the source removed the file */
    struct sv theirs_bytes;
    struct sv kept; /* name below MERGE_KEPT of what is overwritten; or absent */
    bool      changed;
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

static enum status read_file(struct share *s, struct sv path, struct content *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       r = share_open(s, path, O_RDONLY | O_NONBLOCK, &fd, e);

    *out = (struct content){ 0 };
    if (r)
        return r == ST_NOT_FOUND ? ST_OK : r;
    if (fstat(fd, &st) != 0)
        return err_errno(e, "look at " SV_FMT, SV_ARG(path));
    out->folder = S_ISDIR(st.st_mode);
    out->exists = S_ISREG(st.st_mode);
    out->exec = out->exists && (st.st_mode & 0100);
    if (!out->exists && !out->folder)
        return err_set(e, ST_IO, "'" SV_FMT "' is not a regular file", SV_ARG(path));
    if (out->exists && fs_read_fd(fd, 0, s->a, &out->bytes, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    return ST_OK;
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
        if (read_file(m->s, share_path(m->r->target, "", path, m->s->a), &f->was, m->e))
            return err_code(m->e);
        f->now = f->was;
        if (f->was.exists)
            f->before = hash_of(f->was.bytes, m->s->a);
        map_put(&m->files, path, f);
    }
    *out = f;
    return ST_OK;
}

/* The frozen copy that `holder` has of a file of `origin`, if there is one. */
static enum status copy_held(struct merge *m, struct sv holder, struct sv origin, struct sv name,
                             struct content *base)
{
    struct share_ref *refs;
    size_t            n;

    *base = (struct content){ 0 };
    if (share_refs(m->s, holder, true, m->s->a, &refs, &n, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < n && !base->exists; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files && !base->exists; k++) {
            if (!sv_eq(refs[i].target, origin) || !sv_eq(refs[i].files[k].name, name))
                continue;
            if (read_file(m->s,
                          share_path(holder, "context/inherited", refs[i].files[k].place, m->s->a),
                          base, m->e))
                return err_code(m->e);
        }
    return ST_OK;
}

/* What the last merge took of this file. If the target has its text from before that merge,
 * somebody undid the merge, and nothing counts as taken. */
static enum status last_taken(struct merge *m, struct sv source, struct sv path,
                              struct content *base)
{
    struct sv           key = share_merged_key(m->r->target, source, path, m->s->a), row;
    bool                found;
    struct merged_file *f;
    enum status         r = share_row(m->s, key, &row, &found, m->e);

    *base = (struct content){ 0 };
    if (r || !found || (r = target_file(m, path, &f)))
        return r;
    struct sv before = sv_cut(row, ' ').tail;
    if (sv_eq(before, f->before) && !sv_eq(before, sv_cut(row, ' ').head))
        return ST_OK;
    r = object_read(m->s, sv_cut(row, ' ').head, m->s->a, &base->bytes, m->e);
    base->exists = r == ST_OK;
    return r == ST_NOT_FOUND ? ST_OK : r;
}

static enum status find_base(struct merge *m, struct sv source, const struct scope_file *file,
                             struct content *base)
{
    if (last_taken(m, source, file->source, base))
        return err_code(m->e);
    if (!base->exists && copy_held(m, source, m->r->target, file->name, base))
        return err_code(m->e);
    return base->exists ? ST_OK : copy_held(m, m->r->target, source, file->name, base);
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

/* Record the source's present version, so that the next merge can compare with it. */
static void seen(struct merge *m, struct merged_file *f, struct sv source,
                 const struct content *theirs)
{
    f->source = source;
    f->theirs_bytes = theirs->bytes;
    f->theirs = theirs->exists ? hash_of(theirs->bytes, m->s->a) : (struct sv){ 0 };
}

static void take(struct merge *m, struct merged_file *f, struct sv bytes, bool exec)
{
    f->now = (struct content){ .bytes = bytes, .exists = true, .exec = exec };
    f->changed = true;
    note(m, false, f->path);
}

static void take_away(struct merge *m, struct merged_file *f)
{
    f->now = (struct content){ 0 };
    f->changed = true;
    *vec_push(&m->out->removed, m->s->a) = f->path;
}

/* The target's own text is replaced: keep it in MERGE_KEPT. */
static void keep_replaced(struct merge *m, struct merged_file *f)
{
    struct sb b = sb_in(m->s->a, 0);

    if (!f->was.exists || f->kept.s)
        return;
    sb_add(&b, path_base(f->path));
    sb_addc(&b, '.');
    sb_add(&b, sv_first(f->before, 12));
    f->kept = sb_sv(&b);
    *vec_push(&m->out->kept, m->s->a) = share_path(m->r->target, MERGE_KEPT, f->kept, m->s->a);
}

static enum status refuse(struct merge *m, struct sv path, const char *why)
{
    struct sb b = sb_in(m->s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "file", path);
    jw_close(&w, '}');
    m->s->details = sb_sv(&b);
    err_set(m->e, ST_CONFLICT, "Merge conflict detected: " SV_FMT "%s", SV_ARG(path), why);
    return err_reason(m->e, "merge_conflict");
}

static enum status refuse_strictly(struct merge *m, struct sv path)
{
    refuse(m, path, "");
    return err_hint(m->e, "nothing was changed; --dry-run lists all conflicts, --strategy "
                          "interactive writes both versions into the file");
}

/* Both changed it. `merged` has the lines with markers or the source's; absent when the two
 * could not be compared line by line. */
static enum status conflict(struct merge *m, struct sv source, struct merged_file *f,
                            const struct content *theirs, struct sv merged)
{
    struct merged_file *beside = NULL;
    struct sb           b = sb_in(m->s->a, 0);
    bool                exec = theirs->exec || f->now.exec;

    note(m, true, f->path);
    switch (m->strategy) {
    case STRICT: return m->r->dry_run ? ST_OK : refuse_strictly(m, f->path);
    case AGENT_FIRST:
        keep_replaced(m, f);
        take(m, f, merged.s ? merged : theirs->bytes, exec);
        seen(m, f, source, theirs);
        return ST_OK;
    case INTERACTIVE:
        m->out->unsettled++;
        if (merged.s) {
            take(m, f, merged, exec);
            seen(m, f, source, theirs);
            return ST_OK;
        }
        break;
    case HUMAN: m->out->unsettled++; break;
    }
    sb_addf(&b, SV_FMT ".from-" SV_FMT, SV_ARG(f->path), SV_ARG(source));
    if (target_file(m, sb_sv(&b), &beside) || !beside)
        return err_code(m->e);
    take(m, beside, theirs->bytes, theirs->exec);
    return ST_OK;
}

static bool is_text(struct sv v)
{
    return !sv_has(v, 0);
}

static enum status merge_lines(struct merge *m, struct sv source, struct merged_file *f,
                               const struct content *theirs, const struct content *base)
{
    struct sv       merged = { 0 };
    bool            clean = false;
    struct err      why;
    enum merge_side side = m->strategy == AGENT_FIRST ? MERGE_THEIRS : MERGE_MARKERS;

    if (f->now.exists && is_text(theirs->bytes) && is_text(f->now.bytes) && is_text(base->bytes) &&
        merge_text(base->exists ? base->bytes : SV(""), f->now.bytes, theirs->bytes, m->r->target,
                   source, side, m->s->a, &merged, &clean, &why))
        merged = (struct sv){ 0 };
    if (!merged.s || !clean)
        return conflict(m, source, f, theirs, merged);
    take(m, f, merged, theirs->exec || f->now.exec);
    seen(m, f, source, theirs);
    return ST_OK;
}

static enum status merge_file(struct merge *m, struct sv source, const struct scope_file *file)
{
    struct merged_file *f;
    struct content      theirs, base;

    enum status r = read_file(m->s, share_path(source, "", file->source, m->s->a), &theirs, m->e);
    if (r == ST_PERMISSION_DENIED) { /* a link out of the workspace or into .heddle: not work of the
                                        source */
        share_warn(m->s, "W203", source, "not merged: %s", m->e->text);
        return ST_OK;
    }
    if (r || target_file(m, file->source, &f) || find_base(m, source, file, &base))
        return err_code(m->e);
    if (!theirs.exists)
        return ST_OK; /* gone meanwhile */
    if (f->now.exists && sv_eq(f->now.bytes, theirs.bytes)) {
        if (theirs.exec && !f->now.exec)
            take(m, f, theirs.bytes, true);
        seen(m, f, source, &theirs);
        return ST_OK;
    }
    if (base.exists && sv_eq(base.bytes, theirs.bytes))
        return ST_OK; /* not changed by the source */
    if (f->now.exists == base.exists && (!base.exists || sv_eq(f->now.bytes, base.bytes))) {
        take(m, f, theirs.bytes, theirs.exec);
        seen(m, f, source, &theirs);
        return ST_OK;
    }
    return merge_lines(m, source, f, &theirs, &base);
}

/* The source had it and has it no more. A target that changed it since keeps it. */
static enum status merge_removal(struct merge *m, struct sv source, struct sv path,
                                 const struct content *base)
{
    struct merged_file  *f;
    const struct content none = { 0 };

    if (target_file(m, path, &f))
        return err_code(m->e);
    if (!f->now.exists || !base->exists || f->changed)
        return ST_OK;
    if (sv_eq(f->now.bytes, base->bytes)) {
        take_away(m, f);
        seen(m, f, source, &none);
        return ST_OK;
    }
    note(m, true, path);
    if (m->strategy == STRICT)
        return m->r->dry_run ? ST_OK : refuse_strictly(m, path);
    if (m->strategy != AGENT_FIRST) {
        m->out->unsettled++;
        return ST_OK;
    }
    keep_replaced(m, f);
    take_away(m, f);
    seen(m, f, source, &none);
    return ST_OK;
}

static bool wanted(const struct merge_request *r, struct sv path, struct arena *a)
{
    struct sv  normal;
    struct err ignored;

    for (size_t i = 0; i < r->scope.n; i++) {
        if (path_normal(r->scope.v[i], a, &normal, &ignored))
            continue;
        struct sv bare = sv_starts(path, SV("artifacts/")) ? sv_skip(path, 10) : path;
        if (!normal.n || share_scope_covers(&normal, 1, path) ||
            share_scope_covers(&normal, 1, bare))
            return true;
    }
    return r->scope.n == 0;
}

static bool has_file(const struct scope_files *files, struct sv path)
{
    for (size_t i = 0; i < files->list.n; i++)
        if (sv_eq(files->list.v[i].source, path))
            return true;
    return false;
}

/* Files that the last merge took, or that the target froze, and that the source no longer has. */
static enum status merge_removals(struct merge *m, struct sv source,
                                  const struct scope_files *files)
{
    struct sv         prefix = share_merged_key(m->r->target, source, SV(""), m->s->a), *paths;
    struct share_ref *refs;
    size_t            n, n_refs;
    struct content    base;

    if (share_rows_below(m->s, prefix, true, m->s->a, &paths, &n, m->e) ||
        share_refs(m->s, m->r->target, true, m->s->a, &refs, &n_refs, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < n; i++) {
        if (has_file(files, paths[i]) || !wanted(m->r, paths[i], m->s->a))
            continue;
        if (last_taken(m, source, paths[i], &base) || merge_removal(m, source, paths[i], &base))
            return err_code(m->e);
    }
    for (size_t i = 0; i < n_refs; i++)
        for (size_t k = 0; refs[i].frozen && k < refs[i].n_files; k++) {
            const struct share_file *f = &refs[i].files[k];
            if (!sv_eq(refs[i].target, source) || has_file(files, f->source) ||
                !wanted(m->r, f->source, m->s->a))
                continue;
            if (copy_held(m, m->r->target, source, f->name, &base) ||
                merge_removal(m, source, f->source, &base))
                return err_code(m->e);
        }
    return ST_OK;
}

static enum status merge_source(struct merge *m, struct sv source)
{
    struct scope_files files;
    enum fs_kind       kind;

    /* If the whole directory of the source is missing, the source did not remove the files. */
    if (fs_kind(m->s->root, share_dir(source, m->s->a), &kind, m->e))
        return err_code(m->e);
    if (kind != FS_DIR) {
        err_set(m->e, ST_NOT_FOUND, "the directory of thread '" SV_FMT "' is gone", SV_ARG(source));
        return err_hint(m->e, "bring " SV_FMT " back, or leave the thread out",
                        SV_ARG(share_dir(source, m->s->a)));
    }
    if (share_scope_collect(m->s, source, NULL, 0, &files, m->e))
        return err_code(m->e);
    for (size_t i = 0; i < files.list.n; i++)
        if (wanted(m->r, files.list.v[i].source, m->s->a) &&
            merge_file(m, source, &files.list.v[i]))
            return err_code(m->e);
    return merge_removals(m, source, &files);
}

/* A file and a directory cannot have the same name: checked before anything is recorded. */
static enum status meets_folder(struct merge *m, const struct merged_file *f, struct sv *where)
{
    if (f->was.folder) {
        *where = f->path;
        return ST_OK;
    }
    for (struct sv up = path_dir(f->path); up.n; up = path_dir(up)) {
        struct merged_file *other = map_find(&m->files, up);
        enum fs_kind        kind;
        if (fs_kind(m->s->root, share_path(m->r->target, "", up, m->s->a), &kind, m->e))
            return err_code(m->e);
        if ((other && other->changed && other->now.exists) || kind == FS_FILE || kind == FS_OTHER) {
            *where = up;
            return ST_OK;
        }
    }
    return ST_OK;
}

static enum status check_folders(struct merge *m)
{
    for (size_t i = 0; i < m->files.n; i++) {
        const struct merged_file *f = m->files.items[i].value;
        struct sv                 where = { 0 };
        if (!f->changed || !f->now.exists)
            continue;
        if (meets_folder(m, f, &where))
            return err_code(m->e);
        if (!where.s)
            continue;
        if (m->r->dry_run) {
            note(m, true, where);
            m->out->unsettled++;
            continue;
        }
        refuse(m, where, " is a file in one thread and a folder in another");
        return err_hint(m->e, "nothing was changed; rename one of them, or leave it out with "
                              "--scope");
    }
    return ST_OK;
}

static enum status write_file(struct merge *m, struct jw *w, struct merged_file *f)
{
    struct sv stored;

    if ((f->now.exists && object_put(m->s, f->now.bytes, &f->after, m->e)) ||
        (f->theirs.s && object_put(m->s, f->theirs_bytes, &stored, m->e)) ||
        (f->kept.s && object_put(m->s, f->was.bytes, &stored, m->e)))
        return err_code(m->e);
    jw_open(w, '{');
    jw_kstr(w, "path", f->path);
    jw_kstr(w, "before", f->before);
    jw_kstr(w, "after", f->after);
    if (!f->now.exists)
        jw_kbool(w, "gone", true);
    if (f->now.exec)
        jw_kbool(w, "exec", true);
    if (f->source.s)
        jw_kstr(w, "source", f->source);
    if (f->theirs.s)
        jw_kstr(w, "theirs", f->theirs);
    if (f->kept.s)
        jw_kstr(w, "kept", f->kept);
    jw_close(w, '}');
    return ST_OK;
}

/* Does the view already have this state? Then the entry leaves it out. */
static enum status is_known(struct merge *m, const struct merged_file *f, bool *known)
{
    struct sv row;

    *known = !f->source.s;
    if (f->changed || *known)
        return ST_OK;
    if (share_row(m->s, share_merged_key(m->r->target, f->source, f->path, m->s->a), &row, known,
                  m->e))
        return err_code(m->e);
    *known = *known && sv_eq(sv_cut(row, ' ').head, f->theirs);
    return ST_OK;
}

static enum status append_merge(struct merge *m)
{
    struct sb b;
    struct jw w = share_op_start(m->s, &b, "merge");

    share_op_list(&w, "sources", m->r->sources.v, m->r->sources.n);
    jw_kstr(&w, "target", m->r->target);
    jw_kstr(&w, "conflict_strategy", m->r->strategy);
    share_op_list(&w, "conflicts", m->out->conflicts.v, m->out->conflicts.n);
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; i < m->files.n; i++) {
        struct merged_file *f = m->files.items[i].value;
        bool                known = false;
        if (is_known(m, f, &known) || ((f->changed || !known) && write_file(m, &w, f)))
            return err_code(m->e);
    }
    jw_close(&w, ']');
    return share_op_finish(m->s, &w, &b, m->e);
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
    if (check_folders(&m))
        return err_code(e);
    return r->dry_run ? ST_OK : append_merge(&m);
}
