/* One HTTP request to another machine. libcurl is loaded when the first one is made and never
 * before.
 *
 *     struct http_request  q = { .url = url, .max_bytes = 1 << 20, .timeout_ms = 20000 };
 *     struct http_response r;
 *     if (http_send(&q, a, &r, e)) return err_code(e);        no answer
 *     if (r.status != 200) ...                                the server answered, and refused
 *
 * Only http and https, redirects included; certificates are verified; a limit on size, time and
 * redirects; every address is checked when the connection is made. This room reads no settings
 * and no environment: the caller says what is allowed. Behind a `proxy` only what the URL itself
 * says can be checked (an address, localhost); it is trusted with the rest. */
#ifndef HEDDLE_HTTP_H
#define HEDDLE_HTTP_H

#include "base/sb.h"

#include <stdatomic.h>

/* An answer that is taken while it comes. */
struct http_stream {
    /* Takes each piece of the body of an answer with status 200 to 299. An error ends the transfer
     * and is returned. NULL: the answer is collected. */
    enum status (*piece)(void *ctx, struct sv bytes, struct err *e);
    /* Called before the first of them with the "Name: value" lines of the answer; or NULL. */
    enum status (*begin)(void *ctx, struct sv headers, struct err *e);
    void   *ctx;
    int64_t connect_ms;    /* until there is a connection */
    int64_t first_byte_ms; /* until the first byte of an answer, from the beginning */
    int64_t idle_ms;       /* between two bytes of it */
    size_t  max_error;     /* of the body of any other answer; what follows is not read */
};

struct http_request {
    struct sv        url;
    const struct sv *headers; /* "Name: value", besides those every request has */
    size_t           n_headers;
    struct sv        body;          /* absent: a GET, else a POST of it */
    struct sv        proxy;         /* "": none */
    size_t           max_bytes;     /* of the answer, unpacked */
    int64_t          timeout_ms;    /* for all of it; 0: no limit */
    int              max_redirects; /* 0: a redirect is an answer like any other. More is only for
                                     * requests without headers and body: a key must not follow. */
    bool allow_private;             /* loopback and private addresses; never those of metadata
                                     * services, see url_policy.h */
    bool               secure;      /* only https, or a loopback address */
    struct http_stream stream;
    const atomic_bool *cancel; /* another thread or a signal may set it; NULL: not cancellable */
    void (*wait)(void *ctx);   /* called every now and then, on this thread, until it is over; or
                                * NULL */
    void *wait_ctx;
};

enum { HTTP_HEADERS_MAX = 256 << 10 }; /* of an answer */

struct http_response {
    int       status;
    struct sv body, type; /* type: of the content, or "" */
    struct sv headers;    /* "Name: value" lines of the last answer, without the status line */
    bool      is_private; /* it came from a private address */
};

/* Whatever the server answers is ST_OK; the answer lives in `a`. May be called from several
 * threads at once, each with its own arena. On failure *e says why in a few words, without the
 * address: ST_PERMISSION_DENIED (a private address, reason "private", one of a metadata service,
 * reason "metadata", or a connection that is not secure, reason "insecure"), ST_LIMIT_EXCEEDED
 * (more than max_bytes, or HTTP_HEADERS_MAX), ST_INVALID_SYNTAX (a control character in a header),
 * ST_CONFLICT (reason "cancelled"), ST_IO with reason "timeout", "network", or "library" when
 * libcurl is not there, or what stream.piece returned. Of a stream that fails, *out has the status
 * and headers that came (status 0: none did). */
enum status http_send(const struct http_request *q, struct arena *a, struct http_response *out,
                      struct err *e) MUST_USE;

#endif
