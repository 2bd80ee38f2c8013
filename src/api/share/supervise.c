/* The supervisor of one executor: gives it the prompt, waits for its end and records it. */
#include "api/share/workers.h"
#include "base/env.h"
#include "base/path.h"
#include "share/guard.h"
#include "share/prompt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
    struct request     *r;
    struct sv           thread, name, log, session;
    struct sv           unguarded; /* why it is not */
    const struct json  *command;
    struct prompt       prompt;
    int64_t             from; /* where its output begins in the log */
    int                 out;
    struct guarded_list readable; /* what it may only read, as it was at its start */
    bool                guarded;  /* `readable` is known */
};

/* Exit codes of a failed exec: the prompt was not read. */
enum { NOT_ALLOWED = 126, NOT_FOUND = 127 };

static enum status read_prompt(struct job *j, struct err *e)
{
    struct share        s;
    struct share_thread t;

    share_init(&s, &j->r->log, j->r->ws->root_fd, j->r->actor, j->r->a);
    s.base = share_call_base(j->r->ws, workspace_project(j->r->ws), j->r->a);
    if (share_begin(&s, STORE_READ, e))
        return err_code(e);
    enum status r = share_thread(&s, j->thread, &t, e);
    if (!r)
        r = prompt_make(&s, j->thread, BLOCK_OTHERS, t.title, &j->prompt, e);
    if (!r) {
        struct err why;
        j->guarded = guard_take(&s, j->thread, &j->readable, &why) == ST_OK;
        if (!j->guarded) /* it runs all the same; its log says that changes are not checked */
            j->unguarded = sv_dup(sv_of(why.text), j->r->a);
    }
    j->session = r ? (struct sv){ 0 } : t.session;
    share_end(&s);
    return r;
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

/* ---- the process ------------------------------------------------------------------------- */

/* All that is needed after fork(), where nothing may be allocated. */
struct launch {
    const char *path, *root;
    char      **args, **shell; /* `shell`: for a script without a #! line */
    char      **environment;
    int         in, out;
    int         told[2]; /* a pipe for the errno of exec */
};

/* Can it be run? 0, or why not. */
static int cannot_run(int root, const char *path)
{
    struct stat st;

    if (fstatat(root, path, &st, 0) != 0)
        return errno;
    return !S_ISREG(st.st_mode) || faccessat(root, path, X_OK, AT_EACCESS) != 0 ? EACCES : 0;
}

/* The file of a command, as execvp() finds it; relative to the project, where it will run. */
static int find_program(const struct job *j, struct sv name, struct sv path, const char **out)
{
    struct arena *a = j->r->a;
    int           why = ENOENT;

    *out = sv_cstr(name, a);
    if (sv_has(name, '/'))
        return 0;
    if (!path.s)
        path = SV("/bin:/usr/bin");
    for (bool more = true; more;) {
        struct sv_cut c = sv_cut(path, ':');
        *out = sv_cstr(path_join(c.head.n ? c.head : SV("."), name, a), a);
        int no = cannot_run(workspace_project_fd(j->r->ws), *out);
        if (!no)
            return 0;
        why = no == EACCES ? EACCES : why;
        more = c.found;
        path = c.tail;
    }
    return why;
}

static void prepare_args(const struct job *j, struct launch *l)
{
    struct arena *a = j->r->a;
    size_t        n = j->command->n;

    l->args = ARENA_NEW(a, char *, n + 1);
    l->shell = ARENA_NEW(a, char *, n + 2);
    for (size_t i = 0; i < n; i++) {
        l->args[i] = (char *)(uintptr_t)sv_cstr(json_sv(&j->command->items[i]), a);
        l->shell[i + 1] = l->args[i];
    }
    l->shell[0] = (char *)(uintptr_t) "sh";
}

static void prepare_environment(const struct job *j, struct launch *l)
{
    struct arena *a = j->r->a;
    struct sb     actor = sb_in(a, 0);

    sb_addf(&actor, "agent:" SV_FMT, SV_ARG(j->name));
    l->environment = env_for(ENV_AGENT, j->r->ws->variables, a);
    l->environment = env_with(l->environment, "HEDDLE_THREAD", j->thread, a);
    l->environment = env_with(l->environment, "HEDDLE_ACTOR", sb_sv(&actor), a);
    if (j->session.n)
        l->environment = env_with(l->environment, "HEDDLE_SESSION", j->session, a);
}

/* In the child: only what POSIX allows between fork and exec. */
static _Noreturn void become(const struct launch *l)
{
    int why = 0;

    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    dup2(l->in, 0);
    dup2(l->out, 1);
    dup2(l->out, 2);
    if (chdir(l->root) != 0)
        _exit(NOT_ALLOWED);
    execve(l->path, l->args, l->environment);
    if (errno == ENOEXEC)
        execve("/bin/sh", l->shell, l->environment);
    why = errno;
    if (write(l->told[1], &why, sizeof why) < 0)
        _exit(NOT_FOUND);
    _exit(NOT_FOUND);
}

static void say_not_run(const struct job *j, const struct launch *l, int why)
{
    dprintf(j->out, "%s: %s\n", l->args[0], strerror(why));
}

/* Run the executor to its end; *code is what it ended with. */
static enum status run_child(struct job *j, int *code, struct err *e)
{
    struct launch l = { .root = sv_cstr(workspace_project(j->r->ws), j->r->a), .out = j->out };
    int           status = 0, why = 0;

