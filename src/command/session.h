/* An agent at work in a tree: what it writes is scanned, its commands are run one after
 * another, each in a transaction of its own, and everything is recorded.
 *
 *     struct session s;
 *     if (session_open(&s, log, &env, thread, agent, now, a, e)) return err_code(e);
 *     if (session_turn(&s, output, &turn, e)) return err_code(e);
 *     for (size_t i = 0; i < turn.n; i++) print(turn.results[i].text);
 *
 * An error of a command is a result, shown to the agent; only what concerns the whole (a log that
 * is damaged or cannot be written) ends the turn. */
#ifndef HEDDLE_COMMAND_SESSION_H
#define HEDDLE_COMMAND_SESSION_H

#include "command/docs.h"
#include "command/small.h"
#include "command/tools.h"
#include "loom/results.h"
#include "loom/show.h"
#include "model/model.h"
#include "search/search.h"

/* What a session needs from outside. Zero is a working default for each. */
struct session_env {
    struct docs docs; /* no read function: there are no documents */

    /* Ask a subject model or a summariser. NULL: `continue` is ST_MODEL_ERROR. */
    enum status (*ask)(void *ctx, const struct model_request *q, struct arena *a,
                       struct model_response *out, struct err *e);
    void *ask_ctx;
    /* Ask several at once, as model_complete_all() does. NULL: one after another with `ask`. */
    void (*ask_all)(void *ctx, struct model_asking *list, size_t n, void (*wait)(void *ctx),
                    void *wait_ctx, struct arena *a);
    const atomic_bool *cancel; /* ends what is asked, and the batch; NULL: nobody can */

    /* Exact token counts. NULL: a quarter of the characters, labelled with a ~. */
    size_t (*count_tokens)(void *ctx, struct sv text);
    void *tokens_ctx;

    /* The registry's title and mode of a thread; absent when it has none. NULL: none. */
    enum status (*describe)(void *ctx, struct sv thread, struct arena *a, struct sv *title,
                            struct sv *mode, struct err *e);
    /* Says to the store what opening a session of the thread will read: a hint. NULL: nothing. */
    void (*want)(void *ctx, struct sv thread);
    void *describe_ctx;

    /* Web search. NULL: not configured. What it finds is made safe where it is shown. */
    enum status (*search)(void *ctx, const struct search_query *q, struct arena *a,
                          struct search_answer *out, struct err *e);
    void *search_ctx;

    bool      seed_mixed; /* do not mix the thread's state into HEDDLE_SEED again (rand_mix()) */
    struct sv subject; /* agent that `continue` asks; absent: the only model without loom_aware */
    struct small_models *small; /* who makes summaries (small.h); NULL: nobody, extracts do */
    struct sv
        classifier; /* model that suggests a command for a line nothing understands; or absent */
    /* Text is about to go to a company (company.h); `own`: it is that of the agent that asks. NULL:
     * nobody is told. */
    void (*leaves)(void *ctx, struct sv company, bool own, const char *what);
    void   *leaves_ctx;
    int64_t result_tokens; /* longer results are cut; 0: RESULT_TOKENS */
    int64_t budget;        /* working context; 0: CONTEXT_BUDGET */
    bool    buffer_system; /* base models get their prompt in buffer mode, too */
    bool    carry;         /* `switch` takes a summary of the branch it leaves along */
};

enum {
    RESULT_TOKENS = 1000,
    CONTEXT_BUDGET = 50000,
    CONTINUATIONS_MAX = 10,
    TURN_COMMANDS_MAX = 100,
};

/* What is written at most once, and only on the head that the caller knows. Zero: neither. */
struct session_once {
    struct sv op_id;      /* repeating with the same one is harmless (once.h); absent: it is not */
    int64_t   expect;     /* how many entries the thread must have ... */
    bool      has_expect; /* ... if that was said */
    struct sv at;         /* of a turn: the agent goes to this node first; absent: it stays */
};

struct session {
    struct loom        loom;
    struct log        *log;
    struct agent       agent;
    struct viewer      viewer;
    struct session_env env;
    struct arena      *a;
    enum store_mode    mode;        /* of the transaction in which the running command reads */
    bool               closes_turn; /* the next record is the turn's last */
    bool               in_turn;     /* a batch of commands runs */
    struct sv          prose;       /* of that turn, in lower case */
    struct sv          later;       /* commands that follow the running one, in lower case */
    struct sv          lost;        /* the last move of the batch, when it failed; or absent */
    const struct err  *refusal;     /* the running line is answered with this; NULL: it runs */
    struct loom_run    run;         /* the turn's; run.id absent: it belongs to no run */
    struct sv home; /* the thread of that run: records go there, wherever its commands act; of a
                     * turn that is done once: the thread that says so */
    int64_t             round; /* of the run: numbers of commands begin again in each ... */
    size_t              line;  /* ... and this is the next one's number */
    struct sv           op_id; /* of the running command; absent: it is not found again */
    struct session_once once;  /* of the next session_say() or session_turn() */
    size_t              asks;  /* how many requests to models it has made */
    /* Called after each command of a batch; NULL: nobody is told. */
    void (*done)(void *ctx, const struct result *r);
    void     *done_ctx;
    struct sv passed; /* the node with which others had already continued the parent
                       * of the last write, which is therefore a new branch; absent:
                       * none */
};

