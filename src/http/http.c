/* One transfer with libcurl, which is loaded by name on first use. */
#include "http/http.h"

#include "http/url_policy.h"

#include <assert.h>
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
    __typeof__(curl_easy_cleanup)   *cleanup;
    __typeof__(curl_easy_strerror)  *strerror;
    __typeof__(curl_slist_append)   *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
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
          look_up(&lib.slist_append, "curl_slist_append") &&
          look_up(&lib.slist_free_all, "curl_slist_free_all") &&
          lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK))
        lib.handle = NULL;
}

/* ---- one transfer ----------------------------------------------------------------------- */

struct transfer {
    const struct http_request *q;
    struct curl_slist         *headers;
    struct sb                  body;
    enum address_kind          refused; /* why; public: it was not */
    bool                       is_private, too_big;
};

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;

    if (t->body.n + size * n > t->q->max_bytes) {
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
    enum address_kind kind = address_kind_of(&address->addr);
    t->is_private = kind != ADDRESS_PUBLIC;
    if (kind == ADDRESS_METADATA ||
        (kind == ADDRESS_PRIVATE && !t->q->allow_private && !t->q->proxy.n)) {
        t->refused = kind;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_up(CURL *h, struct transfer *t, struct arena *a)
{
    const struct http_request *q = t->q;

    lib.setopt(h, CURLOPT_URL, sv_cstr(q->url, a));
    lib.setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    lib.setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    lib.setopt(h, CURLOPT_FOLLOWLOCATION, (long)(q->max_redirects > 0));
    lib.setopt(h, CURLOPT_MAXREDIRS, (long)q->max_redirects);
    lib.setopt(h, CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
    lib.setopt(h, CURLOPT_NOSIGNAL, 1L);
    lib.setopt(h, CURLOPT_PROXY, q->proxy.n ? sv_cstr(q->proxy, a) : "");
    lib.setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    lib.setopt(h, CURLOPT_USERAGENT, "heddle/" HEDDLE_VERSION);
    lib.setopt(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)q->max_bytes);
    lib.setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    lib.setopt(h, CURLOPT_WRITEDATA, (void *)t);
    lib.setopt(h, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    lib.setopt(h, CURLOPT_OPENSOCKETDATA, (void *)t);
    if (t->headers)
        lib.setopt(h, CURLOPT_HTTPHEADER, t->headers);
    if (q->body.s) {
        lib.setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
        lib.setopt(h, CURLOPT_POSTFIELDS, q->body.s);
    }
}

static enum status refused(enum address_kind kind, struct err *e)
{
    if (kind == ADDRESS_METADATA) {
        err_set(e, ST_PERMISSION_DENIED, "the address is that of a metadata service");
        return err_reason(e, "metadata");
    }
    err_set(e, ST_PERMISSION_DENIED, "the address is private");
    return err_reason(e, "private");
}

static enum status outcome(const struct transfer *t, CURLcode rc, struct err *e)
{
    if (t->refused)
        return refused(t->refused, e);
    if (t->too_big || rc == CURLE_FILESIZE_EXCEEDED)
        return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", t->q->max_bytes);
    if (rc == CURLE_OK)
        return ST_OK;
    err_set(e, ST_IO, "%s", lib.strerror(rc));
    return err_reason(e, rc == CURLE_OPERATION_TIMEDOUT ? "timeout" : "network");
}

/* A line break in a value would be a header of someone else's making. */
static enum status check_headers(const struct http_request *q, struct err *e)
{
    for (size_t i = 0; i < q->n_headers; i++)
        for (size_t k = 0; k < q->headers[i].n; k++)
            if ((unsigned char)q->headers[i].s[k] < 0x20 || q->headers[i].s[k] == 0x7f)
                return err_set(e, ST_INVALID_SYNTAX, "a control character in a header");
    return ST_OK;
}

static enum status perform(CURL *h, struct transfer *t, struct arena *a, struct http_response *out,
                           struct err *e)
{
    long  status = 0;
    char *type = NULL;

    for (size_t i = 0; i < t->q->n_headers; i++) {
        struct curl_slist *more = lib.slist_append(t->headers, sv_cstr(t->q->headers[i], a));
        if (!more)
            return err_set(e, ST_IO, "out of memory");
        t->headers = more;
    }
    set_up(h, t, a);
    if (outcome(t, lib.perform(h), e))
        return err_code(e);
    lib.getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    lib.getinfo(h, CURLINFO_CONTENT_TYPE, &type);
    *out = (struct http_response){ .status = (int)status,
                                   .body = sb_sv(&t->body),
                                   .type = sv_dup(sv_of(type ? type : ""), a),
                                   .is_private = t->is_private };
    return ST_OK;
}

enum status http_send(const struct http_request *q, struct arena *a, struct http_response *out,
                      struct err *e)
{
    struct transfer t = { .q = q, .body = sb_in(a, 0) };

    assert(q->max_redirects == 0 || (!q->n_headers && !q->body.s));
    if (check_headers(q, e))
        return err_code(e);
    enum address_kind host = q->proxy.n ? address_kind_of_host(q->url) : ADDRESS_PUBLIC;
    if (host == ADDRESS_METADATA || (host == ADDRESS_PRIVATE && !q->allow_private))
        return refused(host, e);
    pthread_once(&lib_once, load);
    CURL *h = lib.handle ? lib.easy_init() : NULL;
    if (!h) {
        err_set(e, ST_IO, "libcurl is not installed");
        err_reason(e, "library");
        return err_hint(e, "install the package libcurl4");
    }
    enum status s = perform(h, &t, a, out, e);
    lib.cleanup(h);
    lib.slist_free_all(t.headers);
    return s;
}
