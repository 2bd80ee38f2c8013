#include "front/share/worker.h"

#include "base/path.h"
#include "front/share/worker_internal.h"
#include "share/share_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what is known of a worker ------------------------------------------------------------ */

/* Of /proc/PID/stat: when the process began, in clock ticks since boot (with the pid it names one
 * process), and its session. Ticks are -1 when there is no such process, or only its remains. */
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
        return none; /* Z: ended, and only not yet buried */
    if (sscanf(behind + 4,
               "%*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
               "%*d %lld",
               &p.session, &p.ticks) != 2)
        return none;
    return p;
}

/* A record comes from a log, which may be anybody's: a number in it is a process only when it can
 * be one, and began when the record says, and leads a session of its own as our workers do. */
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

void worker_line(struct door *d, struct sv thread)
{
    struct worker w;
    struct err    ignored;
    bool          found;

    if (worker_find(&d->s, thread, &w, &found, &ignored) || !found)
        return;
    sb_addf(&d->text, "worker: %s, pid %lld, log " SV_FMT "\n",
            w.alive                     ? "running"
            : sv_is(w.state, "running") ? "died without a word"
                                        : sv_cstr(w.state, d->app->a),
            (long long)w.pid, SV_ARG(w.log));
    if (w.changed.s) {
        sb_adds(&d->text, "  changed what it may only read: ");
        sb_add_plain(&d->text, w.changed);
        sb_addc(&d->text, '\n');
    }
    if (w.uncertain.s) {
        sb_adds(&d->text, "  changed while it ran, by it or by another worker: ");
        sb_add_plain(&d->text, w.uncertain);
        sb_addc(&d->text, '\n');
    }
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
        *any = !thread_has_ended(t.status);
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
    if (!child->parent.s || !thread_has_ended(child->status))
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

/* ---- starting ------------------------------------------------------------------------------- */

static const struct json *executor(struct app *app, struct sv name)
{
    struct sb b = sb_in(app->a, 0);

    sb_addf(&b, "executors." SV_FMT, SV_ARG(name));
    return config_find_sv(&app->ws.config, sb_sv(&b));
}

const struct json *worker_command(struct app *app, struct sv with, struct sv *name)
{
    static const char *const usual[] = { "agent", "default" };
    const struct json       *found;

    if (with.n) {
        *name = with;
        return executor(app, with);
    }
    for (size_t i = 0; i < COUNT(usual); i++)
        if ((found = executor(app, sv_of(usual[i])))) {
            *name = sv_of(usual[i]);
            return found;
        }
    return NULL;
}

struct sv worker_log(struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, ".leslie/logs/workers/" SV_FMT ".log", SV_ARG(thread));
    return sb_sv(&b);
}

/* The supervisor waits on the pipe until it is written down, then becomes `heddle _worker`. */
static pid_t fork_supervisor(struct app *app, struct sv thread, struct sv name, int go[2])
{
    char *const args[] = { (char[]){ "heddle" },
                           (char[]){ "_worker" },
                           (char *)(uintptr_t)sv_cstr(thread, app->a),
                           (char[]){ "--with" },
                           (char *)(uintptr_t)sv_cstr(name, app->a),
                           (char[]){ "--root" },
                           (char *)(uintptr_t)sv_cstr(app->ws.root, app->a),
                           NULL };
    pid_t       child = fork();

    if (child != 0)
        return child;
    char one;
    close(go[1]);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    if (read(go[0], &one, 1) != 1)
        _exit(1); /* it was not written down: nothing must run */
    execv("/proc/self/exe", args);
    _exit(127);
}

static enum status write_down(struct door *d, struct sv thread, struct sv name, pid_t pid,
                              struct err *e)
{
    struct worker w = { .thread = thread,
                        .executor = name,
                        .log = worker_log(thread, d->app->a),
                        .state = SV("running"),
                        .pid = pid,
                        .ticks = process_of(pid).ticks,
                        .started = clock_now_ms() };

    if (share_begin(&d->s, STORE_WRITE, e) || worker_note(&d->s, &w, e))
        return err_code(e);
    return share_commit(&d->s, e);
}

static void say_not_started(struct door *d, struct sv with)
{
    jw_kstr(d->data, "run_mode", SV("record"));
    if (d->app->json || is_leslie(d->app))
        return;
    struct sb key = sb_in(d->app->a, 0), shown = sb_in(d->app->a, 0);
    sb_addf(&key, "executors." SV_FMT, SV_ARG(with.n ? with : SV("agent")));
    sb_add_shell(&shown, sb_sv(&key));
    app_note(d->app,
             "recorded only: no " SV_FMT " counts; set one: heddle config set --user " SV_FMT
             " '[\"COMMAND\"]'",
             SV_ARG(sb_sv(&key)), SV_ARG(sb_sv(&shown)));
}

/* It is gone: what did it leave behind? */
static enum status read_end(struct door *d, struct sv thread, struct worker *out, struct err *e)
{
    bool found;

    if (share_begin(&d->s, STORE_READ, e))
        return err_code(e);
    enum status r = worker_find(&d->s, thread, out, &found, e);
    share_end(&d->s);
    if (!r && sv_is(out->state, "running")) { /* its supervisor failed: nothing was written down */
        out->state = SV("lost");
        out->code = 255;
    }
    return r;
}

enum status worker_start(struct door *d, const struct share_thread *t, struct sv with,
                         bool foreground, struct worker *ended, struct err *e)
{
    struct sv          name;
    const struct json *command = worker_command(d->app, with, &name);
    int                go[2], status = 0;

    *ended = (struct worker){ 0 };
    if (!json_is(command, JSON_ARRAY) || !command->n) {
        say_not_started(d, with);
        return ST_OK;
    }
    if (pipe2(go, O_CLOEXEC) != 0)
        return err_errno(e, "pipe");
    /* The pipe's reading end must survive until the supervisor has read from it; exec closes it. */
    pid_t pid = fork_supervisor(d->app, t->id, name, go);
    close(go[0]);
    enum status r = pid < 0 ? err_errno(e, "fork") : write_down(d, t->id, name, pid, e);
    if (!r && write(go[1], "g", 1) != 1)
        r = err_errno(e, "start the executor");
    close(go[1]);
    if (r)
        return err_in(e, "thread '" SV_FMT "' is made, but its executor did not start",
                      SV_ARG(t->id));
    jw_kstr(d->data, "run_mode", foreground ? SV("foreground") : SV("background"));
    jw_kstr(d->data, "worker_log_path",
            path_join(d->app->ws.root, worker_log(t->id, d->app->a), d->app->a));
    if (!foreground)
        return ST_OK;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return read_end(d, t->id, ended, e);
}

/* The parent goes on where it stopped, with a supervisor of its own. */
enum status worker_restart(struct app *app, struct sv thread, struct err *e)
{
    struct door         d;
    struct share_thread t;
    struct worker       none;

    if (door_open(&d, app, STORE_READ, e) || share_thread(&d.s, thread, &t, e))
        return door_fail(&d, e);
    share_end(&d.s);
    return worker_start(&d, &t, (struct sv){ 0 }, false, &none, e);
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
