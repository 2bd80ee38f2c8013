/* For the files of this room and their tests: the items that a format makes from a record, and how
 * the import turns them into entries.
 *
 * A format reads one record after another (a line of JSON Lines, an element of a list, a message of
 * a database) and makes items of it: messages, compactions, records that are only kept. It knows
 * nothing of lanes, entries or transactions. The import puts each item in its place: known already,
 * at the end of a lane, or on a fork. */
#ifndef HEDDLE_HARNESS_INTERNAL_H
#define HEDDLE_HARNESS_INTERNAL_H

#include "base/lines.h"
#include "base/map.h"
#include "harness/harness.h"
#include "harness/state.h"
#include "thread/rows.h"

#define HARNESS_GLOBAL SV(".global")

/* ---- items ---- */

enum harness_item_kind {
    HARNESS_MESSAGE,
    HARNESS_COMPACTION,
    HARNESS_KEPT, /* not shown to a model */
    HARNESS_MARK, /* what a record says about a node: a loom_mark */
};

enum harness_link {
    HARNESS_LOOSE,  /* stands beside the chain; nothing follows it */
    HARNESS_NEXT,   /* follows the item before it */
    HARNESS_PARENT, /* follows `parent` */
    HARNESS_ROOT,   /* follows nothing */
};

/* Texts live in the arena of the record. Values marked JSON are text of a JSON value; absent ones
 * are left out of the entry. */
struct harness_item {
    enum harness_item_kind kind;
    enum harness_link      link;
    struct sv              key;    /* op_id without the program's name: unique, see local_ids */
    struct sv              also;   /* a key under which the record may be known; or absent */
    struct sv              parent; /* key */
    struct sv              parent_also; /* another key of it, or absent */
    struct sv              id;   /* of the node: the program's id of the message; absent: none */
    struct sv              side; /* names the lane of a side chain; absent: the session's own */
    struct sv              hangs_on; /* first of a side chain: id of the node that started it */
    bool                   joins;    /* a result of a call: it may follow any part of the answer */
    int64_t                at;       /* 0: unknown */

    /* A message. */
    const char          *role;
    struct sv            content;    /* JSON */
    struct sv            tool_calls; /* JSON list of {"arguments","id","name"} */
    struct sv            details;    /* JSON: reasoning_details */
    struct sv            thinking;   /* plain text, as are the following */
    struct sv            tool_call_id, name;
    struct sv            author;
    struct sv            model;
    struct sv            group; /* answer it is a part of; usage of a group counts once */
    struct harness_usage usage;
    bool                 has_usage;
    bool                 is_turn; /* a person asked something: a turn begins */
    struct sv            prompt;  /* what they asked */

    struct sv edits;  /* id of the node that it takes the place of, or absent */
    bool      failed; /* a result that is an error */

    /* A mark. */
    struct sv mark; /* JSON: its payload */

    /* A compaction. */
    struct sv messages;  /* JSON list, oldest first: what the context was replaced by */
    struct sv kept_from; /* key of the first item that stays behind them; absent: none */

    /* What has to be kept to write the record again. */
    struct sv record; /* JSON */
    struct sv line;   /* plain text of a record that is not JSON */
    struct sv more;   /* JSON object: how `record` was taken apart, by the format's own rules */
};

/* ---- reading ---- */

struct harness_reading {
    struct arena          *a;    /* emptied after each record */
    struct arena          *kept; /* as long as the import */
    struct sv              session, part;
    struct sv              hangs_on; /* of a part: id of the node that started it, or absent */
    struct harness_state  *state;
    struct harness_report *report;
    struct harness_batch  *batch;   /* that is being made */
    struct err             failed;  /* the first error of a look-up in the log */
    VEC(struct harness_item) items; /* what the record became */
};

/* Is there an entry with this key, of this session? Also false when the look-up fails: the import
 * then ends with `failed`, so that the wrong result is not used. */
bool harness_knows(struct harness_reading *x, struct sv key);

struct harness_item *harness_item_add(struct harness_reading *x, enum harness_item_kind kind,
                                      enum harness_link link, struct sv key);

/* Count a note; `what` is a sentence without a full stop. */
void harness_note(struct harness_report *r, int64_t number, const char *fmt, ...) PRINTF(3, 4);

/* The key of a record that has no id: the session, the last record that has one, and a number. */
struct sv harness_loose_key(struct harness_reading *x);

/* A record that is only kept, beside the chain. */
void harness_keep_loose(struct harness_reading *x, const struct json *record);

/* The form of a key in op_ids: the key itself, or a hash when it is too long or needs escapes. */
struct sv harness_key(struct sv key, struct arena *a);
struct sv harness_op_id(enum harness h, struct sv key, struct arena *a);

