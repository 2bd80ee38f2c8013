/* `ps`, `wait`, `stop`: processes that work on threads. */
#include "front/cli/command.h"
#include "front/share/worker.h"

#include <time.h>

struct worker_opts {
    struct sv with;
    int64_t   timeout;
};

static const struct opt wait_opts[] = {
    { OPT_NUMBER, "timeout", "SECONDS", "give up after this long (default: never)",
      offsetof(struct worker_opts, timeout), 0 },
    { 0 },
};
static const struct opt internal_opts[] = {
    { OPT_TEXT, "with", "NAME", "which executor", offsetof(struct worker_opts, with), 0 },
    { 0 },
};

/* Workers that are written down as running and are not: they died without a word. */
static enum status bury_lost(struct app *app, struct err *e)
{
    struct door    d;
    struct worker *all;
    size_t         n, lost = 0;

    if (door_open(&d, app, STORE_READ, e) || worker_list(&d.s, &all, &n, e))
        return door_fail(&d, e);
    share_end(&d.s);
    for (size_t i = 0; i < n; i++)
        lost += sv_is(all[i].state, "running") && !all[i].alive;
    if (!lost || d.s.read_only)
        return ST_OK;
    if (share_begin(&d.s, STORE_WRITE, e) || worker_list(&d.s, &all, &n, e))
        return door_fail(&d, e);
    for (size_t i = 0; i < n; i++) {
        if (!sv_is(all[i].state, "running") || all[i].alive)
            continue;
        all[i].state = SV("lost");
        all[i].ended = clock_now_ms();
        all[i].code = 255;
        if (worker_note(&d.s, &all[i], e))
            return door_fail(&d, e);
    }
    return share_commit(&d.s, e);
}

static void put_worker(struct jw *w, const struct worker *x)
{
    jw_open(w, '{');
    jw_kstr(w, "thread", x->thread);
    jw_kstr(w, "executor", x->executor);
    jw_kstr(w, "state", x->state);
    jw_kint(w, "pid", x->pid);
    jw_ktime(w, "started_at", x->started);
    if (x->ended) {
        jw_ktime(w, "ended_at", x->ended);
        jw_kint(w, "exit_code", x->code);
    }
    jw_kstr(w, "log", x->log);
    if (x->changed.s) {
        jw_key(w, "changed");
        jw_raw(w, x->changed);
    }
    if (x->uncertain.s) {
        jw_key(w, "uncertain");
        jw_raw(w, x->uncertain);
    }
    jw_close(w, '}');
}

static enum status run_ps(struct app *app, const void *opts, struct err *e)
{
    static const char *const heads[] = { "THREAD", "STATE", "PID", "EXECUTOR", "STARTED", NULL };
    struct door              d;
    struct worker           *all;
    size_t                   n;
    struct table             t = { .heads = heads };

    (void)opts;
    if (bury_lost(app, e))
        return err_code(e);
    if (door_open(&d, app, STORE_READ, e) || worker_list(&d.s, &all, &n, e))
        return door_fail(&d, e);
    jw_open(d.data, '[');
    for (size_t i = 0; i < n; i++) {
        struct sb state = sb_in(app->a, 0), pid = sb_in(app->a, 0), ago = sb_in(app->a, 0);
        sb_add(&state, all[i].state);
        if (all[i].ended && !sv_is(all[i].state, "waiting"))
            sb_addf(&state, " (%lld)", (long long)all[i].code);
        sb_add_int(&pid, all[i].pid);
        sb_add_ago(&ago, all[i].started, clock_now_ms());
        put_worker(d.data, &all[i]);
        table_row(&t, app->a,
                  (struct sv[]){ all[i].thread, sb_sv(&state), sb_sv(&pid), all[i].executor,
                                 sb_sv(&ago) });
    }
    jw_close(d.data, ']');
    table_print(&t, &d.text);
    if (!n)
        sb_adds(&d.text, "no worker was ever started here\n");
    return door_done(&d, e);
}

static enum status find(struct door *d, struct worker *w, struct err *e)
{
    struct share_thread t;
    struct sv           id = app_arg(d->app, 0);
    bool                found;

