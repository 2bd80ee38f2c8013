/* Keys that a program prints, and prices. */
#include "api/loom/model_settings.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/money.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a program that prints a key ----------------------------------------------------------- */

/* Standard error stays, so that it can ask for a passphrase and say why it fails. */
static enum status start(const struct json *command, char *const *variables, int out,
                         struct arena *a, pid_t *pid, struct err *e)
{
    posix_spawn_file_actions_t files;
    char                     **argv = ARENA_NEW(a, char *, command->n + 1);

    for (size_t i = 0; i < command->n; i++)
        argv[i] = (char *)(uintptr_t)sv_cstr(json_sv(&command->items[i]), a);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    int error = posix_spawnp(pid, argv[0], &files, NULL, argv, env_for(ENV_TOOL, variables, a));
    posix_spawn_file_actions_destroy(&files);
    errno = error;
    return error ? err_errno(e, "run %s", argv[0]) : ST_OK;
}

/* What it prints, until it closes its output; false: it took too long. */
static bool read_all(int fd, int64_t until_us, struct sb *b)
{
    char room[512];

    for (;;) {
        int64_t       left = (until_us - clock_steady_us()) / 1000;
        struct pollfd p = { fd, POLLIN, 0 };
        if (left <= 0)
            return false;
        if (poll(&p, 1, left < 1000 ? (int)left : 1000) <= 0)
            continue;
        ssize_t n = read(fd, room, sizeof room);
        if (n == 0 || (n < 0 && errno != EINTR))
            return true;
        if (n > 0 && b->n < KEY_BYTES_MAX)
            sb_add(b, (struct sv){ room, (size_t)n });
    }
}

static int status_of_child(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static enum status run_command(struct workspace *ws, const struct json *command, struct arena *a,
                               struct sv *out, struct err *e)
{
    UNDO(fd_undo) int from = -1, to = -1;
    int               ends[2];
    pid_t             pid;
    struct sb         b = sb_in(a, 0);

    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(e, "pipe");
    from = ends[0];
    to = ends[1];
    if (start(command, ws->variables, to, a, &pid, e))
        return err_code(e);
    close(fd_take(&to));
    bool in_time = read_all(from, clock_steady_us() + (int64_t)KEY_COMMAND_MS * 1000, &b);
    if (!in_time)
        kill(pid, SIGKILL);
    int status = status_of_child(pid);
    *out = sv_trim(sv_cut(sb_sv(&b), '\n').head);
    if (!in_time)
        return err_set(e, ST_IO, "it took more than %d seconds", KEY_COMMAND_MS / 1000);
    if (status != 0)
        return err_set(e, ST_IO, "it failed");
    return out->n ? ST_OK : err_set(e, ST_IO, "it printed nothing");
}

enum status model_key(struct workspace *ws, const char *host, struct arena *a, struct sv *out,
                      struct err *e)
{
    struct sb name = sb_in(a, 0);

    *out = (struct sv){ 0 };
    sb_addf(&name, "models.key_command.%s", host);
    const struct json *command = config_find_sv(&ws->config, sb_sv(&name));
    if (!json_is(command, JSON_ARRAY) || workspace_secret_find(ws, sb_sv(&name), a, out))
        return ST_OK;
    process_hide();
    if (run_command(ws, command, a, out, e)) {
        *out = (struct sv){ 0 };
        err_in(e, "the command that prints the key of %s", host);
        return err_hint(e, "it is %s in your own settings", sb_sv(&name).s);
    }
    workspace_secret_put(ws, sb_sv(&name), *out);
    return ST_OK;
}

/* ---- prices --------------------------------------------------------------------------------- */

static int64_t price_at(const struct json *list, size_t i)
{
    int64_t nano;

    if (i >= list->n || !json_is(&list->items[i], JSON_NUMBER))
        return -1;
    return money_parse((struct sv){ list->items[i].s, list->items[i].n }, &nano) ? nano : -1;
}

bool model_prices_of(const struct config *c, struct sv model, struct model_prices *out)
{
    const struct json *all = config_find(c, "models.prices"), *best = NULL;
    size_t             longest = 0;

    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n; i++) {
        const struct json_member *m = &all->members[i];
        if (!sv_starts(model, m->key) || m->key.n < longest)
            continue;
        longest = m->key.n;
        best = &m->value;
    }
    if (!json_is(best, JSON_ARRAY))
        return false;
    *out = (struct model_prices){ price_at(best, 0), price_at(best, 1), price_at(best, 2),
                                  price_at(best, 3) };
    return out->input >= 0 && out->output >= 0;
}
