#include "payload/gitdiff.h"

#include "base/env.h"
#include "base/fs.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIFF_LIMIT = 64 << 20 };

/* Start git with its output in a pipe; *fd is the end to read. */
static int start(const char *const *args, int *fd, pid_t *pid)
{
    int                        ends[2];
    posix_spawn_file_actions_t actions;
    struct arena               scratch = { 0 };

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(pid, "git", &actions, NULL, (char *const *)(uintptr_t)args,
                             env_for(ENV_TOOL, &scratch));
    arena_free(&scratch);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error)
        close(ends[0]);
    *fd = ends[0];
    return error;
}

static enum status run(const char *const *args, struct arena *a, struct sv *out, int *code,
                       struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    pid_t             pid = -1;
    int               status = 0, error = start(args, &fd, &pid);

    if (error) {
        fd = -1;
        errno = error;
        return err_errno(e, "run git");
    }
    enum status s = fs_read_fd(fd, DIFF_LIMIT, a, out, e);
    if (s) { /* a git that still writes must not wait for us */
        close(fd);
        fd = -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return s;
}

/* What the working tree is compared with: HEAD, or without commits the empty tree, whose id
 * depends on the hash of the repository. ST_NOT_FOUND: no work tree. */
static enum status find_base(const char *dir, struct arena *a, const char **base, struct err *e)
{
    const char *head[] = { "git", "-C", dir, "rev-parse", "-q", "--verify", "HEAD", NULL };
    const char *empty[] = { "git", "-C", dir, "hash-object", "-t", "tree", "/dev/null", NULL };
    struct sv   text;
    int         code = 0;

    *base = "HEAD";
    if (run(head, a, &text, &code, e))
        return err_code(e);
    if (!code)
        return ST_OK;
    if (run(empty, a, &text, &code, e))
        return err_code(e);
    *base = sv_cstr(sv_trim(text), a);
    return code ? err_set(e, ST_NOT_FOUND, "git hash-object failed") : ST_OK;
}

static enum status read_diff(struct sv root, struct arena *a, struct sv *text, struct err *e)
{
    const char *dir = sv_cstr(root, a), *base;
    int         code = 0;

    if (find_base(dir, a, &base, e))
        return err_code(e);
    const char *diff[] = { "git",
                           "-C",
                           dir,
                           "-c",
                           "core.fsmonitor=false",
                           "-c",
                           "core.hooksPath=/dev/null",
                           "diff",
                           "--no-color",
                           "--no-ext-diff",
                           "--no-textconv",
                           "--relative",
                           base,
                           "--",
                           NULL };
    if (run(diff, a, text, &code, e))
        return err_code(e);
    return code ? err_set(e, ST_NOT_FOUND, "--diff: this is no git work tree") : ST_OK;
}

enum status gitdiff_read(struct sv root, struct sv *out, struct err *e)
{
    struct arena scratch = { 0 };
    struct sv    text = { 0 };
    enum status  s = read_diff(root, &scratch, &text, e);

    if (!s) {
        char *copy = malloc(text.n + 1);
        if (!copy)
            die("out of memory (%zu bytes)", text.n);
        memcpy(copy, text.n ? text.s : "", text.n);
        *out = (struct sv){ copy, text.n };
        /* cppcheck-suppress memleak ; the caller's now */
    }
    arena_free(&scratch);
    return s;
}
