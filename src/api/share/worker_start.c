/* Starting the supervisor of an executor: it is recorded in the log before it runs. */
#include "api/share/workers.h"

#include "base/env.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct json *executor(struct request *r, struct sv name)
{
    struct sb b = sb_in(r->a, 0);

    sb_addf(&b, "executors." SV_FMT, SV_ARG(name));
    return config_find_sv(&r->ws->config, sb_sv(&b));
}

const struct json *worker_command(struct request *r, struct sv with, struct sv *name)
{
    static const char *const usual[] = { "agent", "default" };
    const struct json       *found;

    if (with.n) {
        *name = with;
        return executor(r, with);
    }
    for (size_t i = 0; i < COUNT(usual); i++)
        if ((found = executor(r, sv_of(usual[i])))) {
            *name = sv_of(usual[i]);
            return found;
        }
    return NULL;
}

/* The supervisor waits on the pipe until it is recorded in the log, then executes the program. */
static pid_t fork_supervisor(struct request *r, struct sv thread, struct sv name, const int go[2])
{
    const char *program = sv_cstr(r->ws->program, r->a);
    char      **variables = NULL;
    char *const args[] = { (char[]){ "heddle" },
                           (char[]){ "_worker" },
                           (char *)(uintptr_t)sv_cstr(thread, r->a),
                           (char[]){ "--with" },
                           (char *)(uintptr_t)sv_cstr(name, r->a),
                           (char[]){ "--root" },
                           (char *)(uintptr_t)sv_cstr(workspace_project(r->ws), r->a),
                           NULL };

    /* It works in this checkout, which need not lead to this workspace. */
    if (r->ws->variables && (r->ws->project.n || workspace_variable(r->ws, "HEDDLE_ROOT").n))
        variables = env_with(r->ws->variables, "HEDDLE_ROOT", r->ws->root, r->a);
    pid_t child = fork();
    if (child != 0)
        return child;
    char one;
    close(go[1]);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    if (read(go[0], &one, 1) != 1)
        _exit(1); /* it was not recorded: nothing must run */
    if (variables)
        execve(program, args, variables);
    else
        execv(program, args);
    _exit(127);
}

static enum status write_down(struct share *s, struct sv thread, struct sv name, pid_t pid,
                              struct err *e)
{
    struct worker w = { .thread = thread,
                        .executor = name,
                        .log = worker_log(thread, s->a),
                        .state = SV("running"),
                        .pid = pid,
                        .ticks = worker_ticks(pid),
                        .started = clock_now_ms() };

    if (share_begin(s, STORE_WRITE, e) || worker_note(s, &w, e))
        return err_code(e);
    return share_commit(s, e);
}

static struct sv setting_of(struct request *r, struct sv with)
{
    struct sb key = sb_in(r->a, 0);

    sb_addf(&key, "executors." SV_FMT, SV_ARG(with.n ? with : SV("agent")));
    return sb_sv(&key);
}

static bool can_start(struct request *r, struct sv with, struct sv *name)
{
    const struct json *command = worker_command(r, with, name);

    return json_is(command, JSON_ARRAY) && command->n;
}

enum status worker_must_start(struct request *r, struct sv with, struct err *e)
{
    struct sv name, key = setting_of(r, with);

    if (can_start(r, with, &name))
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "there is nothing to wait for: no program is set in " SV_FMT,
            SV_ARG(key));
    err_reason(e, "executor");
    return err_hint(e, "set one: heddle config set --user " SH_FMT " '[\"COMMAND\"]'", SV_ARG(key));
}

/* The document says it by its run_mode. */
static void remark_not_started(struct request *r, struct sv with)
{
    struct sv key = setting_of(r, with);
    struct sb shown = sb_in(r->a, 0);

    sb_add_shell(&shown, key);
    request_remark(r,
                   "recorded only: no program is set in " SV_FMT
                   "; set one: heddle config set --user " SV_FMT " '[\"COMMAND\"]'",
                   SV_ARG(key), SV_ARG(sb_sv(&shown)));
    r->warnings.v[r->warnings.n - 1].code = SV("W204"); /* a note, as all of shared threads */
}

/* The worker has ended: read what it recorded. */
static enum status read_end(struct share *s, struct sv thread, struct worker *out, struct err *e)
{
    bool found;

    if (share_begin(s, STORE_READ, e))
        return err_code(e);
    enum status r = worker_find(s, thread, out, &found, e);
    share_end(s);
    if (!r && sv_is(out->state, "running")) { /* its supervisor failed: nothing was recorded */
        out->state = SV("lost");
        out->code = 255;
    }
    return r;
}

static enum status launch(struct request *r, struct share *s, struct sv thread, struct sv name,
                          pid_t *pid, struct err *e)
{
    int go[2];

    if (!r->ws->program.n)
        return err_set(e, ST_NOT_FOUND, "executors cannot be started from here");
    if (pipe2(go, O_CLOEXEC) != 0)
        return err_errno(e, "pipe");
    /* The pipe's reading end must survive until the supervisor has read from it; exec closes it. */
    *pid = fork_supervisor(r, thread, name, go);
    close(go[0]);
    enum status st = *pid < 0 ? err_errno(e, "fork") : write_down(s, thread, name, *pid, e);
    if (!st && write(go[1], "g", 1) != 1)
        st = err_errno(e, "start the executor");
    close(go[1]);
    return st;
}

enum status worker_start(struct request *r, struct share *s, struct sv thread, struct sv with,
                         bool foreground, struct worker_started *out, struct err *e)
{
    struct sv name;
    int       status = 0;
    pid_t     pid = -1;

    *out = (struct worker_started){ .run_mode = "record" };
    if (!can_start(r, with, &name)) {
        remark_not_started(r, with);
        return ST_OK;
    }
    if (launch(r, s, thread, name, &pid, e))
        return err_in(e, "thread '" SV_FMT "' is made, but its executor did not start",
                      SV_ARG(thread));
    out->run_mode = foreground ? "foreground" : "background";
    out->log = path_join(r->ws->root, worker_log(thread, r->a), r->a);
    if (!foreground)
        return ST_OK;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return read_end(s, thread, &out->ended, e);
}
