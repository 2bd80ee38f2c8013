/* worker.list, worker.run, worker.stop, worker.wait: processes that work on threads. */
#include "api/share/workers.h"
#include "api/term.h"

#include <time.h>

/* clang-format off */
static const char *const worker_states[] = { "running", "exited", "lost", "waiting", NULL };

const struct field worker_fields[] = {
    { "thread",     FIELD_TEXT, .help = "the thread it works on" },
    { "executor",   FIELD_TEXT, .nullable = true, .help = "which of executors.* in the settings" },
    { "state",      FIELD_ENUM, .values = worker_states, .help = "lost: it died and nobody wrote down how; waiting: for children of its thread" },
    { "alive",      FIELD_FLAG, .help = "the process is there" },
    { "pid",        FIELD_NUMBER, .help = "the process of its supervisor" },
    { "started_at", FIELD_TIME, .help = "when it was started" },
    { "ended_at",   FIELD_TIME, .optional = true, .help = "when it ended" },
    { "exit_code",  FIELD_NUMBER, .optional = true, .help = "what it ended with; 128 and the signal's number when it was killed" },
    { "log",        FIELD_TEXT, .nullable = true, .help = "what it prints, below the workspace" },
    { "changed",    FIELD_LIST, .optional = true, .help = "files that it changed and may only read" },
    { "uncertain",  FIELD_LIST, .optional = true, .help = "the same, where another worker may have done it" },
    { 0 },
};
/* clang-format on */

void worker_members(struct jw *w, const struct worker *x)
{
    jw_kstr(w, "thread", x->thread);
    jw_kstr(w, "executor", x->executor);
    jw_kstr(w, "state", x->state);
    jw_kbool(w, "alive", x->alive);
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
}

/* Another transaction of the same request; its warnings would be repetitions and are dropped. */
static struct share beside(struct request *r, const struct share *s, struct arena *a)
{
    struct share other;

    share_init(&other, &r->log, r->ws->root_fd, r->actor, a);
    other.read_only = s->read_only;
    return other;
}

/* Record as lost the workers that the log has as running and that no longer exist. No transaction
 * is open before or after. */
static enum status bury_lost(struct request *r, const struct share *s, struct err *e)
{
    struct share   own = beside(r, s, r->a);
    struct worker *all;
    size_t         n, lost = 0;

    enum status st = share_begin(&own, STORE_READ, e);
    if (!st)
        st = worker_list(&own, &all, &n, e);
    share_end(&own);
    for (size_t i = 0; !st && i < n; i++)
        lost += sv_is(all[i].state, "running") && !all[i].alive;
    if (st || !lost || s->read_only)
        return st;
    if (share_begin(&own, STORE_WRITE, e) || worker_note_lost(&own, e) || share_commit(&own, e)) {
        share_end(&own);
        return err_code(e);
    }
    share_end(&own);
    return ST_OK;
}

/* Open the log for a request that looks at workers more than once. */
static enum status open_log(struct request *r, struct share *s, struct err *e)
{
    if (share_call_begin(r, s, STORE_READ, e))
        return err_code(e);
    share_end(s);
    s->warnings.n = 0; /* the next transaction gives them again */
    return ST_OK;
}

/* ---- list ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct field listed[] = {
    { "items", FIELD_LIST, .of = worker_fields, .help = "the last worker of every thread that had one" },
    { "now",   FIELD_TIME, .help = "when they were looked at" },
    { 0 },
};
/* clang-format on */

static enum status list(struct request *r, const void *params, struct err *e)
{
    struct share   s;
    struct worker *all;
    size_t         n;

    (void)params;
    if (open_log(r, &s, e) || bury_lost(r, &s, e) || share_begin(&s, STORE_READ, e) ||
        worker_list(&s, &all, &n, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(r->doc, '{');
        worker_members(r->doc, &all[i]);
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_ktime(r->doc, "now", clock_now_ms());
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

static int64_t time_in(const struct json *doc, const char *key)
{
    int64_t ms = 0;

    return clock_parse_iso(json_text(doc, key), &ms) ? ms : 0;
}

static void print_list(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "THREAD", "STATE", "PID", "EXECUTOR", "STARTED", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        struct sb          state = sb_in(t->a, 0), pid = sb_in(t->a, 0), ago = sb_in(t->a, 0);
        sb_add(&state, json_text(x, "state"));
        if (json_find(x, "exit_code") && !sv_is(json_text(x, "state"), "waiting"))
            sb_addf(&state, " (%lld)", share_doc_number(x, "exit_code"));
        sb_add_int(&pid, share_doc_number(x, "pid"));
        sb_add_ago(&ago, time_in(x, "started_at"), time_in(doc, "now"));
        term_row(&table, t->a,
                 (struct sv[]){ json_text(x, "thread"), sb_sv(&state), sb_sv(&pid),
                                json_text(x, "executor"), sb_sv(&ago) });
    }
    term_table(&table, t);
    if (!items->n)
        term_f(t, "no worker was ever started here\n");
}

const struct operation op_worker_list = {
    .name = "worker.list",
    .summary = "List the processes that work on threads",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .answer = listed,
    .run = list,
    .print = print_list,
};

/* ---- wait, stop ---------------------------------------------------------------------- */

enum { WAIT_MAX_S = 1000000000 }; /* thirty years */

struct worker_params {
    struct sv thread, with;
    int64_t   timeout;
};

/* clang-format off */
static const struct param wait_params[] = {
    { "thread",  PARAM_TEXT,   offsetof(struct worker_params, thread),  .required = true, .value = "T", .help = "the thread" },
    { "timeout", PARAM_NUMBER, offsetof(struct worker_params, timeout), .value = "SECONDS", .min = 0, .max = WAIT_MAX_S, .help = "give up after this long (default: never)" },
    { 0 },
};
static const struct param stop_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct worker_params, thread), .required = true, .value = "T", .help = "the thread" },
    { 0 },
};
static const struct param run_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct worker_params, thread), .required = true, .value = "T", .help = "the thread" },
    { "with",   PARAM_TEXT, offsetof(struct worker_params, with),   .value = "NAME", .help = "which executor" },
    { 0 },
};
/* clang-format on */

