/* Which settings files of workspaces the user has trusted.
 *
 * Trust is given to the bytes of a file at a path: a workspace that is moved, and a file that
 * changes by one byte, has to be trusted again. It is kept outside of any workspace, in
 * trust.json of the user's state (api/user_file.h):
 *
 *     {"workspaces":{"/home/you/project":{"at":"2026-11-16T10:00:00.000Z","sha256":"…"}}}
 *
 * Giving it is for a person at a terminal (`heddle trust`); nothing else in the program calls
 * trust_add(), except to keep the trust of a file that heddle itself changes in another place. */
#ifndef HEDDLE_TRUST_H
#define HEDDLE_TRUST_H

#include "base/json.h"

/* A list that cannot be read gives trust to nothing, with a warning. */
bool trust_has(struct sv root, struct sv text, struct arena *a);

enum status trust_add(struct sv root, struct sv text, struct arena *a, struct err *e) MUST_USE;
enum status trust_remove(struct sv root, struct arena *a, bool *was, struct err *e) MUST_USE;

/* {"/path":{"at","sha256"}, …}; an empty object when there is none. */
enum status trust_list(struct arena *a, struct json *out, struct err *e) MUST_USE;

/* The hash that is compared, in hex: what sha256sum(1) prints of the file. */
struct sv trust_hash(struct sv text, struct arena *a);

#endif
