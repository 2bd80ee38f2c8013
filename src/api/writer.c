/* The thread that commits what many callers write, in groups. */
#include "api/writer.h"

#include "base/clock.h"
#include "base/failure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A writer that never stops would keep other processes from ever getting the lock, for which they
 * ask every two milliseconds or so: it leaves them a gap. */
enum { BUSY_US = 50 * 1000, GAP_US = 2000 };

struct group_writer {
    struct workspace    *ws;
    int64_t              group_us;
    pthread_mutex_t      lock;
    pthread_cond_t       work;
    struct writer_job   *first, **last;
    struct writer_counts counts;
    bool                 closing, runs;
    pthread_t            thread;

    /* Used only by the writer's thread: */
    struct store *store;
    int64_t       busy_since_us;
};

struct group_writer *writer_open(struct workspace *ws, int64_t group_us)
{
    struct group_writer *w = calloc(1, sizeof *w);

    if (!w)
        failure_memory(sizeof *w);
    w->ws = ws;
    w->group_us = group_us;
    w->last = &w->first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    return w;
}

/* ---- one request ----------------------------------------------------------------------- */

/* Run one job: in the open group (`store`), or in a transaction of its own (`store` is NULL). */
static void run_job(struct group_writer *w, struct writer_job *job, struct store *store)
{
    arena_reset(job->a, job->mark);
    request_init(&job->r, w->ws, job->a);
    job->prepare(job, &job->r);
    if (store) {
        job->r.log = log_of(store, workspace_views);
        job->r.log.only_current = true;
        job->r.mode = STORE_WRITE;
    }
    job->status = operation_run(job->op, &job->r, job->params, &job->e);
    if (store) {
        log_abort(&job->r.log);
        job->r.log.store = NULL; /* the writer keeps the store open */
    }
    request_end(&job->r);
}

static bool has_reason(const struct writer_job *job, const char *reason)
{
    return job->status && strcmp(job->e.reason, reason) == 0;
}

static void finish(struct writer_job *list)
{
    while (list) {
        struct writer_job *next = list->next;
        list->done(list);
        list = next;
    }
}

/* ---- a group ----------------------------------------------------------------------------- */

static void drop_store(struct group_writer *w);

/* What the jobs will write to, as far as their parameters tell. */
static void want_parts(struct group_writer *w, const struct writer_job *list)
{
    struct store_part parts[WRITER_GROUP_MAX];
    size_t            n = 0;

    for (; list && n < WRITER_GROUP_MAX; list = list->next)
        parts[n++] = (struct store_part){
            .thread = param_text(list->op->params, list->params, SV("thread")),
            .op_id = param_text(list->op->params, list->params, SV("op_id")),
        };
    store_group_want(w->store, parts, n);
}

/* Writes to a store whose file was removed or replaced would be lost. */
static enum status begin_group(struct group_writer *w, const struct writer_job *list, struct err *e)
{
    if (w->store && !store_in_place(w->store))
        drop_store(w);
    if (!w->store && workspace_take(w->ws, STORE_WRITE, &w->store, e))
        return err_code(e);
    if (store_group_begin(w->store, e))
        return err_code(e);
    want_parts(w, list);
    return ST_OK;
}

/* The store may be what is wrong: the next group opens it again. */
static void drop_store(struct group_writer *w)
{
    if (w->store) {
        store_group_abort(w->store);
        store_close(w->store);
    }
    w->store = NULL;
}

static void fail_all(struct writer_job *list, const struct err *e)
{
    for (; list; list = list->next)
        if (!list->status || !list->ran) {
            list->status = e->code;
            list->e = *e;
        }
}

/* Run jobs alone: all jobs of a group that failed; else those that could not run inside it, because
 * their views must be folded again or another process has locked their thread.
 */
static void run_alone(struct group_writer *w, struct writer_job *list, bool all)
{
    for (; list; list = list->next)
        if (all || has_reason(list, "rebuild") || has_reason(list, "busy")) {
            run_job(w, list, NULL);
            pthread_mutex_lock(&w->lock);
            w->counts.alone++;
            pthread_mutex_unlock(&w->lock);
        }
}

/* Run list in order until the time is over; what was not begun goes back to the queue. */
static struct writer_job *run_members(struct group_writer *w, struct writer_job *list)
{
    int64_t until = clock_steady_us() + w->group_us;

