/* Starting a server in the background. */
#include "front/cli/serve_start.h"

#include "api/serve_file.h"
#include "api/user_file.h"
#include "base/clock.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 15000, STEP_MS = 20 };

/* What it printed before it ended. */
static enum status say_why(struct app *app, const struct serve_place *p, struct sv name,
                           struct err *e)
{
    struct sv text = { 0 };

    if (fs_read(p->dir, name, 64 * 1024, app->a, &text, e))
        text = (struct sv){ 0 };
    err_set(e, ST_IO, "the server did not start");
    return text.n ? err_hint(e, SV_FMT, SV_ARG(sv_trim(text)))
                  : err_hint(e, "`heddle serve` shows why");
}

static enum status spawn(struct app *app, const struct serve_place *p, struct sv log, pid_t *pid,
                         struct err *e)
{
    char  serve[] = "serve", root[] = "--root", as[] = "--as", heddle[] = "heddle";
    char *where = (char *)(uintptr_t)sv_cstr(app->ws.root, app->a);
    char *who = (char *)(uintptr_t)sv_cstr(app->actor, app->a);
    char *args[] = { heddle, serve, root, where, as, who, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          how;

    struct sv path = path_join(p->path, log, app->a);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, sv_cstr(path, app->a),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID); /* it outlives the terminal */
    errno = posix_spawn(pid, "/proc/self/exe", &files, &how, args, app->ws.variables);
    int failed = errno;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    errno = failed;
    return failed ? err_errno(e, "start the server") : ST_OK;
}

enum status serve_start(struct app *app, struct err *e)
{
    struct serve_place p;
    struct serve_file  found;
    struct sb          name = sb_in(app->a, 0);
    pid_t              pid;
    int64_t            until = clock_steady_us() + (int64_t)START_MS * 1000;

    if (serve_place_open(&app->ws, app->a, &p, e))
        return err_code(e);
    UNDO(fd_undo) int dir = p.dir;
    sb_add(&name, sv_first(p.json, p.json.n - sizeof "json" + 1));
    sb_adds(&name, "log");
    if (spawn(app, &p, sb_sv(&name), &pid, e))
        return err_code(e);
    while (serve_file_find(&app->ws, app->a, &found, e)) {
        if (waitpid(pid, NULL, WNOHANG) == pid || clock_steady_us() > until)
            return say_why(app, &p, sb_sv(&name), e);
        poll(NULL, 0, STEP_MS);
    }
    (void)dir;
    return ST_OK;
}
