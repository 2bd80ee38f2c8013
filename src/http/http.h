/* One HTTP request to another machine. libcurl is loaded when the first one is made and never
 * before.
 *
 *     struct http_request  q = { .url = url, .max_bytes = 1 << 20, .timeout_ms = 20000 };
 *     struct http_response r;
 *     if (http_send(&q, a, &r, e)) return err_code(e);        nobody answered
 *     if (r.status != 200) ...                                someone did, and said no
 *
 * Only http and https, redirects included; certificates are verified; a limit on size, time and
 * redirects; every address is checked when the connection is made. This room reads no settings
 * and no environment: the caller says what is allowed. Behind a `proxy` only what the URL itself
 * says can be checked (an address, localhost); it is trusted with the rest. */
#ifndef HEDDLE_HTTP_H
#define HEDDLE_HTTP_H

#include "base/sb.h"

struct http_request {
    struct sv        url;
    const struct sv *headers; /* "Name: value", besides those every request has */
    size_t           n_headers;
    struct sv        body;          /* absent: a GET, else a POST of it */
    struct sv        proxy;         /* "": none */
    size_t           max_bytes;     /* of the answer, unpacked */
    int64_t          timeout_ms;    /* for all of it */
    int              max_redirects; /* 0: a redirect is an answer like any other. More is only for
                                     * requests without headers and body: a key must not follow. */
    bool allow_private;             /* loopback and private addresses; never those of metadata
                                     * services, see url_policy.h */
};

struct http_response {
    int       status;
    struct sv body, type; /* type: of the content, or "" */
    bool      is_private; /* it came from a private address */
};

/* Whatever the server answers is ST_OK; the answer lives in `a`. May be called from several
 * threads at once, each with its own arena. On failure *e says why in a few words, without the
 * address: ST_PERMISSION_DENIED (a private address, reason "private", or one of a metadata service,
 * reason "metadata"), ST_LIMIT_EXCEEDED (more than max_bytes),
 * ST_INVALID_SYNTAX (a control character in a header), ST_IO with reason "timeout", "network", or
 * "library" when libcurl is not there. */
enum status http_send(const struct http_request *q, struct arena *a, struct http_response *out,
                      struct err *e) MUST_USE;

#endif
