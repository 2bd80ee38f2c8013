#include "payload/gitdiff.h"

#include "base/fs.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIFF_LIMIT = 64 << 20 };

extern char **environ;

/* The id of the empty tree, for a repository without commits. */
static const char empty_tree[] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/* Start git with its output in a pipe; *fd is the end to read. */
static int start(const char *const *args, int *fd, pid_t *pid)
{
    int                        ends[2];
    posix_spawn_file_actions_t actions;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(pid, "git", &actions, NULL, (char *const *)(uintptr_t)args, environ);
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

enum status gitdiff_read(struct sv root, struct sv *out, struct err *e)
{
    struct arena scratch = { 0 };
    struct sv    text = { 0 };
    int          code = 0;
    const char  *dir = sv_cstr(root, &scratch);
    const char  *head[] = { "git", "-C", dir, "rev-parse", "-q", "--verify", "HEAD", NULL };
    enum status  s = run(head, &scratch, &text, &code, e);
    const char  *diff[] = { "git",
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
                           code ? empty_tree : "HEAD",
                            "--",
                            NULL };

    if (!s)
        s = run(diff, &scratch, &text, &code, e);
    if (!s && code) {
        s = err_set(e, ST_NOT_FOUND, "git diff failed here");
        err_hint(e, "--diff needs a git work tree");
    }
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
