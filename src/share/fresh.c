/* The state of a reference: its copies compared with the source and with what was frozen. */
#include "base/map.h"
#include "share/asset.h"
#include "share/operation_internal.h"
#include "share/share_internal.h"

#include <sys/stat.h>

const char *freshness_name(enum freshness f)
{
    static const char *const names[] = { "fresh", "stale", "edited", "deleted", "missing" };

    return names[f];
}

/* The one that comes later in the table is reported. */
static enum freshness worse(enum freshness a, enum freshness b)
{
    return a > b ? a : b;
}

/* When a file last changed, in ms; 0: it is not there. Errors are ignored: the content was read
 * just before, and an error was reported there. */
static int64_t changed_at(struct share *s, struct sv path, int64_t *size)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    struct err        ignored;

    if (share_open(s, path, O_PATH, &fd, &ignored) || fstat(fd, &st) != 0)
        return 0;
    *size = st.st_size;
    return st.st_mtim.tv_sec * 1000LL + st.st_mtim.tv_nsec / 1000000;
}

static void stale_from(struct share *s, const struct share_ref *r, struct sv source,
                       struct share_ref_standing *out)
{
    int64_t size, at = changed_at(s, share_path(r->target, "", source, s->a), &size);

    if (at && (!out->stale_since || at < out->stale_since))
        out->stale_since = at;
}

/* Compare a file with what was frozen. A link that leads out of the workspace counts as no file; a
 * file that cannot be read is an error. */
static enum status compare(struct share *s, struct sv path, const struct share_file *f,
                           enum freshness changed, enum freshness none, enum freshness *out,
                           struct err *e)
{
    struct sv   hash;
    int64_t     size;
    enum status r = object_hash_of(s, path, &hash, &size, e);

    if (r && r != ST_NOT_FOUND && r != ST_PERMISSION_DENIED)
        return r;
    *out = r ? none : sv_eq(hash, f->hash) ? REF_FRESH : changed;
    return ST_OK;
}

/* Files of the source that were not there when the copies were made. */
static bool has_more(struct share *s, const struct share_ref *r, const struct scope_files *now,
                     struct share_ref_standing *out)
{
    struct map had = map_in(s->a);
    bool       more = false;

    for (size_t i = 0; i < r->n_files; i++)
        map_put(&had, r->files[i].source, &r->files[i]);
    for (size_t i = 0; i < now->list.n; i++) {
        if (map_has(&had, now->list.v[i].source))
            continue;
        more = true;
        stale_from(s, r, now->list.v[i].source, out);
    }
    return more;
}

static enum status frozen_standing(struct share *s, const struct share_ref *r, bool gone,
                                   const struct scope_files *now, struct share_ref_standing *out,
                                   enum freshness *each, struct err *e)
{
    bool empty = r->n_files && !now->list.n; /* all that was copied is gone */

    out->state = gone || empty ? REF_MISSING : REF_FRESH;
    out->files = r->n_files;
    if (!gone && has_more(s, r, now, out))
        out->state = worse(out->state, REF_STALE);
    for (size_t i = 0; i < r->n_files; i++) {
        const struct share_file *f = &r->files[i];
        struct sv                from = share_path(r->target, "", f->source, s->a);
        struct sv                to = share_path(r->from, "context/inherited", f->place, s->a);
        enum freshness           source = REF_MISSING, copy;
        if ((!gone && compare(s, from, f, REF_STALE, REF_MISSING, &source, e)) ||
            compare(s, to, f, REF_EDITED, REF_DELETED, &copy, e))
            return err_code(e);
        out->bytes += f->size;
        if (source == REF_STALE)
            stale_from(s, r, f->source, out);
        if (each)
            each[i] = copy == REF_FRESH ? source : copy;
        /* When only some of the source files are gone, the reference is stale, not missing. */
        out->state = worse(out->state, worse(source == REF_FRESH ? REF_FRESH : REF_STALE, copy));
    }
    return ST_OK;
}

static void live_standing(struct share *s, const struct share_ref *r, bool gone,
                          const struct scope_files *now, struct share_ref_standing *out,
                          enum freshness *each)
{
    out->state = gone || (now->missing && now->missing == r->n_scope) ? REF_MISSING : REF_FRESH;
    out->files = now->list.n;
    for (size_t i = 0; i < now->list.n; i++) {
        int64_t size = 0;
        (void)changed_at(s, share_path(r->target, "", now->list.v[i].source, s->a), &size);
        out->bytes += size;
    }
    for (size_t i = 0; each && i < r->n_files; i++)
        each[i] = out->state;
}

enum status share_ref_standing(struct share *s, const struct share_ref *r,
                               struct share_ref_standing *out, enum freshness *each, struct err *e)
{
    struct share_thread t;
    struct scope_files  now = { 0 };
    bool                gone;
    size_t              n_warnings = s->warnings.n;

    *out = (struct share_ref_standing){ 0 };
    if (share_thread_find(s, r->target, &t, &out->has_thread, e))
        return err_code(e);
    if (out->has_thread) {
        out->title = t.title;
        out->status = t.status;
    }
    if (share_source_is_gone(s, r->target, out->has_thread, &gone, e))
        return err_code(e);
    if (!gone && share_scope_collect(s, r->target, r->scope, r->n_scope, &now, e))
        return err_code(e);
    s->warnings.n = n_warnings; /* missing files are part of the answer here, not a warning */
    if (r->frozen)
        return frozen_standing(s, r, gone, &now, out, each, e);
    live_standing(s, r, gone, &now, out, each);
    return ST_OK;
}

/* File systems count time in steps, and copies are made a moment before they are recorded. */
enum { CLOCK_STEP_MS = 2000 };

/* Is the inode unchanged since the copies were made? A missing file counts as changed. */
static bool is_untouched(struct share *s, struct sv path, int64_t since, int64_t size)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    struct err        ignored;

    if (share_open(s, path, O_PATH, &fd, &ignored) || fstat(fd, &st) != 0)
        return false;
    return (size < 0 || st.st_size == size) &&
           st.st_ctim.tv_sec * 1000LL + st.st_ctim.tv_nsec / 1000000 < since - CLOCK_STEP_MS;
}

/* Files that come and go change their directory: that of the thread, or its artifacts/. */
enum status share_ref_is_suspect(struct share *s, const struct share_ref *r, bool *out,
                                 struct err *e)
{
    struct share_thread t;
    bool                found;

    *out = true;
    if (share_thread_find(s, r->target, &t, &found, e))
        return err_code(e);
    if (!found || !is_untouched(s, share_dir(r->target, s->a), r->at, -1))
        return ST_OK;
    for (size_t i = 0; i < r->n_files; i++) {
        const struct share_file *f = &r->files[i];
        if (!is_untouched(s, share_path(r->target, "", f->source, s->a), r->at, f->size))
            return ST_OK;
    }
    *out = false;
    return ST_OK;
}

enum status share_ref_freshness(struct share *s, const struct share_ref *r, enum freshness *whole,
                                struct err *e)
{
    struct share_ref_standing st;

    if (share_ref_standing(s, r, &st, NULL, e))
        return err_code(e);
    *whole = st.state;
    return ST_OK;
}
