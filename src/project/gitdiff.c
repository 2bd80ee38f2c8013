#include "project/gitdiff.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/vec.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIFF_LIMIT = 64 << 20 };

/* A repository may say that objects are fetched when they are missing, and how: that would open the
 * network and run programs. In front of ours, since the first of a name counts. */
static char **environment(struct arena *a)
{
    static const char *const settled[] = { "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
                                           "GIT_OPTIONAL_LOCKS=0" };
    char                   **ours = env_for(ENV_TOOL, a);
    size_t                   n = 0;

    while (ours[n])
        n++;
    char **out = ARENA_NEW(a, char *, COUNT(settled) + n + 1);
    for (size_t i = 0; i < COUNT(settled); i++)
        out[i] = (char *)(uintptr_t)settled[i];
    memcpy(out + COUNT(settled), ours, (n + 1) * sizeof *out);
    return out;
}

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
                             environment(&scratch));
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

struct args {
    VEC(const char *) list;
};

static void add_args(struct args *to, const char *const *words, struct arena *a)
{
    for (; *words; words++)
        *vec_push(&to->list, a) = *words;
}

/* git runs the `clean` filters of .gitattributes over changed files. There is no option against
 * that, so each filter that any settings name is set to nothing. */
static enum status without_filters(const char *dir, struct arena *a, struct args *to, struct err *e)
{
    static const char pattern[] = "^filter\\..*\\.(clean|smudge|process|required)$";
    const char *ask[] = { "git",         "-C",           dir,     "config", "--includes", "-z",
                          "--name-only", "--get-regexp", pattern, NULL };
    struct sv   names;
    int         code;

    if (run(ask, a, &names, &code, e)) /* it fails when there is none */
        return err_code(e);
    for (struct sv_cut cut = { .tail = names }; cut.tail.n;) {
        struct sb setting = sb_in(a, 0);
        cut = sv_cut(cut.tail, 0);
        if (sv_has(cut.head, '=')) {
            err_set(e, ST_PERMISSION_DENIED, "--diff: git's settings name a filter with a = in it");
            return err_hint(e, "it cannot be turned off; `git config --list` shows it");
        }
        sb_add(&setting, cut.head);
        sb_adds(&setting, "=");
        add_args(to, (const char *[]){ "-c", sv_cstr(sb_sv(&setting), a), NULL }, a);
    }
    return ST_OK;
}

/* The settings of a repository come with its directory as any file does. A work tree that they put
 * elsewhere is none of this project. */
static enum status check_work_tree(const char *dir, struct arena *a, struct err *e)
{
    const char *ask[] = { "git", "-C", dir, "rev-parse", "--show-toplevel", NULL };
    char       *real = realpath(dir, NULL);
    struct sv   top;
    int         code = 0;

    if (!real)
        return err_errno(e, "%s", dir);
    struct sv   at = sv_dup(sv_of(real), a);
    enum status s = run(ask, a, &top, &code, e);
    free(real);
    if (s)
        return s;
    if (sv_ends(top, SV("\n")))
        top.n--;
    bool inside = sv_starts(at, top) && (at.n == top.n || at.s[top.n] == '/' || top.n == 1);
    return !code && top.n && inside ? ST_OK
                                    : err_set(e, ST_NOT_FOUND, "--diff: this is no git work tree");
}

static enum status read_diff(struct sv root, struct arena *a, struct sv *text, struct err *e)
{
    const char *dir = sv_cstr(root, a), *base;
    struct args args = { 0 };
    int         code = 0;

    add_args(&args,
             (const char *[]){ "git", "-C", dir, "-c", "core.fsmonitor=false", "-c",
                               "core.hooksPath=/dev/null", NULL },
             a);
    if (check_work_tree(dir, a, e) || find_base(dir, a, &base, e) ||
        without_filters(dir, a, &args, e))
        return err_code(e);
    /* What is dirty in a submodule is told by a git of its own, with the submodule's settings. */
    add_args(&args,
             (const char *[]){ "diff", "--no-color", "--no-ext-diff", "--no-textconv",
                               "--ignore-submodules=dirty", "--relative", base, "--", NULL },
             a);
    *vec_push(&args.list, a) = NULL;
    if (run(args.list.v, a, text, &code, e))
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
