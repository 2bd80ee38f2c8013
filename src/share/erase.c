/* Finds the files that hold erased texts, runs an erasure, and cleans the workspace after it. */
#include "share/erase.h"

#include "base/path.h"
#include "base/scratch.h"
#include "share/limits.h"
#include "share/share_internal.h"
#include "thread/care.h"
#include "thread/kind.h"
#include "thread/scan.h"

/* ---- files ---------------------------------------------------------------------------------- */

struct looking {
    int                   root;
    bool                  in_file; /* the log is a file of the workspace */
    const struct needles *texts;
    struct arena         *a;
    VEC(struct erase_file) list;
};

/* Is it the database, or a copy that a migration, a restore or a killed command left beside it?
 * These are cleaned or removed in any case. When the log is on a server, such a file was left when
 * the log was moved there; nothing else cleans it. */
static bool is_database(struct sv path)
{
    return sv_starts(path, SV(".heddle/heddle.db")) ||
           sv_starts(path, SV(".heddle/" SCRATCH_PREFIX));
}

/* The content of such a file cannot be searched: an archive or a compressed file, as a backup is,
 * or a database that somebody put there. */
static bool is_packed(struct sv bytes)
{
    static const struct sv beginnings[] = { SV_STATIC("\x28\xb5\x2f\xfd"), SV_STATIC("\x1f\x8b"),
                                            SV_STATIC("heddle-backup.json"),
                                            SV_STATIC("SQLite format 3") };

    for (size_t i = 0; i < COUNT(beginnings); i++)
        if (sv_starts(bytes, beginnings[i]))
            return true;
    return false;
}

#define OBJECTS SV(".heddle/objects/")

static bool is_in(struct sv path, const char *part)
{
    return sv_find(path, sv_of(part)) >= 0;
}

/* Backups of the files of the registry, which are kept beside them, and what a killed command left
 * of making them. */
static const struct sv older_files[] = { SV_STATIC(".leslie/thread_relations.json.bak"),
                                         SV_STATIC(".leslie/thread_relations.json.bak.tmp"),
                                         SV_STATIC(".leslie/objectives.json.bak"),
                                         SV_STATIC(".leslie/objectives.json.bak.tmp"),
                                         SV_STATIC(".leslie/threads/.global/registry.json.bak") };

static bool is_older(struct sv path)
{
    for (size_t i = 0; i < COUNT(older_files); i++)
        if (sv_eq(path, older_files[i]))
            return true;
    return false;
}

/* Files that heddle writes beside the log, with text that was also in the log: the history of line
 * editing, the output of hooks and workers, the logs of objectives, and temporary files of killed
 * processes. */
static bool is_record(struct sv path)
{
    return sv_eq(path, SV(".heddle/loom_history")) || sv_starts(path, SV(".heddle/hook.log")) ||
           sv_starts(path, SV(".heddle/hook/")) || sv_starts(path, SV(".leslie/logs/")) ||
           sv_starts(path_base(path), SV(".heddle-tmp-"));
}

static enum erase_file_is file_is(struct sv path)
{
    if (sv_starts(path, OBJECTS) || is_record(path) ||
        (sv_starts(path, SV(".leslie/threads/")) &&
         (is_in(path, "/.meta/transcripts/") || sv_ends(path, SV("/.meta/injections.log")) ||
          is_in(path, "/context/inherited/"))))
        return ERASE_FILE_COPY;
    if (sv_eq(path, SHARE_RELATIONS) || sv_eq(path, SHARE_OBJECTIVES) ||
        sv_eq(path, SHARE_REGISTRY) || is_older(path) ||
        (sv_starts(path, SV(".leslie/threads/")) && sv_ends(path, SV("/context/.frozen.json"))))
        return ERASE_FILE_VIEW;
    return ERASE_FILE_YOURS;
}

