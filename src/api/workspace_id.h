/* The id of a workspace, in .leslie/workspace.json: `{"id":"…"}`. It is kept in version control, so
 * that every clone has the same one; a server that has the logs of many workspaces keeps them apart
 * by it. Workspaces whose log is a file beside them do not need one. */
#ifndef HEDDLE_WORKSPACE_ID_H
#define HEDDLE_WORKSPACE_ID_H

#include "api/workspace.h"

#define WORKSPACE_ID_FILE SV(".leslie/workspace.json")

/* The id; absent when there is none and `make` is false. Two processes that make one at once get
 * the same. ST_INVALID_SYNTAX: the file exists and has no id. */
enum status workspace_id(const struct workspace *ws, bool make, struct arena *a, struct sv *out,
                         struct err *e) MUST_USE;

#endif
