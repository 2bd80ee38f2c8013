/* Erasing what is old: one thread, and the copies of its words that are as old. */
#include "share/retain.h"

#include "base/path.h"

/* Entries that are erased in one transaction, and that one `erasure` names. */
enum { RETAIN_AT_ONCE = 4000, TRIES = 4 };

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

/* The items of the plan from `from` on, as many as one transaction takes. */
static struct erase_plan part_of(const struct erase_plan *plan, size_t from)
{
    struct erase_plan part = *plan;

    part.items.v += from;
    part.items.n = plan->items.n - from < RETAIN_AT_ONCE ? plan->items.n - from : RETAIN_AT_ONCE;
    part.asked = part.items.n;
    return part;
}

/* In a write transaction, which it commits: the next part of the plan, and the entry that says so.
 */
static enum status erase_part(struct share *s, const struct share_retain_request *r,
                              const struct retain_plan *plan, struct share_retain_result *out,
                              size_t *done, struct store_head *head, struct err *e)
{
    struct erase_plan part = part_of(&plan->erase, *done);
    bool              first = out->seq < 0;
    int64_t           seq;
    struct erase_how  how = { .reason = r->reason,
                              .actor = s->actor,
                              .at = r->at,
                              .files = first ? out->files : NULL,
                              .n_files = first ? out->n_files : 0 };

    if (erase_run(s->log, &part, &how, &seq, e) || log_head(s->log, r->what.thread, head, e) ||
        log_commit(s->log, e))
        return err_code(e);
    out->seq = first ? seq : out->seq;
    *done += part.items.n;
    return ST_OK;
}

/* Plan, and erase a part in each transaction for as long as nobody else writes to the thread; *done
 * is how much of the plan. Others write while it is planned, unless `alone`. The transactions that
 * erase are not about the thread, so that its views are not folded between them. */
static enum status plan_and_erase(struct share *s, const struct share_retain_request *r, bool alone,
                                  struct retain_plan *plan, struct share_retain_result *out,
                                  size_t *done, struct err *e)
{
    struct store_head then, now;

    if (log_begin(s->log, r->what.thread, alone ? STORE_WRITE : STORE_READ, e) ||
        log_head(s->log, r->what.thread, &then, e) || retain_find(s->log, &r->what, s->a, plan, e))
        return err_code(e);
    if (r->dry_run || !plan->erase.items.n)
        return ST_OK;
    if (alone && erase_part(s, r, plan, out, done, &then, e))
        return err_code(e);
    log_abort(s->log);
    while (*done < plan->erase.items.n) {
        if (*done)
            log_let_others(s->log);
        if (log_begin(s->log, (struct sv){ 0 }, STORE_WRITE, e) ||
            log_head(s->log, r->what.thread, &now, e))
            return err_code(e);
        if (now.rev != then.rev || !hash_eq(&now.chain, &then.chain))
            return ST_OK;
        if (erase_part(s, r, plan, out, done, &then, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The counts of what was erased; the list is that of all plans. */
static void add_plan(struct retain_plan *to, const struct retain_plan *plan, size_t done)
{
    size_t n = plan->erase.items.n;

    for (size_t i = 0; i < done; i++)
        *vec_push(&to->erase.items, to->erase.a) = plan->erase.items.v[i];
    if (done && (!to->entries || plan->oldest < to->oldest))
        to->oldest = plan->oldest;
    if (done && (!to->entries || plan->newest > to->newest))
        to->newest = plan->newest;
    to->entries += (int64_t)done;
    to->bytes += done == n ? plan->bytes : plan->bytes / (int64_t)n * (int64_t)done;
    to->kept = plan->kept;
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
    out->plan.erase = (struct erase_plan){ .thread = r->what.thread, .a = s->a };
    for (int tries = 1; more; tries++) {
        struct retain_plan plan = { 0 };
        size_t             done = 0;
        enum status        st = plan_and_erase(s, r, tries % TRIES == 0, &plan, out, &done, e);
        log_abort(s->log);
        if (st)
            return st;
        /* Somebody has written to the thread: what is left is planned again. */
        more = !r->dry_run && done < plan.erase.items.n;
        add_plan(&out->plan, &plan, r->dry_run ? plan.erase.items.n : done);
    }
    if (!out->plan.entries)
        out->n_files = 0; /* no entry records their removal */
    return ST_OK;
}
