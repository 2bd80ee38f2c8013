/* One page: from the cache, through a proxy or directly, or an old copy when nobody answers. */
#include "payload/fetch.h"

#include "base/clock.h"
#include "http/http.h"

/* Does the list name the host or a domain it belongs to? "*" is everything. */
static bool is_named(struct sv list, struct sv host)
{
    while (list.n) {
        struct sv_cut c = sv_cut(list, ',');
        struct sv     name = sv_trim(c.head);
        list = c.tail;
        if (sv_is(name, "*"))
            return true;
        if (name.n && name.s[0] == '.')
            name = sv_skip(name, 1);
        if (!name.n || !sv_ends(host, name))
            continue;
        if (host.n == name.n || host.s[host.n - name.n - 1] == '.')
            return true;
    }
    return false;
}

struct sv fetch_proxy_of(const struct fetch_config *c, struct sv url)
{
    ptrdiff_t at = sv_find(url, SV("://"));
    struct sv rest = sv_skip(url, at < 0 ? 0 : (size_t)at + 3);
    size_t    n = 0;

    if (c->proxy.n)
        return c->proxy;
    while (n < rest.n && rest.s[n] != '/' && rest.s[n] != '?' && rest.s[n] != '#')
        n++;
    struct sv_cut user = sv_cut_last(sv_first(rest, n), '@');
    struct sv     host = sv_cut(user.found ? user.tail : user.head, ':').head;
    if (is_named(c->no_proxy, host))
        return SV("");
    return byte_lower(url.n > 4 ? url.s[4] : 0) == 's' ? c->https_proxy : c->http_proxy;
}

/* What is left for this page of the total time for all pages. */
static int64_t time_left(const struct fetch_config *c)
{
    int64_t left = c->deadline_us ? (c->deadline_us - clock_steady_us()) / 1000 : c->timeout_ms;

    return left < c->timeout_ms ? left : c->timeout_ms;
}

static enum status from_network(const struct fetch_config *c, struct sv url, struct arena *a,
                                struct web_page *out, struct err *e)
{
    struct http_request  q = { .url = url,
                               .proxy = fetch_proxy_of(c, url),
                               .max_bytes = c->max_bytes,
                               .timeout_ms = time_left(c),
                               .max_redirects = c->max_redirects,
                               .allow_private = c->allow_private };
    struct http_response r;

    if (q.timeout_ms <= 0)
        return err_set(e, ST_IO, "the time for all pages (%lld s) is used up",
                       (long long)c->total_ms / 1000);
    if (http_send(&q, a, &r, e)) {
        if (e->code == ST_PERMISSION_DENIED && sv_is(sv_of(e->reason), "private"))
            err_hint(e, "set payload.allow_private_urls to allow it");
        return err_code(e);
    }
    if (r.status >= 300 || r.status < 200) /* a redirect that cannot be followed has no page */
        return err_set(e, r.status >= 500 ? ST_IO : ST_NOT_FOUND, "HTTP %d", r.status);
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
               (!kept.is_private || c->allow_private || fetch_proxy_of(c, url).n);

    /* When the clock went back, a page counts as old, so that it is not kept forever. */
    int64_t age = has ? c->now_ms - kept.at : -1;
    if (has && (c->offline || (!c->refresh && age >= 0 && age < c->ttl_ms))) {
        *out = kept;
        return ST_OK;
    }
    if (c->offline)
        return err_set(e, ST_NOT_FOUND, "offline, and no copy is kept");
    if (from_network(c, url, a, out, e) == ST_OK) {
        web_cache_put(c->cache_fd, url, out);
        return ST_OK;
    }
    if (!has || e->code != ST_IO)
        return err_code(e);
    *out = kept;
    out->stale = sv_dup(sv_of(e->text), a);
    return ST_OK;
}
