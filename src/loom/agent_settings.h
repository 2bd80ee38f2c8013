/* The settings with which a model is asked for an agent. The provider decides about those that are
 * absent or 0. They are members of the agent's entry (agent.h); a single request may override
 * them. */
#ifndef HEDDLE_AGENT_SETTINGS_H
#define HEDDLE_AGENT_SETTINGS_H

#include "base/json.h"

enum {
    AGENT_TOKENS_MAX = 1000000, /* of one answer */
    AGENT_LOGPROBS_MAX = 20,
    AGENT_STOPS_MAX = 16,
    AGENT_STOP_BYTES = 1000,
};

/* Words for how hard a model should think; ends with NULL. */
extern const char *const agent_efforts[];

struct agent_settings {
    int64_t        max_tokens;         /* of one answer */
    struct sv      temperature, top_p; /* numbers as they were written */
    struct sv      seed;
    struct sv      effort;   /* one of agent_efforts */
    struct sv_list stop;     /* texts that end an answer */
    int64_t        logprobs; /* how many alternatives of each token a base model returns */
};

/* The members of an object, and back. */
void agent_settings_read(const struct json *v, struct arena *a, struct agent_settings *out);
void agent_settings_write(struct jw *w, const struct agent_settings *s);

/* ST_LIMIT_EXCEEDED, or ST_USAGE for an unknown effort, with what is allowed as a hint. */
enum status agent_settings_check(const struct agent_settings *s, struct err *e) MUST_USE;

/* Settings of `over` replace those of `under`. */
void agent_settings_over(struct agent_settings *under, const struct agent_settings *over);

#endif
