/* The pager: started only when there is more text than the terminal has lines. */
#include "front/cli/pager.h"

#include "base/env.h"
#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool fits_screen(const struct app *app, struct sv text)
{
    struct winsize size;
    size_t         lines = 0;

    if (!isatty(app->out.fd) || ioctl(app->out.fd, TIOCGWINSZ, &size) != 0 || !size.ws_row)
        return true;
    for (size_t i = 0; i < text.n; i++)
        lines += text.s[i] == '\n';
    return lines < size.ws_row;
}

/* The command, for a shell; absent: none is wanted. */
static struct sv pager_of(const struct app *app)
{
    struct sv own = workspace_variable(&app->ws, "HEDDLE_PAGER");
    struct sv any = workspace_variable(&app->ws, "PAGER");
    struct sv kind = workspace_variable(&app->ws, "TERM");
    struct sv found = own.s ? own : any.s ? any : SV("less");

    return !found.n || sv_is(found, "cat") || !kind.n || sv_is(kind, "dumb") ? (struct sv){ 0 }
                                                                             : found;
}

static enum status start(struct app *app, struct sv command, int input, pid_t *pid, struct err *e)
{
    char                     **variables = env_for(ENV_TOOL, app->ws.variables, app->a);
    char                      *words[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                                           (char *)(uintptr_t)sv_cstr(command, app->a), NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          how;
    sigset_t                   usual;

    if (!workspace_variable(&app->ws, "LESS").s)
        variables = env_with(variables, "LESS", SV("FRX"), app->a);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE); /* this program ignores it, and its children would inherit that */
    sigaddset(&usual, SIGINT);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    int failed = posix_spawn(pid, "/bin/sh", &files, &how, words, variables);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return failed ? err_set(e, ST_IO, "sh could not be started") : ST_OK;
}

/* Returns true when the pager showed the text, to its end or until the user quit. */
static bool show(struct app *app, struct sv command, struct sv text)
{
    struct err ignored;
    int        ends[2], result = 0;
    pid_t      pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool started = !start(app, command, ends[0], &pid, &ignored);
    close(ends[0]); /* the pager has its own descriptor */
    if (!started) {
        close(ends[1]);
        return false;
    }
    void (*before)(int) = signal(SIGINT, SIG_IGN); /* Ctrl-C is for the pager */
    struct sb out = sb_to_fd(ends[1], app->a);
    out.show = app->out.show == SB_RAW ? SB_PLAIN : app->out.show;
    sb_add(&out, text);
    if (sb_flush(&out, &ignored))
        ignored.code = ST_OK; /* the user has quit the pager */
    close(ends[1]);
    while (waitpid(pid, &result, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, before);
    return !(WIFEXITED(result) && (WEXITSTATUS(result) == 127 || WEXITSTATUS(result) == 126));
}

enum status pager_print(struct app *app, struct sv text, struct err *e)
{
    struct sv command = pager_of(app);

    if (!command.n || fits_screen(app, text)) {
        sb_add(&app->out, text);
        return ST_OK;
    }
    if (sb_flush(&app->out, e)) /* print what is in the buffer before the text */
        return err_code(e);
    if (!show(app, command, text))
        sb_add(&app->out, text);
    return ST_OK;
}
