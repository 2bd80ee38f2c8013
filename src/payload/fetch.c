#include "payload/fetch.h"

#include "base/vec.h"
#include "payload/url_policy.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* What we use of libcurl, found by name on first use. */
static struct {
    void                         *handle;
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init)   *easy_init;
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    __typeof__(curl_easy_perform) *perform;
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    __typeof__(curl_easy_cleanup)  *cleanup;
    __typeof__(curl_easy_strerror) *strerror;
} lib;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;

static bool look_up(void *slot, const char *name)
{
    void *p = dlsym(lib.handle, name);

    memcpy(slot, &p, sizeof p);
    return p != NULL;
}

static void load(void)
{
    void *h = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

    lib.handle = h;
    if (h &&
        !(look_up(&lib.global_init, "curl_global_init") &&
          look_up(&lib.easy_init, "curl_easy_init") && look_up(&lib.setopt, "curl_easy_setopt") &&
          look_up(&lib.perform, "curl_easy_perform") &&
          look_up(&lib.getinfo, "curl_easy_getinfo") &&
          look_up(&lib.cleanup, "curl_easy_cleanup") &&
          look_up(&lib.strerror, "curl_easy_strerror") &&
          lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK))
        lib.handle = NULL;
}

/* One request. */
struct transfer {
    const struct fetch_config *c;
    struct sb                  body;
    bool                       refused, is_private, too_big;
};

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;

    if (t->body.n + size * n > t->c->max_bytes) {
        t->too_big = true;
        return 0;
    }
    sb_add(&t->body, (struct sv){ data, size * n });
    return size * n;
}

static curl_socket_t on_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *t = ctx;

    (void)purpose;
    t->is_private = address_is_private(&address->addr);
    if (t->is_private && !t->c->allow_private && !t->c->proxy.n) {
        t->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_up(CURL *h, struct transfer *t, const char *url, const char *proxy)
{
    const struct fetch_config *c = t->c;

    lib.setopt(h, CURLOPT_URL, url);
    lib.setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    lib.setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    lib.setopt(h, CURLOPT_FOLLOWLOCATION, (long)(c->max_redirects > 0));
    lib.setopt(h, CURLOPT_MAXREDIRS, (long)c->max_redirects);
    lib.setopt(h, CURLOPT_TIMEOUT_MS, (long)c->timeout_ms);
    lib.setopt(h, CURLOPT_NOSIGNAL, 1L);
    lib.setopt(h, CURLOPT_PROXY, proxy);
    lib.setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    lib.setopt(h, CURLOPT_USERAGENT, "heddle/" HEDDLE_VERSION);
    lib.setopt(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)c->max_bytes);
    lib.setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    lib.setopt(h, CURLOPT_WRITEDATA, (void *)t);
    lib.setopt(h, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    lib.setopt(h, CURLOPT_OPENSOCKETDATA, (void *)t);
}

static enum status outcome(const struct transfer *t, CURLcode rc, long http, struct err *e)
{
    if (t->refused) {
        err_set(e, ST_PERMISSION_DENIED, "the address is private");
        return err_hint(e, "set payload.allow_private_urls in .heddle/config.json to allow it");
    }
    if (t->too_big || rc == CURLE_FILESIZE_EXCEEDED)
        return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", t->c->max_bytes);
    if (rc != CURLE_OK)
        return err_set(e, ST_IO, "%s", lib.strerror(rc));
    if (http >= 400 || http < 200)
        return err_set(e, http == 404 ? ST_NOT_FOUND : ST_IO, "HTTP %ld", http);
    return ST_OK;
}

static enum status from_network(const struct fetch_config *c, struct sv url, struct arena *a,
                                struct web_page *out, struct err *e)
{
    struct transfer t = { .c = c, .body = sb_in(a, 0) };
    long            http = 0;
    char           *type = NULL;

    pthread_once(&lib_once, load);
    CURL *h = lib.handle ? lib.easy_init() : NULL;
    if (!h) {
        err_set(e, ST_IO, "libcurl is not installed");
        return err_hint(e, "install the package libcurl4");
    }
    set_up(h, &t, sv_cstr(url, a), c->proxy.n ? sv_cstr(c->proxy, a) : "");
    CURLcode rc = lib.perform(h);
    lib.getinfo(h, CURLINFO_RESPONSE_CODE, &http);
    lib.getinfo(h, CURLINFO_CONTENT_TYPE, &type);
    enum status s = outcome(&t, rc, http, e);
    if (!s)
        *out = (struct web_page){
            .body = sb_sv(&t.body),
            .type = sv_dup(sv_of(type ? type : ""), a),
            .at = c->now_ms,
            .is_private = t.is_private,
        };
    lib.cleanup(h);
    return s;
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
