/* Where other programs keep their sessions. */
#ifndef HEDDLE_HARNESS_WHERE_H
#define HEDDLE_HARNESS_WHERE_H

#include "harness/harness.h"

/* The directory (of opencode: also the database in it) in which a program keeps all sessions, found
 * by the same environment variables that the program uses. Absent: HOME is not known. */
typedef struct sv (*harness_variable_fn)(const void *ctx, const char *name);
struct sv harness_home(enum harness h, harness_variable_fn variable, const void *ctx,
                       struct arena *a);

/* Open that directory, or that database, to read. It may be a link: the path comes from the user's
 * environment, not from a caller. */
enum status harness_home_open(struct sv path, struct arena *a, int *fd, struct err *e) MUST_USE;

/* Of these variables, the one that is the program's own. */
const char *harness_home_variable(enum harness h);

struct harness_transcript {
    struct sv path; /* below the directory */
    int64_t   changed_ns;
    int64_t   made_ns; /* when the file was made; 0: not known, or not needed */
    int64_t   size;
};

/* The transcripts below a directory, the oldest first, so that what was forked comes before its
 * forks: by path where names begin with a time, else by when they were made. Files of sub-agents
 * that belong to a transcript are not listed. Links are not followed. Files that disappear
 * meanwhile are left out. */
enum status harness_transcripts(enum harness h, int dir, struct arena *a,
                                struct harness_transcript **out, size_t *n, struct err *e) MUST_USE;

/* The command that resumes a session: `cd PROJECT && PROGRAM --resume ID`. `cwd` may be absent. */
void harness_resume_command(enum harness h, struct sv session, struct sv cwd, struct sb *b);

#endif
