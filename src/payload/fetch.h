/* Pages over HTTP (http/http.h), kept for a while. */
#ifndef HEDDLE_FETCH_H
#define HEDDLE_FETCH_H

#include "payload/web_cache.h"

/* What the caller allows; nothing here reads settings or the environment. */
struct fetch_config {
    size_t    max_bytes;
    int64_t   timeout_ms, ttl_ms; /* ttl: how long a cached page is used */
    int64_t   total_ms;           /* time for all pages together */
    int64_t   deadline_us;        /* steady clock, set when the first page is begun; 0: none */
    int       max_redirects;
    bool      allow_private, refresh, offline;
    struct sv proxy;                   /* for every page; "": none, */
    struct sv http_proxy, https_proxy; /* but these, by the scheme of the URL, */
    struct sv no_proxy;                /* except for hosts that it names: "a.example,.b.example" */
    int       cache_fd;                /* directory of kept pages, or -1 */
    int64_t   now_ms;
};

#define FETCH_DEFAULTS                                                                             \
    {                                                                                              \
        .max_bytes = 10 << 20, .timeout_ms = 20000, .ttl_ms = 3600000, .total_ms = 60000,          \
        .max_redirects = 5, .cache_fd = -1,                                                        \
    }

/* The page, from the cache while it is fresh, else from the network; in `a`. When the server cannot
 * be reached or fails, an older cached copy is given, and out->stale says why. May be called from
 * several threads at once, each with its own arena. On failure *e says why in a few words:
 * ST_NOT_FOUND (not kept, and offline), ST_PERMISSION_DENIED (a private address),
 * ST_LIMIT_EXCEEDED, ST_IO. */
enum status fetch_get(const struct fetch_config *c, struct sv url, struct arena *a,
                      struct web_page *out, struct err *e) MUST_USE;

/* The proxy for a URL, or "". */
struct sv fetch_proxy_of(const struct fetch_config *c, struct sv url);

#endif
