/* Stores that the log was moved away from by `heddle store switch` and that still exist: they hold
 * what the log held then. `heddle doctor` names them, and what is erased from the log is erased
 * there too. */
#ifndef HEDDLE_FORMER_H
#define HEDDLE_FORMER_H

#include "api/request.h"

enum former_is {
    FORMER_MARKED, /* a file with the mark of one of the moves by which the log came here */
    FORMER_ASTRAY, /* a file at the usual place with the mark of another move: the log in use does
                    * not come from there, and may lack what is in it */
    FORMER_OTHER,  /* a file at the usual place without such a mark: a user with other settings
                    * would write to it */
    FORMER_NAMED   /* on a server, or a file out of the workspace whose log is in it: only named.
                    * The list comes with the log, which may come with a checkout, and that neither
                    * says whom to connect to nor which other files to open. */
};
struct former {
    struct sv      place; /* an absolute path, or a URL without a password */
    enum former_is is;
};

/* Those of the log of the request, newest first. A place that does not exist is left out. */
enum status former_find(struct request *r, struct former **out, size_t *n, struct err *e) MUST_USE;

/* Take what was erased and deleted in the log out of the marked ones, too. *n is how many of their
 * entries still had it; with `dry_run` they are only counted. */
enum status former_erase(struct request *r, const struct former *f, bool dry_run, int64_t *n,
                         struct err *e) MUST_USE;

/* The same after an erasure, for all that were found before it, with a warning that names each. A
 * failure is returned in *why, unless it has an error already: the caller reports it with what is
 * not clean yet. */
void former_clean(struct request *r, const struct former *list, size_t n, bool dry_run,
                  struct err *why);

/* Is the file, a path in the workspace, one of a former store (also its -wal)? */
bool former_has_file(const struct request *r, const struct former *list, size_t n, struct sv path);

#endif
