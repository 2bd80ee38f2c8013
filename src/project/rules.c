/* Judging paths by git's rules, the built-in names and .teddyignore. */
#include "project/rules.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/vec.h"
#include "project/gitindex.h"
#include "project/gitrepo.h"

#include <string.h>

enum { IGNORE_FILE_LIMIT = 16 << 20 };

struct rules {
    struct arena        *a;
    struct sv            prefix;
    const struct ignore *info, *global, *teddy;
    bool                 ignore_case; /* in git's patterns */
    bool                 without_git;
    bool                 has_gitignore, has_teddyignore; /* at the root: then hidden */
    VEC(struct rules_dir) above; /* directories of the work tree above the workspace, and it */
    struct tracked *tracked;     /* NULL: no repository */
};

/* git's index, read on first use. */
struct tracked {
    struct gitrepo  repo;
    struct gitindex index;
    struct arena   *a;
    bool            read;
    struct err      e; /* code: why there is none */
};

/* Never shown, unless .teddyignore includes them. A line of a .gitignore that includes all
 * directories again does not apply to them. */
static const char *const builtin_names[] = {
    ".git", ".venv", "__pycache__", ".teddy", ".ruff_cache", ".heddle", ".leslie",
};

static bool is_builtin(struct sv name, bool is_dir)
{
    if (!name.n || (name.s[0] != '.' && name.s[0] != '_') || (!is_dir && !sv_is(name, ".git")))
        return false;
    for (size_t i = 0; i < COUNT(builtin_names); i++)
        if (sv_is(name, builtin_names[i]))
            return true;
    return false;
}

/* A link in the place of an ignore file is not followed: git does not either. */
static struct sv read_ignore(int dir, struct sv path, struct arena *a)
{
    struct err ignored;
    struct sv  text = { 0 };
    UNDO(fd_undo)
    int fd = openat(dir, sv_cstr(path, a), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fs_read_fd(fd, IGNORE_FILE_LIMIT, a, &text, &ignored))
        return (struct sv){ 0 };
    return text;
}

static const struct ignore *git_patterns(const struct rules *r, struct sv text, struct arena *a)
{
    return r->ignore_case ? ignore_in_folded(text, a) : ignore_in(text, a);
}

static struct rules_dir *push_above(struct rules *r, struct sv text, size_t base)
{
    struct rules_dir *d = vec_push(&r->above, r->a);

    *d = (struct rules_dir){ .git = git_patterns(r, text, r->a), .base = base };
    d->state.teddy = IGNORE_NO_LINE;
    return d;
}

/* The .gitignore files from the top of the work tree down to the workspace. */
static void read_above(struct rules *r, struct sv top, struct sv root)
{
    for (size_t n = top.n; n < root.n; n++) {
        if (n != top.n && root.s[n] != '/')
            continue;
        struct sv dir = sv_first(root, n);
        size_t    base = dir.n > top.n ? dir.n - top.n : 0;
        push_above(r, read_ignore(AT_FDCWD, path_join(dir, SV(".gitignore"), r->a), r->a), base);
    }
}

static void link_above(struct rules *r)
{
    for (size_t i = 1; i < r->above.n; i++)
        r->above.v[i].up = &r->above.v[i - 1];
}

static struct rules *make(int root_fd, struct sv root, const struct gitrepo *git, struct arena *a)
{
    struct rules  *r = ARENA_NEW(a, struct rules, 1);
    struct gitrepo repo = git ? *git : (struct gitrepo){ 0 };
    struct sv      own = git ? read_ignore(root_fd, SV(".gitignore"), a) : (struct sv){ 0 };
    struct sv      teddy = read_ignore(root_fd, SV(".teddyignore"), a);

    *r = (struct rules){ .a = a, .prefix = SV("") };
    r->has_gitignore = own.s != NULL;
    r->has_teddyignore = teddy.s != NULL;
    r->teddy = ignore_in(teddy, a);
    r->without_git = !git;
    if (repo.found) {
        r->tracked = ARENA_NEW(a, struct tracked, 1);
        *r->tracked = (struct tracked){ .repo = repo, .a = a };
        r->ignore_case = repo.ignore_case;
        r->info = git_patterns(r, repo.info_exclude, a);
        r->global = git_patterns(r, repo.global_ignore, a);
        if (root.n > repo.top.n) {
            r->prefix = path_join(sv_skip(root, repo.top.n + (repo.top.n > 1)), SV(""), a);
            read_above(r, repo.top, root);
        }
    }
    push_above(r, own, r->prefix.n);
    link_above(r);
    return r;
}

