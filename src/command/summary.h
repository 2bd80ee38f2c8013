/* Summaries of nodes, documents and the tree. They are made apart from the work in the tree, which
 * never waits for them: session_summarise_pending() makes what is due, a summary that is missing is
 * asked for when it is first looked at, and until then an extract stands in. A text of at most
 * LOOM_SUMMARY_WORDS words is its own summary. Who is asked is decided in company.h and small.h.
 *
 *     struct summary_job job = { .told = print };
 *     if (session_summarise_pending(&s, &job, e)) return err_code(e);
 *     job.made, job.provisional                         how many                               */
#ifndef HEDDLE_COMMAND_SUMMARY_H
#define HEDDLE_COMMAND_SUMMARY_H

#include "command/session.h"

enum {
    SUMMARY_TOKENS = 50,       /* of an answer about a node */
    SUMMARY_TREE_TOKENS = 100, /* and about the tree */
    SUMMARY_SHORT = 50, /* a node with fewer tokens is asked about with its grandparent too */
    SUMMARY_DOC_BYTES = 32000, /* of a document that a model is shown */
};

/* Ask about a node that has no summary yet, and keep what the model says. Without a model, or when
 * it fails, nothing happens: an extract is shown, and the next reader tries again. Nothing is
 * locked while the model is asked. */
enum status session_summarise(struct session *s, const struct node *n, struct err *e) MUST_USE;

/* The same for a document: *out is its summary, or its first sentence. */
enum status session_summarise_doc(struct session *s, const struct doc *d, struct sv *out,
                                  struct err *e) MUST_USE;

/* What the texts from one node to another below it say: what a model makes of them, or their
 * summaries one after another. Nothing is locked while a model is asked. */
enum status session_summarise_stretch(struct session *s, const struct node *from,
                                      const struct node *to, struct sv *out,
                                      struct err *e) MUST_USE;

/* A summary that was made. */
struct summary_made {
    struct sv node; /* local id; absent: of a document, or of the tree */
    struct sv doc;  /* path of a document; or absent */
    struct sv text;
    struct sv model;  /* absent: an extract, or the text itself */
    bool      whole;  /* the text itself, which is short enough */
    struct sv of;     /* of a document or the tree: the hash of what it was made of; or absent */
    int64_t   covers; /* of a document: the entry of its last write; 0: not known */
    struct model_usage usage; /* what the model took for it; only with a model */
};

struct summary_job {
    bool tree; /* summarise the tree even if few nodes are new */
    void (*told)(void *ctx, const struct summary_made *m); /* after each was stored */
    void      *ctx;
    int64_t    made, provisional; /* out: of them, with a model; extracts stored now */
    int64_t    waiting;           /* out: nodes and documents that still have no final summary */
    bool       tree_waits;        /* out: a summary of the tree is due and was not made */
    struct err last;              /* out: of the failures; code ST_OK: none */
};

/* Make the summaries that nodes wait for, parents first, those of documents that were written, and
 * the tree's after every TREE_SUMMARY_EVERY new nodes, or once somebody left it. What was made of
 * the same content by one of the models is not made again. Where no model answers, an extract is
 * stored once, marked provisional, and the next call tries again. Hidden nodes wait until they are
 * restored. Each summary is a transaction of its own, and nothing is locked while a model is asked.
 * ST_CONFLICT, reason "cancelled". */
enum status session_summarise_pending(struct session *s, struct summary_job *job,
                                      struct err *e) MUST_USE;

/* Text without what follows the end of its last whole sentence; all of it when it has none. */
struct sv summary_trim(struct sv text);

/* ---- shared by the files of summaries ---- */

/* What the model is asked about a node. */
enum status summary_prompt(struct session *s, const struct node *n, struct sb *b,
                           struct err *e) MUST_USE;

/* What the model is asked about a document, and its first sentence below headings. */
struct sv summary_doc_prompt(struct session *s, const struct doc *d);
struct sv summary_doc_extract(struct sv text);

/* Is it its own summary? */
bool summary_doc_is_whole(const struct doc *d);

/* The model of the agent on whose behalf it is summarised (company.h); `written`: the entry of its
 * last write, or 0. */
enum status summary_doc_company(struct session *s, int64_t written, struct sv *model,
                                struct err *e) MUST_USE;

/* Append a summary entry in the open write transaction. */
enum status summary_keep(struct session *s, const struct summary_made *m, struct err *e) MUST_USE;

#endif
