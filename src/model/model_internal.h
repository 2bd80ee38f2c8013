/* What a provider gives. For the files of this room. */
#ifndef HEDDLE_MODEL_INTERNAL_H
#define HEDDLE_MODEL_INTERNAL_H

#include "model/model.h"
#include "model/stream.h"

/* Where a request goes, with which key, at which prices: what the functions of the client say. */
struct model_access {
    struct sv           url, key;
    struct sv           token; /* a key that is always sent as a bearer's */
    struct model_prices prices;
    bool                has_prices;
};

/* One attempt to get an answer. */
struct model_provider;
struct model_call {
    struct model_client         *client;
    const struct model_provider *provider;
    const struct model_access   *access;
    const struct model_request  *q;
    struct sv                    identifier; /* of the model: what follows the provider's name */
    struct arena                *a;
    struct model_response       *out; /* the provider fills request_id, headers and body */
    struct sb                    text, thinking, kept;
    struct sb                    tokens, token_logprobs, top_logprobs; /* items, with commas */
    bool                         begun;   /* an event was passed on: there is no other attempt */
    bool                         ended;   /* MODEL_FINISH or MODEL_ERROR was */
    bool                         refused; /* the one who takes events returned an error */
    bool                         retry;   /* of a failure: another attempt may help */
    int64_t                      retry_after_ms; /* what the provider asks to wait; -1: nothing */
};

/* How a key is sent. */
enum model_auth { AUTH_NONE, AUTH_BEARER, AUTH_ANTHROPIC, AUTH_GOOGLE };

/* What the table says of a provider. */
struct model_provider_facts {
    const char *name, *dialect;
    const char *host;         /* of the setting with its address; NULL: no network */
    const char *url;          /* the default address; NULL: there is none */
    const char *url_variable; /* of the environment */
    const char *key_variable;
};

/* A row of the table. One `ask` serves all rows with a network. */
struct model_provider {
    struct model_provider_facts facts;
    /* Fill url, key and token; NULL: there is no network. */
    enum status (*find)(struct model_client *c, const struct model_provider *p,
                        struct sv identifier, struct arena *a, struct model_access *out,
                        struct err *e);
    /* One attempt: send call->q->body, model_emit() what comes. An error before the first event is
     * a failure, afterwards an interruption. */
    enum status (*ask)(struct model_call *c, struct err *e);
    stream_read    *read;
    const char     *path; /* behind the address; {model} stands for the identifier */
    enum model_auth auth;
    bool            key_needed;
};

extern const struct model_provider model_offline;

const struct model_provider *model_provider_find(struct sv name); /* NULL: there is none */

/* `find` and `ask` of every provider with a network. */
enum status model_find_network(struct model_client *c, const struct model_provider *p,
                               struct sv identifier, struct arena *a, struct model_access *out,
                               struct err *e) MUST_USE;
enum status model_ask_network(struct model_call *c, struct err *e) MUST_USE;

/* The events of a stream that was kept. */
enum status model_read_again(struct model_call *c, struct sv headers, struct sv bytes,
                             struct err *e) MUST_USE;

/* Remember that a model does not take a setting; the name is a constant. */
void model_refuse(struct model_client *c, struct sv model, const char *setting);

/* One request with retries, to where `access` says. */
enum status model_complete_at(struct model_client *c, const struct model_access *access,
                              const struct model_request *q, struct arena *a,
                              struct model_response *out, struct err *e) MUST_USE;
/* What the client's functions say for this request. */
enum status model_access_find(struct model_client *c, struct sv model, struct arena *a,
                              struct model_access *out, struct err *e) MUST_USE;

/* Hand an event on, and collect what the response holds. ST_CONFLICT, reason "cancelled", when the
 * request was cancelled. */
enum status model_emit(struct model_call *c, const struct model_event *ev, struct err *e) MUST_USE;

/* Wait, through the client's own sleep, and calling q->wait; ends early with ST_CONFLICT when the
 * request is cancelled.
 */
enum status model_pause(struct model_client *c, const struct model_request *q, int64_t ms,
                        struct err *e) MUST_USE;

#endif