/* Line editing keeps spaces and controls as \ooo. */
static struct sv without_octal(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < text.n; i++) {
        const char *s = text.s + i;
        if (*s == '\\' && text.n - i > 3 && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
            s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
            sb_addc(&b, (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0')));
            i += 3;
        } else {
            sb_addc(&b, *s);
        }
    }
    return sb_sv(&b);
}

static void add_file(struct looking *l, struct sv path, struct sv bytes, struct erase_file f)
{
    struct hash h = hash_blake2b(&bytes, 1);

    f.path = sv_dup(path, l->a);
    if (f.is == ERASE_FILE_COPY)
        f.hash = hash_hex(&h, l->a);
    *vec_push(&l->list, l->a) = f;
}

static enum status look_at_file(struct looking *l, struct sv path, struct err *e)
{
    struct arena       a = { 0 };
    struct sv          bytes = SV("");
    enum erase_file_is is = file_is(path);
    enum status        s = fs_read(l->root, path, ERASE_FILE_MAX, &a, &bytes, e);
    bool               unread = s == ST_LIMIT_EXCEEDED;
    bool               packed = !s && is == ERASE_FILE_YOURS && is_packed(bytes);
    bool               holds = unread || packed;

    if (!s && !packed)
        holds = needles_in_json(l->texts, bytes) ||
                (sv_ends(path, SV("_history")) && needles_find(l->texts, without_octal(bytes, &a)));
    if (holds)
        add_file(l, path, bytes,
                 (struct erase_file){ .is = unread ? ERASE_FILE_YOURS : is,
                                      .unread = unread,
                                      .packed = packed,
                                      .named = needles_find(l->texts, path) });
    arena_free(&a);
    return s == ST_LIMIT_EXCEEDED || s == ST_NOT_FOUND ? ST_OK : s;
}

static enum status look_below(struct looking *l, struct sv dir, int depth, struct err *e)
{
    struct fs_item *items;
    size_t          n;
    enum status     s = fs_list(l->root, dir, l->a, &items, &n, e);

    if (s == ST_NOT_FOUND || depth > ERASE_DEPTH_MAX)
        return ST_OK;
    for (size_t i = 0; !s && i < n; i++) {
        struct sv path = path_join(dir, items[i].name, l->a);
        if (items[i].kind == FS_DIR)
            s = look_below(l, path, depth + 1, e);
        else if (items[i].kind == FS_FILE && !(l->in_file && is_database(path)))
            s = look_at_file(l, path, e);
    }
    return s;
}

enum status erase_files_find(const struct log *log, int root, const struct needles *texts,
                             struct arena *a, struct erase_file **out, size_t *n, struct err *e)
{
    static const struct sv places[] = { SV_STATIC(".heddle"), SV_STATIC(".leslie"),
                                        SV_STATIC(".teddy") };
    struct looking l = { .root = root, .in_file = log_has_file(log), .texts = texts, .a = a };

    for (size_t i = 0; texts->texts.n && i < COUNT(places); i++) {
        enum fs_kind kind;
        if (fs_kind(root, places[i], &kind, e) ||
            (kind == FS_DIR && look_below(&l, places[i], 0, e)))
            return err_code(e);
    }
    *out = l.list.v;
    *n = l.list.n;
    return ST_OK;
}

/* ---- cleaning up ---------------------------------------------------------------------------- */

/* The directory of a thread that was deleted. */
static bool is_its_directory(const struct erase_pending *p, struct sv path)
{
    struct sv  base = SV(".leslie/threads/");
    struct err ignored;

    return p->deleted.s && name_check(p->deleted, "thread id", &ignored) == ST_OK &&
           sv_starts(path, base) && sv_eq(sv_skip(path, base.n), p->deleted);
}

/* The paths come from an entry, which may have been imported: so only copies and the directory of a
 * deleted thread are removed. */
static enum status remove_files(struct share *s, const struct erase_pending *p, struct err *e)
{
    for (size_t i = 0; i < p->n_files; i++) {
        if (file_is(p->files[i]) != ERASE_FILE_COPY && !is_its_directory(p, p->files[i]))
            continue;
        enum status r = fs_remove(s->root, p->files[i], e);
        if (r && r != ST_NOT_FOUND)
            return err_in(e, SV_FMT, SV_ARG(p->files[i]));
    }
    for (size_t i = 0; i < p->n_objects; i++) {
        enum status r = object_drop(s, p->objects[i], e);
        if (r && r != ST_NOT_FOUND)
            return err_in(e, "an object");
    }
    return ST_OK;
}

/* Rewrite the lists of copies of the threads that had an erased copy. */
static enum status write_names(struct share *s, struct sv prefix, struct err *e)
{
    struct sv *rows;
    size_t     n;

