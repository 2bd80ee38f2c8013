/* The files that belong to the user and to no workspace: settings, what was trusted, tokens for
 * programs that ask the server, and of which companies the user was told.
 *
 *     $XDG_CONFIG_HOME/heddle/config.json   else ~/.config/heddle/config.json
 *     $XDG_STATE_HOME/heddle/trust.json     else ~/.local/state/heddle/trust.json
 *     $XDG_STATE_HOME/heddle/installed.json else ~/.local/state/heddle/installed.json
 *     $XDG_STATE_HOME/heddle/tokens.json    else ~/.local/state/heddle/tokens.json
 *     $XDG_STATE_HOME/heddle/companies.json else ~/.local/state/heddle/companies.json
 *
 * The variables are those that the door has handed to the workspace. The files may lie behind
 * links, as dotfiles do. A file that somebody else could have written is ignored, with a note
 * (workspace_note). */
#ifndef HEDDLE_USER_FILE_H
#define HEDDLE_USER_FILE_H

#include "api/workspace.h"
#include "base/fs.h"

enum user_file { USER_CONFIG, USER_TRUST, USER_INSTALLED, USER_TOKENS, USER_COMPANIES };

/* The absolute path; absent when neither the variable (an absolute path) nor HOME is set. */
struct sv user_file_path(const struct workspace *ws, enum user_file which, struct arena *a);

/* All its bytes; absent when there is no file, or it is ignored. */
enum status user_file_read(const struct workspace *ws, enum user_file which, struct arena *a,
                           struct sv *out, struct err *e) MUST_USE;

/* Returns the new text of a file from its old one ("" when there is none). */
typedef enum status user_file_edit(void *ctx, struct sv before, struct arena *a, struct sv *after,
                                   struct err *e);

/* Read, change and replace; other processes that do the same wait. The directories are made (0700),
 * the file is 0600. */
enum status user_file_change(const struct workspace *ws, enum user_file which, user_file_edit *edit,
                             void *ctx, struct arena *a, struct err *e) MUST_USE;

/* mkdir -p of the directory of `path`, which is absolute; what is made is 0700. */
enum status user_dirs_make(struct sv path, struct arena *a, struct err *e) MUST_USE;

/* Is this uid the user, or under sudo the user who called it? Root itself is not, unless it is the
 * user: the rule of git's safe.directory. */
bool user_is(const struct workspace *ws, unsigned uid);

/* Why a file of the user is ignored ("can be written by everybody"); NULL when it is not. */
const char *user_file_fault(const struct workspace *ws, unsigned uid, unsigned mode);

#endif
