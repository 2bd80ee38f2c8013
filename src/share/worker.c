/* What is known of the processes that work on threads, and how one is stopped. */
#include "share/worker.h"

#include "share/share_internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- what is known of a worker ------------------------------------------------------------ */

/* Of /proc/PID/stat: when the process began, in clock ticks since boot (with the pid it names one
 * process), and its session. Ticks are -1 when there is no such process, or it is a zombie. */
struct process {
    long long ticks;
    long      session;
};

static struct process process_of(int64_t pid)
{
    struct process none = { -1, -1 }, p = none;
    char           path[64], text[1024];

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE  *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *behind = strrchr(text, ')'); /* the name may hold anything */
    if (!behind || !behind[1] || behind[2] == 'Z')
        return none; /* a zombie: it has ended */
    if (sscanf(behind + 4,
               "%*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
               "%*d %lld",
               &p.session, &p.ticks) != 2)
        return none;
    return p;
}

int64_t worker_ticks(int64_t pid)
{
    return process_of(pid).ticks;
}

/* A record comes from a log, which anybody may have written. The pid in it counts only when it
 * is valid, the process began when the record says, and it leads a session of its own as workers
 * do. */
static bool is_running(const struct worker *w)
{
    if (w->pid <= 1 || w->pid > INT32_MAX || w->ticks <= 0)
        return false;
    struct process p = process_of(w->pid);
    return p.ticks == w->ticks && p.session == w->pid;
}

/* Is it the supervisor of this thread? Its command line says so once it runs; between fork and exec
 * it is still that of `heddle spawn`. */
static bool is_supervisor(const struct worker *w)
{
    char   path[64], text[512];
    FILE  *f;
    size_t n;

    snprintf(path, sizeof path, "/proc/%lld/cmdline", (long long)w->pid);
    if (!(f = fopen(path, "re")))
        return false;
    n = fread(text, 1, sizeof text, f);
    fclose(f);
    struct sv_cut program = sv_cut((struct sv){ text, n }, 0), word = sv_cut(program.tail, 0);
    return sv_is(word.head, "_worker") && sv_eq(sv_cut(word.tail, 0).head, w->thread);
}

static enum status read_worker(struct sv row, struct arena *a, struct worker *w, struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "worker row");
    *w = (struct worker){ .thread = json_text(&v, "thread_id"),
                          .executor = json_text(&v, "executor"),
                          .log = json_text(&v, "log"),
                          .state = json_text(&v, "state") };
    json_int(json_find(&v, "pid"), &w->pid);
    json_int(json_find(&v, "ticks"), &w->ticks);
    json_int(json_find(&v, "started"), &w->started);
    json_int(json_find(&v, "ended"), &w->ended);
    json_int(json_find(&v, "code"), &w->code);
    const struct json *changed = json_find(&v, "changed"), *uncertain = json_find(&v, "uncertain");
    if (json_is(changed, JSON_ARRAY) && changed->n) {
        w->changed = json_canonical(changed, a);
        w->n_changed = changed->n;
    }
    if (json_is(uncertain, JSON_ARRAY) && uncertain->n)
        w->uncertain = json_canonical(uncertain, a);
    w->alive = sv_is(w->state, "running") && is_running(w);
    return ST_OK;
}

enum status worker_find(struct share *s, struct sv thread, struct worker *out, bool *found,
                        struct err *e)
{
    struct sv row;

    if (share_row(s, key_of_name("worker", thread, s->a), &row, found, e))
        return err_code(e);
    return *found ? read_worker(row, s->a, out, e) : ST_OK;
}

enum status worker_list(struct share *s, struct worker **out, size_t *n, struct err *e)
{
    struct sv *rows;

