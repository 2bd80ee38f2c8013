/* The views on disk: thread_relations.json, objectives.json, registry.json.
 *
 * .heddle/share.stamp says for which rev each was last written and by which inode, size and mtime
 * it is known, for the newest file and the one before it: it is written between the new temporary
 * files and their renames, so both files that a crash may leave are recognised. A file that matches
 * neither was changed by another program and is imported before anything is written.
 *
 *     heddle-share 2
 *     applied REV                    effects of entries below REV are on disk
 *     0 REV INODE SIZE MTIME_NS      file 0, newest; next line the one before it; ...
 *     undone SEQ WHY                 but for this entry, whose effect failed; none or more
 */
#include "share/share_internal.h"

#include "base/path.h"
#include "base/rand.h"
#include "share/limits.h"
#include "thread/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAMP SV(".heddle/share.stamp")

const struct sv share_file_paths[SHARE_FILES] = {
    SV_STATIC(".leslie/thread_relations.json"),
    SV_STATIC(".leslie/objectives.json"),
    SV_STATIC(".leslie/threads/.global/registry.json"),
};

/* ---- the stamp --------------------------------------------------------------------- */

static void stamp_clear(struct share_stamp *st)
{
    memset(st, 0, sizeof *st);
    for (int i = 0; i < SHARE_FILES; i++)
        st->file[i][0].rev = st->file[i][1].rev = -1;
}

/* A link in its place was not made by heddle: it counts as no stamp and is replaced by the next
 * one. */
static enum status stamp_text(struct share *s, struct sv *text, struct err *e)
{
    enum fs_kind kind;

    *text = SV("");
    if (fs_kind(s->root, STAMP, &kind, e))
        return err_code(e);
    enum status r =
        kind == FS_FILE ? fs_read(s->root, STAMP, STAMP_MAX, s->a, text, e) : ST_NOT_FOUND;
    return r == ST_NOT_FOUND || r == ST_LIMIT_EXCEEDED ? ST_OK : r;
}

static void stamp_undone(struct share *s, struct sv rest)
{
    struct share_stamp *st = &s->stamp;

    while (rest.n && st->n_undone < SHARE_UNDONE_MAX) {
        struct sv_cut line = sv_cut(rest, '\n'), seq;
        int64_t       n;
        rest = line.tail;
        if (!sv_starts(line.head, SV("undone ")))
            continue;
        seq = sv_cut(sv_skip(line.head, 7), ' ');
        if (sv_to_int(seq.head, &n) && n >= 0)
            st->undone[st->n_undone++] = (struct share_undone){ n, sv_of(sv_cstr(seq.tail, s->a)) };
    }
}

static enum status stamp_read(struct share *s, struct err *e)
{
    struct share_stamp *st = &s->stamp;
    struct sv           text;
    int                 used = 0;
    long long           applied;

    stamp_clear(st);
    if (stamp_text(s, &text, e))
        return err_code(e);
    if (sscanf(text.s, "heddle-share 2\napplied %lld\n%n", &applied, &used) != 1 || !used)
        return ST_OK;
    for (int i = 0; i < SHARE_FILES * 2; i++) {
        long long          rev, mtime;
        unsigned long long inode, size;
        int                which, n = 0;
        if (sscanf(text.s + used, "%d %lld %llu %llu %lld\n%n", &which, &rev, &inode, &size, &mtime,
                   &n) != 5 ||
            which != i / 2) {
            stamp_clear(st);
            return ST_OK;
        }
        used += n;
        st->file[i / 2][i % 2].rev = rev;
        st->file[i / 2][i % 2].mark = (struct fs_mark){ inode, size, mtime };
    }
    st->applied = applied;
    stamp_undone(s, (struct sv){ text.s + used, text.n - (size_t)used });
    return ST_OK;
}

/* In place and without waiting for the disk: when the process dies, the kernel still writes it;
 * when the machine fails, an old or incomplete stamp only makes the next command compare the
 * files. */
