/* One message of a context. Its fields are slices of the canonical JSON in the log. They are not
 * decoded, so nothing is lost, and a fold over a million messages copies only what is printed. */
#ifndef HEDDLE_MESSAGE_H
#define HEDDLE_MESSAGE_H

#include "base/json.h"
#include "store/entry.h"

struct message {
    int64_t   seq;                /* of its entry; -1 when it comes out of a snapshot */
    int64_t   at;                 /* of its entry, or the snapshot's timestamp; 0: unknown */
    struct sv role;               /* plain text */
    struct sv content;            /* a string or a list of parts; never absent */
    struct sv thinking;           /* a string that is not empty, or absent */
    struct sv reasoning_details;  /* absent, or any value */
    struct sv tool_calls;         /* absent, or a list */
    struct sv tool_call_id, name; /* absent, or a string */
    struct sv refs;               /* absent, or an object that is not empty */
    bool      erased;             /* its content was erased and replaced by a placeholder */
    struct sv whole;              /* of a snapshot's message with fields that are none of these:
                                   * all of it, to be kept; else absent */
};

/* From an ai_message entry. The slices point into it. */
struct message message_of_entry(const struct entry *n);

/* From one element of "messages" or of a snapshot's "entries": canonical text that must
 * outlive the message. */
struct message message_of_json(struct sv object);

/* A copy whose bytes live in `a`. */
struct message message_copy(const struct message *m, struct arena *a);

/* A message that holds only this text. */
struct message message_of_text(const char *role, struct sv text, struct arena *a);

/* The shape a model is given: role, content (thinking as its first part), and the fields
 * that are there. Canonical JSON. */
void message_write(struct sb *b, const struct message *m);

/* The shape kept in a snapshot: every field under its own name, timestamp included, and whatever
 * else a snapshot's message came with. Code that changes a message must clear `whole`. */
void message_write_stored(struct sb *b, const struct message *m);

#endif
