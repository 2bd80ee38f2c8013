/* The two halves of a service, both pure functions: making the request, and reading the answer. For
 * the room and its tests. */
#ifndef HEDDLE_SEARCH_INTERNAL_H
#define HEDDLE_SEARCH_INTERNAL_H

#include "search/search.h"

/* ---- request.c ---- */

/* A query taken apart. */
struct search_plan {
    struct sv text; /* on one line, without spaces around it */
    bool      deep, news;
    size_t    max;
    struct sv include[SEARCH_DOMAINS_MAX], exclude[SEARCH_DOMAINS_MAX]; /* in lower case */
    size_t    n_include, n_exclude;
};

enum status search_plan(const struct search_query *q, struct arena *a, struct search_plan *out,
                        struct err *e) MUST_USE;

enum { SEARCH_HEADERS_MAX = 2 };
struct search_request {
    struct sv url, body; /* body: absent for a GET */
    struct sv headers[SEARCH_HEADERS_MAX];
    size_t    n_headers;
};

/* ST_INVALID_SYNTAX: the service's address is none, or its key cannot be a key.
 * ST_PERMISSION_DENIED: the key would cross the network unencrypted. */
enum status search_request(const struct search_service *s, const struct search_plan *p,
                           struct arena *a, struct search_request *out, struct err *e) MUST_USE;

/* ---- answer.c ---- */

/* The results of an answer with status 200: those with an address of the web and a domain that
 * was asked for, at most p->max. ST_INVALID_SYNTAX: it is not what the service is known to send. */
enum status search_read(enum search_kind kind, const struct search_plan *p, struct sv body,
                        struct arena *a, struct search_answer *out, struct err *e) MUST_USE;

/* What any other status means: one of the codes of search_web(). */
const char *search_code(enum search_kind kind, int status, struct sv body, struct arena *a);

#endif