static enum status stamp_write(struct share *s, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct sb         b = sb_in(s->a, 0);

    sb_addf(&b, "heddle-share 2\napplied %lld\n", (long long)s->stamp.applied);
    for (int i = 0; i < SHARE_FILES * 2; i++) {
        const struct fs_mark *m = &s->stamp.file[i / 2][i % 2].mark;
        sb_addf(&b, "%d %lld %llu %llu %lld\n", i / 2, (long long)s->stamp.file[i / 2][i % 2].rev,
                (unsigned long long)m->inode, (unsigned long long)m->size, (long long)m->mtime_ns);
    }
    for (size_t i = 0; i < s->stamp.n_undone; i++)
        sb_addf(&b, "undone %lld " SV_FMT "\n", (long long)s->stamp.undone[i].seq,
                SV_ARG(s->stamp.undone[i].why));
    struct sv   text = sb_sv(&b);
    enum status r = fs_open_own(s->root, STAMP, O_WRONLY, &fd, e);
    if (r == ST_PERMISSION_DENIED) /* a link: it is replaced, its target stays as it is */
        return fs_write(s->root, STAMP, text, 0666, e);
    if (r)
        return r;
    if (pwrite(fd, text.s, text.n, 0) != (ssize_t)text.n || ftruncate(fd, (off_t)text.n) != 0)
        return err_errno(e, "write " SV_FMT, SV_ARG(STAMP));
    return ST_OK;
}

enum status files_rev(struct share *s, int which, int64_t *rev, struct err *e)
{
    struct fs_mark now;
    bool           found;

    if (fs_mark(s->root, share_file_paths[which], &now, &found, e))
        return err_code(e);
    *rev = found ? -1 : -2;
    for (int k = 0; found && k < 2; k++)
        if (s->stamp.file[which][k].rev >= 0 && fs_mark_eq(&now, &s->stamp.file[which][k].mark)) {
            *rev = s->stamp.file[which][k].rev;
            break;
        }
    return ST_OK;
}

enum status files_look(struct share *s, int64_t rev, bool *current, struct err *e)
{
    int64_t at[SHARE_FILES];
    bool    none = true;

    if (stamp_read(s, e))
        return err_code(e);
    *current = s->stamp.applied == rev;
    for (int i = 0; i < SHARE_FILES; i++) {
        if (files_rev(s, i, &at[i], e))
            return err_code(e);
        s->foreign[i] = at[i] == -1;
        *current = *current && at[i] == rev;
        none = none && at[i] == -2;
    }
    if (!rev && s->stamp.applied == 0) /* nothing was ever shared here */
        *current = none;
    return ST_OK;
}

/* ---- writing ------------------------------------------------------------------------ */

struct output {
    struct fs_draft draft;
    struct fs_mark  mark;
    bool            same; /* nothing in it changed: only the stamp does */
    bool            made;
};

/* What changed since a file was written, as patches. With more than PATCH_ENTRIES_MAX entries, or
 * one that touches everything, the file is rendered completely. */
struct changes {
    bool everything;
    VEC(struct patch) relations, registry, objectives;
    struct arena *a;
};

static bool seen(const struct patch *v, size_t n, const char *section, struct sv key)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].kind == PATCH_ITEM && strcmp(v[i].section, section) == 0 && v[i].key.s &&
            sv_eq(v[i].key, key))
            return true;
    return false;
}

static enum status thread_changed(struct share *s, struct changes *c, struct sv id, struct err *e)
{
    struct share_thread t;
    bool                found;

    if (!id.s || seen(c->relations.v, c->relations.n, "threads", id))
        return ST_OK;
    if (share_thread_find(s, id, &t, &found, e))
        return err_code(e);
    if (!found) {
        c->everything = true;
        return ST_OK;
    }
    *vec_push(&c->relations, c->a) =
        (struct patch){ PATCH_ITEM, "threads", t.id, render_thread(&t, c->a) };
    *vec_push(&c->registry, c->a) =
        (struct patch){ PATCH_ITEM, "threads", t.id, render_registry_thread(&t, c->a) };
    return ST_OK;
}

static enum status relation_changed(struct share *s, struct changes *c, struct sv id, struct err *e)
{
    struct share_thread t;
    struct sv           text;
    bool                found;

