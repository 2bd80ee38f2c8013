/* What an agent's session needs from this program: documents, models, token counts,
 * settings. Made once per request; vocabularies are loaded when something is counted. */
#ifndef HEDDLE_LOOM_ENV_H
#define HEDDLE_LOOM_ENV_H

#include "command/session.h"
#include "front/app.h"
#include "front/web_search.h"
#include "share/share.h"

struct tokens;
struct loom_env {
    struct app         *app;
    struct docs_folder  folder; /* the thread's own documents ... */
    struct docs         own;
    struct share        share; /* ... and what it may read of others */
    struct model_client client;
    struct tokens      *tokens; /* NULL until the first count */
    struct web_search   web;
    struct session_env  session;
};

void loom_env_init(struct loom_env *env, struct app *app);
void loom_env_release(struct loom_env *env);

/* The models that make summaries, in the order in which they are asked: the configured one, or
 * those for which the environment has a key. `out` has room for SUMMARY_MODELS_MAX. */
size_t loom_summary_models(struct app *app, struct sv *out);

/* Passes a status on; a node that was not found, and is near to none, gets a hint where ids are
 * shown. */
enum status loom_node_hint(enum status s, struct sv thread, struct err *e);

/* On stderr: what was just said is a new branch, because others had gone on from where the speaker
 * is. Nothing when it is not. */
void loom_tell_branch(const struct session *s);

/* ST_NOT_FOUND when nothing was ever written to the thread. */
enum status loom_thread_check(struct app *app, struct sv thread, struct err *e) MUST_USE;

/* A session for --agent, or for the person who asks when it is absent. */
enum status loom_env_open(struct loom_env *env, struct sv thread, struct sv agent,
                          struct session *out, struct err *e) MUST_USE;

#endif
