/* Small models: what makes summaries and suggestions. A list that is asked in order; the first that
 * answers counts, and one that goes on failing is asked no more by this process.
 *
 *     struct small_models m = { 0 };
 *     int haiku = small_add(&m, SV("anthropic:claude-3-5-haiku-latest"), SMALL_ALWAYS);
 *     small_add(&m, SV("anthropic:claude-haiku-5-5"), haiku);       once the first is gone
 *     session.env.small = &m;
 *     if (small_ask(&session, system, text, 50, &answer, e)) no model answered: e says why the last
 * did not */
#ifndef HEDDLE_COMMAND_SMALL_H
#define HEDDLE_COMMAND_SMALL_H

#include "model/model.h"

#include <stdbool.h>

struct session;

enum {
    SMALL_MODELS_MAX = 8,
    SMALL_PATIENCE = 3, /* failures in a row after which a model is asked no more */
    SMALL_ALWAYS = -1,
};

struct small_model {
    struct sv name;     /* "provider:identifier" */
    int       instead;  /* of the model at this place: asked once that one is gone; SMALL_ALWAYS */
    int       failures; /* in a row */
    bool      gone;     /* its provider says that there is no such model, or there is no provider */
};

struct small_models {
    struct small_model v[SMALL_MODELS_MAX];
    int                n;
};

/* Where it stands in the list; SMALL_ALWAYS when the list is full: it is left out. */
int small_add(struct small_models *m, struct sv name, int instead);

/* Is there a model that may be asked? */
bool small_any(const struct session *s);

/* Is this one of the list? */
bool small_has(const struct session *s, struct sv model);

struct small_answer {
    struct sv          text; /* never empty */
    struct sv          model;
    struct model_usage usage;
};

/* Ask about one text, with a system prompt or without (absent). An answer that is empty, cut off or
 * refused counts as a failure. ST_NOT_FOUND, reason "no_model": nobody was asked. ST_CONFLICT,
 * reason "cancelled". Else what the last model failed with. */
enum status small_ask(struct session *s, struct sv system, struct sv text, int64_t max_tokens,
                      struct small_answer *out, struct err *e) MUST_USE;

#endif
