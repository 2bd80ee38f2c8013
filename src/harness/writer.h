/* What Claude Code's and pi's records have in common when they are written: see export.h. */
#ifndef HEDDLE_HARNESS_WRITER_H
#define HEDDLE_HARNESS_WRITER_H

#include "harness/export.h"
#include "harness/join.h"

struct harness_writing {
    struct log                  *log;
    const struct harness_export *what;
    const struct harness_writer *writer;
    struct harness_binding       binding; /* of the session that is written unchanged */
    struct arena                *a;
    struct arena                 scratch; /* of one entry */
    struct sb                   *out;
    struct sv                    session; /* the id that records get */
    struct harness_joining       join;
    struct map                   calls;   /* id of a call → its name */
    struct map                   written; /* ids of records */
    struct map                   copies;  /* key → what differs in this session's copy of it */
    struct harness_text          last;    /* id of the last record that others follow */
    bool                         failed;  /* the message being written is a result with an error */
    int64_t                      at;      /* time of the new session */
    int64_t                      after;   /* messages up to here are hidden by a snapshot */
    bool                         is_shared, has_runs;
    int64_t                      records, made, left_out, index;
};

struct harness_writer {
    /* What a new session begins with; may be NULL. */
    enum status (*begin)(struct harness_writing *w, struct err *e);
    /* A record of the program itself that comes from another session, or is on another path. */
    enum status (*shared)(struct harness_writing *w, const struct entry *n,
                          const struct json *payload, struct err *e);
    /* A message that did not come from this program: the payload of an ai_message, or a message of
     * a snapshot. */
    enum status (*message)(struct harness_writing *w, int64_t at, int64_t seq,
                           const struct json *payload, struct err *e);
};
const struct harness_writer       *harness_writer_of(enum harness h); /* NULL: there is none */
extern const struct harness_writer harness_claude_writer, harness_pi_writer;

/* One line. */
void harness_write_line(struct harness_writing *w, struct sv line);

/* What is different in this session's copy of a record. */
struct harness_copy {
    struct json changed, without;
};

/* A record of another session, under the id `id`, with what is different in this one. */
void harness_write_shared(struct harness_writing *w, const struct json *payload, struct sv id);

/* The record of an entry as it was, if it is complete. */
enum status harness_write_joined(struct harness_writing *w, const struct json *payload,
                                 struct err *e) MUST_USE;

/* A UUID that follows from the session, an entry and a number; that of a new session. */
struct sv harness_made_uuid(const struct harness_writing *w, int64_t seq, int64_t index,
                            struct arena *a);
struct sv harness_made_session(const struct harness_writing *w, int64_t at);

/* A JSON string, or null for an absent one. */
struct sv harness_json_text(struct sv v, struct arena *a);

/* Was a record with this id written before? Remembers the id. */
bool harness_was_written(struct harness_writing *w, struct sv id);
void harness_note_written(struct harness_writing *w, struct sv id);

/* "timestamp":"2026-11-17T14:48:22.498Z" */
void harness_put_time(struct jw *w, int64_t at);

/* The content of a message as blocks of Anthropic's API: a list, without the brackets. A part that
 * the API cannot represent becomes a text that names it, and is counted. */
void harness_put_blocks(struct harness_writing *w, struct jw *out, const struct json *payload);

#endif
