/* Checks of `heddle doctor` that read the log: the database file, every entry with its chain and
 * views, and the files below .leslie/ that are made from it. They call what `heddle verify` calls,
 * so that the two cannot disagree. */
#include "api/care/doctor.h"
#include "api/care/former.h"
#include "api/care/staged.h"
#include "base/clock.h"
#include "share/erase.h"
#include "thread/anchor.h"
#include "thread/care.h"

enum { WAL_LARGE = 64 << 20 };

/* ---- the database file ---------------------------------------------------------------- */

/* Advice about where the log is kept (one copy only, settings that can lose an entry) is a note and
 * not a problem. */
enum status doctor_check_database(struct doctor *d, struct err *e)
{
    struct log *l = &d->r->log;

    if (log_check_store(l, doctor_say, d, e))
        return err_code(e);
    return store_advise(l->store, doctor_remark, d, e);
}

/* Entries whose thread is gone from the table of threads get a thread again. */
enum status doctor_fix_database(struct doctor *d, struct err *e)
{
    struct log *l = &d->r->log;
    int64_t     n;
    enum status s = log_begin(l, (struct sv){ 0 }, STORE_WRITE, e);

    if (!s)
        s = log_adopt_lost(l, &n, e);
    if (!s)
        s = log_commit(l, e);
    log_abort(l);
    return s;
}

/* ---- entries, chains, views ------------------------------------------------------------ */

static void count_threads(struct doctor *d, size_t n, int64_t entries)
{
    struct sb b = sb_in(d->r->a, 0);

    sb_addf(&b, "%zu of %zu thread%s read from end to end, ", n, n, n == 1 ? "" : "s");
    sb_add_commas(&b, entries);
    sb_addf(&b, " entr%s: chain and views agree", entries == 1 ? "y" : "ies");
    d->good = sb_sv(&b);
}

/* Where .global says that the logs ended. */
static enum status check_anchors(struct doctor *d, struct err *e)
{
    struct log *l = &d->r->log;
    int64_t     n;

    if (log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = anchor_check(l, doctor_say, d, &n, e);
    log_abort(l);
    return s;
}

enum status doctor_check_threads(struct doctor *d, struct err *e)
{
    struct store_thread *list;
    size_t               n;
    int64_t              entries = 0;

    if (care_threads(d->r, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        int64_t    read = 0;
        struct err why;
        if (log_verify(&d->r->log, list[i].id, doctor_say, d, &read, &why))
            doctor_find(d, why.code, why.hint, "thread " SV_FMT ": %s", SV_ARG(list[i].id),
                        why.text);
        entries += read;
        request_progress(d->r, "doctor: threads", (int64_t)i + 1, (int64_t)n);
    }
    count_threads(d, n, entries);
    return check_anchors(d, e);
}

enum status doctor_rebuild(struct request *r, struct sv thread, struct err *e)
{
    enum status s = log_begin(&r->log, (struct sv){ 0 }, STORE_WRITE, e);

