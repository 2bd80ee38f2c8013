/* Erasing what is old: one thread, and the copies of its words that are as old. */
#include "share/retain.h"

#include "base/path.h"

/* Entries that one `erasure` names: its payload has a limit. */
enum { RETAIN_AT_ONCE = 1 << 20 };

struct old_files {
    VEC(struct sv) list;
};

static enum status add_if_old(struct share *s, const struct share_retain_request *r, struct sv path,
                              struct old_files *to, struct err *e)
{
    struct fs_mark mark;
    bool           found;

    if (fs_mark(s->root, path, &mark, &found, e))
        return err_code(e);
    if (found && mark.mtime_ns / 1000000 < r->what.before)
        *vec_push(&to->list, s->a) = path;
    return ST_OK;
}

/* Transcripts are copies of what was said. Frozen copies are in use, and other files belong to the
 * user.
 */
static enum status find_files(struct share *s, const struct share_retain_request *r,
                              struct old_files *to, struct err *e)
{
    struct sb       b = sb_in(s->a, 0);
    struct fs_item *items;
    size_t          n = 0;
    struct err      ignored;

    if (r->with_history && add_if_old(s, r, SV(".heddle/loom_history"), to, e))
        return err_code(e);
    if (name_check(r->what.thread, "thread id", &ignored))
        return ST_OK;
    sb_addf(&b, ".leslie/threads/" SV_FMT "/.meta/transcripts", SV_ARG(r->what.thread));
    enum status st = fs_list(s->root, sb_sv(&b), s->a, &items, &n, e);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    for (size_t i = 0; i < n && !st; i++)
        if (items[i].kind == FS_FILE)
            st = add_if_old(s, r, path_join(sb_sv(&b), items[i].name, s->a), to, e);
    return st;
}

/* In a transaction: a part of the plan, and the entry that says so. */
static enum status erase_part(struct share *s, const struct share_retain_request *r,
                              const struct retain_plan *part, const struct share_retain_result *out,
                              int64_t *seq, struct err *e)
{
    struct erase_how how = { .reason = r->reason,
                             .actor = s->actor,
                             .at = r->at,
                             .files = out->files,
                             .n_files = out->n_files };

    if (!part->entries)
        return ST_OK;
    return erase_run(s->log, &part->erase, &how, seq, e) ? err_code(e) : log_commit(s->log, e);
}

/* Add the counts of another part; the list stays that of the first part. */
static void add_part(struct retain_plan *to, const struct retain_plan *part)
{
    if (part->entries && part->oldest < to->oldest)
        to->oldest = part->oldest;
    if (part->entries && part->newest > to->newest)
        to->newest = part->newest;
    for (size_t i = 0; i < part->erase.items.n; i++)
        *vec_push(&to->erase.items, to->erase.a) = part->erase.items.v[i];
    to->entries += part->entries;
    to->bytes += part->bytes;
    to->kept = part->kept;
}

/* Plan while others write, then take the lock, and erase if nobody has written to the thread since.
 * If somebody always has, the last plan is made while all wait. */
static enum status plan_and_erase(struct share *s, const struct share_retain_request *r,
                                  const struct retain_what *what, struct retain_plan *part,
                                  const struct share_retain_result *out, int64_t *seq,
                                  struct err *e)
{
    enum { TRIES = 4 };
    struct store_head then, now;
    bool              stands = false;

    for (int i = 1; !stands; i++) {
        stands = i == TRIES;
        if (log_begin(s->log, what->thread, stands ? STORE_WRITE : STORE_READ, e) ||
            log_head(s->log, what->thread, &then, e) || retain_find(s->log, what, s->a, part, e))
            return err_code(e);
        if (stands || r->dry_run || !part->entries)
            break;
        log_abort(s->log);
        if (log_begin(s->log, what->thread, STORE_WRITE, e) ||
            log_head(s->log, what->thread, &now, e))
            return err_code(e);
        stands = now.rev == then.rev && hash_eq(&now.chain, &then.chain);
        if (!stands)
            log_abort(s->log);
    }
    return r->dry_run ? ST_OK : erase_part(s, r, part, out, seq, e);
}

static enum status retain_part(struct share *s, const struct share_retain_request *r,
                               struct share_retain_result *out, bool *more, struct err *e)
{
    struct retain_what what = r->what;
    struct retain_plan part;
    int64_t            seq = -1;

    what.max = r->dry_run ? 0 : RETAIN_AT_ONCE;
    enum status st = plan_and_erase(s, r, &what, &part, out, &seq, e);
    log_abort(s->log);
    if (st)
        return st;
    *more = part.more;
    if (out->seq < 0) {
        out->plan = part;
        out->seq = seq;
    } else {
        add_part(&out->plan, &part);
    }
    return ST_OK;
}

enum status share_retain(struct share *s, const struct share_retain_request *r,
                         struct share_retain_result *out, struct err *e)
{
    struct old_files files = { 0 };
    bool             more = true;

    *out = (struct share_retain_result){ .seq = -1 };
    if (find_files(s, r, &files, e))
        return err_code(e);
    out->files = files.list.v;
    out->n_files = files.list.n;
    while (more)
        if (retain_part(s, r, out, &more, e))
            return err_code(e);
    if (!out->plan.entries)
        out->n_files = 0; /* no entry records their removal */
    return ST_OK;
}
