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
 * opened by the request. `dir` is where the search begins; NULL: the current directory. Says what
 * the caller should know of where it was found (workspace_say_place()). */
enum status workspace_open(struct workspace *ws, const char *dir, enum op_needs needs,
                           struct arena *a, struct err *e) MUST_USE;

/* Find only the directories; nothing in them is read. The workspace, ws->root, is
 *
 *   1. what HEDDLE_ROOT names, unless a person named `dir` (`dir` is not NULL and ws->is_seen is
 *      not set);
 *   2. in a git repository: the nearest directory that holds .heddle, .leslie or .teddy, from `dir`
 *      up to the top of the main checkout; in a linked worktree the search begins at the same
 *      place of the main checkout, and what the worktree itself holds does not count; else the
 *      nearest directory above with .heddle; else the main checkout (see gitplace.h);
 *   3. elsewhere: the nearest ancestor of `dir` that holds .heddle, .leslie or .teddy, else `dir`.
 *
 * With ws->exactly it is `dir`; with ws->only_here `dir`, too, or, at the top of a checkout, what
 * all checkouts share. ws->is_workspace says whether there is one already. A .git file that leads
 * nowhere does not fail here: ws->trouble has the error for those who would open or make a log. */
enum status workspace_find(struct workspace *ws, const char *dir, struct arena *a,
                           struct err *e) MUST_USE;

/* The settings of the user and of the workspace, joined in ws->config; those of the workspace that
 * can do harm take effect only when they are trusted. ST_PERMISSION_DENIED when the workspace was
 * found by searching (ws->is_named is false) and belongs to another user (owner.h), or git files of
 * another user led to it. */
enum status workspace_settings(struct workspace *ws, struct arena *a, struct err *e) MUST_USE;

/* Notes (workspace_note()): a log in this checkout is not used; GIT_DIR names another repository.
 */
void workspace_say_place(const struct workspace *ws);

#endif
