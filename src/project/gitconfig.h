/* git's configuration files, read without starting git, for the few values that decide what
 * is ignored. include.path and includeIf.*.path are followed as git follows them:
 *
 *     gitdir:PATTERN  gitdir/i:PATTERN     where the repository lies
 *     onbranch:PATTERN                     what is checked out
 *     hasconfig:remote.*.url:PATTERN       an address of one of its remotes
 *
 * config.worktree is read where extensions.worktreeConfig is set, and the pairs in
 * GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, GIT_CONFIG_VALUE_0 and so on are read too. Variables are
 * those of the environment that is handed in (base/env.h).
 *
 * Nothing here fails: what cannot be read is absent, as it is for git. */
#ifndef HEDDLE_GITCONFIG_H
#define HEDDLE_GITCONFIG_H

#include "base/sb.h"

/* The repository that asks. */
struct gitconfig_repo {
    struct sv    git_dir;    /* absolute: .git, or where a file of that name points */
    struct sv    common_dir; /* absolute; differs from git_dir in a linked work tree */
    struct sv    branch;     /* "main"; absent: none is checked out */
    char *const *variables;
};

struct gitconfig {
    struct sv excludes_file; /* core.excludesFile as it is written; absent: not set */
    bool      ignore_case;   /* core.ignoreCase */
    bool      sha256;        /* extensions.objectFormat of the repository */
};

/* Reads the files of the system, the user and the repository, in git's order. */
struct gitconfig gitconfig_read(const struct gitconfig_repo *repo, struct arena *a);

/* $XDG_CONFIG_HOME, or .config in the home directory, or absent. */
struct sv gitconfig_home(char *const *variables, struct arena *a);

/* The last value of a key such as "core.excludesfile" (lower case) in the text of one
 * file, or absent. */
struct sv gitconfig_value(struct sv text, const char *key, struct arena *a);

/* "~/x" is below the home directory; another relative path is below `dir`. */
struct sv gitconfig_path(char *const *variables, struct sv path, struct sv dir, struct arena *a);

/* The bytes of a file; absent when there are none to read. */
struct sv gitconfig_slurp(struct sv path, struct arena *a);

#endif