    for (struct writer_job *job = list; job; job = job->next) {
        run_job(w, job, w->store);
        job->ran = true;
        if (clock_steady_us() > until) {
            struct writer_job *rest = job->next;
            job->next = NULL;
            return rest;
        }
    }
    return NULL;
}

static void put_back(struct group_writer *w, struct writer_job *rest)
{
    struct writer_job *end = rest;
    int64_t            n = 1;

    if (!rest)
        return;
    for (; end->next; n++)
        end = end->next;
    pthread_mutex_lock(&w->lock);
    end->next = w->first;
    if (!w->first)
        w->last = &end->next;
    w->first = rest;
    w->counts.queued += n;
    w->counts.jobs -= n; /* they are counted when they are taken again */
    pthread_mutex_unlock(&w->lock);
}

static void write_group(struct group_writer *w, struct writer_job *list)
{
    struct err e;

    if (begin_group(w, list, &e)) {
        drop_store(w);
        fail_all(list, &e);
        finish(list);
        return;
    }
    put_back(w, run_members(w, list));
    enum status s = store_group_end(w->store, &e);
    if (s && strcmp(e.reason, "uncertain") == 0)
        fail_all(list, &e);
    else if (s)
        drop_store(w);
    run_alone(w, list, s && strcmp(e.reason, "uncertain") != 0);
    finish(list);
}

/* ---- the thread --------------------------------------------------------------------------- */

/* With the lock held: what waits, up to the limit of a group. */
static struct writer_job *take(struct group_writer *w)
{
    struct writer_job *list = w->first, *end = list;
    int64_t            n = 1;

    for (; end->next && n < WRITER_GROUP_MAX; n++)
        end = end->next;
    w->first = end->next;
    if (!w->first)
        w->last = &w->first;
    end->next = NULL;
    w->counts.queued -= n;
    w->counts.groups++;
    w->counts.jobs += n;
    if (n > w->counts.largest)
        w->counts.largest = n;
    return list;
}

static void leave_gap(struct group_writer *w)
{
    int64_t now = clock_steady_us();

    if (now - w->busy_since_us < BUSY_US)
        return;
    nanosleep(&(struct timespec){ 0, GAP_US * 1000 }, NULL);
    w->busy_since_us = clock_steady_us();
}

static bool can_group(struct group_writer *w)
{
    struct err ignored;

    if (!w->store && workspace_take(w->ws, STORE_WRITE, &w->store, &ignored))
        return false;
    return store_has_groups(w->store);
}

static void write_list(struct group_writer *w, struct writer_job *list)
{
    if (can_group(w)) {
        write_group(w, list);
        return;
    }
    for (struct writer_job *job = list; job; job = job->next)
        run_job(w, job, NULL);
    finish(list);
}

static void *work(void *ctx)
{
    struct group_writer *w = ctx;

    pthread_mutex_lock(&w->lock);
    while (w->first || !w->closing) {
        if (!w->first) {
            pthread_cond_wait(&w->work, &w->lock);
            w->busy_since_us = clock_steady_us();
            continue;
        }
        struct writer_job *list = take(w);
        pthread_mutex_unlock(&w->lock);
        write_list(w, list);
        leave_gap(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    drop_store(w);
    return NULL;
}

bool writer_put(struct group_writer *w, struct writer_job *job)
{
    pthread_mutex_lock(&w->lock);
    if (!w->runs)
        w->runs = pthread_create(&w->thread, NULL, work, w) == 0;
    bool taken = w->runs && !w->closing && w->counts.queued < WRITER_QUEUE_MAX;
    if (taken) {
        job->next = NULL;
        job->ran = false;
        job->status = ST_OK;
        job->mark = arena_mark(job->a);
        *w->last = job;
        w->last = &job->next;
        w->counts.queued++;
        pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

struct writer_counts writer_counts(struct group_writer *w)
{
    pthread_mutex_lock(&w->lock);
    struct writer_counts n = w->counts;
    pthread_mutex_unlock(&w->lock);
    return n;
}

void writer_close(struct group_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->work);
    bool runs = w->runs;
    pthread_mutex_unlock(&w->lock);
    if (runs)
        pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->work);
    free(w);
}
