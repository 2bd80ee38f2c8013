/* Summaries of nodes and of the tree. They are made apart from the work in the tree, which never
 * waits for them: session_summarise_pending() makes what is due, a node's summary is asked for
 * when it is first looked at, and until then an extract stands in.
 *
 *     struct summary_job job = { .models = models, .n_models = 2, .told = print };
 *     if (session_summarise_pending(&s, &job, e)) return err_code(e);
 *     job.made, job.provisional                         how many                               */
#ifndef HEDDLE_COMMAND_SUMMARY_H
#define HEDDLE_COMMAND_SUMMARY_H

#include "command/session.h"

enum {
    SUMMARY_TOKENS = 50,       /* of an answer about a node */
    SUMMARY_TREE_TOKENS = 100, /* and about the tree */
    SUMMARY_SHORT = 50, /* a node with fewer tokens is asked about with its grandparent too */
    SUMMARY_MODELS_MAX = 2,
    SUMMARY_PATIENCE = 3, /* failures in a row after which a model is asked no more */
};

/* Ask the summary model about a node that has no summary yet, and keep what it says. Without a
 * model, or when it fails, nothing happens: an extract is shown, and the next reader tries
 * again. Nothing is locked while the model is asked. */
enum status session_summarise(struct session *s, const struct node *n, struct err *e) MUST_USE;

/* A summary that was made. */
struct summary_made {
    struct sv node; /* local id; absent: of the tree */
    struct sv text;
    struct sv model; /* absent: an extract */
};

struct summary_job {
    const struct sv *models; /* asked in this order; the first that answers is taken */
    size_t           n_models;
    bool             tree; /* summarise the tree even if few nodes are new */
    void (*told)(void *ctx, const struct summary_made *m); /* after each was stored */
    void      *ctx;
    int        failures[SUMMARY_MODELS_MAX]; /* in a row; SUMMARY_PATIENCE: it is given up */
    int64_t    made, provisional;            /* out: of them, with a model; extracts stored now */
    int64_t    waiting;                      /* out: nodes that still have no final summary */
    bool       tree_waits; /* out: a summary of the tree is due and was not made */
    struct err last;       /* out: of the failures; code ST_OK: none */
};

/* Make the summaries that nodes wait for, parents first, and the tree's after every
 * TREE_SUMMARY_EVERY new nodes. Where no model answers, an extract is stored once, marked
 * provisional, and the next call tries again. Hidden nodes wait until they are restored. Each
 * summary is a transaction of its own, and nothing is locked while a model is asked. */
enum status session_summarise_pending(struct session *s, struct summary_job *job,
                                      struct err *e) MUST_USE;

/* Text without what follows the end of its last whole sentence; all of it when it has none. */
struct sv summary_trim(struct sv text);

/* ---- shared by the two files ---- */

/* What the model is asked about a node. */
enum status summary_prompt(struct session *s, const struct node *n, struct sb *b,
                           struct err *e) MUST_USE;

/* Append a summary entry in the open write transaction. */
enum status summary_keep(struct session *s, const struct summary_made *m, struct err *e) MUST_USE;

#endif
