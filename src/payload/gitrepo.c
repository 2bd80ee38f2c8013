#include "payload/gitrepo.h"

#include "base/path.h"
#include "payload/gitconfig.h"

#include <sys/stat.h>
#include <unistd.h>

/* .git may be a file that points to the real folder (linked work trees, submodules). */
static struct sv git_dir(struct sv top, struct arena *a)
{
    struct sv   git = path_join(top, SV(".git"), a);
    struct stat st;

    if (stat(sv_cstr(git, a), &st) != 0 || !S_ISREG(st.st_mode))
        return git;
    struct sv text = sv_trim(gitconfig_slurp(git, a));
    return sv_starts(text, SV("gitdir:")) ? gitconfig_path(sv_trim(sv_skip(text, 7)), top, a) : git;
}

/* That folder may share its configuration with another. */
static struct sv common_dir(struct sv git, struct arena *a)
{
    struct sv common = sv_trim(gitconfig_slurp(path_join(git, SV("commondir"), a), a));

    return common.n ? gitconfig_path(common, git, a) : git;
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

/* git works at the top of the work tree: there a relative name is looked for. */
static struct sv global_ignore(const struct gitconfig *c, struct sv top, struct arena *a)
{
    struct sv file = c->excludes_file, home = gitconfig_home(a);

    if (!file.s && home.n)
        file = path_join(home, SV("git/ignore"), a);
    return file.n ? gitconfig_slurp(gitconfig_path(file, top, a), a) : (struct sv){ 0 };
}

struct gitrepo gitrepo_find(struct sv root, struct arena *a)
{
    struct sv dir = root;

    while (dir.n && access(sv_cstr(path_join(dir, SV(".git"), a), a), F_OK) != 0)
        dir = path_dir(dir);
    if (!dir.n)
        return (struct gitrepo){ 0 };
    struct sv             git = git_dir(dir, a);
    struct gitconfig_repo repo = { git, common_dir(git, a), branch_of(git, a) };
    struct gitconfig      config = gitconfig_read(&repo, a);
    return (struct gitrepo){
        .found = true,
        .ignore_case = config.ignore_case,
        .top = dir,
        .info_exclude = gitconfig_slurp(path_join(repo.common_dir, SV("info/exclude"), a), a),
        .global_ignore = global_ignore(&config, dir, a),
    };
}