    if (!s)
        s = log_refold(&r->log, thread, e);
    if (!s)
        s = log_commit(&r->log, e);
    if (!s) /* a long thread is folded now, in slices */
        s = log_begin(&r->log, thread, STORE_READ, e);
    log_abort(&r->log);
    return s;
}

/* Views are made from entries and nothing else, so folding them again can lose nothing. A thread
 * that cannot be folded keeps the rows it has, and the check that follows says what is wrong. */
enum status doctor_fix_threads(struct doctor *d, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (care_threads(d->r, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct doctor one = { .r = d->r };
        int64_t       read;
        struct err    why;
        if (log_verify(&d->r->log, list[i].id, doctor_say, &one, &read, &why) || one.found.n)
            if (doctor_rebuild(d->r, list[i].id, &why))
                request_warn(d->r, (struct sv){ 0 }, list[i].id, "thread " SV_FMT ": %s",
                             SV_ARG(list[i].id), why.text);
    }
    return ST_OK;
}

/* ---- .leslie ---------------------------------------------------------------------------- */

enum status doctor_check_shared(struct doctor *d, struct err *e)
{
    struct share s;

    share_init(&s, &d->r->log, d->r->ws->root_fd, d->r->actor, d->r->a);
    return share_verify(&s, doctor_say, doctor_remark, d, e);
}

/* What the next command that writes would do: import what other programs changed, finish what a
 * killed command left undone, rewrite the files. */
enum status doctor_fix_shared(struct doctor *d, struct err *e)
{
    struct share s;

    share_init(&s, &d->r->log, d->r->ws->root_fd, d->r->actor, d->r->a);
    enum status st = share_begin(&s, STORE_WRITE, e);
    if (!st)
        st = share_commit(&s, e);
    share_end(&s);
    return st;
}

/* ---- the stores that the log was moved from -------------------------------------------------- */

static void find_former(struct doctor *d, const struct former *f)
{
    struct err e;
    int64_t    n = 0;

    if (f->is == FORMER_OTHER) {
        doctor_find(
            d, ST_CONFLICT,
            "if it is where the log was before a switch, `HEDDLE_STORE=.heddle/heddle.db heddle "
            "store switch` with the place of the log marks it; else look at it with the same "
            "HEDDLE_STORE before you remove it: its entries may be nowhere else",
            SV_FMT " is not the log and is not marked: whoever has other settings writes to "
                   "it",
            SV_ARG(f->place));
        return;
    }
    if (f->is == FORMER_ASTRAY) {
        doctor_find(
            d, ST_CONFLICT,
            "`HEDDLE_STORE=.heddle/heddle.db heddle list` shows what it has; remove it only when "
            "the log in use has all of that",
            SV_FMT " says that the log was moved away from it, but the log in use does not come "
                   "from there",
            SV_ARG(f->place));
        return;
    }
    doctor_note(d, SV_FMT " had the log before it was moved here; %s", SV_ARG(f->place),
                sv_find(f->place, SV("://")) > 0
                    ? "remove its schema there once you do not need to go back"
                    : "remove it, with its -wal and -shm, once you do not need to go back");
    if (f->is != FORMER_MARKED)
        return;
    if (former_erase(d->r, f, true, &n, &e))
        doctor_find(d, e.code, e.hint, "%s", e.text);
    else if (n)
        doctor_find(d, ST_IO, "`heddle doctor --fix` does the rest",
                    SV_FMT " still holds what was erased from %lld entr%s", SV_ARG(f->place),
                    (long long)n, n == 1 ? "y" : "ies");
}

/* The log has one owner: is it this store, and can nobody take an older one for it? */
enum status doctor_check_moved(struct doctor *d, struct err *e)
{
    struct store_moved m;
    struct former     *list;
    size_t             n = 0;

    if (store_moved(d->r->log.store, d->r->a, &m, e))
        return err_code(e);
    if (m.to.s) {
        struct sb hint = sb_in(d->r->a, 0);
        sb_adds(&hint, "`heddle store switch ");
        sb_add_shell(&hint, m.to);
        sb_adds(&hint, "` uses it there");
        doctor_find(d, ST_CONFLICT, sb_sv(&hint).s, "the log was moved to " SV_FMT, SV_ARG(m.to));
        return ST_OK;
    }
    if (former_find(d->r, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        find_former(d, &list[i]);
    return ST_OK;
}

enum status doctor_fix_moved(struct doctor *d, struct err *e)
{
    struct err     why = { 0 };
    struct former *list;
    size_t         n;

    if (store_gone_to(d->r->log.store).s)
        return ST_OK; /* only the user can say which store to use */
    if (former_find(d->r, &list, &n, e))
        return err_code(e);
    former_clean(d->r, list, n, false, &why);
    if (why.code)
        *e = why;
    return why.code;
}

/* ---- imports and restores that were interrupted ------------------------------------------ */

static void tell_left(void *ctx, struct sv token, struct sv into)
{
    struct doctor *d = ctx;

    (void)token;
    if (into.s)
        doctor_find(d, ST_CONFLICT, "`heddle doctor --fix` appends the rest",
                    "an import into " SV_FMT " was interrupted: a part of it is there",
                    SV_ARG(into));
    else
        doctor_find(d, ST_CONFLICT, "`heddle doctor --fix` removes it",
                    "an import or a restore was interrupted: what it had read is in the database, "
                    "and in no thread");
}

enum status doctor_check_imports(struct doctor *d, struct err *e)
{
    bool waits = false;

    if (staged_each_left(&d->r->log, d->r->ws->root_fd, d->r->a, tell_left, d, e) ||
        store_drop_waits(d->r->log.store, &waits, e))
        return err_code(e);
    if (waits)
        doctor_find(d, ST_CONFLICT, "`heddle doctor --fix` removes it",
                    "the database still has what was in threads that were deleted or replaced: "
                    "another command removes it now, or was interrupted");
    return ST_OK;
}

enum status doctor_fix_imports(struct doctor *d, struct err *e)
{
    return staged_sweep(d->r, &d->r->log, d->r->ws->root_fd, NULL, e);
}

/* ---- erasures that were interrupted -------------------------------------------------------- */

enum status doctor_check_erasures(struct doctor *d, struct err *e)
{
    struct erase_pending *list;
    size_t                n;
    struct log           *l = &d->r->log;

    if (log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = erase_pending(l, d->r->a, &list, &n, e);
    log_abort(l);
    for (size_t i = 0; !s && i < n; i++)
        doctor_find(d, ST_IO, "`heddle doctor --fix` does the rest",
                    "thread " SV_FMT ": the log or files may still hold what entry %lld erased",
                    SV_ARG(list[i].thread), (long long)list[i].seq);
    int64_t waits = 0;
    if (!s)
        s = log_scrub_waits(l, &waits, e);
    if (waits)
        doctor_find(d, ST_IO, "`heddle doctor --fix` by that owner does the rest",
                    "the server's files still hold what was erased from %lld thread%s: the log "
                    "waits for VACUUM FULL by its owner",
                    (long long)waits, waits == 1 ? "" : "s");
    return s;
}

enum status doctor_fix_erasures(struct doctor *d, struct err *e)
{
    struct share s;
    size_t       n;

    share_init(&s, &d->r->log, d->r->ws->root_fd, d->r->actor, d->r->a);
    if (share_erase_finish(&s, clock_now_ms(), &n, care_warn_removed, d->r, e))
        return err_code(e);
    if (n || log_has_file(&d->r->log))
        return ST_OK;
    /* On a server this user may own the tables that the erasing user could not rewrite. */
    return log_scrub(&d->r->log, NULL, NULL, e);
}

/* ---- room on the disk ------------------------------------------------------------------- */

enum status doctor_check_space(struct doctor *d, struct err *e)
{
    struct store_stats st;

    if (log_stats(&d->r->log, &st, e))
        return err_code(e);
    if (st.wal_bytes > WAL_LARGE)
        doctor_find(d, ST_LIMIT_EXCEEDED, "run heddle doctor --compact",
                    "the write-ahead log is over %d MB", WAL_LARGE >> 20);
    return ST_OK;
}

enum status doctor_fix_space(struct doctor *d, struct err *e)
{
    return log_compact(&d->r->log, e);
}
