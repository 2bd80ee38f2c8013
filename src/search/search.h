/* Searching the web through services that people have a key for, or host themselves.
 *
 *     struct search_service s[] = { { SEARCH_TAVILY, url, key } };
 *     struct search_config  c = { .services = s, .n = 1 };
 *     struct search_query   q = { .text = SV("loom"), .max = 5 };
 *     if (search_web(&c, &q, a, &answer, e)) return err_code(e);
 *
 * Services are asked in their order: the next one when the one before it failed. Keys go to their
 * service and nowhere else: not over an unencrypted connection to another machine, not behind a
 * redirect, not into an error. The results are untrusted text; code that shows them must escape it
 * (loom/shown.h). */
#ifndef HEDDLE_SEARCH_H
#define HEDDLE_SEARCH_H

#include "base/sb.h"

/* clang-format off */
/*    service          name       public address                    variable of its key  setting of its address */
#define SEARCH_TABLE(X)                                                                                           \
    X(SEARCH_TAVILY,  "tavily",  "https://api.tavily.com",         "TAVILY_API_KEY",    "search.tavily_url")      \
    X(SEARCH_BRAVE,   "brave",   "https://api.search.brave.com",   "BRAVE_API_KEY",     "search.brave_url")       \
    X(SEARCH_SEARXNG, "searxng", NULL,                             NULL,                "search.searxng_url")
/* clang-format on */

enum search_kind {
#define X(kind, ...) kind,
    SEARCH_TABLE(X)
#undef X
        SEARCH_KINDS
};

struct search_facts {
    const char *name, *url, *key_variable, *url_setting; /* url, key_variable: or NULL */
};
extern const struct search_facts search_facts[SEARCH_KINDS];

struct search_service {
    enum search_kind kind;
    struct sv        url; /* where it is: scheme, host, perhaps a path */
    struct sv        key; /* absent for one that needs none */
};

struct search_config {
    const struct search_service *services; /* in the order in which they are asked */
    size_t                       n;
    int64_t                      timeout_ms; /* for one service; 0: SEARCH_TIMEOUT_MS */
    struct sv                    proxy;      /* "": none */
    /* Called before a service is sent something; may be NULL. */
    void (*before)(void *ctx, struct sv service);
    void *before_ctx;
};

enum {
    SEARCH_DEFAULT = 5, /* results */
    SEARCH_MAX = 10,    /* results */
    SEARCH_TIMEOUT_MS = 20000,
    SEARCH_QUERY_MAX = 400,  /* characters: what the services take */
    SEARCH_DOMAINS_MAX = 20, /* of include, and of exclude */
    SEARCH_TEXT_MAX = 6000,  /* bytes of one page's text */
    SEARCH_ANSWER_MAX = 4 << 20,
};

struct search_query {
    struct sv text;
    bool      deep, news;
    size_t    max;              /* 1 to SEARCH_MAX */
    struct sv include, exclude; /* "a.org, b.net", or absent */
};

struct search_result {
    struct sv title, url;
    struct sv domain;    /* of the url, without www. */
    struct sv text;      /* a few sentences; of a deep search what there is of the page */
    size_t    left_out;  /* characters of the text beyond SEARCH_TEXT_MAX */
    struct sv published; /* YYYY-MM-DD, or absent */
};

struct search_answer {
    struct search_result results[SEARCH_MAX];
    size_t               n;
    int64_t              ms; /* from asking to answer */
};

/* Nothing found is ST_OK with n == 0. ST_INVALID_SYNTAX: an empty query, an invalid domain, an
 * address or key in the settings that cannot be one. ST_LIMIT_EXCEEDED: the query is too long, or
 * (reason "quotaExceeded") a plan is used up. ST_MODEL_ERROR: every service failed; the reason is
 * the code of the first failure: authenticationFailed, rateLimited, invalidQuery,
 * serviceUnavailable, timeout, unknown. Errors hold nothing of what a service wrote. */
enum status search_web(const struct search_config *c, const struct search_query *q, struct arena *a,
                       struct search_answer *out, struct err *e) MUST_USE;

#endif
