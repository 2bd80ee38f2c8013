/* Asking a model: the body of a request in, events out.
 *
 * A model is named "provider:identifier"; providers are rows of a table. The body is made by
 * assemble/body.h in the dialect that model_dialect() names, and is sent as it is. The answer is
 * passed on piece by piece as events, whichever provider it came from, and is collected in the
 * response.
 *
 *     struct model_client   client = { .root_fd = fd, .a = a };
 *     struct model_request  q = { .model = SV("offline:echo"), .body = body, .event = show };
 *     struct model_response answer;
 *     if (model_complete(&client, &q, a, &answer, e))
 *         return err_code(e);
 *
 * Providers and hosts are in providers.c; offline.c has models that need no network. Keys come out
 * of the environment that the client hands in, are sent to the provider's address and nowhere else,
 * and are in no error, response or recorded header. */
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include "base/sb.h"
#include "base/vec.h"

#include <stdatomic.h>

/* ---- what comes back ------------------------------------------------------------------------ */

/* Why an answer ended, with the word that is recorded. */
/*    finish                word */
#define MODEL_FINISH_TABLE(X)                                                                      \
    X(MODEL_STOP, "stop")               /* the model was done, or met a stop sequence */           \
    X(MODEL_LENGTH, "length")           /* max_tokens, or the end of its window */                 \
    X(MODEL_TOOL_USE, "tool_use")       /* it waits for results of its calls */                    \
    X(MODEL_FILTERED, "content_filter") /* a refusal, or a filter of the provider */               \
    X(MODEL_CLIENT_STOP, "client_stop") /* the receiver of the events ended it */                  \
    X(MODEL_PAUSE, "pause")             /* the provider goes on when it is asked: see `resend` */  \
    X(MODEL_FAILED, "error")            /* it was interrupted: see `interruption` */

enum model_finish {
#define X(finish, word) finish,
    MODEL_FINISH_TABLE(X)
#undef X
};
const char *model_finish_word(enum model_finish f);

/* Tokens as the provider counts them; -1: not reported. */
struct model_usage {
    int64_t input;     /* all of the request, cached tokens among them */
    int64_t output;    /* all of the answer, reasoning among it */
    int64_t cached;    /* of the input: read from the provider's cache */
    int64_t written;   /* of the input: written to it */
    int64_t reasoning; /* of the output: thinking */
    int64_t cost;      /* nanodollars (base/money.h), as the provider or the prices say */
    bool    estimated; /* estimated here: the provider did not report them */
};
#define MODEL_USAGE_NONE ((struct model_usage){ -1, -1, -1, -1, -1, -1, false })

/* What a million tokens cost, in nanodollars; -1: as much as other tokens of the input. */
struct model_prices {
    int64_t input, output, cached, written;
};

/* What this usage costs; -1: it does not say how many tokens there were. */
int64_t model_cost(const struct model_usage *u, const struct model_prices *p);

enum model_event_type {
    MODEL_TEXT,     /* text: added to the part */
    MODEL_THINKING, /* text: added to the part */
    MODEL_KEEP,     /* text: a JSON object in the provider's own shape, thinking that may have to be
                     * sent back as it is with the next request */
    MODEL_CALL,     /* a tool call begins: id, name */
    MODEL_ARGUMENTS, /* text: a piece of the call's arguments, which are JSON when it is complete */
    MODEL_DATA,      /* text: base64 of an image or file, media_type */
    MODEL_LOGPROBS, /* text: {"tokens":[…],"token_logprobs":[…],"top_logprobs":[…]} of a base model
                     */
    MODEL_RESEND, /* text: JSON, of an answer that was paused; see model_response.resend */
    MODEL_USAGE,  /* usage so far; a later one replaces it */
    MODEL_FINISH, /* the answer is complete: finish */
    MODEL_ERROR,  /* the answer is cut off: text is a word such as "timeout" */
};

/* One event. An answer is a list of parts, numbered from 0; pieces of a part come in order, and a
 * part does not begin before the one before it has ended. The last event is MODEL_FINISH or
 * MODEL_ERROR, and never both. Text ends where a character ends. Slices live until the call of the
 * function that takes the event returns. */
struct model_event {
    enum model_event_type type;
    size_t                part;
    struct sv             text;
    struct sv             id, name;   /* of MODEL_CALL */
    struct sv             media_type; /* of MODEL_DATA */
    struct model_usage    usage;
    enum model_finish     finish;
};

/* ---- asking --------------------------------------------------------------------------------- */

struct model_request {
    struct sv model; /* "provider:identifier" */
    struct sv body;  /* in the provider's dialect */
    /* Receives each event as it arrives; may be NULL. An error ends the request and is returned,
     * except that of model_enough(), with which the answer ends as MODEL_CLIENT_STOP. */
    enum status (*event)(void *ctx, const struct model_event *ev, struct err *e);
    void              *ctx;
    const atomic_bool *cancel; /* another thread may set it; NULL: not cancellable */
    /* Called every now and then, on the thread that asks, while the answer is awaited; or NULL. */
    void (*wait)(void *ctx);
    void *wait_ctx;
    /* Takes the raw stream of the answer while it arrives, before it is parsed, so that nothing is
     * lost when the process is killed; it does not contain the key. Every attempt begins a new
     * stream: only its first call has `headers` (which may be empty). Or NULL. */
    enum status (*received)(void *ctx, struct sv headers, struct sv bytes, struct err *e);
    void *received_ctx;
};

