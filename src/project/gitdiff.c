/* Runs git to print the changes of a work tree, with everything switched off that lets a repository
 * run programs. */
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

/* A repository can configure that missing objects are fetched, and by which program: that would
 * open the network and run programs. The variables that prevent it come first, because the first
 * variable of a name is used. */
static char **environment(char *const *variables, struct arena *a)
{
    static const char *const settled[] = { "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
                                           "GIT_OPTIONAL_LOCKS=0" };
    char                   **ours = env_for(ENV_TOOL, variables, a);
    size_t                   n = 0;

    while (ours[n])
        n++;
    char **out = ARENA_NEW(a, char *, COUNT(settled) + n + 1);
    for (size_t i = 0; i < COUNT(settled); i++)
        out[i] = (char *)(uintptr_t)settled[i];
    memcpy(out + COUNT(settled), ours, (n + 1) * sizeof *out);
    return out;
}

/* What every call of git needs. */
struct gitdiff_asking {
    const char   *dir;
    char        **environment;
    struct arena *a;
};

/* Start git with its output in a pipe; *fd is the end to read. */
static int start(const struct gitdiff_asking *q, const char *const *args, int *fd, pid_t *pid)
{
    int                        ends[2];
    posix_spawn_file_actions_t actions;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error =
        posix_spawnp(pid, "git", &actions, NULL, (char *const *)(uintptr_t)args, q->environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error)
        close(ends[0]);
    *fd = ends[0];
    return error;
}

static enum status run(const struct gitdiff_asking *q, const char *const *args, struct sv *out,
                       int *code, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    pid_t             pid = -1;
    int               status = 0, error = start(q, args, &fd, &pid);

    if (error) {
        fd = -1;
        errno = error;
        return err_errno(e, "run git");
    }
    enum status s = fs_read_fd(fd, DIFF_LIMIT, q->a, out, e);
    if (s) { /* a git process that still writes must not block */
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
static enum status find_base(const struct gitdiff_asking *q, const char **base, struct err *e)
{
    const char *head[] = { "git", "-C", q->dir, "rev-parse", "-q", "--verify", "HEAD", NULL };
    const char *empty[] = { "git", "-C", q->dir, "hash-object", "-t", "tree", "/dev/null", NULL };
    struct sv   text;
    int         code = 0;

    *base = "HEAD";
    if (run(q, head, &text, &code, e))
        return err_code(e);
    if (!code)
        return ST_OK;
    if (run(q, empty, &text, &code, e))
        return err_code(e);
    *base = sv_cstr(sv_trim(text), q->a);
    return code ? err_set(e, ST_NOT_FOUND, "git hash-object failed") : ST_OK;
}

struct gitdiff_args {
    VEC(const char *) list;
};

static void add_args(struct gitdiff_args *to, const char *const *words, struct arena *a)
{
    for (; *words; words++)
        *vec_push(&to->list, a) = *words;
}

/* git runs the `clean` filters of .gitattributes over changed files. There is no option to prevent
 * that, so each filter that is named in any settings is overridden by an empty one. */
static enum status without_filters(const struct gitdiff_asking *q, struct gitdiff_args *to,
                                   struct err *e)
{
    static const char pattern[] = "^filter\\..*\\.(clean|smudge|process|required)$";
    const char       *ask[] = { "git", "-C",          q->dir,         "config", "--includes",
                                "-z",  "--name-only", "--get-regexp", pattern,  NULL };
    struct sv         names;
    int               code;

    if (run(q, ask, &names, &code, e)) /* it fails when there is none */
        return err_code(e);
    for (struct sv_cut cut = { .tail = names }; cut.tail.n;) {
        struct sb setting = sb_in(q->a, 0);
        cut = sv_cut(cut.tail, 0);
        if (sv_has(cut.head, '=')) {
            err_set(e, ST_PERMISSION_DENIED, "--diff: git's settings name a filter with a = in it");
            return err_hint(e, "it cannot be turned off; `git config --list` shows it");
        }
        sb_add(&setting, cut.head);
        sb_adds(&setting, "=");
        add_args(to, (const char *[]){ "-c", sv_cstr(sb_sv(&setting), q->a), NULL }, q->a);
    }
    return ST_OK;
}

/* The settings of a repository come with its directory, like any other file. If they place the work
 * tree elsewhere, it does not belong to this project. */
static enum status check_work_tree(const struct gitdiff_asking *q, struct err *e)
{
    const char *ask[] = { "git", "-C", q->dir, "rev-parse", "--show-toplevel", NULL };
    char       *real = realpath(q->dir, NULL);
    struct sv   top;
    int         code = 0;

    if (!real)
        return err_errno(e, "%s", q->dir);
    struct sv   at = sv_dup(sv_of(real), q->a);
    enum status s = run(q, ask, &top, &code, e);
    free(real);
    if (s)
        return s;
    if (sv_ends(top, SV("\n")))
        top.n--;
    bool inside = sv_starts(at, top) && (at.n == top.n || at.s[top.n] == '/' || top.n == 1);
    return !code && top.n && inside ? ST_OK
                                    : err_set(e, ST_NOT_FOUND, "--diff: this is no git work tree");
}

enum status gitdiff_read(struct sv root, char *const *variables, struct arena *a, struct sv *out,
                         struct err *e)
{
    struct gitdiff_asking q = { sv_cstr(root, a), environment(variables, a), a };
    struct gitdiff_args   args = { 0 };
    const char           *base;
    int                   code = 0;

    add_args(&args,
             (const char *[]){ "git", "-C", q.dir, "-c", "core.fsmonitor=false", "-c",
                               "core.hooksPath=/dev/null", NULL },
             a);
    if (check_work_tree(&q, e) || find_base(&q, &base, e) || without_filters(&q, &args, e))
        return err_code(e);
    /* To find changes inside a submodule, git would start another git with the submodule's
     * settings. */
    add_args(&args,
             (const char *[]){ "diff", "--no-color", "--no-ext-diff", "--no-textconv",
                               "--ignore-submodules=dirty", "--relative", base, "--", NULL },
             a);
    *vec_push(&args.list, a) = NULL;
    if (run(&q, args.list.v, out, &code, e))
        return err_code(e);
    return code ? err_set(e, ST_NOT_FOUND, "--diff: this is no git work tree") : ST_OK;
}
