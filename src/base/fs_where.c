/* The paths of descriptors, as the kernel has them. */
#include "base/fs_where.h"

#include "base/sv.h"

#include <linux/limits.h>
#include <stdio.h>
#include <unistd.h>

static bool path_of(int fd, char into[PATH_MAX], struct sv *out)
{
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, into, PATH_MAX);
    *out = (struct sv){ into, n > 0 ? (size_t)n : 0 };
    return n > 0 && n < PATH_MAX;
}

enum fs_where fs_where(int fd, int root, const char *name)
{
    char      there[PATH_MAX], here[PATH_MAX];
    struct sv file, rest;

    if (!path_of(fd, there, &file) || !path_of(root, here, &rest))
        return FS_NOT_KNOWN;
    if (!sv_starts(file, rest))
        return FS_ELSEWHERE;
    rest = sv_skip(file, rest.n);
    while (sv_starts(rest, SV("/")))
        rest = sv_skip(rest, 1);
    return sv_is(sv_cut(rest, '/').head, name) ? FS_INSIDE : FS_ELSEWHERE;
}

bool fs_path_below(int fd, int root, struct arena *a, struct sv *out)
{
    char      there[PATH_MAX], here[PATH_MAX];
    struct sv file, top;

    if (!path_of(fd, there, &file) || !path_of(root, here, &top) || !sv_starts(file, top))
        return false;
    struct sv rest = sv_skip(file, top.n);
    if (rest.n && rest.s[0] != '/' && !sv_is(top, "/"))
        return false;
    while (sv_starts(rest, SV("/")))
        rest = sv_skip(rest, 1);
    *out = sv_dup(rest, a);
    return true;
}
