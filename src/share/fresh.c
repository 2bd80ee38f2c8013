/* How a reference stands: against its source, and against what was frozen. */
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

/* The later of the two in the table is the one to tell. */
static enum freshness worse(enum freshness a, enum freshness b)
{
    return a > b ? a : b;
}

static enum freshness of_source(struct share *s, const struct share_ref *r,
                                const struct share_file *f)
{
    struct sv  path = share_path(r->target, "", f->source, s->a), hash;
    struct err ignored;
    int64_t    size;

    if (object_hash_of(s, path, &hash, &size, &ignored))
        return REF_MISSING;
    return sv_eq(hash, f->hash) ? REF_FRESH : REF_STALE;
}

static enum freshness of_copy(struct share *s, const struct share_ref *r,
                              const struct share_file *f)
{
    struct sv  path = share_path(r->from, "context/inherited", f->place, s->a), hash;
    struct err ignored;
    int64_t    size;

    if (object_hash_of(s, path, &hash, &size, &ignored))
        return REF_DELETED;
    return sv_eq(hash, f->hash) ? REF_FRESH : REF_EDITED;
}

/* Has the source files that were not there when the copies were made? */
static bool has_more(const struct share_ref *r, const struct scope_files *now, struct arena *a)
{
    struct map had = map_in(a);

    for (size_t i = 0; i < r->n_files; i++)
        map_put(&had, r->files[i].source, &r->files[i]);
    for (size_t i = 0; i < now->list.n; i++)
        if (!map_has(&had, now->list.v[i].source))
            return true;
    return false;
}

static enum freshness frozen_state(struct share *s, const struct share_ref *r, bool gone,
                                   const struct scope_files *now, enum freshness *each)
{
    bool           empty = r->n_files && !now->list.n; /* all that was copied is gone */
    enum freshness whole = gone || empty ? REF_MISSING : REF_FRESH;

    if (!gone && has_more(r, now, s->a))
        whole = worse(whole, REF_STALE);
    for (size_t i = 0; i < r->n_files; i++) {
        enum freshness source = gone ? REF_MISSING : of_source(s, r, &r->files[i]);
        enum freshness copy = of_copy(s, r, &r->files[i]);
        if (each)
            each[i] = copy == REF_FRESH ? source : copy;
        /* One source file of several that is gone makes the whole stale, not missing. */
        whole = worse(whole, worse(source == REF_FRESH ? REF_FRESH : REF_STALE, copy));
    }
    return whole;
}

enum status ref_freshness(struct share *s, const struct share_ref *r, enum freshness *whole,
                          enum freshness *each, struct err *e)
{
    struct share_thread t;
    struct scope_files  now = { 0 };
    bool                found, gone;
    size_t              n_warnings = s->warnings.n;

    if (share_thread_find(s, r->target, &t, &found, e))
        return err_code(e);
    if (source_is_gone(s, r->target, found, &gone, e))
        return err_code(e);
    if (!gone && scope_collect(s, r->target, r->scope, r->n_scope, &now, e))
        return err_code(e);
    s->warnings.n = n_warnings; /* what is missing is the answer here, not a warning */
    if (r->frozen) {
        *whole = frozen_state(s, r, gone, &now, each);
        return ST_OK;
    }
    *whole = gone || (now.missing && now.missing == r->n_scope) ? REF_MISSING : REF_FRESH;
    for (size_t i = 0; each && i < r->n_files; i++)
        each[i] = *whole;
    return ST_OK;
}
