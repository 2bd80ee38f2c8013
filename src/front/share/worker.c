#include "front/share/worker.h"

#include "base/path.h"
#include "front/share/prompt.h"
#include "share/share_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what is known of a worker ------------------------------------------------------------ */

/* When the process began, in clock ticks since boot: with the pid it names one process. */
static int64_t ticks_of(int64_t pid)
{
    char      path[64], text[1024];
    long long ticks = -1;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE  *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *behind = strrchr(text, ')'); /* the name may hold anything */
    if (behind && behind[1] &&
        sscanf(behind + 4,
               "%*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
               "%*d %lld",
               &ticks) != 1)
        ticks = -1;
    if (behind && behind[2] == 'Z')
        ticks = -1; /* ended, and only not yet buried */
    return ticks;
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
    w->alive = sv_is(w->state, "running") && w->pid > 1 && ticks_of(w->pid) == w->ticks;
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
    jw_close(&j, '}');
    return share_append(s, (struct sv){ 0 }, sb_sv(&b), e);
}

static enum status as_system(struct share *s, struct sv thread, const char *action,
                             const char *reason, struct err *e)
{
    struct share_thread t;
    struct sv           actor = s->actor;

    s->actor = SV("system");
    enum status r = share_lifecycle(s, thread, sv_of(action), sv_of(reason), &t, e);
    s->actor = actor;
    return r;
}

static enum status open_children(struct share *s, struct sv parent, bool *any, struct err *e)
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
    if (open_children(s, parent.id, &any, e))
        return err_code(e);
    if (any)
        return ST_OK;
    *resumed = parent.id;
    return as_system(s, parent.id, "resume", "Children completed", e);
}

/* ---- starting ------------------------------------------------------------------------------- */

static const struct json *command_of(struct app *app, struct sv with, struct sv *name)
{
    static const char *const usual[] = { "agent", "default" };
    const struct json       *all = config_find(&app->config, "executors"), *found;

    if (with.n) {
        *name = with;
        return json_find_sv(all, with);
    }
    for (size_t i = 0; i < COUNT(usual); i++)
        if ((found = json_find(all, usual[i]))) {
            *name = sv_of(usual[i]);
            return found;
        }
    return NULL;
}

static struct sv log_of_thread(struct sv thread, struct arena *a)
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
                           (char *)(uintptr_t)sv_cstr(app->root, app->a),
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
                        .log = log_of_thread(thread, d->app->a),
                        .state = SV("running"),
                        .pid = pid,
                        .ticks = ticks_of(pid),
                        .started = clock_now_ms() };

    if (share_begin(&d->s, STORE_WRITE, e) || worker_note(&d->s, &w, e))
        return err_code(e);
    return share_commit(&d->s, e);
}

static void say_not_started(struct door *d, struct sv with)
{
    jw_kstr(d->data, "run_mode", SV("record"));
    if (!d->app->json && !is_leslie(d->app))
        fprintf(stderr, "! recorded only: executors.%s is not set in .heddle/config.json\n",
                with.n ? sv_cstr(with, d->app->a) : "agent");
}

enum status worker_start(struct door *d, const struct share_thread *t, struct sv with,
                         bool foreground, struct err *e)
{
    struct sv          name;
    const struct json *command = command_of(d->app, with, &name);
    int                go[2], status = 0;

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
            path_join(d->app->root, log_of_thread(t->id, d->app->a), d->app->a));
    if (foreground)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    return ST_OK;
}

/* ---- the supervisor -------------------------------------------------------------------------- */

static enum status prompt_of(struct app *app, struct sv thread, struct sv *text, struct sv *session,
                             struct err *e)
{
    struct share        s;
    struct share_thread t;
    struct prompt       p;

    share_init(&s, &app->log, app->root_fd, app->actor, app->a);
    if (share_begin(&s, STORE_WRITE, e))
        return err_code(e);
    if (share_thread(&s, thread, &t, e) || prompt_make(&s, thread, false, t.title, &p, e) ||
        (p.n_pending && share_delivered(&s, thread, p.pending, p.n_pending, e))) {
        share_end(&s);
        return err_code(e);
    }
    *text = p.text;
    *session = t.session;
    return share_commit(&s, e);
}

