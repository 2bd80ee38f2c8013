/* The state of a turn in progress. For the files of this room. */
#ifndef HEDDLE_TURN_INTERNAL_H
#define HEDDLE_TURN_INTERNAL_H

#include "agent/spool.h"
#include "agent/turn.h"
#include "command/scan_watch.h"
#include "thread/run.h"

/* A result shown to the agent, to find out whether a later round names it. */
struct turn_shown {
    int64_t            entry;
    struct shown_item *items;
    size_t             n;
    bool               named;
};

struct turn_work {
    const struct turn_request *q;
    struct session            *s;
    struct arena              *a;
    struct turn_outcome       *out;
    struct loom_run            run;
    struct run_state           state;
    struct spool               spool;
    struct assembly            x;
    struct turn_view           view; /* the view from which x was made */
    bool                       assembled;
    bool                       recorded; /* block and injections before the input are in the log */
    int64_t                    round, tries; /* tries: of this round */
    struct node                node;         /* what the agent answers */
    int64_t                    held;         /* slot that is leased; NO_NODE: none */
    int64_t     renewed, looked; /* when the lease was renewed, and when the run's state was read */
    atomic_bool cancel;
    bool        over; /* run_finished is in the log */
    struct docs docs; /* the session's own functions, which turn_docs() wraps */
    enum status (*ask)(void *ctx, const struct model_request *q, struct arena *a,
                       struct model_response *out, struct err *e); /* wrapped by turn_asks() */
    void (*ask_all)(void *ctx, struct model_asking *list, size_t n, void (*wait)(void *ctx),
                    void *wait_ctx, struct arena *a);
    void *ask_ctx;
    bool  shrunk; /* the context was shortened, because the provider's window was too small */
    /* For an answer that the provider paused: how often in a row, the token with which it continues
     * (absent: none is needed), and how many messages after the assembly belong to it. */
    int64_t   pauses;
    struct sv token;
    size_t    paused;
    VEC(struct turn_shown) shown;
    VEC(struct sv) nodes;
    VEC(struct sv) unheard; /* nodes of steering that no model was given */
    VEC(struct sv) changes; /* what turn_tell_change() has told */
    struct err gone;        /* why an event could not be sent; code ST_OK: none failed */
};

/* An answer of the model. */
struct turn_answer {
    struct model_response m;
    struct sv             text;    /* the part of the answer that is used */
    struct sv             rest;    /* text after that part */
    struct sv             details; /* thinking to be sent back, or absent */
    struct scan           scan;
    struct sv             hash;
    bool                  empty;   /* the answer has no content */
    bool                  goes_on; /* the provider paused it, and is asked to go on */
};

/* ---- turn.c ---- */

enum status turn_tell(struct turn_work *t, const struct turn_event *ev, struct err *e) MUST_USE;
enum status turn_notice(struct turn_work *t, struct err *e, const char *fmt, ...) PRINTF(3, 4);
/* A request was not sent as it was asked for: told once in a turn. */
enum status turn_tell_change(struct turn_work *t, struct sv change, struct err *e) MUST_USE;

/* Add the usage of an answer to what the turn has used: its limits apply to the sum. Tokens that
 * are not known are not added. */
void turn_add_used(struct turn_work *t, const struct model_usage *m);

/* Add the model's answer and the results of its commands after the assembly. */
enum status turn_add_answer(struct turn_work *t, const struct turn_answer *x,
                            struct err *e) MUST_USE;
/* Must the provider be asked to continue this answer? Call it before the answer is added; the
 * result is remembered. */
bool        turn_goes_on(struct turn_work *t, const struct turn_answer *x);
void        turn_note_pause(struct turn_work *t, const struct turn_answer *x);
enum status turn_run_batch(struct turn_work *t, const struct turn_answer *x,
                           struct err *e) MUST_USE;
enum status turn_add_input(struct turn_work *t, struct sv text, const struct node *n,
                           struct err *e) MUST_USE;
enum status turn_assemble(struct turn_work *t, const struct turn_view *view,
                          struct err *e) MUST_USE;

/* ---- turn_ask.c ---- */

/* Ask the model, or take the answer that is in a file; `asked`: it was asked before, by a process
 * that is gone. ST_MODEL_ERROR: it failed before anything came. */
enum status turn_ask(struct turn_work *t, bool asked, struct turn_answer *out,
                     struct err *e) MUST_USE;

/* Find the part of an answer's text that is used: its commands and its prose. */
void turn_scan(struct turn_work *t, struct turn_answer *x);

/* ---- turn_log.c: the steps, each a transaction ---- */

enum status turn_log_start(struct turn_work *t, struct err *e) MUST_USE;
enum status turn_log_request(struct turn_work *t, struct sv body, bool again,
                             struct err *e) MUST_USE;
/* Log the answer; ends the run when nothing follows. */
enum status turn_log_answer(struct turn_work *t, struct turn_answer *x, struct err *e) MUST_USE;
/* Ends the run. Steering that waits becomes nodes: no model is given it any more. */
enum status turn_log_end(struct turn_work *t, const struct run_ending *how, struct err *e) MUST_USE;
/* Steering that waits becomes messages, which are added behind the assembly. */
enum status turn_log_drain(struct turn_work *t, struct err *e) MUST_USE;
/* What was said to a run that was ended from elsewhere, and never given to a model, becomes nodes
 * after its end. */
enum status turn_log_unheard(struct turn_work *t, struct err *e) MUST_USE;
/* Keep the lease while a model writes; sees whether the run was ended from outside. */
void turn_log_wait(void *turn);

/* ---- turn_resume.c ---- */

/* Read the run's steps from the log and put the messages of its rounds behind the assembly. *asked:
 * a model was asked, and there is no answer. */
enum status turn_reload(struct turn_work *t, bool *asked, struct err *e) MUST_USE;

/* ---- turn_docs.c ---- */

/* From now on a document is saved before a command writes to it. */
void turn_docs(struct turn_work *t);

/* ---- turn_asks.c ---- */

/* From now on answers of models to commands are stored as they arrive, and read from there on
 * resumption. */
void turn_asks(struct turn_work *t);

#endif
