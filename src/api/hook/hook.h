/* What the operations on events of other programs share.
 *
 * hook.event answers at once and only reads: what an agent is to be told, whether a tool may run.
 * hook.record does what takes time and writes: it binds the session to a thread, makes the thread
 * when there is none, and reads the transcript. A door prints the answer of the first before it
 * runs the second. */
#ifndef HEDDLE_API_HOOK_H
#define HEDDLE_API_HOOK_H

#include "api/request.h"
#include "harness/harness.h"
#include "share/share.h"

extern const struct operation op_hook_event, op_hook_record;

/* The objective of threads that are created for sessions without a thread. */
#define HOOK_OBJECTIVE SV("sessions")

/* The directory of small files about running sessions. */
#define HOOK_DIR ".heddle/hook"

extern const char *const hook_harnesses[];
extern const char *const hook_events[];
enum hook_event {
    HOOK_START,       /* a session begins or goes on: source says how */
    HOOK_PROMPT,      /* a person has asked for something */
    HOOK_TOOL_BEFORE, /* a tool is about to run */
    HOOK_TOOL_AFTER,
    HOOK_COMPACT, /* the conversation is about to be compacted, or was */
    HOOK_STOP,    /* the agent has answered */
    HOOK_END,     /* the session ends */
};

struct hook_event_params {
    struct sv      harness, session, event, source;
    struct sv      thread;    /* that somebody named for this session */
    struct sv      otherwise; /* for a session that is not bound */
    struct sv      parent;    /* the session that started it, or that it was forked from */
    struct sv      cwd, transcript, tool, call, command;
    struct sv_list paths;
    int64_t        idle, limit;
    bool           runs, prompted;
    bool           whole;      /* what is below `paths` is removed or moved as well */
    struct sv      from_files; /* answer for this thread from the files of .leslie, which are not in
                                * the log yet */
};

struct hook_record_params {
    struct sv harness, session, thread, otherwise, parent, cwd, transcript;
    int64_t   limit; /* bytes of the transcript; 0: all */
    bool      own;   /* a session that belongs nowhere gets a thread of its own */
};

/* Which thread a session belongs to, and how that is known. */
enum hook_how {
    HOOK_UNBOUND,
    HOOK_GIVEN,
    HOOK_BOUND,
    HOOK_PARENT,
    HOOK_OTHERWISE,
    HOOK_GUESSED,
    HOOK_NEW
};
struct hook_thread {
    enum hook_how how;
    struct sv     thread, lane; /* lane: of a session that is bound */
};

/* Finds the thread of a session in the log, in any transaction. Never sets HOOK_GUESSED or
 * HOOK_NEW. */
enum status hook_thread_find(struct log *l, enum harness h, struct sv session, struct sv given,
                             struct sv parent, struct sv otherwise, struct arena *a,
                             struct hook_thread *out, struct err *e) MUST_USE;

/* ---- what tools may do (hook_deny.c, hook_tool.c) ------------------------------------------ */

/* Why a tool may not run, for the agent; absent: it may. */
enum status hook_deny(struct request *r, struct share *s, struct sv thread,
                      const struct hook_event_params *p, struct sv *why, struct err *e) MUST_USE;

/* Import what the files of .leslie have and the log lacks: they came with a clone. */
enum status hook_read_in(struct request *r, struct err *e) MUST_USE;

/* Before a tool that may run anything: save the hashes of the files that the thread may only read.
 * After it: report which of them changed, as a text for agent and person; absent: none. */
enum status hook_marks_keep(struct request *r, struct share *s, struct sv thread,
                            const struct hook_event_params *p, struct err *e) MUST_USE;
enum status hook_marks_compare(struct request *r, struct share *s, struct sv thread,
                               const struct hook_event_params *p, struct sv *report,
                               struct err *e) MUST_USE;

/* Removes the saved hashes of a session that ends. */
void hook_marks_drop(struct request *r, const struct hook_event_params *p);

/* ---- what was told (hook_told.c) ----------------------------------------------------------- */

/* A program may report two starts before it asks the model: a session that is compacted while it is
 * resumed. True when the same context was given at a start with another source since the last
 * prompt or compaction: then it is not given again. Else it is remembered as given. A second start
 * with the same source comes from a new process after the first was killed, and gets the context
 * again. */
bool hook_told(struct request *r, struct sv session, struct sv source, struct sv context);
void hook_told_forget(struct request *r, struct sv session);

/* A program without an event for compactions wrote one into its transcript: the next event gets the
 * context, as a start does. hook_compacted_take(): was there one since the last call? */
void hook_compacted(struct request *r, struct sv session);
bool hook_compacted_take(struct request *r, struct sv session);

#endif
