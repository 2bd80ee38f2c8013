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

    /* Exact token counts. NULL: a quarter of the characters, labelled with a ~. */
    size_t (*count_tokens)(void *ctx, struct sv text);
    void *tokens_ctx;

    /* The registry's title and mode of a thread; absent when it has none. NULL: none. */
    enum status (*describe)(void *ctx, struct sv thread, struct arena *a, struct sv *title,
                            struct sv *mode, struct err *e);
    void *describe_ctx;

    /* Web search. NULL: not configured. What it finds is made safe where it is shown. */
    enum status (*search)(void *ctx, const struct search_query *q, struct arena *a,
                          struct search_answer *out, struct err *e);
    void *search_ctx;

    struct sv subject; /* agent that `continue` asks; absent: the only model without loom_aware */
    struct sv summary_model; /* model that makes summaries; absent: extracts */
    int64_t   result_tokens; /* longer results are cut; 0: RESULT_TOKENS */
    int64_t   budget;        /* working context; 0: CONTEXT_BUDGET */
};

enum {
    RESULT_TOKENS = 1000,
    CONTEXT_BUDGET = 50000,
    CONTINUATIONS_MAX = 10,
    TURN_COMMANDS_MAX = 100,
};

struct session {
    struct loom        loom;
    struct log        *log;
    struct agent       agent;
    struct viewer      viewer;
    struct session_env env;
    struct arena      *a;
    bool               closes_turn; /* the next record is the turn's last */
    bool               in_turn;     /* a batch of commands runs */
    struct sv          prose;       /* of that turn, in lower case */
    struct sv          later;       /* commands that follow the running one, in lower case */
    struct sv          lost;        /* the last move of the batch, when it failed; or absent */
    const struct err  *refusal;     /* the running line is answered with this; NULL: it runs */
    struct sv          passed;      /* where others had gone on from what was written to last: what
                                       was written is a new branch beside it; absent: nowhere */
};

/* What a command did. `run` fills it; the session shows and records it. */
struct result {
    struct sb text;
    struct sv line, verb;         /* as issued; the tool's name */
    struct sv object;             /* for the trace: what it was done to, or absent */
    int64_t   results;            /* of continue */
    struct sv rest;               /* how to read in parts what is too long to show, or absent */
    struct sv undo;               /* JSON that says how to take it back, or absent */
    int64_t   undoes;             /* entry of the action this one took back; -1: none */
    struct sv doc_path, doc_hash; /* a document as it was left, or absent */
    bool      silent;             /* shows nothing (think) */
    bool      referenced, kept;   /* the turn names what it shows; it is seen in the next one */
    struct shown_item *items;     /* what it shows */
    size_t             n_items;
    bool               ok;
    struct err         error; /* when !ok */
};

struct turn {
    struct node    node; /* made of the prose */
    bool           has_node;
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

/* A whole output of an agent: prose becomes a node, then its commands run. For an agent
 * that may use no tool at all, all of it is prose. */
enum status session_turn(struct session *s, struct sv output, struct turn *out,
                         struct err *e) MUST_USE;

/* A message as a node after `at` (absent: where the agent is; s->passed says when others had gone
 * on from there). */
enum status session_say(struct session *s, struct sv text, struct sv at, const char *via,
                        struct node *out, struct err *e) MUST_USE;

/* The agent goes to a node, unless it is there: what follows answers that node. */
enum status session_go(struct session *s, struct sv to, struct err *e) MUST_USE;

/* A command line, without its arrow, as a person or model wrote it: a list of nodes gives a result
 * for each of them. out->results grows with them. */
enum status session_lines(struct session *s, struct sv line, struct turn *out,
                          struct err *e) MUST_USE;

/* One command, without its arrow. */
enum status session_line(struct session *s, struct sv line, struct result *out,
                         struct err *e) MUST_USE;

/* What the agent is shown: the text, or the error in its form. */
void result_show(struct sb *b, const struct result *r);
void result_json(struct jw *w, const struct result *r);

/* ---- for the tools ---- */

/* Tokens of a text; *exact false when they are an estimate. */
int64_t session_tokens(struct session *s, struct sv text, bool *exact);

/* Sets r->rest: `form` with lines: shows `text` in parts that are shown whole. */
void session_parts(struct session *s, struct sv form, struct sv text, struct result *r);

/* Commit what was written so far, and begin again: around work that takes long. */
enum status session_pause(struct session *s, struct err *e) MUST_USE;
enum status session_resume(struct session *s, struct err *e) MUST_USE;

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