struct rules *rules_in(int root_fd, struct sv root, char *const *variables, struct arena *a)
{
    struct gitrepo repo = gitrepo_find(root, variables, a);

    return make(root_fd, root, &repo, a);
}

struct rules *rules_in_without_git(int root_fd, struct sv root, struct arena *a)
{
    return make(root_fd, root, NULL, a);
}

struct sv rules_prefix(const struct rules *r)
{
    return r->prefix;
}

struct rules_dir rules_top(const struct rules *r)
{
    return r->above.v[r->above.n - 1];
}

static bool is_tracked(const struct rules *r, struct sv path, bool is_dir)
{
    struct tracked *t = r->tracked;

    if (!t)
        return false;
    if (!t->read) {
        t->read = true;
        if (gitindex_read(t->repo.index, t->repo.git_dir, t->repo.hash_size, t->a, &t->index,
                          &t->e))
            t->index = (struct gitindex){ 0 };
    }
    return is_dir ? gitindex_has_below(&t->index, path) : gitindex_has(&t->index, path);
}

const char *rules_trouble(const struct rules *r)
{
    return r->tracked && r->tracked->e.code && r->tracked->e.code != ST_NOT_FOUND
               ? r->tracked->e.text
               : NULL;
}

enum git_says { GIT_SILENT, GIT_OUT, GIT_IN };

static enum git_says says(const struct ignore *g, struct sv path, bool is_dir)
{
    int line = ignore_match(g, path, is_dir);

    return line < 0 ? GIT_SILENT : ignore_is_negated(g, line) ? GIT_IN : GIT_OUT;
}

static enum git_says ask_git(const struct rules *r, const struct rules_dir *dir, struct sv path,
                             bool is_dir)
{
    enum git_says answer = GIT_SILENT;

    for (; dir && !answer; dir = dir->up)
        if (dir->git)
            answer = says(dir->git, sv_skip(path, dir->base), is_dir);
    if (!answer && r->info)
        answer = says(r->info, path, is_dir);
    if (!answer && r->global)
        answer = says(r->global, path, is_dir);
    return answer;
}

static bool is_hidden_file(const struct rules *r, struct sv name)
{
    return name.n && name.s[0] == '.' &&
           ((r->has_gitignore && sv_is(name, ".gitignore")) ||
            (r->has_teddyignore && sv_is(name, ".teddyignore")));
}

enum rules_verdict rules_judge(const struct rules *r, const struct rules_dir *dir, struct sv path,
                               bool is_dir, struct rules_state *state)
{
    struct sv name = path_base(path), below_root = sv_skip(path, r->prefix.n);
    bool      hidden = false, tracked = false;

    *state = dir->state;
    if (!state->builtin && is_builtin(name, is_dir))
        state->out = state->builtin = true;
    if (!state->out) {
        enum git_says git = ask_git(r, dir, path, is_dir);
        hidden = git == GIT_SILENT && !is_dir && is_hidden_file(r, name);
        state->out = git == GIT_OUT;
    }
    if (state->out && !state->builtin)
        tracked = is_tracked(r, path, is_dir);
    if (r->teddy) {
        int own = ignore_match(r->teddy, below_root, is_dir);
        state->teddy = own > state->teddy ? own : state->teddy;
    }
    bool out = state->out && !(tracked && !is_dir);
    out = state->teddy >= 0 ? !ignore_is_negated(r->teddy, state->teddy) : out || hidden;
    if (!out)
        return RULES_IN;
    if (is_dir && tracked && state->teddy < 0)
        return RULES_LOOK;
    return is_dir && ignore_may_bring_back(r->teddy, below_root, state->builtin) ? RULES_LOOK
                                                                                 : RULES_OUT;
}

struct rules_dir rules_enter(const struct rules *r, const struct rules_dir *up, struct sv path,
                             struct rules_state state, struct sv gitignore, struct arena *a)
{
    return (struct rules_dir){
        .up = up->git ? up : up->up, /* directories without a file are skipped over */
        .git = gitignore.n && !r->without_git ? git_patterns(r, gitignore, a) : NULL,
        .base = path.n + 1,
        .state = state,
    };
}
