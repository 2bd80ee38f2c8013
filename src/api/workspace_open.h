/* Opening a workspace: every door does it with one call before its first request.
 *
 *     workspace_init(&ws);
 *     ws.variables = environ;
 *     ws.note = note;
 *     if (workspace_open(&ws, NULL, NEEDS_ROOT, &arena, e)) ...
 *     ...
 *     workspace_close(&ws);
 *
 * What was found stays in the arena, which outlives the workspace. */
#ifndef HEDDLE_WORKSPACE_OPEN_H
#define HEDDLE_WORKSPACE_OPEN_H

#include "api/operation.h"
#include "api/workspace.h"

/* Find as much as `needs` requires: nothing, the directory, or the settings too. The log itself is
 * opened by the request. `dir` is where the search begins; NULL: the current directory. */
enum status workspace_open(struct workspace *ws, const char *dir, enum op_needs needs,
                           struct arena *a, struct err *e) MUST_USE;

/* Find only the directory: the nearest ancestor of `dir` that holds .heddle, .leslie or .teddy,
 * else `dir` itself; with ws->only_here always `dir` itself. Nothing in it is read. */
enum status workspace_find(struct workspace *ws, const char *dir, struct arena *a,
                           struct err *e) MUST_USE;

/* The settings of the user and of the workspace, joined in ws->config; those of the workspace that
 * can do harm take effect only when they are trusted. ST_PERMISSION_DENIED when the workspace was
 * found by searching (ws->is_named is false) and belongs to another user (owner.h). */
enum status workspace_settings(struct workspace *ws, struct arena *a, struct err *e) MUST_USE;

#endif
