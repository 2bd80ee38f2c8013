/* Which files hold what is erased, and the way from the plan to a clean workspace. */
#include "share/erase.h"

#include "base/path.h"

enum { FILE_LOOKED_AT = 64 << 20, DEPTH_MAX = 64 };

/* ---- files ---------------------------------------------------------------------------------- */

struct looking {
    int                   root;
    const struct needles *texts;
    struct arena         *a;
    VEC(struct erase_file) list;
};

/* The database, whatever it is called, is the store's business. */
static bool is_database(struct sv path, struct sv bytes)
{
    return sv_starts(bytes, SV("SQLite format 3")) || sv_ends(path, SV("-wal")) ||
           sv_ends(path, SV("-shm"));
}

static bool is_in(struct sv path, const char *part)
{
    return sv_find(path, sv_of(part)) >= 0;
}

static enum erase_file_is file_is(struct sv path)
{
    if (sv_starts(path, SV(".heddle/objects/")) || sv_eq(path, SV(".heddle/loom_history")) ||
        (sv_starts(path, SV(".leslie/threads/")) &&
         (is_in(path, "/.meta/transcripts/") || is_in(path, "/context/inherited/"))))
        return ERASE_FILE_COPY;
    if (sv_eq(path, SHARE_RELATIONS) || sv_eq(path, SHARE_OBJECTIVES) ||
        sv_eq(path, SHARE_REGISTRY))
        return ERASE_FILE_VIEW;
    return ERASE_FILE_YOURS;
}

/* Line editing keeps blanks and controls as \ooo. */
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

static enum status look_at_file(struct looking *l, struct sv path, struct err *e)
{
    struct arena a = { 0 };
    struct sv    bytes = SV("");
    enum status  s = fs_read(l->root, path, FILE_LOOKED_AT, &a, &bytes, e);
    bool         unread = s == ST_LIMIT_EXCEEDED, holds = unread;

    if (!s && !is_database(path, bytes))
        holds = needles_in_json(l->texts, bytes) ||
                (sv_ends(path, SV("_history")) && needles_find(l->texts, without_octal(bytes, &a)));
    if (unread && is_database(path, bytes))
        holds = false;
    if (holds)
        *vec_push(&l->list, l->a) =
            (struct erase_file){ sv_dup(path, l->a), unread ? ERASE_FILE_YOURS : file_is(path),
                                 unread };
    arena_free(&a);
    return s == ST_LIMIT_EXCEEDED || s == ST_NOT_FOUND ? ST_OK : s;
}

static enum status look_below(struct looking *l, struct sv dir, int depth, struct err *e)
{
    struct fs_item *items;
    size_t          n;
    enum status     s = fs_list(l->root, dir, l->a, &items, &n, e);

    if (s == ST_NOT_FOUND || depth > DEPTH_MAX)
        return ST_OK;
    for (size_t i = 0; !s && i < n; i++) {
        struct sv path = path_join(dir, items[i].name, l->a);
        if (items[i].kind == FS_DIR)
            s = look_below(l, path, depth + 1, e);
        else if (items[i].kind == FS_FILE)
            s = look_at_file(l, path, e);
    }
    return s;
}

enum status erase_files_find(int root, const struct needles *texts, struct arena *a,
                             struct erase_file **out, size_t *n, struct err *e)
{
    static const struct sv places[] = { SV_STATIC(".heddle"), SV_STATIC(".leslie"),
                                        SV_STATIC(".teddy") };
    struct looking         l = { .root = root, .texts = texts, .a = a };

    for (size_t i = 0; texts->n && i < COUNT(places); i++) {
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

/* The paths come from an entry, which anybody may have written: only copies are removed. */
static enum status remove_files(int root, const struct erase_pending *p, struct err *e)
{
    for (size_t i = 0; i < p->n_files; i++) {
        if (file_is(p->files[i]) != ERASE_FILE_COPY)
            continue;
        enum status s = fs_remove(root, p->files[i], e);
        if (s && s != ST_NOT_FOUND)
            return err_in(e, SV_FMT, SV_ARG(p->files[i]));
    }
    return ST_OK;
}

/* The files of the registry are written from rows that have changed. */
static enum status write_views(struct share *s, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(s->root, SV(".leslie"), &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    for (size_t i = 0; i < SHARE_FILES; i++)
        s->foreign[i] = true;
    enum status st = share_begin(s, STORE_WRITE, e);
    if (!st)
        st = share_commit(s, e);
    share_end(s);
    return st;
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
    for (size_t i = 0; i < *n; i++)
        if (remove_files(s->root, &list[i], e))
            return err_code(e);
    if (write_views(s, e) || store_scrub(s->log->store, removed, ctx, e))
        return err_code(e);
    return erase_done(s->log, list, *n, s->actor, at, e);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void keep_name(void *ctx, struct sv name)
{
    struct share_erase_result *out = ctx;

    *vec_push(&out->removed, out->plan.a) = sv_dup(name, out->plan.a);
}

/* Copies among the files, as the entry has to name them. */
static size_t copies_of(const struct share_erase_result *r, struct sv *out)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].is == ERASE_FILE_COPY)
            out[n++] = r->files[i].path;
    return n;
}

static enum status refuse_files(size_t n, struct err *e)
{
    err_set(e, ST_CONFLICT, "%zu file%s hold%s it too", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    err_reason(e, "derived");
    return err_hint(e, "--with-derived removes copies too, --leave-derived leaves them; --dry-run "
                       "lists them");
}

static enum status erase_in_log(struct share *s, const struct share_erase_request *r,
                                struct share_erase_result *out, struct err *e)
{
    struct erase_how how = r->how;

    if (erase_find(s->log, &r->what, s->a, &out->plan, e) ||
        erase_files_find(s->root, &out->plan.needles, s->a, &out->files, &out->n_files, e))
        return err_code(e);
    if (r->dry_run)
        return ST_OK;
    struct sv *copies = ARENA_NEW(s->a, struct sv, out->n_files + 1);
    size_t     n = copies_of(out, copies);
    how.files = how.with_derived ? copies : NULL;
    how.n_files = how.with_derived ? n : 0;
    if (erase_run(s->log, &out->plan, &how, &out->seq, e))
        return err_code(e);
    if (n && !how.with_derived && !how.leave_derived)
        return refuse_files(n, e);
    return log_commit(s->log, e);
}

enum status share_erase(struct share *s, const struct share_erase_request *r,
                        struct share_erase_result *out, struct err *e)
{
    size_t n;

    *out = (struct share_erase_result){ .seq = -1, .plan.a = s->a };
    if (log_begin(s->log, r->what.thread, r->dry_run ? STORE_READ : STORE_WRITE, e))
        return err_code(e);
    enum status st = erase_in_log(s, r, out, e);
    log_abort(s->log);
    if (st)
        out->seq = -1;
    if (st || r->dry_run)
        return st;
    if (share_erase_finish(s, r->how.at, &n, keep_name, out, &out->unfinished) == ST_OK)
        out->unfinished.code = ST_OK;
    return ST_OK;
}