    if (door_open(d, d->app, STORE_READ, e) || share_thread(&d->s, id, &t, e) ||
        worker_find(&d->s, id, w, &found, e))
        return err_code(e);
    share_end(&d->s);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "no worker was started for '" SV_FMT "'", SV_ARG(id));
    return err_hint(e, "set executors.agent in .heddle/config.json and spawn without --no-run");
}

static enum status answer(struct door *d, const struct worker *w, struct err *e)
{
    put_worker(d->data, w);
    sb_addf(&d->text, SV_FMT " %s (%lld)\n", SV_ARG(w->thread), sv_cstr(w->state, d->app->a),
            (long long)w->code);
    return door_done(d, e);
}

enum { WAIT_MAX_S = 1000000000 }; /* thirty years */

static enum status run_wait(struct app *app, const void *opts, struct err *e)
{
    const struct worker_opts *o = opts;
    struct door               d = { .app = app };
    struct worker             w;
    int64_t                   until = INT64_MAX;

    if (o->timeout != OPT_UNSET && (o->timeout < 0 || o->timeout > WAIT_MAX_S))
        return err_set(e, ST_USAGE, "--timeout takes 0 to %d seconds", WAIT_MAX_S);
    if (o->timeout != OPT_UNSET)
        until = clock_steady_us() + o->timeout * 1000000;
    for (;;) {
        struct timespec   step = { 0, 50 * 1000000L };
        struct arena_mark m = arena_mark(app->a);
        if (find(&d, &w, e))
            return door_fail(&d, e);
        if (!w.alive)
            break;
        if (clock_steady_us() > until) {
            err_set(e, ST_CONFLICT, "'" SV_FMT "' is still running", SV_ARG(w.thread));
            err_reason(e, "timeout");
            return door_fail(&d, e);
        }
        arena_reset(app->a, m); /* a long wait must not grow */
        nanosleep(&step, NULL);
    }
    if (sv_is(w.state, "running") && (bury_lost(app, e) || find(&d, &w, e)))
        return door_fail(&d, e);
    return worker_verdict(&w, e) ? door_fail(&d, e) : answer(&d, &w, e);
}

static enum status run_stop(struct app *app, const void *opts, struct err *e)
{
    struct door   d = { .app = app };
    struct worker w;

    (void)opts;
    if (find(&d, &w, e))
        return door_fail(&d, e);
    if (!w.alive && !sv_is(w.state, "running"))
        return answer(&d, &w, e);
    if (worker_kill(&w, 5000, e) || bury_lost(app, e) || find(&d, &w, e))
        return door_fail(&d, e);
    return answer(&d, &w, e);
}

static enum status run_internal(struct app *app, const void *opts, struct err *e)
{
    return worker_supervise(app, app_arg(app, 0), ((const struct worker_opts *)opts)->with, e);
}

const struct command cmd_ps = {
    .name = "ps",
    .synopsis = "",
    .group = GROUP_SHARE,
    .summary = "List the processes that work on threads",
    .needs = NEEDS_ROOT,
    .run = run_ps,
};

const struct command cmd_wait = {
    .name = "wait",
    .synopsis = "T [--timeout SECONDS]",
    .group = GROUP_SHARE,
    .summary = "Wait until the worker of a thread has ended",
    .details = "Succeeds when the worker did, and changed nothing that it may only read.\n\n"
               "  heddle wait lexer --timeout 60",
    .opts = wait_opts,
    .opts_size = sizeof(struct worker_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_wait,
};

const struct command cmd_stop = {
    .name = "stop",
    .synopsis = "T",
    .group = GROUP_SHARE,
    .summary = "Stop the worker of a thread and all it started",
    .details = "The worker is what `heddle spawn` started; `heddle ps` lists them.\n\n"
               "  heddle stop lexer",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_stop,
};

const struct command cmd_worker = {
    .name = "_worker",
    .synopsis = "T --with NAME",
    .group = GROUP_SHARE,
    .summary = "Supervise an executor; started by spawn",
    .opts = internal_opts,
    .opts_size = sizeof(struct worker_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .hidden = true,
    .run = run_internal,
};
