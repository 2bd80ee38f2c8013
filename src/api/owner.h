/* Checks who owns a workspace. It is found by looking upwards from the current directory, and
 * anybody can make a directory like /tmp/.heddle there. So what is found must be the user's own, as
 * git demands of a repository (safe.directory). */
#ifndef HEDDLE_OWNER_H
#define HEDDLE_OWNER_H

#include "api/workspace.h"

/* ST_PERMISSION_DENIED when .heddle, .leslie or .teddy belongs to another user or can be written by
 * everybody, or when the directory that holds them belongs to another user than root, unless
 * `safe` (the user's setting safe_workspaces; NULL: not set) lists its root. */
enum status owner_check(const struct workspace *ws, const struct json *safe, struct arena *a,
                        struct err *e) MUST_USE;

/* The same of git files that led from one directory to another: `part` belongs to another user.
 * ST_OK when `safe` lists the checkout. */
enum status owner_check_git(const struct workspace *ws, const struct json *safe, struct sv part,
                            struct arena *a, struct err *e) MUST_USE;

/* The names that make a directory a workspace; ends with NULL. */
extern const char *const workspace_marks[];

/* Does the list name this workspace? "/a/b", "/a/" followed by *, or "*". */
bool owner_is_listed(const struct json *safe, struct sv root);

#endif