/* An id that may become a part of names: letters, digits and . _ - inside. */
bool harness_id_is_valid(struct sv id);

/* The first and last characters that tell an id from others: 1b9d6bcd. */
struct sv harness_short_id(struct sv id);

/* The identity of a session, from the first records of its transcript. */
struct harness_identity {
    struct sv session;
    struct sv part;     /* not the session itself but a sub-agent of it, which is a part of it */
    struct sv parent;   /* session that it was forked from, or that started it; absent: none */
    bool      is_agent; /* it was started by it */
    struct sv first;    /* key of its first record with an id, when forks copy records */
};

/* The thread of a session that this one was forked from or started by; absent: there is none. The
 * other session is bound if it is not yet. In a write transaction on .global. */
enum status harness_find_relative(struct log *l, enum harness h, const struct harness_identity *id,
                                  struct sv actor, int64_t at, struct arena *a,
                                  struct harness_binding *out, struct err *e) MUST_USE;

/* "agent-a198549603c157c11", the lane of a sub-agent. */
struct sv harness_agent_lane(struct sv id, struct arena *a);

struct harness_format {
    enum harness harness;
    /* Ids are unique in a session alone: keys of entries are SESSION/ID. A fork has the ids of what
     * it copied, so each is also looked for in the sessions that it comes from. */
    bool local_ids;
    /* Take from a record what it says about its session. True when all is known. `a` keeps it. */
    bool (*identify)(const struct json *record, struct arena *a, struct harness_identity *out);
    /* What the record becomes. */
    void (*read)(struct harness_reading *x, const struct json *record);
};
extern const struct harness_format harness_claude, harness_codex, harness_gemini, harness_pi,
    harness_opencode;
const struct harness_format *harness_format_of(enum harness h);

/* ---- records ---- */

/* Parse JSON; bytes that are not UTF-8 become U+FFFD, and *mended is set. False: not JSON. */
bool harness_parse(struct sv text, struct arena *a, struct json *out, bool *mended);

/* The bytes of a file before `offset` as a hash; absent when they cannot be read. */
struct sv harness_tail(int fd, int64_t offset, struct arena *a);

/* ---- positions ---- */

struct harness_position {
    enum harness harness;
    struct sv    session, part, thread, actor;
    int64_t      at;
};
enum status harness_position_append(struct log *l, const struct harness_position *p,
                                    const struct harness_state *s, struct arena *a,
                                    struct err *e) MUST_USE;
enum status harness_position_read(struct log *l, const struct harness_position *p, struct arena *a,
                                  struct harness_state *s, bool *found, struct err *e) MUST_USE;

/* ---- one transcript ---- */

struct harness_file;

/* Where records come from, and how far they were read: the position is in the state. */
struct harness_input {
    bool in_one; /* reading cannot begin in the middle: all of it is read by one process, which
                  * keeps it open between two batches */
    /* Is there anything after the position? When the file is not the one that was read before, the
     * state is reset, so that reading begins at the start. */
    enum status (*look)(struct harness_file *f, bool found, bool *is_new, struct err *e);
    /* Begin to read behind the position. */
    enum status (*open)(struct harness_file *f, struct err *e);
    /* The text of the next record. *whole is false when it may still be written to; *fits is false
     * for one that is too long, which is passed over. *more false: there is none. Good until the
     * next call. */
    enum status (*next)(struct harness_file *f, struct sv *text, bool *whole, bool *fits,
                        bool *more, struct err *e);
    /* The record was taken: the position is behind it. */
    void (*taken)(struct harness_file *f);
    /* The batch is complete: record how the position will be recognised. */
    void (*save)(struct harness_file *f);
    /* Give back what `in` holds beside `lines`. Only called when open() has set `in`; NULL: there
     * is nothing. */
    void (*close)(struct harness_file *f);
};
extern const struct harness_input harness_lines, harness_lines_ahead, harness_document,
    harness_database;

struct harness_file {
    struct log                  *log;
    const struct harness_source *src;
    const struct harness_limits *limits;
    const struct harness_format *format;
    const struct harness_input  *input;
    struct harness_report       *report;
    struct harness_position      pos;
    struct sv_list               lineage; /* the session, what it was forked from, and so on */
    struct sv                    main;    /* the lane */
    struct sv                    path;
    int                          fd;
    int64_t                      size;  /* of what is read: bytes, or records */
    void                        *in;    /* of the input, in `lines`; NULL while nothing is open */
    const struct json           *ready; /* the record, when the input has parsed it; or NULL */
    bool                         ready_mended;
    bool                         beside; /* the position is that of another file of the session */
    struct arena                 kept, record, batch, lines;
    struct harness_state        *state, *other; /* other: of another session, for a moment */
    struct harness_reading       x;
};