    if (share_rows_below(s, SV("worker/"), false, s->a, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(s->a, struct worker, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (read_worker(rows[i], s->a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status worker_verdict(const struct worker *w, struct err *e)
{
    if (w->code || sv_is(w->state, "lost")) {
        err_set(e, ST_IO, "the worker of '" SV_FMT "' %s with code %lld", SV_ARG(w->thread),
                sv_is(w->state, "lost") ? "was lost" : "ended", (long long)w->code);
        return err_hint(e, "its output is in " SV_FMT, SV_ARG(w->log));
    }
    if (!w->n_changed)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED,
            "the worker of '" SV_FMT "' changed %zu file%s that it may only read: " SV_FMT,
            SV_ARG(w->thread), w->n_changed, w->n_changed == 1 ? "" : "s", SV_ARG(w->changed));
    err_reason(e, "changed");
    return err_hint(e,
                    "`heddle status " SH_FMT "` lists them; `heddle refresh --from " SH_FMT
                    "` makes frozen copies again",
                    SV_ARG(w->thread), SV_ARG(w->thread));
}

enum status worker_note(struct share *s, const struct worker *w, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw j = jw_in(&b, 0);

    jw_open(&j, '{');
    jw_kstr(&j, "operation", SV("worker"));
    jw_kstr(&j, "operator", SV("system"));
    jw_kstr(&j, "thread_id", w->thread);
    jw_kstr(&j, "executor", w->executor);
    jw_kstr(&j, "log", w->log);
    jw_kstr(&j, "state", w->state);
    jw_kint(&j, "pid", w->pid);
    jw_kint(&j, "ticks", w->ticks);
    jw_kint(&j, "started", w->started);
    jw_kint(&j, "ended", w->ended);
    jw_kint(&j, "code", w->code);
    if (w->changed.s) {
        jw_key(&j, "changed");
        jw_raw(&j, w->changed);
    }
    if (w->uncertain.s) {
        jw_key(&j, "uncertain");
        jw_raw(&j, w->uncertain);
    }
    jw_close(&j, '}');
    return share_append(s, (struct sv){ 0 }, sb_sv(&b), e);
}

enum status worker_note_lost(struct share *s, struct err *e)
{
    struct worker *all;
    size_t         n;

    if (worker_list(s, &all, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (!sv_is(all[i].state, "running") || all[i].alive)
            continue;
        all[i].state = SV("lost");
        all[i].ended = clock_now_ms();
        all[i].code = 255;
        if (worker_note(s, &all[i], e))
            return err_code(e);
    }
    return ST_OK;
}

enum status worker_lifecycle(struct share *s, struct sv thread, const char *action,
                             const char *reason, struct err *e)
{
    struct share_thread t;
    struct sv           actor = s->actor;

    s->actor = SV("system");
    enum status r = share_lifecycle(s, thread, sv_of(action), sv_of(reason), &t, e);
    s->actor = actor;
    return r;
}

enum status worker_open_children(struct share *s, struct sv parent, bool *any, struct err *e)
{
    struct sv *ids;
    size_t     n;

    *any = false;
    if (share_ids(s, SHARE_CHILDREN, parent, s->a, &ids, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n && !*any; i++) {
        struct share_thread t;
        if (share_thread(s, ids[i], &t, e))
            return err_code(e);
        *any = !share_thread_has_ended(t.status);
    }
    return ST_OK;
}

enum status worker_child_ended(struct share *s, const struct share_thread *child,
                               struct sv *resumed, struct err *e)
{
    struct share_thread parent;
    struct worker       w;
    bool                found = false, waits = false, any;

    *resumed = (struct sv){ 0 };
    if (!child->parent.s || !share_thread_has_ended(child->status))
        return ST_OK;
    if (share_thread_find(s, child->parent, &parent, &found, e) ||
        (found && worker_find(s, child->parent, &w, &waits, e)))
        return err_code(e);
    if (!found || !waits || parent.status != THREAD_SUSPENDED || !sv_is(w.state, "waiting"))
        return ST_OK;
    if (worker_open_children(s, parent.id, &any, e))
        return err_code(e);
    if (any)
        return ST_OK;
    *resumed = parent.id;
    return worker_lifecycle(s, parent.id, "resume", "Children completed", e);
}

struct sv worker_log(struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, ".leslie/logs/workers/" SV_FMT ".log", SV_ARG(thread));
    return sb_sv(&b);
}

/* ---- stopping ----------------------------------------------------------------------------------
 */

enum { STEP_MS = 20, EXEC_MS = 1000 };

static void pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

static bool ends_within(const struct worker *w, int ms)
{
    for (int waited = 0; waited < ms; waited += STEP_MS) {
        if (!is_running(w))
            return true;
        pause_ms(STEP_MS);
    }
    return !is_running(w);
}

enum status worker_kill(const struct worker *w, int patience_ms, struct err *e)
{
    if (!w->alive || !is_running(w))
        return ST_OK;
    for (int waited = 0; waited < EXEC_MS && !is_supervisor(w) && is_running(w); waited += STEP_MS)
        pause_ms(STEP_MS);
    if (!is_running(w))
        return ST_OK;
    if (!is_supervisor(w)) {
        err_set(e, ST_PERMISSION_DENIED,
                "process %lld is not a worker of '" SV_FMT "'; it was not signalled",
                (long long)w->pid, SV_ARG(w->thread));
        return err_hint(e, "the record comes from elsewhere; `heddle ps` shows it");
    }
    kill(-(pid_t)w->pid, SIGTERM);
    if (ends_within(w, patience_ms))
        return ST_OK;
    kill(-(pid_t)w->pid, SIGKILL);
    return ends_within(w, 2000) ? ST_OK
                                : err_set(e, ST_IO, "process %lld does not end", (long long)w->pid);
}
