/* Names and paths as text; no file system here. */
#ifndef HEDDLE_PATH_H
#define HEDDLE_PATH_H

#include "base/sb.h"

enum { NAME_MAX_BYTES = 128 };

/* A name that may become a directory, a key or an attribute: 1 to NAME_MAX_BYTES bytes of valid
 * UTF-8 without control characters, / or \, not starting with a dot. `what` opens the message
 * ("thread id"). ST_INVALID_SYNTAX, or ST_LIMIT_EXCEEDED when too long. */
enum status name_check(struct sv name, const char *what, struct err *e) MUST_USE;

/* The same for a new name. It must also hold nothing that has a meaning in a list, a scope or the
 * options of a program, or that misleads a reader: , : a leading -, spaces, invisible characters.
 * Names that exist already only need name_check(). */
enum status name_check_new(struct sv name, const char *what, struct err *e) MUST_USE;

/* A workspace path in its one canonical form: \ becomes /, "." and empty parts go, ".."
 * folds, a leading / means the root. "" is the root itself. ST_INVALID_SYNTAX when
 * it climbs out or holds a NUL. */
enum status path_normal(struct sv path, struct arena *a, struct sv *out, struct err *e) MUST_USE;

/* The same for a path that comes from the file system itself: \ is a byte like any other. */
enum status path_normal_exact(struct sv path, struct arena *a, struct sv *out,
                              struct err *e) MUST_USE;

struct sv path_join(struct sv dir, struct sv name,
                    struct arena *a); /* one / between; "" dir: name */
struct sv path_base(struct sv path);  /* after the last / */
struct sv path_dir(struct sv path);   /* before the last /, or "" */

#endif
