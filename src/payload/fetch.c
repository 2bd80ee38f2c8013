#include "payload/fetch.h"

#include "http/http.h"

static enum status from_network(const struct fetch_config *c, struct sv url, struct arena *a,
                                struct web_page *out, struct err *e)
{
    struct http_request  q = { .url = url,
                               .proxy = c->proxy,
                               .max_bytes = c->max_bytes,
                               .timeout_ms = c->timeout_ms,
                               .max_redirects = c->max_redirects,
                               .allow_private = c->allow_private };
    struct http_response r;

    if (http_send(&q, a, &r, e)) {
        if (e->code == ST_PERMISSION_DENIED)
            err_hint(e, "set payload.allow_private_urls in .heddle/config.json to allow it");
        return err_code(e);
    }
    if (r.status >= 300 || r.status < 200) /* a redirect that cannot be followed has no page */
        return err_set(e, r.status == 404 ? ST_NOT_FOUND : ST_IO, "HTTP %d", r.status);
    *out = (struct web_page){
        .body = r.body, .type = r.type, .at = c->now_ms, .is_private = r.is_private
    };
    return ST_OK;
}

enum status fetch_get(const struct fetch_config *c, struct sv url, struct arena *a,
                      struct web_page *out, struct err *e)
{
    struct web_page kept;
    bool            has = web_cache_get(c->cache_fd, url, a, &kept) &&
               (!kept.is_private || c->allow_private || c->proxy.n);

    /* A clock that went back makes a page old, not good for ever. */
    int64_t age = has ? c->now_ms - kept.at : -1;
    if (has && (c->offline || (!c->refresh && age >= 0 && age < c->ttl_ms))) {
        *out = kept;
        return ST_OK;
    }
    if (c->offline)
        return err_set(e, ST_NOT_FOUND, "offline, and no copy is kept");
    if (from_network(c, url, a, out, e))
        return err_code(e);
    web_cache_put(c->cache_fd, url, out);
    return ST_OK;
}