/* Is a file one JSON document on several lines, and not lines of JSON? */
bool harness_document_is(int fd);

void harness_file_restart(struct harness_file *f); /* the state is that of a new transcript */

/* Import what is new in it; pos, main, path and fd say what it is. */
enum status harness_file_import(struct harness_file *f, struct err *e) MUST_USE;

/* Sub-agents of a session of Claude Code, whose files lie beside its transcript: SESSION/subagents/
 * below the directory `dir`. `f` is the transcript itself, imported. */
enum status harness_claude_parts(struct harness_file *f, int dir, struct err *e) MUST_USE;

/* A session of Claude Code begins as a fork of `session` behind the record `parent`. */
struct harness_batch;
enum status harness_claude_fork(struct harness_batch *b, struct sv session, struct sv parent,
                                struct arena *a, struct err *e) MUST_USE;

/* ---- one batch ---- */

/* A run of records that belong to another session and were skipped: see copies.c. */
struct harness_run {
    struct harness_text first; /* key of the first */
    struct sb           seqs;  /* of their entries, with commas between */
    int64_t             n, at;
};

/* What is appended in one transaction. */
struct harness_batch {
    struct log           *log;
    enum harness          harness;
    const struct sv_list *lineage; /* sessions that keys are looked for in; NULL: keys are unique */
    struct sv             thread, session, part;
    struct sv             main;     /* the lane of the session, or of the part that is read */
    struct sv             hangs_on; /* of a sub-agent: the node that started it, or absent */
    struct sv             actor;
    struct arena         *a; /* emptied when the entries were appended */
    struct harness_state *state;
    int64_t               now; /* time of records that stand before all that have one */
    struct harness_report *report;
    struct map             waiting; /* op_id → struct harness_found of what is not appended yet */
    int64_t                next;    /* seq of the next entry */
    VEC(struct entry) entries;
    size_t             bytes;
    struct harness_run run;
};

/* An entry of the log that has a given op_id, or will have. */
struct harness_found {
    int64_t   seq, at;
    struct sv lane;
};

/* The entry of a key. With `at` the entry must have that time, unless it belongs to the session
 * itself. */
enum status harness_lookup(struct harness_batch *b, struct sv key, int64_t at, struct arena *a,
                           struct harness_found *out, bool *found, struct err *e) MUST_USE;

/* The op_id that an item of the session gets. */
struct sv harness_own_op_id(const struct harness_batch *b, struct sv key, struct arena *a);

/* Where an item goes: place.c. */
struct harness_place {
    bool      known;     /* it is in the log already */
    bool      is_others; /* known, and on a lane of another session */
    struct sv lane;
    bool      forks;    /* the lane begins with it: */
    struct sv from;     /* it leaves this lane ... */
    int64_t   at;       /* ... at this entry; -1: it shares nothing */
    bool      switches; /* the lane is there, and another one was used last */
};
enum status harness_place(struct harness_batch *b, const struct harness_item *item, struct arena *a,
                          struct harness_place *out, struct err *e) MUST_USE;

/* Append an item, unless it is known, and what it needs: a fork, a switch. `a` is scratch. */
enum status harness_batch_add(struct harness_batch *b, const struct harness_item *item,
                              struct arena *a, struct err *e) MUST_USE;
enum status harness_batch_flush(struct harness_batch *b, struct err *e) MUST_USE;

/* Append an item that is only kept, beside the chain, unless it is known. */
enum status harness_batch_keep(struct harness_batch *b, const struct harness_item *item,
                               struct arena *a, struct err *e) MUST_USE;

/* An item that is on a lane of another session; and the end of a run of them, before an item of the
 * session's own and at the end of a batch: copies.c. */
enum status harness_shared_add(struct harness_batch *b, const struct harness_item *item,
                               const struct harness_place *p, struct arena *a,
                               struct err *e) MUST_USE;
enum status harness_shared_end(struct harness_batch *b, struct arena *a, struct err *e) MUST_USE;

/* The payload of an item on its lane. `base` is for compactions: the last entry that they hide. */
struct sv harness_payload(const struct harness_batch *b, const struct harness_item *item,
                          struct sv lane, struct sv op_id, int64_t base, bool rebase,
                          struct arena *a);

/* ---- rows ---- */

struct sv harness_bind_key(enum harness h, struct sv session, struct arena *a);
struct sv harness_of_key(struct sv thread, enum harness h, struct sv session, struct arena *a);
struct sv harness_position_key(enum harness h, struct sv session, struct sv part, struct arena *a);

/* Any JSON text in canonical form. */
struct sv harness_canonical(struct sv text, struct arena *a);

#endif
