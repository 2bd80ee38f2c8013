/* Checks of `heddle doctor` that read the log: the database file, every entry with its chain and
 * views, and the files below .leslie/ that are made from it. They call what `heddle verify` calls,
 * so that the two cannot disagree. */
#include "base/clock.h"
#include "front/cli/doctor.h"
#include "front/cli/progress.h"
#include "share/erase.h"
#include "thread/anchor.h"

enum { WAL_LARGE = 64 << 20 };

static enum status threads_of(struct doctor *d, struct store_thread **list, size_t *n,
                              struct err *e)
{
    struct log *l = &d->app->log;

    if (log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = store_threads(l->store, d->app->a, list, n, e);
    log_abort(l);
    return s;
}

/* ---- the database file ---------------------------------------------------------------- */

enum status check_database(struct doctor *d, struct err *e)
{
    return store_check(d->app->log.store, doctor_say, d, e);
}

/* Entries whose thread is gone from the table of threads get a thread again. */
enum status fix_database(struct doctor *d, struct err *e)
{
    struct log *l = &d->app->log;
    int64_t     n;
    enum status s = log_begin(l, (struct sv){ 0 }, STORE_WRITE, e);

    if (!s)
        s = store_adopt_lost(l->store, &n, e);
    if (!s)
        s = log_commit(l, e);
    log_abort(l);
    return s;
}

/* ---- entries, chains, views ------------------------------------------------------------ */

static void count_threads(struct doctor *d, size_t n, int64_t entries)
{
    struct sb b = sb_in(d->app->a, 0);

    sb_addf(&b, "%zu of %zu thread%s read from end to end, ", n, n, n == 1 ? "" : "s");
    sb_add_commas(&b, entries);
    sb_addf(&b, " entr%s: chain and views agree", entries == 1 ? "y" : "ies");
    d->good = sb_sv(&b);
}

/* Where .global says that the logs ended. */
static enum status check_anchors(struct doctor *d, struct err *e)
{
    struct log *l = &d->app->log;
    int64_t     n;

    if (log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = anchor_check(l, doctor_say, d, &n, e);
    log_abort(l);
    return s;
}

enum status check_threads(struct doctor *d, struct err *e)
{
    struct store_thread *list;
    size_t               n;
    int64_t              entries = 0;

    if (threads_of(d, &list, &n, e))
        return err_code(e);
    struct progress p = progress_of("doctor: threads", (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        int64_t    read = 0;
        struct err why;
        if (log_verify(&d->app->log, list[i].id, doctor_say, d, &read, &why))
            doctor_find(d, why.code, why.hint, "thread " SV_FMT ": %s", SV_ARG(list[i].id),
                        why.text);
        entries += read;
        progress_at(&p, (int64_t)i + 1);
    }
    progress_end(&p);
    count_threads(d, n, entries);
    return check_anchors(d, e);
}

enum status doctor_rebuild(struct app *app, struct sv thread, struct err *e)
{
    enum status s = log_begin(&app->log, thread, STORE_WRITE, e);

    if (!s)
        s = log_rebuild(&app->log, thread, NULL, NULL, e);
    if (!s)
        s = log_commit(&app->log, e);
    log_abort(&app->log);
    return s;
}

/* Views are made from entries and nothing else, so folding them again can lose nothing. A thread
 * that cannot be folded keeps the rows it has, and the check that follows says what is wrong. */
enum status fix_threads(struct doctor *d, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (threads_of(d, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct doctor one = { .app = d->app };
        int64_t       read;
        struct err    why;
        if (log_verify(&d->app->log, list[i].id, doctor_say, &one, &read, &why) || one.found.n)
            if (doctor_rebuild(d->app, list[i].id, &why))
                warn("thread " SV_FMT ": %s", SV_ARG(list[i].id), why.text);
    }
    return ST_OK;
}

/* ---- .leslie ---------------------------------------------------------------------------- */

enum status check_shared(struct doctor *d, struct err *e)
{
    struct share s;

    share_init(&s, &d->app->log, d->app->ws.root_fd, d->app->actor, d->app->a);
    return share_verify(&s, doctor_say, doctor_remark, d, e);
}

/* What the next command that writes would do: import what other programs changed, finish what a
 * killed command left undone, write the files anew. */
enum status fix_shared(struct doctor *d, struct err *e)
{
    struct share s;

    share_init(&s, &d->app->log, d->app->ws.root_fd, d->app->actor, d->app->a);
    enum status st = share_begin(&s, STORE_WRITE, e);
    if (!st)
        st = share_commit(&s, e);
    share_end(&s);
    return st;
}

/* ---- erasures that were interrupted -------------------------------------------------------- */

enum status check_erasures(struct doctor *d, struct err *e)
{
    struct erase_pending *list;
    size_t                n;
    struct log           *l = &d->app->log;

    if (log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = erase_pending(l, d->app->a, &list, &n, e);
    log_abort(l);
    for (size_t i = 0; !s && i < n; i++)
        doctor_find(d, ST_IO, "`heddle doctor --fix` does the rest",
                    "thread " SV_FMT ": files may still hold what entry %lld erased",
                    SV_ARG(list[i].thread), (long long)list[i].seq);
    return s;
}

enum status fix_erasures(struct doctor *d, struct err *e)
{
    struct share s;
    size_t       n;

    share_init(&s, &d->app->log, d->app->ws.root_fd, d->app->actor, d->app->a);
    return share_erase_finish(&s, clock_now_ms(), &n, NULL, NULL, e);
}

/* ---- room on the disk ------------------------------------------------------------------- */

enum status check_space(struct doctor *d, struct err *e)
{
    struct store_stats st;

    if (store_stats(d->app->log.store, &st, e))
        return err_code(e);
    if (st.wal_bytes > WAL_LARGE)
        doctor_find(d, ST_LIMIT_EXCEEDED, "run heddle doctor --compact",
                    "the write-ahead log is over %d MB", WAL_LARGE >> 20);
    return ST_OK;
}

enum status fix_space(struct doctor *d, struct err *e)
{
    return store_compact(d->app->log.store, e);
}
