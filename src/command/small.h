/* Small models: who makes summaries, and asking them.
 *
 * small_choose() is the one place that decides which model is asked on behalf of an agent, given
 * the agent's own model:
 *
 *     the setting loom.summary_model      that model, for every agent; "none": nobody is asked
 *     an agent of anthropic or openai     the small model of that company; once its provider says
 *                                         that it is gone, the one of models.small.COMPANY, or a
 *                                         known successor
 *     an agent of another company         models.small.COMPANY, else the agent's own model
 *     a model that is offline             nobody: a script answers what was planned, and no more
 *     a base model (-completions)         nobody, unless models.small.COMPANY names one
 *     no agent                            nobody
 *
 * So no text goes to another company because a key for it happens to be there. For whose agent a
 * text is summarised is decided in company.h. A model that goes on failing is asked no more by this
 * process.
 *
 *     struct small_models m = { .set = config_text(c, "loom.summary_model") };
 *     session.env.small = &m;
 *     if (small_ask(&session, agent.model, system, text, 50, &answer, e))
 *         no model answered: e says why the last did not */
#ifndef HEDDLE_COMMAND_SMALL_H
#define HEDDLE_COMMAND_SMALL_H

#include "base/hash.h"
#include "model/model.h"

#include <stdbool.h>

struct session;

enum {
    SMALL_MODELS_MAX = 16,
    SMALL_PATIENCE = 3, /* failures in a row after which a model is asked no more */
};

/* What is known of a model that failed. */
struct small_state {
    struct hash name;     /* of "provider:identifier", which may live shorter than this */
    int         failures; /* in a row */
    bool        gone; /* its provider says that there is no such model, or there is no provider */
};

struct small_models {
    struct sv set; /* loom.summary_model; absent: by the agent */
    /* models.small of a company, by its name (model_company()); absent: not set. NULL: none is. */
    struct sv (*of)(void *ctx, struct sv company);
    void              *ctx;
    struct small_state state[SMALL_MODELS_MAX];
    int                n_state;
};

/* Models in the order in which they are asked: the second only when the first is gone. */
struct small_choice {
    struct sv v[2];
    int       n;
};

/* `model`: that of the agent on whose behalf it is asked; absent: there is none. NULL: nobody. */
struct small_choice small_choose(const struct small_models *m, struct sv model);

/* Is there a model that may be asked on behalf of an agent with this model? */
bool small_any(const struct session *s, struct sv model);

/* Is `name` one of those that would be? */
bool small_has(const struct session *s, struct sv model, struct sv name);

struct small_answer {
    struct sv          text; /* never empty */
    struct sv          model;
    struct model_usage usage;
};

/* Ask about one text on behalf of an agent with this model, with a system prompt or without
 * (absent). An answer that is empty, cut off or refused counts as a failure. ST_NOT_FOUND, reason
 * "no_model": nobody was asked. ST_CONFLICT, reason "cancelled". Else what the last model failed
 * with. */
enum status small_ask(struct session *s, struct sv model, struct sv system, struct sv text,
                      int64_t max_tokens, struct small_answer *out, struct err *e) MUST_USE;

#endif