/* The prompt as a file without a name, so that a child that does not read it blocks nobody. */
static int prompt_fd(struct sv text)
{
    int fd = memfd_create("prompt", MFD_CLOEXEC);

    while (fd >= 0 && text.n) {
        ssize_t n = write(fd, text.s, text.n);
        if (n < 0)
            return -1;
        text = sv_skip(text, (size_t)n);
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

static pid_t start_child(struct app *app, struct sv thread, struct sv name,
                         const struct json *command, int in, int out)
{
    char    **args = ARENA_NEW(app->a, char *, command->n + 1);
    struct sb actor = sb_in(app->a, 0);

    for (size_t i = 0; i < command->n; i++)
        args[i] = (char *)(uintptr_t)sv_cstr(json_sv(&command->items[i]), app->a);
    sb_addf(&actor, "agent:" SV_FMT, SV_ARG(name));
    pid_t child = fork();
    if (child != 0)
        return child;
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    setenv("HEDDLE_THREAD", sv_cstr(thread, app->a), 1);
    setenv("HEDDLE_ACTOR", sb_sv(&actor).s, 1);
    if (chdir(sv_cstr(app->root, app->a)) != 0)
        _exit(126);
    execvp(args[0], args);
    dprintf(2, "%s: %s\n", args[0], strerror(errno));
    _exit(127);
}

/* done, or suspended while children are open; a state someone changed meanwhile is kept. */
static enum status settle(struct share *s, struct worker *w, struct sv *resumed, struct err *e)
{
    struct share_thread t;
    bool                any;

    *resumed = (struct sv){ 0 };
    if (share_thread(s, w->thread, &t, e))
        return err_code(e);
    if (w->code == 0 && t.status == THREAD_ACTIVE) {
        if (open_children(s, t.id, &any, e) ||
            as_system(s, t.id, any ? "suspend" : "done", any ? "Waiting for child threads" : NULL,
                      e))
            return err_code(e);
        if (any)
            w->state = SV("waiting");
        t.status = any ? THREAD_SUSPENDED : THREAD_COMPLETED;
    }
    if (worker_note(s, w, e))
        return err_code(e);
    return worker_child_ended(s, &t, resumed, e);
}

/* An agent's first message often names its session: a line that is a JSON object with one. */
static struct sv session_in(struct sv said, struct arena *a)
{
    struct err ignored;

    while (said.n) {
        struct sv_cut line = sv_cut(said, '\n');
        struct json   v;
        said = line.tail;
        if (sv_starts(line.head, SV("{")) && sv_find(line.head, SV("\"session_id\"")) >= 0 &&
            json_parse(line.head, 0, a, &v, &ignored) == ST_OK && json_text(&v, "session_id").n)
            return json_text(&v, "session_id");
    }
    return (struct sv){ 0 };
}

static enum status keep_output(struct share *s, const struct worker *w, int64_t from, struct err *e)
{
    struct share_thread       t;
    struct sv                 said, path;
    struct transcript_request r = { .thread = w->thread,
                                    .chat = w->executor,
                                    .mode = w->executor,
                                    .stop_reason = w->code ? SV("error") : SV("end_turn"),
                                    .start = w->started,
                                    .end = w->ended };

    if (share_thread(s, w->thread, &t, e) || fs_read(s->root, w->log, 0, s->a, &said, e))
        return err_code(e);
    r.query = t.title;
    r.assistant = sv_skip(said, (size_t)from < said.n ? (size_t)from : said.n);
    struct sv session = session_in(r.assistant, s->a);
    if (session.n && !sv_eq(session, t.session) && share_session(s, t.id, session, e))
        return err_code(e);
    return share_transcript(s, &r, &path, e);
}

static enum status finish(struct app *app, struct sv thread, int status, int64_t from,
                          struct sv *resumed, struct err *e)
{
    struct share  s;
    struct worker w;
    bool          found;

    share_init(&s, &app->log, app->root_fd, SV("system"), app->a);
    if (share_begin(&s, STORE_WRITE, e))
        return err_code(e);
    if (worker_find(&s, thread, &w, &found, e))
        goto fail;
    w.thread = thread;
    w.state = SV("exited");
    w.ended = clock_now_ms();
    w.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (keep_output(&s, &w, from, e) || settle(&s, &w, resumed, e))
        goto fail;
    return share_commit(&s, e);
fail:
    share_end(&s);
    return err_code(e);
}

/* The parent goes on where it stopped, with a supervisor of its own. */
static enum status restart(struct app *app, struct sv thread, struct err *e)
{
    struct door         d;
    struct share_thread t;

    if (door_open(&d, app, STORE_READ, e) || share_thread(&d.s, thread, &t, e))
        return door_fail(&d, e);
    share_end(&d.s);
    return worker_start(&d, &t, (struct sv){ 0 }, false, e);
}

enum status worker_restart(struct door *d, const struct share_thread *t, struct err *e)
{
    return restart(d->app, t->id, e);
}

enum status worker_supervise(struct app *app, struct sv thread, struct sv with, struct err *e)
{
    UNDO(fd_undo) int  out = -1;
    struct sv          name = with, text = { 0 }, session = { 0 }, resumed = { 0 };
    const struct json *command = command_of(app, with, &name);
    int                status = 0;
    struct sv          log = log_of_thread(thread, app->a);

    signal(SIGTERM, SIG_IGN); /* for the child; we stay to write down how it ended */
    if (!json_is(command, JSON_ARRAY) || !command->n)
        return err_set(e, ST_NOT_FOUND, "executors." SV_FMT " is not set", SV_ARG(name));
    if (app_open_log(app, STORE_WRITE, e) || prompt_of(app, thread, &text, &session, e) ||
        fs_mkdirs(app->root_fd, path_dir(log), e) ||
        fs_open(app->root_fd, log, O_WRONLY | O_CREAT | O_APPEND, &out, e))
        return err_code(e);
    int64_t from = lseek(out, 0, SEEK_END);
    int     in = prompt_fd(text);
    if (session.n)
        setenv("HEDDLE_SESSION", sv_cstr(session, app->a), 1);
    pid_t child = in < 0 ? -1 : start_child(app, thread, name, command, in, out);
    if (child < 0)
        return err_errno(e, "start executors." SV_FMT, SV_ARG(name));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (finish(app, thread, status, from, &resumed, e))
        return err_code(e);
    return resumed.s ? restart(app, resumed, e) : ST_OK;
}

/* ---- stopping ----------------------------------------------------------------------------------
 */

static void pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

bool worker_kill(const struct worker *w, int patience_ms)
{
    if (!w->alive)
        return true;
    kill((pid_t)-w->pid, SIGTERM);
    for (int waited = 0; waited < patience_ms; waited += 20) {
        if (ticks_of(w->pid) != w->ticks)
            return true;
        pause_ms(20);
    }
    kill((pid_t)-w->pid, SIGKILL);
    for (int waited = 0; waited < 2000 && ticks_of(w->pid) == w->ticks; waited += 20)
        pause_ms(20);
    return ticks_of(w->pid) != w->ticks;
}