struct model_response {
    struct sv text;     /* all MODEL_TEXT together */
    struct sv thinking; /* all MODEL_THINKING together */
    struct sv kept;     /* all MODEL_KEEP, as a JSON list; or absent */
    struct sv logprobs; /* all MODEL_LOGPROBS in one object; or absent */
    /* What an answer that was paused goes on from, or absent. Anthropic: the list of its blocks,
     * which is the content of a last message of the assistant. Gemini: a string, which stands in
     * the same request once more (body_settings.token). */
    struct sv resend;
    struct sv finish;       /* model_finish_word() */
    struct sv interruption; /* "timeout", "network", "provider_error", "cancelled"; or absent */
    struct sv provider, model, request_id;
    struct sv headers, body; /* as received; headers are "key: value" lines */
    struct model_usage usage;
    int64_t            asked_at, answered_at; /* ms */
    struct sv          warnings; /* what was not sent as it was asked, a line each; or absent */
};

/* A setting that a model does not take. */
struct model_refusal {
    struct sv   model;
    const char *setting;
};

struct model_script;
struct model_client {
    int root_fd;                          /* the workspace; scripts are read below it */
    void (*sleep)(void *ctx, int64_t ms); /* between attempts; NULL: really sleep */
    void                *ctx;
    struct model_script *script; /* what of a script has been used; made on demand */
    struct arena        *a;      /* lives as long as the client */

    /* Of providers with a network. */
    char *const *variables; /* the environment with keys and addresses; NULL: empty */
    /* Where the user's settings say that a host is, by its name; absent: they do not. NULL:
     * nothing was set. */
    struct sv (*address)(void *ctx, const char *host);
    /* The key of a host that has no variable; absent: there is none. Or NULL. */
    enum status (*key)(void *ctx, const char *host, struct sv *out, struct err *e);
    /* The prices of a model; false: they are not known. Or NULL. */
    bool (*prices)(void *ctx, struct sv model, struct model_prices *out);
    void     *settings_ctx;                       /* of these three */
    struct sv proxy;                              /* "": none; never for a loopback address */
    int64_t   connect_ms, first_byte_ms, idle_ms; /* 0: the usual ones below */
    /* Settings that providers refused, so that they are asked without them from then on. */
    VEC(struct model_refusal) refusals;
};

enum {
    MODEL_ATTEMPTS = 3,
    MODEL_CONNECT_MS = 15000,
    MODEL_FIRST_BYTE_MS = 600000,
    MODEL_IDLE_MS = 300000,
    MODEL_WAIT_MAX_MS = 60000,      /* a provider that asks for more is not asked again */
    MODEL_STREAM_MAX = 10 << 20,    /* bytes of an answer: as JSON text it is one entry of a log */
    MODEL_ERROR_BODY_MAX = 1 << 20, /* bytes of a failure that are read */
};

/* The dialect in which the provider of this model takes bodies; NULL: there is no such provider. */
const char *model_dialect(struct sv model);

/* The company or server that is asked under this name: "openai" for openai: and openai-responses:,
 * "ollama" for ollama-completions:. Absent: it is offline, or there is no such provider. */
struct sv model_company(struct sv model);

/* Does it answer messages? False for base models, which go on with a text, for models that are
 * offline, and for unknown ones. */
bool model_converses(struct sv model);

/* False: the model refuses a request whose last message is the assistant's. */
bool model_continues(struct sv model);

struct sv model_provider_names(struct arena *a); /* "offline, anthropic, …" */

/* Up to MODEL_ATTEMPTS tries for failures that may pass, none after the first event. Between them
 * are 500 and 1500 ms, less up to a quarter by chance, or what the provider asks for. An answer
 * that was cut off is ST_OK with an interruption. ST_MODEL_ERROR: it failed for good before
 * anything came; the reason is a code such as "serverError". ST_CONFLICT, reason "cancelled":
 * *cancel was set before anything came. ST_NOT_FOUND: no such provider or script, or nothing says
 * where the provider is. ST_PERMISSION_DENIED: its address is not one to send a key to. */
enum status model_complete(struct model_client *c, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e) MUST_USE;

/* Could the model be asked? Looks for its provider, the address and the key as model_complete()
 * does, with the same errors, and sends nothing. */
enum status model_check(struct model_client *c, struct sv model, struct arena *a,
                        struct err *e) MUST_USE;

/* One of several requests that are made at once. */
struct model_asking {
    struct model_request  q; /* without `wait` */
    enum status           status;
    struct err            error; /* when the status is not ST_OK */
    struct model_response out;   /* when it is */
};

/* Ask all of them at once, each on a thread of its own; models without a network one after another.
 * Events come on these threads. Until all are done `wait` (may be NULL) is called every now and
 * then on the calling one. What they answer lives in `a`. The functions of the client are called
 * before anything is sent, on the calling thread. */
void model_complete_all(struct model_client *c, struct model_asking *list, size_t n,
                        void (*wait)(void *ctx), void *ctx, struct arena *a);

/* Parse again the bytes that `received` was given: the same events follow. No request is sent.
 * *whole is false when the stream was cut off: then events may have come, but none that ends it,
 * and the answer is not known. */
enum status model_replay(struct model_client *c, const struct model_request *q, struct sv headers,
                         struct sv bytes, struct arena *a, struct model_response *out, bool *whole,
                         struct err *e) MUST_USE;

/* For a function that takes events: `return model_enough(e);` ends the answer here. */
enum status model_enough(struct err *e);

/* ST_MODEL_ERROR with the code, message and advice for an HTTP status; 0 is a network failure.
 * *retry says whether another attempt may help. */
enum status model_http_error(int status, struct sv message, bool *retry, struct err *e);

#endif
