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

/* The objective of threads that were made for a session that nobody had a thread for. */
#define HOOK_OBJECTIVE SV("sessions")

/* Where small files about sessions that run are kept. */
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
    bool           whole; /* what is below `paths` is removed or moved as well */
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

/* As the log has it, in any transaction. HOOK_GUESSED and HOOK_NEW are not answers of this. */
enum status hook_thread_find(struct log *l, enum harness h, struct sv session, struct sv given,
                             struct sv parent, struct sv otherwise, struct arena *a,
                             struct hook_thread *out, struct err *e) MUST_USE;

/* ---- what tools may do (hook_deny.c, hook_tool.c) ------------------------------------------ */

/* Why a tool may not run, for the agent; absent: it may. */
enum status hook_deny(struct request *r, struct share *s, struct sv thread,
                      const struct hook_event_params *p, struct sv *why, struct err *e) MUST_USE;

/* Before a tool that may run anything: keep how the files are that the thread may only read. After
 * it: which of them changed, as a text for agent and person; absent: none. */
enum status hook_marks_keep(struct request *r, struct share *s, struct sv thread,
                            const struct hook_event_params *p, struct err *e) MUST_USE;
enum status hook_marks_compare(struct request *r, struct share *s, struct sv thread,
                               const struct hook_event_params *p, struct sv *report,
                               struct err *e) MUST_USE;

/* A session ends: nothing of it is kept any longer. */
void hook_marks_drop(struct request *r, const struct hook_event_params *p);

/* ---- what was told (hook_told.c) ----------------------------------------------------------- */

/* A program may start a session twice before it asks the model: when it is resumed and compacted at
 * once. Was this context told at a start from another source, since the last prompt or compaction?
 * If not, it is from now on. A start from the same source again is one of another process, whose
 * predecessor was killed. */
bool hook_told(struct request *r, struct sv session, struct sv source, struct sv context);
void hook_told_forget(struct request *r, struct sv session);

/* A program that says nothing of a compaction wrote it down: the next event is as good as a start.
 * And was there one since it was last asked? */
void hook_compacted(struct request *r, struct sv session);
bool hook_compacted_take(struct request *r, struct sv session);

#endif