/* The result of a command. `run` fills it; the session shows and records it. */
struct result {
    struct sb text;
    struct sv line, verb; /* as issued; the tool's name */
    struct sv object;     /* for the trace: what it was done to, or absent */
    int64_t   results;    /* of continue */
    struct sv part_form;  /* a command that shows parts of part_text with lines:, or absent */
    struct sv part_text;
    struct sv full;               /* the text before it was shortened; absent: it was not */
    int64_t   full_tokens;        /* of that ... */
    bool      full_exact;         /* ... and whether that is a count */
    struct sv undo;               /* JSON that says how to take it back, or absent */
    int64_t   undoes;             /* entry of the action this one took back; -1: none */
    struct sv doc_path, doc_hash; /* a document as it was left, or absent */
    bool      silent;             /* shows nothing (think) */
    bool      referenced, kept;   /* the turn names what it shows; it is seen in the next one */
    bool      restored;           /* it was done before, by a process that is gone (step.h) */
    int64_t   entry;              /* of its record; -1: it has none */
    bool      recorded;           /* its text is kept in the log, where it can be read and pinned */
    struct shown_item *items;     /* what it shows */
    size_t             n_items;
    bool               ok;
    struct err         error; /* when !ok */
};

struct turn {
    struct node    node; /* made of the prose */
    bool           has_node;
    bool           repeated;  /* it was done before, under the same op_id: these are its results */
    size_t         elsewhere; /* of those, results that are in the logs of other trees */
    struct result *results;
    size_t         n;
    struct sv      discarded; /* prose after the batch, or absent */
};

/* Opens on a thread for a registered agent. ST_NOT_FOUND: no such agent. */
enum status session_open(struct session *s, struct log *log, const struct session_env *env,
                         struct sv thread, struct sv agent, int64_t now, struct arena *a,
                         struct err *e) MUST_USE;

/* The same for someone who is not registered: a person with every permission. */
enum status session_open_person(struct session *s, struct log *log, const struct session_env *env,
                                struct sv thread, struct sv name, int64_t now, struct arena *a,
                                struct err *e) MUST_USE;

/* The end of a turn, in the open write transaction: results fade, but for those that were pinned or
 * named, and for these. */
enum status session_end_turn(struct session *s, const int64_t *named, size_t n,
                             struct err *e) MUST_USE;

/* A whole output of an agent: prose becomes a node, then its commands run. For an agent
 * that may use no tool at all, all of it is prose. s->once is kept; the head is compared before
 * anything is written, and may move between the commands. */
enum status session_turn(struct session *s, struct sv output, struct turn *out,
                         struct err *e) MUST_USE;

/* A message as a node after `at` (absent: where the agent is; s->passed says when others had gone
 * on from there). s->once is kept: what was said before under its op_id is answered again. */
enum status session_say(struct session *s, struct sv text, struct sv at, const char *via,
                        struct node *out, struct err *e) MUST_USE;

/* A command line, without its arrow, as a person or model wrote it: a list of nodes gives a result
 * for each of them. out->results grows with them. */
enum status session_lines(struct session *s, struct sv line, struct turn *out,
                          struct err *e) MUST_USE;

/* One command, without its arrow. In a run it is done once, however often it is asked for. */
enum status session_line(struct session *s, struct sv line, struct result *out,
                         struct err *e) MUST_USE;

/* What the agent is shown: the text, or the error in its form (`hint` may be absent). */
void result_show(struct sb *b, const struct result *r);
void result_show_error(struct sb *b, struct sv code, struct sv message, struct sv hint);

/* Take result_show_error() apart again. A text of another shape becomes the message. */
void result_read_error(struct sv code, struct sv shown, struct err *out);

/* The same as an object; what is not UTF-8 becomes U+FFFD. */
void result_json(struct jw *w, const struct result *r);

/* ---- for the tools ---- */

/* The tree in whose log commands are recorded: that of the run, else where the session is. */
struct loom session_records(const struct session *s);

/* Tokens of a text; *exact false when they are an estimate. */
int64_t session_tokens(struct session *s, struct sv text, bool *exact);

/* The command `form` shows `text` in parts, with lines: behind it; for a result that is too long.
 */
void session_parts(struct result *r, struct sv form, struct sv text);

/* Ask a list of requests, at once where that is possible; `wait` is called every now and then. */
void session_ask_all(struct session *s, struct model_asking *list, size_t n,
                     void (*wait)(void *ctx), void *wait_ctx);

/* ST_CONFLICT, reason "cancelled", once env.cancel is set. */
enum status session_cancelled(const struct session *s, struct err *e) MUST_USE;

/* End the transaction, committing what was written so far, and begin again: around work that takes
 * long. */
enum status session_pause(struct session *s, struct err *e) MUST_USE;
enum status session_resume(struct session *s, struct err *e) MUST_USE;

/* Write something that a tool made on its way, such as a summary. A tool that only looks has a read
 * transaction: it is written in one of its own, and then a new one is begun to read on. */
enum status session_keep(struct session *s,
                         enum status (*write)(struct session *s, const void *what, struct err *e),
                         const void *what, struct err *e) MUST_USE;

/* The node that a parameter names, visible; the position when it was not given. */
enum status session_node(struct session *s, struct sv id, struct node *out, struct err *e) MUST_USE;

/* Sets s->passed for what is about to be written after `parent`: an agent that names no node
 * (`id` absent) may not know that others went on from where it is. */
enum status session_passed(struct session *s, struct sv id, const struct node *parent,
                           struct err *e) MUST_USE;

/* A document of the thread, by name (docs.h); it lives in the session's arena. ST_NOT_FOUND too
 * where there are no documents at all. */
enum status session_doc(struct session *s, struct sv name, struct doc *out, struct err *e) MUST_USE;

#endif
