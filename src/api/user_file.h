/* The files that belong to the user and to no workspace: settings and what was trusted.
 *
 *     $XDG_CONFIG_HOME/heddle/config.json   else ~/.config/heddle/config.json
 *     $XDG_STATE_HOME/heddle/trust.json     else ~/.local/state/heddle/trust.json
 *
 * They may lie behind links, as dotfiles do. A file that somebody else could have written is as
 * good as none, and is named in a warning. */
#ifndef HEDDLE_USER_FILE_H
#define HEDDLE_USER_FILE_H

#include "base/fs.h"

enum user_file { USER_CONFIG, USER_TRUST };

/* The absolute path; absent when neither the variable (an absolute path) nor HOME is set. */
struct sv user_file_path(enum user_file which, struct arena *a);

/* All its bytes; absent when there is no file, or none that counts. */
enum status user_file_read(enum user_file which, struct arena *a, struct sv *out,
                           struct err *e) MUST_USE;

/* What becomes of the text of a file ("" when there is none). */
typedef enum status user_file_edit(void *ctx, struct sv before, struct arena *a, struct sv *after,
                                   struct err *e);

/* Read, change and replace, while others who want the same wait. The folders are made (0700), the
 * file is 0600. */
enum status user_file_change(enum user_file which, user_file_edit *edit, void *ctx, struct arena *a,
                             struct err *e) MUST_USE;

/* Is this uid the user, or under sudo the user who called it? Root itself is not, unless it is the
 * user: the rule of git's safe.directory. */
bool user_is(unsigned uid);

/* Why a file of the user does not count ("can be written by everybody"); NULL when it does. */
const char *user_file_fault(unsigned uid, unsigned mode);

#endif
