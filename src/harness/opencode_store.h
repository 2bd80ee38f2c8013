/* What opencode stores, in a database (opencode.db) or, until version 1.1, in directories of JSON
 * files (storage/session, message, part): read-only, message by message. */
#ifndef HEDDLE_HARNESS_OPENCODE_STORE_H
#define HEDDLE_HARNESS_OPENCODE_STORE_H

#include "base/json.h"

struct opencode_store;

/* `dir` is the directory `storage`; or it is -1, and `fd` is the open database: SQLite opens it
 * again under its name, to find its write-ahead log. `a` outlives the store. */
enum status opencode_open(int fd, int dir, struct arena *a, struct opencode_store **out,
                          struct err *e) MUST_USE;
void        opencode_close(struct opencode_store *s); /* NULL is fine */

struct opencode_session {
    struct sv id, parent, project, title, directory, version;
    int64_t   created, updated;
};

/* All sessions, oldest first. */
enum status opencode_sessions(struct opencode_store *s, struct arena *a,
                              struct opencode_session **out, size_t *n, struct err *e) MUST_USE;
enum status opencode_session(struct opencode_store *s, struct sv id, struct arena *a,
                             struct opencode_session *out, bool *found, struct err *e) MUST_USE;

/* The ids of a session's messages, in order. */
enum status opencode_messages(struct opencode_store *s, struct sv session, struct arena *a,
                              struct sv **out, size_t *n, struct err *e) MUST_USE;

/* One message without its parts, and the list of its parts, as JSON text with their ids in them. A
 * message that is gone is `null`. */
enum status opencode_message(struct opencode_store *s, struct sv session, struct sv id,
                             struct arena *a, struct sv *out, struct err *e) MUST_USE;
enum status opencode_parts(struct opencode_store *s, struct sv message, struct arena *a,
                           struct sv *out, struct err *e) MUST_USE;

#endif
