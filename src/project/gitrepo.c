/* Finds the repository around a directory, and its settings for ignoring files. */
#include "project/gitrepo.h"

#include "base/env.h"
#include "base/path.h"
#include "project/gitconfig.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* .git may be a file that points to the real directory (linked work trees, submodules). */
static struct sv git_dir(char *const *variables, struct sv top, struct arena *a)
{
    struct sv   git = path_join(top, SV(".git"), a);
    struct stat st;

    if (stat(sv_cstr(git, a), &st) != 0 || !S_ISREG(st.st_mode))
        return git;
    struct sv text = sv_trim(gitconfig_slurp(git, a));
    return sv_starts(text, SV("gitdir:"))
               ? gitconfig_path(variables, sv_trim(sv_skip(text, 7)), top, a)
               : git;
}

/* That directory may share its configuration with another. */
static struct sv common_dir(char *const *variables, struct sv git, struct arena *a)
{
    struct sv common = sv_trim(gitconfig_slurp(path_join(git, SV("commondir"), a), a));

    return common.n ? gitconfig_path(variables, common, git, a) : git;
}

static struct sv branch_of(struct sv git, struct arena *a)
{
    struct sv head = sv_trim(gitconfig_slurp(path_join(git, SV("HEAD"), a), a));
    struct sv heads = SV("refs/heads/");

    if (!sv_starts(head, SV("ref:")))
        return (struct sv){ 0 };
    head = sv_trim(sv_skip(head, 4));
    return sv_starts(head, heads) ? sv_skip(head, heads.n) : (struct sv){ 0 };
}

/* A relative name is looked up at the top of the work tree, where git runs. */
static struct sv global_ignore(const struct gitconfig *c, char *const *variables, struct sv top,
                               struct arena *a)
{
    struct sv file = c->excludes_file, home = gitconfig_home(variables, a);

    if (!file.s && home.n)
        file = path_join(home, SV("git/ignore"), a);
    return file.n ? gitconfig_slurp(gitconfig_path(variables, file, top, a), a) : (struct sv){ 0 };
}

/* The absolute path in a variable of the environment, or absent. A relative one is relative to the
 * current directory. */
static struct sv path_in(char *const *variables, const char *name, struct arena *a)
{
    struct sv v = env_find(variables, name);
    char      here[PATH_MAX];

    if (!v.n || (v.s[0] != '/' && !getcwd(here, sizeof here)))
        return (struct sv){ 0 };
    return v.s[0] == '/' ? v : path_join(sv_dup(sv_of(here), a), v, a);
}

static struct sv real_path(struct sv path, struct arena *a)
{
    char found[PATH_MAX];

    return path.n && realpath(sv_cstr(path, a), found) ? sv_dup(sv_of(found), a) : (struct sv){ 0 };
}

static bool is_in(struct sv root, struct sv top)
{
    return top.n && sv_starts(root, top) && (root.n == top.n || top.n == 1 || root.s[top.n] == '/');
}

/* The repository that the environment names, when the workspace is in its work tree. */
static bool from_environment(struct sv root, char *const *variables, struct arena *a,
                             struct sv *top, struct sv *git)
{
    struct sv dir = real_path(path_in(variables, "GIT_DIR", a), a);
    struct sv tree = path_in(variables, "GIT_WORK_TREE", a);

    tree = real_path(tree.n ? tree : SV("."), a);
    if (!dir.n || !is_in(root, tree))
        return false;
    *top = tree;
    *git = dir;
    return true;
}

static bool from_disk(struct sv root, char *const *variables, struct arena *a, struct sv *top,
                      struct sv *git)
{
    struct sv dir = root;

    while (dir.n && access(sv_cstr(path_join(dir, SV(".git"), a), a), F_OK) != 0)
        dir = path_dir(dir);
    *top = dir;
    *git = dir.n ? git_dir(variables, dir, a) : dir;
    return dir.n > 0;
}

struct gitrepo gitrepo_find(struct sv root, char *const *variables, struct arena *a)
{
    struct sv top, git, index = path_in(variables, "GIT_INDEX_FILE", a);

    if (!from_environment(root, variables, a, &top, &git) &&
        !from_disk(root, variables, a, &top, &git))
        return (struct gitrepo){ 0 };
    struct gitconfig_repo repo = { git, common_dir(variables, git, a), branch_of(git, a),
                                   variables };
    struct gitconfig      config = gitconfig_read(&repo, a);
    return (struct gitrepo){
        .found = true,
        .ignore_case = config.ignore_case,
        .top = top,
        .info_exclude = gitconfig_slurp(path_join(repo.common_dir, SV("info/exclude"), a), a),
        .global_ignore = global_ignore(&config, variables, top, a),
        .git_dir = git,
        .index = index.n ? index : path_join(git, SV("index"), a),
        .hash_size = config.sha256 ? 32 : 20,
    };
}
