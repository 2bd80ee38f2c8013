/* Asking a model. A model is named "provider:identifier"; providers are rows of a table.
 *
 *     struct model_client client = { .root_fd = fd };
 *     struct model_request q = { .model = SV("offline:echo"), .messages = m, .n = 1 };
 *     if (model_complete(&client, &q, a, &answer, e)) return err_code(e);
 *
 * Providers here need no network: offline:echo repeats the last message, offline:request answers
 * with the whole request as JSON, and
 * offline:script FILE answers from a file of JSON Lines below the workspace. */
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include "base/sb.h"

enum model_role { MODEL_USER, MODEL_ASSISTANT };
struct model_message {
    enum model_role role;
    struct sv       content;
};
struct model_request {
    struct sv                   model;  /* "provider:identifier" */
    struct sv                   system; /* or absent */
    const struct model_message *messages;
    size_t                      n;
    int64_t                     max_tokens; /* 0: the model's own limit */
};

struct model_response {
    struct sv text;
    struct sv finish;       /* "stop", "length", "error" */
    struct sv interruption; /* "timeout", "network", "provider_error", "cancelled"; or absent */
    struct sv provider, model, request_id;
    struct sv headers, body;                    /* as received; headers are "key: value" lines */
    int64_t   prompt_tokens, completion_tokens; /* -1: not told */
    int64_t   asked_at, answered_at;            /* ms */
};

struct model_script;
struct model_client {
    int root_fd;                          /* the workspace; scripts are read below it */
    void (*sleep)(void *ctx, int64_t ms); /* between attempts; NULL: really sleep */
    void                *ctx;
    struct model_script *script; /* what of a script has been used; made on demand */
    struct arena        *a;      /* lives as long as the client */
};

enum { MODEL_ATTEMPTS = 3 };

/* Up to MODEL_ATTEMPTS tries, with pauses of 500 and 1500 ms, for failures that may pass.
 * ST_MODEL_ERROR: it failed for good; the reason is a code such as "serverError".
 * ST_NOT_FOUND: no such provider or script. */
enum status model_complete(struct model_client *c, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e) MUST_USE;

/* ST_MODEL_ERROR with the code, message and advice for an HTTP status; 0 is a network failure.
 * *retry says whether another attempt may help. */
enum status model_http_error(int status, struct sv message, bool *retry, struct err *e);

#endif