    if (!id.s || seen(c->relations.v, c->relations.n, "relations", id))
        return ST_OK;
    if (share_thread_find(s, id, &t, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK; /* the target of a broken reference has no relation of its own */
    if (render_relation(s, id, c->a, &text, e))
        return err_code(e);
    *vec_push(&c->relations, c->a) = (struct patch){ PATCH_ITEM, "relations", t.id, text };
    return ST_OK;
}

static enum status objective_changed(struct share *s, struct changes *c, struct sv id,
                                     struct err *e)
{
    struct share_objective o;
    struct sv              row, text;
    bool                   found;

    if (!id.s || seen(c->objectives.v, c->objectives.n, "objectives", id))
        return ST_OK;
    if (share_row(s, key_of_name("obj", id, c->a), &row, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK; /* a thread of an objective that this file does not have */
    if (share_objective_read(row, c->a, &o, e) || render_objective(s, &o, c->a, &text, e))
        return err_code(e);
    *vec_push(&c->objectives, c->a) = (struct patch){ PATCH_ITEM, "objectives", o.id, text };
    return ST_OK;
}

static enum status entry_changed(struct share *s, struct changes *c, const struct entry *n,
                                 struct err *e)
{
    struct share_touch touch;
    struct sv          text = { 0 };

    if (share_touch(n, c->a, &touch, e))
        return err_code(e);
    c->everything = c->everything || touch.everything;
    if (c->everything)
        return ST_OK;
    if (thread_changed(s, c, touch.threads[0], e) ||
        relation_changed(s, c, touch.relations[0], e) ||
        relation_changed(s, c, touch.relations[1], e) ||
        objective_changed(s, c, touch.objective, e) ||
        (touch.is_operation && render_operation(n, c->a, &text, e)))
        return err_code(e);
    if (text.s)
        *vec_push(&c->relations, c->a) = (struct patch){ PATCH_ITEM, "operations", { 0 }, text };
    return ST_OK;
}

static enum status collect_changes(struct share *s, int64_t from, int64_t rev, struct changes *c,
                                   struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = SHARE_GLOBAL, .from = from, .to = STORE_TO_END };
    struct entry       n;
    struct share_meta  m;
    bool               more;

    struct sv *bad;
    size_t     n_bad;

    /* Invalid rows of other programs come after all others, so that a new row cannot simply be
     * added at the end. */
    if (share_rows_below(s, SV("bad/"), true, c->a, &bad, &n_bad, e))
        return err_code(e);
    if (share_meta(s, &m, e))
        return err_code(e);
    c->everything = from < 0 || rev - from > PATCH_ENTRIES_MAX || n_bad || m.unsorted;
    if (c->everything)
        return ST_OK;
    if (log_scan(s->log, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            break;
        struct entry kept = log_entry_copy(&n, c->a);
        if (entry_changed(s, c, &kept, e))
            return err_code(e);
    }
    *vec_push(&c->relations, c->a) =
        (struct patch){ PATCH_METADATA, NULL, { 0 }, render_metadata(&m, FILE_RELATIONS, c->a) };
    *vec_push(&c->registry, c->a) =
        (struct patch){ PATCH_METADATA, NULL, { 0 }, render_metadata(&m, FILE_REGISTRY, c->a) };
    if (c->objectives.n)
        *vec_push(&c->objectives, c->a) = (struct patch){
            PATCH_METADATA, NULL, { 0 }, render_metadata(&m, FILE_OBJECTIVES, c->a)
        };
    return ST_OK;
}

static enum status try_patch(struct share *s, int which, const struct changes *c, struct sb *out,
                             struct err *e)
{
    UNDO(fd_undo) int   fd = -1;
    struct stat         st;
    const struct patch *v = which == FILE_RELATIONS    ? c->relations.v
                            : which == FILE_OBJECTIVES ? c->objectives.v
                                                       : c->registry.v;
    size_t              n = which == FILE_RELATIONS    ? c->relations.n
                            : which == FILE_OBJECTIVES ? c->objectives.n
                                                       : c->registry.n;

    if (fs_open(s->root, share_file_paths[which], O_RDONLY, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) != 0 || st.st_size == 0)
        return err_set(e, ST_CORRUPT, "empty");
    char *old = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (old == MAP_FAILED)
        return err_errno(e, "mmap");
    enum status r = patch_write((struct sv){ old, (size_t)st.st_size }, v, n, c->a, out, e);
    munmap(old, (size_t)st.st_size);
    return r;
}

/* Does the file hold these bytes already? Then it is left alone, and `git status` stays clean. */
static enum status holds_already(struct share *s, int which, int fd, struct arena *a, bool *same,
                                 struct err *e)
{
    struct sv      ours, there;
    struct fs_mark now;
    bool           found;
    off_t          size = lseek(fd, 0, SEEK_END);

    *same = false;
    if (fs_mark(s->root, share_file_paths[which], &now, &found, e))
        return err_code(e);
    if (!found || size < 0 || now.size != (uint64_t)size)
        return ST_OK;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(e, "seek");
    if (fs_read_fd(fd, 0, a, &ours, e) ||
        fs_read(s->root, share_file_paths[which], 0, a, &there, e))
        return err_code(e);
    *same = sv_eq(ours, there);
    return ST_OK;
}

static enum status make_output(struct share *s, int which, const struct changes *c, bool patchable,
                               struct output *o, struct err *e)
{
    struct arena scratch = { 0 };
    enum status  r = ST_CORRUPT;

    if (fs_draft_open(&o->draft, s->root, share_file_paths[which], 0666, e))
        return err_code(e);
    o->made = true;
    int       fd = o->draft.fd;
    struct sb out = sb_to_fd(fd, &scratch);
    if (patchable)
        r = try_patch(s, which, c, &out, e);
    if (r == ST_CORRUPT) {
        out.n = 0;
        if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
            r = err_errno(e, "truncate");
        else
            r = render_file(s, (enum share_file_id)which, &out, e);
    }
    if (!r)
        r = sb_flush(&out, e);
    if (!r && s->foreign[which] && !s->set_aside[which].s)
        r = holds_already(s, which, fd, &scratch, &o->same, e);
    if (!r) /* start writing it to the disk while the next file is made */
        (void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (!r)
        r = fs_mark_fd(fd, &o->mark, e);
    arena_free(&scratch);
    return r ? err_in(e, SV_FMT, SV_ARG(share_file_paths[which])) : ST_OK;
}

/* The present file becomes `.bak`, but only if it is known to be valid. */
static void keep_backup(int dir, const char *name, bool good)
{
    char bak[96], temp[96];

    if (!good)
        return;
    snprintf(bak, sizeof bak, "%s.bak", name);
    snprintf(temp, sizeof temp, "%s.bak.tmp", name);
    unlinkat(dir, temp, 0);
    if (linkat(dir, name, dir, temp, 0) == 0)
        (void)!renameat(dir, temp, dir, bak);
    unlinkat(dir, temp, 0); /* it is still there when both names were links to one file */
}

static enum status put_in_place(struct share *s, int dir, int which, struct output *o, bool known,
                                struct err *e)
{
    const char *name = sv_cstr(path_base(share_file_paths[which]), s->a);

    if (s->set_aside[which].s) {
        if (renameat(dir, name, dir, sv_cstr(s->set_aside[which], s->a)) != 0 && errno != ENOENT)
            return err_errno(e, "set aside " SV_FMT, SV_ARG(share_file_paths[which]));
    } else if (which != FILE_REGISTRY) {
        keep_backup(dir, name, known);
    }
    o->made = false; /* the commit closes it, even when it fails */
    if (fs_draft_commit(&o->draft, e))
        return err_in(e, SV_FMT, SV_ARG(share_file_paths[which]));
    return ST_OK;
}

/* One file that cannot be written does not stop the others: its error is kept, its marks in the
 * stamp stay as they are, and so the next command tries it again. */
static void keep_first(struct err *kept, enum status r, const struct err *e)
{
    if (r && !kept->code)
        *kept = *e;
}

static enum status stamp_outputs(struct share *s, int64_t rev, struct output out[SHARE_FILES],
                                 struct err *e)
{
    for (int i = 0; i < SHARE_FILES; i++) {
        struct fs_mark now = out[i].mark;
        bool           found = true;
        if (out[i].same && fs_mark(s->root, share_file_paths[i], &now, &found, e))
            return err_code(e);
        if (!found)
            return err_set(e, ST_IO, "a file went away");
        if (!out[i].same && !out[i].made)
            continue;
        s->stamp.file[i][1] = s->stamp.file[i][0];
        s->stamp.file[i][0].rev = rev;
        s->stamp.file[i][0].mark = now;
    }
    return stamp_write(s, e);
}

static enum status write_all(struct share *s, int64_t rev, const int dirs[SHARE_FILES],
                             const struct changes *c, const int64_t on_disk[SHARE_FILES],
                             struct output out[SHARE_FILES], struct err *e)
{
    struct err kept = { 0 };

    for (int i = 0; i < SHARE_FILES; i++) {
        bool patchable = !c->everything && on_disk[i] >= 0 && on_disk[i] == on_disk[FILE_RELATIONS];
        out[i].same = patchable && i == FILE_OBJECTIVES && !c->objectives.n;
        if (out[i].same)
            continue;
        enum status r = make_output(s, i, c, patchable, &out[i], e);
        if (!r && !out[i].same && fdatasync(out[i].draft.fd) != 0)
            r = err_errno(e, "fsync " SV_FMT, SV_ARG(share_file_paths[i]));
        out[i].draft.synced = true;
        if ((r || out[i].same) && out[i].made)
            fs_draft_drop(&out[i].draft);
        out[i].made = !r && !out[i].same;
        keep_first(&kept, r, e);
    }
    if (stamp_outputs(s, rev, out, e))
        return err_code(e);
    for (int i = 0; i < SHARE_FILES; i++)
        if (out[i].made)
            keep_first(&kept,
                       put_in_place(s, dirs[i], i, &out[i], on_disk[i] >= 0 || s->foreign[i], e),
                       e);
    if (kept.code)
        *e = kept;
    return kept.code;
}

/* The newest mark in the stamp must be that of the file there now: for files that did not change,
 * and for those of which a crash kept the older version, the mark is read from the disk. */
static void settle_stamp(struct share *s, const int64_t on_disk[SHARE_FILES])
{
    for (int i = 0; i < SHARE_FILES; i++)
        if (on_disk[i] >= 0 && s->stamp.file[i][0].rev != on_disk[i])
            s->stamp.file[i][0] = s->stamp.file[i][1];
}

enum status files_write(struct share *s, int64_t rev, struct err *e)
{
    struct arena   scratch = { 0 };
    struct changes c = { .a = &scratch };
    struct output  out[SHARE_FILES] = { 0 };
    int            dirs[SHARE_FILES] = { -1, -1, -1 };
    int64_t        on_disk[SHARE_FILES];
    enum status    r = fs_open(s->root, SV(".leslie"), O_RDONLY | O_DIRECTORY, &dirs[0], e);

    for (int i = 0; i < SHARE_FILES; i++) {
        on_disk[i] = -1;
        if (!r && !s->foreign[i])
            r = files_rev(s, i, &on_disk[i], e);
    }
    settle_stamp(s, on_disk);
    dirs[FILE_OBJECTIVES] = dirs[0];
    if (!r)
        r = fs_open(s->root, SV(".leslie/threads/.global"), O_RDONLY | O_DIRECTORY,
                    &dirs[FILE_REGISTRY], e);
    if (!r)
        r = collect_changes(s, on_disk[FILE_RELATIONS], rev, &c, e);
    if (!r)
        r = write_all(s, rev, dirs, &c, on_disk, out, e);
    for (int i = 0; i < SHARE_FILES; i++)
        if (out[i].made)
            fs_draft_drop(&out[i].draft);
    fd_undo(&dirs[0]);
    fd_undo(&dirs[FILE_REGISTRY]);
    arena_free(&scratch);
    return r;
}
