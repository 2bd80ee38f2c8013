/* The body of a request to a model: a context and settings, in the form of the provider's API.
 *
 *     struct render_report report = report_in(a);
 *     struct body_settings settings = { .max_tokens = 300 };
 *     if (body_write(BODY_ANTHROPIC, &context, &settings, a, &out, &report, e)) ...
 *
 * Every request to a model is made here: for turns, projections, `continue` and summaries. A
 * dialect is a row of a table: the function that writes the context, and the names of the settings.
 * Completions are for base models, which continue a text: the prompt and the messages, with an
 * empty line between them; roles, and whatever is not text, are left out and reported. Equal
 * arguments give equal bytes: settings first, by name, then the context. A setting that the dialect
 * has no name for is left out, and reported. */
#ifndef HEDDLE_BODY_H
#define HEDDLE_BODY_H

#include "assemble/render.h"

/* clang-format off */
/*    dialect           name */
#define BODY_TABLE(X)                \
    X(BODY_ANTHROPIC,   "anthropic")   \
    X(BODY_OPENAI,      "openai")      \
    X(BODY_COMPATIBLE,  "compatible")  \
    X(BODY_COMPLETIONS, "completions") \
    X(BODY_RESPONSES,   "responses")   \
    X(BODY_GEMINI,      "gemini")      \
    X(BODY_OFFLINE,     "offline")
/* clang-format on */

enum body_dialect {
#define X(dialect, name) dialect,
    BODY_TABLE(X)
#undef X
};

/* Tokens of an answer when the API requires a number and none was given. */
enum { BODY_TOKENS = 8192 };

struct body_settings {
    struct sv        model;              /* as the provider knows it; absent: not in the body */
    int64_t          max_tokens;         /* of the answer; 0: the provider's own limit */
    struct sv        temperature, top_p; /* numbers as text; absent: the provider's own */
    struct sv        seed;               /* a number as text; absent: none */
    struct sv        effort;             /* how hard to think: "low"; absent: the provider's own */
    int64_t          logprobs;           /* alternatives to return for each token; 0: none */
    const struct sv *stop;               /* texts that end the answer */
    size_t           n_stop;
    bool             stream;
    struct sv        token; /* with which the provider continues a paused answer; or absent */
    bool user_last; /* the model refuses a last message of the assistant: a user's is added */
    struct render_cache cache; /* what is marked for the provider's cache; zero: nothing */
};

/* False: there is no such dialect. */
bool body_dialect_of(struct sv name, enum body_dialect *out);

/* ST_INVALID_SYNTAX: a setting is not a number. ST_CORRUPT: a message is not JSON. */
enum status body_write(enum body_dialect d, const struct context *c, const struct body_settings *s,
                       struct arena *a, struct sb *out, struct render_report *r,
                       struct err *e) MUST_USE;

#endif
