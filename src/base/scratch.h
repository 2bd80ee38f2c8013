/* Files for work on a copy of the log. They hold what the log held, so nothing of them may stay
 * when a process is killed: each is locked while its maker lives, and scratch_sweep() removes those
 * that nobody holds, with what SQLite leaves beside them. */
#ifndef HEDDLE_SCRATCH_H
#define HEDDLE_SCRATCH_H

#include "base/fs.h"

#define SCRATCH_PREFIX ".heddle-tmp-log-"

/* A new empty file in dir, for its owner alone, under a name that nobody had (written to `name`).
 * It is locked until the descriptor is closed; -1 and errno. */
int scratch_make(int dir, char name[FS_TEMP_NAME]);

/* Remove such a file by its whole path, and what lies beside it under its name: what SQLite keeps
 * there, and the copy that a migration leaves. */
void scratch_drop(struct sv path);

/* Is the file, or the one it was beside, of a process that is gone? False for other names. */
enum status scratch_is_left(int root, struct sv path, bool *left, struct err *e) MUST_USE;

/* Remove those that were left in a directory below root, which may be missing. */
enum status scratch_sweep(int root, struct sv dir, struct err *e) MUST_USE;

#endif
