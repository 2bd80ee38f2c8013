/* Which settings files of workspaces the user has trusted.
 *
 * Trust is given to the bytes of a file at a path: when the workspace is moved, or one byte of the
 * file changes, it has to be given again. It is kept outside of any workspace, in trust.json of the
 * user's state (api/user_file.h):
 *
 *     {"workspaces":{"/home/you/project":{"at":"2026-11-16T10:00:00.000Z","sha256":"…"}}}
 *
 * Giving it is for a person at a terminal (`heddle trust`); nothing else in the program calls
 * trust_add(), except to keep the trust of a file that heddle itself changes in another place. */
#ifndef HEDDLE_TRUST_H
#define HEDDLE_TRUST_H

#include "api/workspace.h"

/* Is this text, as the settings of this workspace, trusted? When the list cannot be read, nothing
 * is trusted, and there is a note. */
bool trust_has(const struct workspace *ws, struct sv text, struct arena *a);

enum status trust_add(const struct workspace *ws, struct sv text, struct arena *a,
                      struct err *e) MUST_USE;
enum status trust_remove(const struct workspace *ws, struct arena *a, bool *was,
                         struct err *e) MUST_USE;

/* {"/path":{"at","sha256"}, …}; an empty object when there is none. */
enum status trust_list(const struct workspace *ws, struct arena *a, struct json *out,
                       struct err *e) MUST_USE;

/* The hash that is compared, in hex: what sha256sum(1) prints of the file. */
struct sv trust_hash(struct sv text, struct arena *a);

#endif
