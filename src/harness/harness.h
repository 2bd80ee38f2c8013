/* Sessions of other programs: Claude Code, Codex, opencode, Gemini CLI, pi.
 *
 * Such a program (a harness) keeps a transcript of each session. This room reads transcripts into
 * threads, from the start or what was added since the last time, and writes lanes as transcripts
 * again. A session becomes a lane of a thread: the thread that it is bound to, or one of its own.
 *
 *     struct harness_source src = { .harness = HARNESS_CLAUDE_CODE, .fd = fd, .path = path };
 *     struct harness_report report;
 *     harness_report_init(&report, a);
 *     if (harness_import(&log, &src, &limits, &report, e)) ...
 *
 * What a record of a transcript becomes (docs/FORMATS.md has it format by format):
 *
 *     a turn                an ai_message; results of tools have the role tool
 *     a compaction          a replace whose snapshot is the summary
 *     a fork, a rewind      a lane that shares its origin up to there
 *     a sub-agent           a lane of its own, whose first node hangs on the call that started it
 *     anything else         a harness_record, which is kept, exported and shown to no model
 *
 * The entry of a record has the op_id `NAME:KEY`, where KEY is the record's own id or follows from
 * its place among records that have one. So a record is appended once, however often it is read:
 * by a hook while the session runs, by an import later, or by both at the same time. How far a
 * transcript was read is an entry too (harness_position), appended in the same transaction as what
 * was read.
 *
 * Nothing in a transcript is fatal. A record that is not understood is kept if it is JSON, and
 * counted in the report in any case. Records are untrusted text: nothing in them becomes a path, a
 * command or a name of a thread without being checked. */
#ifndef HEDDLE_HARNESS_H
#define HEDDLE_HARNESS_H

#include "base/json.h"
#include "base/vec.h"
#include "thread/log.h"

/*    id           name           what people call it */
#define HARNESS_TABLE(X)                                                                           \
    X(CLAUDE_CODE, "claude-code", "Claude Code")                                                   \
    X(CODEX, "codex", "Codex")                                                                     \
    X(OPENCODE, "opencode", "opencode")                                                            \
    X(GEMINI, "gemini", "Gemini CLI")                                                              \
    X(PI, "pi", "pi")

enum harness {
#define X(id, name, title) HARNESS_##id,
    HARNESS_TABLE(X)
#undef X
        HARNESS_COUNT
};
const char *harness_name(enum harness h);
const char *harness_title(enum harness h);
bool        harness_find(struct sv name, enum harness *out);

/* The view of this room: which sessions a thread has and how far their transcripts were read; in
 * .global: which thread a session is bound to. */
extern const struct view harness_view;

/* ---- bindings ---- */

/* Where a session is recorded. */
struct harness_binding {
    struct sv thread;
    struct sv lane; /* of the session's own messages */
};

/* The binding of a session. In any transaction. */
enum status harness_bound(struct log *l, enum harness h, struct sv session, struct arena *a,
                          struct harness_binding *out, bool *found, struct err *e) MUST_USE;

/* Bind a session to a thread, in a write transaction. An absent lane is "default" in a thread
 * without entries, else one that is named after the session. To bind it again to the same thread
 * changes nothing; if it is bound to another thread, earlier records stay in the old thread and new
 * ones go to the new thread. *out (may be NULL) is the binding afterwards. ST_INVALID_SYNTAX: not
 * an id of a session, or not a name. */
enum status harness_bind(struct log *l, enum harness h, struct sv session,
                         const struct harness_binding *to, struct sv actor, int64_t at,
                         struct arena *a, struct harness_binding *out, struct err *e) MUST_USE;

/* The default thread of a session: "claude-code-1b9d6bcd". It contains the full id of the session
 * when the short name belongs to another session. Outside of the transaction that binds the session
 * the name may still change, because another session may take it. */
enum status harness_thread_name(struct log *l, enum harness h, struct sv session, struct arena *a,
                                struct sv *out, struct err *e) MUST_USE;

/* The binding of a session; one that has none is bound to a thread of its own, whose name is chosen
 * here, so that two sessions never get the same. In a write transaction. */
enum status harness_bind_own(struct log *l, enum harness h, struct sv session, struct sv actor,
                             int64_t at, struct arena *a, struct harness_binding *out,
                             struct err *e) MUST_USE;

/* ---- importing ---- */

/* What is read. Paths are never opened here: the caller opened the files. */
struct harness_source {
    enum harness harness;
    int          fd;   /* the transcript, a regular file; stays open, but its file offset changes */
    struct sv    path; /* of it, for messages; kept in the log */
    /* The directory in which the transcript lies, and those of sub-agents (Claude Code) or other
     * files of the same session (Gemini CLI) beside it; -1: only the transcript is read. opencode
     * before 1.2: the directory `storage`, and fd is not used; -1: fd is the database. */
    int       dir;
    struct sv session; /* its id; absent: what the transcript says. opencode needs it */
    struct sv cwd;     /* the project, where the transcript does not say it; or absent */
    struct sv thread;  /* to bind it to when it is not bound; absent: see harness_thread_name() */
    struct sv actor;   /* who imports */
    int64_t   now;
};

struct harness_limits {
    int64_t bytes;       /* of the transcript to read at most in this call; 0: all */
    int64_t deadline_us; /* of clock_steady_us(): stop between records after it; 0: none */
    /* Called between batches; an error ends the import, what was committed stays. May be NULL. */
    enum status (*check)(void *ctx, int64_t done, int64_t total, struct err *e);
    void *ctx;
};

/* Something that was not understood, or was changed by the import. */
struct harness_note {
    struct sv what;  /* "records of type 'x': kept, not shown to models" */
    int64_t   count; /* how many */
    int64_t   first; /* line, or number of the record, of the first */
};

struct harness_report {
    struct arena *a;
    struct sv     session, thread, lane, title;
    int64_t       read;     /* records read */
    int64_t       entries;  /* appended, positions not counted */
    int64_t       messages; /* of them, messages */
    int64_t       known;    /* records that were there already */
    int64_t       lanes;    /* lanes that were created */
    int64_t       compactions;
    int64_t       bytes; /* of the transcript that were read now */
    bool          more;  /* it stopped at a limit: call again */
    bool rewritten; /* the file was replaced since the last time, and was read from its start */
    VEC(struct harness_note) notes;
    int64_t others; /* notes of further kinds, beyond HARNESS_NOTES_MAX */
};
void harness_report_init(struct harness_report *r, struct arena *a);

/* Import what is new in a transcript. Outside a transaction: it makes its own, one for each batch,
 * so that others can write meanwhile and nothing is read twice after a crash. A last line without
 * its end is left for the next time: its program is still writing it. Costs what is new, plus a
 * few reads. ST_INVALID_SYNTAX: not a transcript of that program. ST_CONFLICT, reason "busy":
 * another process is writing for longer than the store waits. */
enum status harness_import(struct log *l, const struct harness_source *src,
                           const struct harness_limits *limits, struct harness_report *r,
                           struct err *e) MUST_USE;

/* The ids of all sessions that a store of opencode holds, oldest first; fd and dir as above. */
enum status harness_stored_sessions(int fd, int dir, struct arena *a, struct sv **out, size_t *n,
                                    struct err *e) MUST_USE;

#endif
