/* Where an open file really lies, whatever links led to it. */
#ifndef HEDDLE_FS_WHERE_H
#define HEDDLE_FS_WHERE_H

#include "base/arena.h"
#include "base/sv.h"

enum fs_where { FS_ELSEWHERE, FS_INSIDE, FS_NOT_KNOWN };

/* Does what `fd` has open lie in the directory `name` of `root`, or is it that directory? Not
 * known: /proc is not there. */
enum fs_where fs_where(int fd, int root, const char *name);

/* The path of what `fd` has open, below `root`; "" is `root` itself. False: it is elsewhere, or not
 * known. */
bool fs_path_below(int fd, int root, struct arena *a, struct sv *out);

#endif