    prepare_args(j, &l);
    prepare_environment(j, &l);
    *code = NOT_FOUND;
    why = find_program(j, json_sv(&j->command->items[0]), env_find(l.environment, "PATH"), &l.path);
    if (why) {
        say_not_run(j, &l, why);
        return ST_OK;
    }
    l.shell[1] = (char *)(uintptr_t)l.path;
    l.in = prompt_fd(j->prompt.text);
    if (l.in < 0 || pipe2(l.told, O_CLOEXEC) != 0)
        return err_errno(e, "start executors." SV_FMT, SV_ARG(j->name));
    pid_t child = fork();
    if (child == 0)
        become(&l);
    close(l.told[1]);
    close(l.in);
    if (child < 0)
        return err_errno(e, "start executors." SV_FMT, SV_ARG(j->name));
    if (read(l.told[0], &why, sizeof why) == (ssize_t)sizeof why)
        say_not_run(j, &l, why);
    close(l.told[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ST_OK;
}

/* ---- its end ------------------------------------------------------------------------------- */

enum { OUTPUT_KEPT = 1 << 20 };

/* What it printed, as far as a transcript could hold it. */
static enum status read_output(const struct job *j, struct sv *said, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    char             *s = ARENA_NEW(j->r->a, char, OUTPUT_KEPT);
    size_t            n = 0;

    if (fs_open(j->r->ws->root_fd, j->log, O_RDONLY, &fd, e))
        return err_code(e);
    while (n < OUTPUT_KEPT) {
        ssize_t got = pread(fd, s + n, OUTPUT_KEPT - n, (off_t)j->from + (off_t)n);
        if (got < 0 && errno != EINTR)
            return err_errno(e, "read " SV_FMT, SV_ARG(j->log));
        if (got == 0)
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    *said = (struct sv){ s, n };
    return ST_OK;
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

static enum status keep_output(struct job *j, struct share *s, const struct worker *w,
                               struct err *e)
{
    struct share_thread       t;
    struct sv                 path;
    struct transcript_request r = { .thread = w->thread,
                                    .chat = w->executor,
                                    .mode = w->executor,
                                    .stop_reason = w->code ? SV("error") : SV("end_turn"),
                                    .start = w->started,
                                    .end = w->ended };

    if (share_thread(s, w->thread, &t, e) || read_output(j, &r.assistant, e))
        return err_code(e);
    r.query = t.title;
    struct sv session = session_in(r.assistant, s->a);
    if (session.n && !sv_eq(session, t.session) && share_session(s, t.id, session, e))
        return err_code(e);
    return share_transcript(s, &r, &path, e);
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
        if (worker_open_children(s, t.id, &any, e) ||
            worker_lifecycle(s, t.id, any ? "suspend" : "done",
                             any ? "Waiting for child threads" : NULL, e))
            return err_code(e);
        if (any)
            w->state = SV("waiting");
        t.status = any ? THREAD_SUSPENDED : THREAD_COMPLETED;
    }
    if (worker_note(s, w, e))
        return err_code(e);
    return worker_child_ended(s, &t, resumed, e);
}

static bool has_worker(struct share *s, struct sv thread)
{
    struct worker w;
    struct err    ignored;
    bool          found;

    return worker_find(s, thread, &w, &found, &ignored) == ST_OK && found && w.alive;
}

/* What it changed although it may only read it. A file of a thread on which another worker is
 * active may have been changed by that one: it is listed separately. */
static enum status find_changed(struct job *j, struct share *s, struct worker *w, struct err *e)
{
    struct guarded_list list;
    struct sb           sure = sb_in(s->a, 0), unsure = sb_in(s->a, 0);
    struct jw           a = jw_in(&sure, 0), b = jw_in(&unsure, 0);

    if (!j->guarded || guard_changed(s, j->thread, &j->readable, &list, e))
        return j->guarded ? err_code(e) : ST_OK;
    jw_open(&a, '[');
    jw_open(&b, '[');
    for (size_t i = 0; i < list.list.n; i++) {
        const struct guarded *g = &list.list.v[i];
        bool                  other = !g->frozen && has_worker(s, g->owner);
        jw_str(other ? &b : &a, g->path);
        w->n_changed += !other;
        dprintf(j->out,
                "heddle: " SV_FMT " of thread '" SV_FMT "' was %s while this worker ran%s\n",
                SV_ARG(g->path), SV_ARG(g->owner), g->hash.s ? "changed" : "removed",
                other ? ", perhaps by the worker of that thread" : "; it may only read it");
    }
    jw_close(&a, ']');
    jw_close(&b, ']');
    if (w->n_changed)
        w->changed = sb_sv(&sure);
    if (w->n_changed < list.list.n)
        w->uncertain = sb_sv(&unsure);
    return ST_OK;
}

/* One transaction for all that its end changes. */
static enum status finish(struct job *j, int code, struct worker *out, struct sv *resumed,
                          struct err *e)
{
    struct share  s;
    struct worker w = { 0 }, seen = { 0 };
    bool          found;

    share_init(&s, &j->r->log, j->r->ws->root_fd, SV("system"), j->r->a);
    /* Before heddle writes any file: a copy that is restored would look unchanged. */
    if (log_begin(s.log, SHARE_GLOBAL, STORE_READ, e))
        return err_code(e);
    enum status looked = find_changed(j, &s, &seen, e);
    log_abort(s.log);
    if (looked)
        dprintf(j->out, "heddle: what this worker may only read could not be compared: %s\n",
                e->text);
    if (share_begin(&s, STORE_WRITE, e))
        return err_code(e);
    enum status r = worker_find(&s, j->thread, &w, &found, e);
    w.thread = j->thread;
    w.changed = seen.changed;
    w.uncertain = seen.uncertain;
    w.state = SV("exited");
    w.ended = clock_now_ms();
    w.code = code;
    bool reached = w.code != NOT_ALLOWED && w.code != NOT_FOUND;
    if (!r && reached && j->prompt.n_pending)
        r = share_delivered(&s, j->thread, j->prompt.pending, j->prompt.n_pending, e);
    if (!r)
        r = keep_output(j, &s, &w, e);
    if (!r)
        r = settle(&s, &w, resumed, e);
    *out = w;
    if (!r)
        return share_commit(&s, e);
    share_end(&s);
    return r;
}

/* The parent goes on where it stopped, with a supervisor of its own. */
static enum status go_on(struct request *r, struct sv parent, struct err *e)
{
    struct share          s;
    struct worker_started unused;

    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    return worker_start(r, &s, parent, (struct sv){ 0 }, false, &unused, e);
}

static enum status prepare(struct job *j, struct sv with, struct err *e)
{
    int root = j->r->ws->root_fd;

    j->command = worker_command(j->r, with, &j->name);
    if (!json_is(j->command, JSON_ARRAY) || !j->command->n)
        return err_set(e, ST_NOT_FOUND, "executors." SV_FMT " is not set", SV_ARG(with));
    if (request_log(j->r, STORE_WRITE, e) || read_prompt(j, e) ||
        fs_mkdirs(root, path_dir(j->log), e) ||
        fs_open_own(root, j->log, O_WRONLY | O_APPEND, &j->out, e))
        return err_code(e);
    j->from = lseek(j->out, 0, SEEK_END);
    if (j->unguarded.n)
        dprintf(j->out, "heddle: what this worker may only read is not watched: " SV_FMT "\n",
                SV_ARG(j->unguarded));
    return ST_OK;
}

enum status worker_supervise(struct request *r, struct sv thread, struct sv with,
                             struct worker *out, struct err *e)
{
    struct job j = { .r = r, .thread = thread, .log = worker_log(thread, r->a), .out = -1 };
    struct sv  resumed = { 0 };
    int        code;

    enum status st = prepare(&j, with, e);
    if (!st)
        st = run_child(&j, &code, e);
    if (!st)
        st = finish(&j, code, out, &resumed, e);
    if (j.out >= 0)
        close(j.out);
    return st || !resumed.s ? st : go_on(r, resumed, e);
}