    if (share_rows_below(s, prefix, false, s->a, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct share_ref r;
        bool             erased = false;
        if (share_ref_read(rows[i], s->a, &r, e))
            return err_code(e);
        for (size_t k = 0; k < r.n_files && !erased; k++)
            erased = share_hash_is_erased(r.files[k].hash);
        if (erased && share_names_write(s, r.from, e))
            return err_code(e);
    }
    return ST_OK;
}

/* Rewrite the files of the registry, because their rows have changed. */
static enum status write_views(struct share *s, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(s->root, SV(".leslie"), &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    enum status st = share_begin(s, STORE_WRITE, e);
    for (size_t i = 0; i < SHARE_FILES; i++)
        s->foreign[i] = true; /* rewrite it; share_begin() has imported changes of others */
    /* Nothing is read from the registry, so its older text, which may hold what was erased, is not
     * kept. */
    s->set_aside[FILE_REGISTRY] = (struct sv){ 0 };
    s->collect = true; /* content that only what was erased pointed at */
    if (!st)
        st = write_names(s, SV("ref/"), e);
    if (!st)
        st = write_names(s, SV("inh/"), e);
    if (!st)
        st = share_commit(s, e);
    if (!st && s->unwritten.code) { /* an older file may hold what was erased */
        *e = s->unwritten;
        st = err_code(e);
    }
    share_end(s);
    return st;
}

/* Remove the hashes of contexts that sessions of coding agents were given: they could confirm a
 * guess of what was erased. A session may be given its block once more. */
static enum status forget_told(struct share *s, struct err *e)
{
    struct fs_item *items;
    size_t          n = 0;
    enum status     st = fs_list(s->root, SV(".heddle/hook"), s->a, &items, &n, e);

    if (st == ST_NOT_FOUND)
        return ST_OK;
    for (size_t i = 0; !st && i < n; i++)
        if (sv_ends(items[i].name, SV(".told")))
            st = fs_remove(s->root, path_join(SV(".heddle/hook"), items[i].name, s->a), e);
    return st;
}

/* Remove the backups beside the files, and copies of the log that a killed backup or restore
 * left. */
static enum status remove_older(struct share *s, struct err *e)
{
    for (size_t i = 0; i < COUNT(older_files); i++)
        if (fs_remove(s->root, older_files[i], e))
            return err_code(e);
    return scratch_sweep(s->root, SV(".heddle"), e);
}

enum status share_erase_finish(struct share *s, int64_t at, size_t *n,
                               void (*removed)(void *, struct sv), void *ctx, struct err *e)
{
    struct erase_pending *list = NULL;

    *n = 0;
    if (log_begin(s->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status st = erase_pending(s->log, s->a, &list, n, e);
    log_abort(s->log);
    if (st || !*n)
        return st;
    if (erase_rest(s->log, list, *n, e)) {
        err_in(e, "entries that still have their content");
        return err_reason(e, SHARE_ENTRIES_LEFT);
    }
    for (size_t i = 0; i < *n; i++) { /* rows of views that are not folded again yet hold it too */
        st = log_begin(s->log, list[i].thread, STORE_READ, e);
        log_abort(s->log);
        if (st)
            return st;
    }
    for (size_t i = 0; i < *n; i++)
        if (remove_files(s, &list[i], e))
            return err_code(e);
    if (write_views(s, e) || remove_older(s, e) || forget_told(s, e) ||
        erase_forget(s->log, list, *n, e) || log_scrub(s->log, removed, ctx, e))
        return err_code(e);
    return erase_done(s->log, list, *n, s->actor, at, e);
}

/* ---- objects -------------------------------------------------------------------------------- */

static bool keep_hash(void *ctx, const struct store_row *row)
{
    struct map *out = ctx;

    map_put(out, sv_dup(sv_cut_last(row->key, '/').tail, out->a), out);
    return true;
}

enum status share_objects_in_use(struct log *l, struct arena *a, struct map *out, struct err *e)
{
    struct rows r = rows_of_view(l, SHARE_GLOBAL, &share_view, a);

    *out = map_in(a);
    if (log_catch_up(l, SHARE_GLOBAL, INT64_MAX, e))
        return err_code(e);
    return row_each(&r, SV("blob/"), (struct sv){ 0 }, false, keep_hash, out, e);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void keep_name(void *ctx, struct sv name)
{
    struct share_erase_result *out = ctx;

    *vec_push(&out->removed, out->plan.a) = sv_dup(name, out->plan.a);
}

/* Copies among the files, as the entry has to name them: objects by their hashes, which are erased
 * together with them. */
static void name_copies(const struct share_erase_result *r, struct arena *a, struct erase_how *how)
{
    struct sv *files = ARENA_NEW(a, struct sv, r->n_files + 1);
    struct sv *objects = ARENA_NEW(a, struct sv, r->n_files + 1);

    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].is == ERASE_FILE_COPY && sv_starts(r->files[i].path, OBJECTS))
            objects[how->n_objects++] = r->files[i].hash;
        else if (r->files[i].is == ERASE_FILE_COPY)
            files[how->n_files++] = r->files[i].path;
    how->files = files;
    how->objects = objects;
}

struct hashes {
    struct share *s;
    struct map    copies; /* paths of frozen copies that hold it */
    VEC(struct sv) list;
};

/* Before a refresh such a copy held an older version of the same file. Its bytes no longer exist
 * and cannot be searched, so its hash is erased too. */
static enum status add_older_hashes(void *ctx, const struct entry *n, struct err *e)
{
    struct hashes     *h = ctx;
    struct arena      *a = h->s->a;
    const struct json *files;
    struct json        p;

    if (n->erased || kind_of(n->kind) != KIND_THREAD_OPERATION || !kind_is_sound(n))
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    files = json_find(&p, "files");
    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n; i++) {
        struct sv place = json_text(&files->items[i], "place");
        struct sv hash = json_text(&files->items[i], "hash");
        if (place.n && hash.n &&
            map_has(&h->copies, share_path(json_text(&p, "from"), "context/inherited", place, a)))
            *vec_push(&h->list, a) = sv_dup(hash, a);
    }
    return ST_OK;
}

/* Entries that name the copies by their hashes. */
static enum status find_hashes(struct share *s, const struct erase_what *what,
                               struct share_erase_result *out, struct err *e)
{
    struct hashes h = { .s = s, .copies = map_in(s->a) };

    for (size_t i = 0; i < out->n_files; i++) {
        if (out->files[i].hash.n)
            *vec_push(&h.list, s->a) = out->files[i].hash;
        if (is_in(out->files[i].path, "/context/inherited/"))
            map_put(&h.copies, out->files[i].path, out);
    }
    if (h.copies.n && log_each_entry(s->log, SHARE_GLOBAL, add_older_hashes, &h, e))
        return err_code(e);
    return erase_find_hashes(s->log, what, h.list.v, h.list.n, &out->plan, e);
}

static enum status refuse_files(size_t n, struct err *e)
{
    err_set(e, ST_CONFLICT, "%zu file%s hold%s it too", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    err_reason(e, "derived");
    return err_hint(e, "--with-derived removes copies too, --leave-derived leaves them; --dry-run "
                       "lists them");
}

/* The log has an erasure with this op_id: it is the same request repeated, unless the reason
 * differs.
 */
static enum status find_repeated(struct share *s, const struct share_erase_request *r,
                                 struct share_erase_result *out, struct err *e)
{
    struct entry n;
    struct json  p;

    if (!r->how.op_id.s || r->dry_run)
        return ST_OK;
    if (log_find_op(s->log, r->what.thread, r->how.op_id, s->a, &n, &out->repeated, e))
        return err_code(e);
    if (!out->repeated)
        return ST_OK;
    if (json_parse(n.payload, 0, s->a, &p, e))
        return err_code(e);
    if (kind_of(n.kind) != KIND_ERASURE || !sv_eq(json_text(&p, "reason"), r->how.reason))
        return log_op_id_taken(r->how.op_id, e);
    out->seq = n.seq;
    return ST_OK;
}

/* What has to be erased. In a transaction. */
static enum status plan_erasure(struct share *s, const struct share_erase_request *r,
                                struct share_erase_result *out, struct err *e)
{
    *out = (struct share_erase_result){ .seq = -1, .plan.a = s->a };
    if (find_repeated(s, r, out, e) || out->repeated)
        return out->repeated && out->seq >= 0 ? ST_OK : err_code(e);
    if (erase_find(s->log, &r->what, s->a, &out->plan, e) ||
        erase_files_find(s->log, s->root, &out->plan.needles, s->a, &out->files, &out->n_files, e))
        return err_code(e);
    return find_hashes(s, &r->what, out, e);
}

/* In a write transaction, which it commits. */
static enum status run_plan(struct share *s, const struct share_erase_request *r,
                            struct share_erase_result *out, struct err *e)
{
    struct erase_how how = r->how;

    name_copies(out, s->a, &how);
    size_t n = how.n_files + how.n_objects;
    bool   only_files = !out->plan.asked && !out->plan.derived;
    if (!how.with_derived)
        how.n_files = how.n_objects = 0;
    if (n && only_files && !how.with_derived)
        return refuse_files(n, e);
    if (erase_run(s->log, &out->plan, &how, &out->seq, e))
        return err_code(e);
    if (n && !how.with_derived && !how.leave_derived)
        return refuse_files(n, e);
    return log_commit(s->log, e);
}

/* Plan while others write, then take the lock, and erase if the plan still holds. If others write
 * so much that it never does, the last plan is made while they wait. */
static enum status erase_in_log(struct share *s, const struct share_erase_request *r,
                                struct share_erase_result *out, struct err *e)
{
    enum { TRIES = 4 };
    enum status st = ST_OK;
    bool        stands = false, done = false;

    for (int i = 1; i <= TRIES && !stands && !done; i++) {
        stands = i == TRIES;
        if (log_begin(s->log, r->what.thread, stands ? STORE_WRITE : STORE_READ, e))
            return err_code(e);
        st = plan_erasure(s, r, out, e);
        done = st || r->dry_run || out->repeated;
        if (done || stands)
            break;
        log_abort(s->log);
        if (log_begin(s->log, r->what.thread, STORE_WRITE, e) || find_repeated(s, r, out, e) ||
            erase_check(s->log, &out->plan, &stands, e))
            return err_code(e);
        done = out->repeated;
        if (!stands)
            log_abort(s->log);
    }
    return done ? st : run_plan(s, r, out, e);
}

/* Bring the log and the files of the registry to agree before anything is erased. Files that heddle
 * does not know as its own (of a workspace that was copied or cloned) would be read as a change by
 * another program after the erasure, when they differ from the log in just what was erased. */
static enum status settle_files(struct share *s, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(s->root, SV(".leslie"), &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    enum status st = share_begin(s, STORE_WRITE, e);
    if (!st)
        st = share_commit(s, e);
    share_end(s);
    return st;
}

/* Take out what erasures that were interrupted have left of entries: it must not be found again. */
static enum status erase_left(struct share *s, struct err *e)
{
    struct erase_pending *list;
    size_t                n;

    if (log_begin(s->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status st = erase_pending(s->log, s->a, &list, &n, e);
    log_abort(s->log);
    return st ? st : erase_rest(s->log, list, n, e);
}

enum status share_erase(struct share *s, const struct share_erase_request *r,
                        struct share_erase_result *out, struct err *e)
{
    struct erase_pending *waiting;

    *out = (struct share_erase_result){ .seq = -1, .plan.a = s->a };
    if (!r->dry_run && (settle_files(s, e) || erase_left(s, e)))
        return err_code(e);
    enum status st = erase_in_log(s, r, out, e);
    if (!st && r->dry_run)
        st = erase_pending(s->log, s->a, &waiting, &out->pending, e);
    log_abort(s->log);
    if (st)
        out->seq = -1;
    if (r->dry_run || (st && st != ST_NOT_FOUND))
        return st;
    /* Also when there is nothing to erase: it may have been erased and interrupted. */
    if (share_erase_finish(s, r->how.at, &out->finished, keep_name, out, &out->unfinished) == ST_OK)
        out->unfinished.code = ST_OK;
    if (st && out->finished && out->unfinished.code) {
        *e = out->unfinished;
        err_in(e, "nothing more is in the log, but files are not clean yet");
        err_reason(e, "unfinished");
        return err_hint(e, "`heddle doctor --fix` does the rest");
    }
    if (st && out->finished)
        err_hint(e, "an erasure that was interrupted before is finished now: the files are clean");
    return st;
}
