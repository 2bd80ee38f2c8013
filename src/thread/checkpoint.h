/* Checkpoints: the state of a run in a token that its holder keeps. A token is signed, may expire,
 * may be sealed, and carries the context and a pointer into the log it was taken from:
 *
 *     checkpoint_take(&log, &from, &a, &c, e)              what the log says now
 *     checkpoint_sign(&c, &keys, NULL, &a, &token, e)      text for the holder
 *     ...
 *     checkpoint_verify(token, &keys, fingerprint, now, &a, &c, e)
 *     checkpoint_restore(&log, token, &c, actor, now, &a, &result, e)
 *
 * Taking one changes nothing; restoring one is a `replace` with reason restore whose op_id comes
 * from the token, so that restoring it twice is a duplicate, unless the lane has new messages: then
 * the token is restored again. Tokens are refused with the reasons of thread/token.h. Keys, clock
 * and configuration are arguments. */
#ifndef HEDDLE_CHECKPOINT_H
#define HEDDLE_CHECKPOINT_H

#include "thread/context.h"
#include "thread/op.h"
#include "thread/token.h"

#define CHECKPOINT_ISSUER "jido_ai/react"

enum { CHECKPOINT_STATE_VERSION = 3 };

/*    status                       word */
#define CHECKPOINT_STATUSES(X)                                                                     \
    X(CHECKPOINT_RUNNING, "running")               /* the model is to be asked */                  \
    X(CHECKPOINT_AWAITING_TOOLS, "awaiting_tools") /* the pending calls are to be made */          \
    X(CHECKPOINT_COMPLETED, "completed")                                                           \
    X(CHECKPOINT_FAILED, "failed")                                                                 \
    X(CHECKPOINT_CANCELLED, "cancelled")

enum checkpoint_status {
#define X(status, word) status,
    CHECKPOINT_STATUSES(X)
#undef X
};

/* The configuration of a run; a token is only restored into a run with the same one. */
struct checkpoint_config {
    struct sv        model, system_prompt; /* absent: not set */
    int64_t          max_iterations;
    const struct sv *tools; /* names, in any order */
    size_t           n_tools;
};

/* A token is taken between two steps of a run, from the log: of the runtime's state it holds what
 * is in the log, and nothing of a stream that was in progress. */
struct checkpoint_state {
    struct sv              run_id, request_id;
    enum checkpoint_status status;
    int64_t                iteration, seq; /* seq of the last runtime event */
    struct context         context;
    struct sv              active_tools;       /* canonical list of names */
    struct sv              pending_tool_calls; /* canonical list of {arguments,id,name,result};
                                                * result: null, or of a call that ended early */
    struct sv usage, result, error;            /* canonical JSON; absent: none */
    int64_t   started_at_ms, updated_at_ms;    /* 0: unknown */
};

struct checkpoint {
    struct sv               fingerprint, kid;
    int64_t                 iat_ms, exp_ms;
    bool                    expires, sealed;
    struct sv               thread, lane, agent; /* thread absent: the token names none */
    int64_t                 rev;                 /* the log's, when the token was taken ... */
    struct sv               chain;               /* ... and its chain value there, 64 hex digits */
    struct checkpoint_state state;
    struct sv               payload; /* of a verified token: its canonical JSON */
};

const char *checkpoint_status_name(enum checkpoint_status s);

/* What a runtime that resumes does first. */
enum checkpoint_next { CHECKPOINT_STOP, CHECKPOINT_ASK_MODEL, CHECKPOINT_RUN_TOOLS };
enum checkpoint_next checkpoint_next(const struct checkpoint_state *s);

/* base64url(SHA-256(canonical JSON of the configuration)); the order of tools does not matter. */
struct sv checkpoint_fingerprint(const struct checkpoint_config *c, struct arena *a);

/* Expiry of a token issued now: `ttl_ms` of 0 or less is never. */
void checkpoint_set_times(struct checkpoint *c, int64_t now_ms, int64_t ttl_ms);

/* Sign with keys[0], whose kid goes into the payload. `salt` not NULL: seal it, with these
 * fresh random bytes. ST_LIMIT_EXCEEDED: the context is too large for a token. */
enum status checkpoint_sign(const struct checkpoint *c, const struct checkpoint_keys *keys,
                            const unsigned char *salt, struct arena *a, struct sv *token,
                            struct err *e) MUST_USE;

/* All checks that need no log, in order. */
enum status checkpoint_verify(struct sv token, const struct checkpoint_keys *keys,
                              struct sv fingerprint, int64_t now_ms, struct arena *a,
                              struct checkpoint *out, struct err *e) MUST_USE;

/* The state of a token, or one that was kept elsewhere. */
enum status checkpoint_state_read(const struct json *v, struct arena *a,
                                  struct checkpoint_state *out, struct err *e) MUST_USE;

/* The same run, cancelled: sign it to get a token of a run that has ended. The old token stays
 * valid. */
struct checkpoint checkpoint_cancelled(const struct checkpoint *c, struct sv reason,
                                       struct arena *a);

/* ---- with a log ------------------------------------------------------------------------ */

struct checkpoint_from {
    struct sv                       thread;
    struct sv                       agent; /* absent: default */
    struct sv                       lane;  /* absent: of its active run, else its active one */
    const struct checkpoint_config *config;
};

/* Take a checkpoint of an agent's run and lane from the log. If some tools of a turn have not
 * answered, their calls are pending and the status is awaiting_tools, never running. In a thread
 * without any run the ids are made from its chain. ST_NOT_FOUND: no such thread or lane. Times are
 * not set. */
enum status checkpoint_take(struct log *l, const struct checkpoint_from *from, struct arena *a,
                            struct checkpoint *out, struct err *e) MUST_USE;

/* Is this the log the token was taken from? In a transaction. Reasons missing_thread,
 * thread_mismatch. */
enum status checkpoint_check_log(struct log *l, const struct checkpoint *c, struct arena *a,
                                 struct err *e) MUST_USE;

/* Check the log and append the replace, in one transaction. Results of pending calls that had come
 * before their turn become messages of the context. During a run of the agent the operation is
 * deferred like any other. */
enum status checkpoint_restore(struct log *l, struct sv token, const struct checkpoint *c,
                               struct sv actor, int64_t now_ms, struct arena *a,
                               struct op_result *out, struct err *e) MUST_USE;

#endif