static enum status find(struct share *s, struct sv id, struct worker *w, struct err *e)
{
    struct share_thread t;
    bool                found = false;

    s->warnings.n = 0;
    enum status st = share_begin(s, STORE_READ, e);
    if (!st)
        st = share_thread(s, id, &t, e);
    if (!st)
        st = worker_find(s, id, w, &found, e);
    share_end(s);
    if (st || found)
        return st;
    err_set(e, ST_NOT_FOUND, "no worker was started for '" SV_FMT "'", SV_ARG(id));
    return err_hint(e, "`heddle spawn` starts one, unless it is told --no-run, with the program of "
                       "executors.agent: heddle config set --user executors.agent '[\"COMMAND\"]'");
}

static enum status tell(struct request *r, struct share *s, const struct worker *w)
{
    jw_open(r->doc, '{');
    worker_members(r->doc, w);
    jw_close(r->doc, '}');
    return share_call_end(r, s);
}

static void pause_for(long ms)
{
    struct timespec step = { 0, ms * 1000000L };

    nanosleep(&step, NULL);
}

/* Until it is not alive. A long wait must not grow: each look has an arena of its own. */
static enum status wait_for(struct request *r, const struct share *s, const struct worker_params *p,
                            struct err *e)
{
    int64_t until =
        p->timeout == PARAM_UNSET ? INT64_MAX : clock_steady_us() + p->timeout * 1000000;

    for (;;) {
        struct arena  look = { 0 };
        struct share  own = beside(r, s, &look);
        struct worker w;
        enum status   st = find(&own, p->thread, &w, e);
        bool          over = st || !w.alive;
        arena_free(&look);
        if (over)
            return st;
        if (clock_steady_us() > until) {
            err_set(e, ST_CONFLICT, "'" SV_FMT "' is still running", SV_ARG(p->thread));
            return err_reason(e, "timeout");
        }
        if (request_check(r, e))
            return err_code(e);
        pause_for(50);
    }
}

static enum status wait_op(struct request *r, const void *params, struct err *e)
{
    const struct worker_params *p = params;
    struct share                s;
    struct worker               w;

    if (open_log(r, &s, e) || wait_for(r, &s, p, e) || find(&s, p->thread, &w, e))
        return share_call_fail(r, &s, e);
    if (sv_is(w.state, "running") && (bury_lost(r, &s, e) || find(&s, p->thread, &w, e)))
        return share_call_fail(r, &s, e);
    return worker_verdict(&w, e) ? share_call_fail(r, &s, e) : tell(r, &s, &w);
}

static void print_worker(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT " " SV_FMT " (%lld)\n", SV_ARG(json_text(doc, "thread")),
           SV_ARG(json_text(doc, "state")), share_doc_number(doc, "exit_code"));
}

const struct operation op_worker_wait = {
    .name = "worker.wait",
    .summary = "Wait until the worker of a thread has ended",
    .details = "Succeeds when the worker did, and changed nothing that it may only read.\n\n"
               "  heddle wait lexer --timeout 60",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .params = wait_params,
    .params_size = sizeof(struct worker_params),
    .answer = worker_fields,
    .run = wait_op,
    .print = print_worker,
};

enum { PATIENCE_MS = 5000 };

static enum status stop(struct request *r, const void *params, struct err *e)
{
    const struct worker_params *p = params;
    struct share                s;
    struct worker               w;

    if (open_log(r, &s, e) || find(&s, p->thread, &w, e))
        return share_call_fail(r, &s, e);
    if (!w.alive && !sv_is(w.state, "running"))
        return tell(r, &s, &w);
    if (worker_kill(&w, PATIENCE_MS, e) || bury_lost(r, &s, e) || find(&s, p->thread, &w, e))
        return share_call_fail(r, &s, e);
    return tell(r, &s, &w);
}

const struct operation op_worker_stop = {
    .name = "worker.stop",
    .summary = "Stop the worker of a thread and all it started",
    .details = "The worker is what `heddle spawn` started; `heddle ps` lists them.\n\n"
               "  heddle stop lexer",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_RUN,
    .repeat = REPEAT_SAME,
    .params = stop_params,
    .params_size = sizeof(struct worker_params),
    .answer = worker_fields,
    .run = stop,
    .print = print_worker,
};

/* ---- run ----------------------------------------------------------------------------- */

static enum status run(struct request *r, const void *params, struct err *e)
{
    const struct worker_params *p = params;
    struct worker               w;

    if (worker_supervise(r, p->thread, p->with, &w, e))
        return err_code(e);
    jw_open(r->doc, '{');
    worker_members(r->doc, &w);
    jw_close(r->doc, '}');
    return ST_OK;
}

const struct operation op_worker_run = {
    .name = "worker.run",
    .summary = "Supervise an executor; started by spawn",
    .details =
        "Runs the executor of a thread to its end and writes down how it ended. Nothing else\n"
        "must go on in the process that does it.",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_RUN,
    .repeat = REPEAT_NEVER,
    .params = run_params,
    .params_size = sizeof(struct worker_params),
    .answer = worker_fields,
    .run = run,
    .print = print_worker,
};
