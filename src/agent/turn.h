/* One turn of an agent: a model is sent what the log says it should see, its output is scanned for
 * commands while it arrives, the stream is stopped after a batch of commands, the commands run, and
 * their results are sent back. This repeats until the model answers without commands.
 *
 *     struct turn_request q = { .session = &s, .message = text, .speaker = SV("ana"), ... };
 *     struct turn_outcome out;
 *     if (turn_run(&q, a, &out, e)) return err_code(e);
 *
 * Every step is in the log when it is known (thread/run.h): what was said and run_started;
 * model_request, before a model is asked; the answer, as a node of its prose and the raw
 * model_response with what it holds of commands; a tool_action for each command; run_finished. So a
 * turn whose process was killed goes on (turn_resume()): what was done is found in the log and is
 * not done again, an answer that had arrived is in a file (spool.h) and is not asked for again, and
 * a request whose outcome is unknown is reported before it is repeated.
 *
 * A provider may pause an answer and continue it when it is asked again (MODEL_PAUSE of model.h).
 * The part so far is an answer like any other, with its node and its model_response; the next round
 * sends it back as the provider wants it.
 *
 * Lines of tools are never part of the conversation: the nodes of a turn are its prose. The rounds
 * of a turn see them, because the model must know what it did. */
#ifndef HEDDLE_TURN_H
#define HEDDLE_TURN_H

#include "assemble/assemble.h"
#include "command/session.h"

enum {
    TURN_ROUNDS = 25, /* default limit of rounds */
    TURN_PAUSES = 10, /* how often in a row a provider may pause an answer */
};

/* ---- events during a turn ---- */

enum turn_event_type {
    TURN_STARTED,  /* text: the run; node: what is answered */
    TURN_RESUMED,  /* text: the run */
    TURN_TEXT,     /* text: a piece of prose */
    TURN_THINKING, /* text: a piece of the model's thinking */
    TURN_COMMAND,  /* text: a command as the model gave it, with its arrow */
    TURN_THOUGHT,  /* text: a line of → think */
    TURN_RESULT,   /* result */
    TURN_NODE,     /* node: what the prose of the round has become */
    TURN_INPUT,    /* text: steering that the model is given now; node: what it has become */
    TURN_USAGE,    /* usage: of the round; used: of the turn so far */
    TURN_NOTICE,   /* text: one sentence that a person should know */
};

/* Tokens and cost; cost -1: unknown. */
struct turn_used {
    int64_t requests, input, output, cost;
    bool    estimated; /* at least one answer did not report its usage */
};

struct turn_event {
    enum turn_event_type      type;
    int64_t                   round; /* from 1 on */
    struct sv                 text, node;
    const struct result      *result;
    const struct model_usage *usage;
    const struct turn_used   *used;
};

/* ---- the request ---- */

/* The state of the log from which a turn is assembled. */
struct turn_view {
    int64_t at;      /* the last entry that counts; -1: all of them do */
    int64_t now;     /* the time; 0: now */
    int64_t reserve; /* tokens to be left free */
    int64_t budget;  /* tokens in total; 0: from the settings */
};

struct turn_request {
    struct session *session; /* of the agent; no transaction is open */
    int             root_fd; /* of the workspace */
    struct sv       message; /* the message to the agent; absent: it answers its present position */
    struct sv       speaker; /* who says it */
    struct sv at; /* the node that the message follows; absent: the end of the agent's branch */
    struct sv request_id;    /* a name; absent: one is made */
    struct sv system_prompt; /* of the settings, for lanes without one; or absent */

    /* Limits of the turn; 0: none. When one is exceeded, the turn ends and the outcome names it. */
    int64_t max_rounds, max_tokens, max_cost; /* cost: nanodollars */

    /* Assemble what the agent is sent, in a transaction of its own. *seen is the last entry that
     * counted, and the time. */
    enum status (*assemble)(void *ctx, const struct turn_view *view, struct arena *a,
                            struct assembly *out, struct turn_view *seen, struct err *e);
    /* Called when the block and injections before the input were delivered, to record it
     * (share_delivered()) in a transaction of its own; may be NULL. */
    enum status (*delivered)(void *ctx, const struct assembly *x, struct err *e);
    /* Could this model be asked, as far as is known without asking? May be NULL. */
    enum status (*ready)(void *ctx, struct sv model, struct err *e);
    /* model_replay(). NULL: answers in files are not looked at. */
    enum status (*replay)(void *ctx, const struct model_request *q, struct sv headers,
                          struct sv bytes, struct arena *a, struct model_response *out, bool *whole,
                          struct err *e);
    enum status (*event)(void *ctx, const struct turn_event *ev, struct err *e); /* may be NULL */
    void *ctx;
};

/* ---- how it ended ---- */

struct turn_outcome {
    struct sv        run;
    const char      *outcome; /* "completed", "failed", "cancelled" */
    struct sv        reason;  /* "final_answer", "max_iterations", "max_tokens", "timeout", … */
    struct sv        text;    /* the last prose; empty: there was none */
    struct sv       *nodes;   /* that the turn's prose has become, oldest first */
    size_t           n_nodes;
    struct sv       *unheard; /* nodes of what was said to the turn and no model was given */
    size_t           n_unheard;
    int64_t          rounds, commands;
    struct turn_used used;
    struct err       error; /* of a turn that failed; code ST_OK: there is none */
};

/* ST_CONFLICT: the agent's turn, or that of another one on this branch, is going on (reasons
 * "busy", "lane_busy", "leased", "running"). ST_NOT_FOUND: there is nothing to answer. What `ready`
 * returned: nothing was written. A turn that failed is ST_OK: see `outcome`. With a request_id that
 * was used before, by the same agent, the turn is continued, or its outcome is returned. */
enum status turn_run(const struct turn_request *q, struct arena *a, struct turn_outcome *out,
                     struct err *e) MUST_USE;

/* Continue the agent's active turn, which no process runs any more. ST_NOT_FOUND, reason "idle":
 * there is none. */
enum status turn_resume(const struct turn_request *q, struct arena *a, struct turn_outcome *out,
                        struct err *e) MUST_USE;

#endif
