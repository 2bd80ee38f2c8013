/* What an agent's session needs from this program: documents, models, token counts,
 * settings. Made once per request; vocabularies are loaded when something is counted. */
#ifndef HEDDLE_LOOM_ENV_H
#define HEDDLE_LOOM_ENV_H

#include "api/loom/web_search.h"
#include "api/workspace.h"
#include "command/session.h"
#include "share/share.h"

struct request;
struct tokens;
struct loom_env {
    struct workspace   *ws;
    struct log         *log;
    struct sv           actor; /* the person who asks */
    struct arena       *a;
    struct docs_folder  folder; /* the thread's own documents ... */
    struct docs         own;
    struct share        share; /* ... and what it may read of others */
    struct model_client client;
    struct tokens      *tokens; /* NULL until the first count */
    struct web_search   web;
    struct small_models small;
    struct session_env  session;
    /* Says to the person, at once, to which company text is about to go; NULL: nobody is there. */
    void (*tell)(void *ctx, struct sv sentence);
    void *tell_ctx;
};

void loom_env_init(struct loom_env *env, struct workspace *ws, struct log *log, struct sv actor,
                   struct arena *a);
void loom_env_release(struct loom_env *env);

/* What the settings say about models that make summaries. */
struct small_models loom_small_models(const struct workspace *ws);

/* Does a model make summaries of what this agent writes? The log is opened for reading. */
bool loom_has_summaries(struct request *r, struct sv agent);

/* Returns `s`; when a node was not found and there is no similar id, adds a hint where ids are
 * shown. */
enum status loom_node_hint(enum status s, struct sv thread, struct err *e);

/* A warning that what was just said is a new branch, because others had gone on from where the
 * speaker is; absent when it is not. */
struct sv loom_branch_warning(const struct session *s);

/* How many words a document, or a section of it, has: for struct memory_show. `ctx` is the agent's
 * session. */
enum status loom_doc_words(void *ctx, struct sv doc, struct sv section, int64_t *words,
                           struct err *e);

/* ST_NOT_FOUND when nothing was ever written to the thread. */
enum status loom_thread_check(struct log *log, struct sv thread, struct err *e) MUST_USE;

/* A session for an agent, or for the person who asks when it is absent. */
enum status loom_env_open(struct loom_env *env, struct sv thread, struct sv agent,
                          struct session *out, struct err *e) MUST_USE;

#endif
