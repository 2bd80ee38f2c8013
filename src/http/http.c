/* One transfer with libcurl, which is loaded by name on first use. */
#include "http/http.h"

#include "base/clock.h"
#include "http/url_policy.h"

#include <assert.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The functions of libcurl that are used, found by name on first use. */
static struct {
    void                         *handle;
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init)   *easy_init;
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    __typeof__(curl_easy_cleanup)        *cleanup;
    __typeof__(curl_easy_strerror)       *strerror;
    __typeof__(curl_slist_append)        *slist_append;
    __typeof__(curl_slist_free_all)      *slist_free_all;
    __typeof__(curl_multi_init)          *multi_init;
    __typeof__(curl_multi_cleanup)       *multi_cleanup;
    __typeof__(curl_multi_add_handle)    *multi_add;
    __typeof__(curl_multi_remove_handle) *multi_remove;
    __typeof__(curl_multi_perform)       *multi_perform;
    __typeof__(curl_multi_poll)          *multi_poll;
    __typeof__(curl_multi_info_read)     *multi_read;
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
          look_up(&lib.getinfo, "curl_easy_getinfo") &&
          look_up(&lib.cleanup, "curl_easy_cleanup") &&
          look_up(&lib.strerror, "curl_easy_strerror") &&
          look_up(&lib.slist_append, "curl_slist_append") &&
          look_up(&lib.slist_free_all, "curl_slist_free_all") &&
          look_up(&lib.multi_init, "curl_multi_init") &&
          look_up(&lib.multi_cleanup, "curl_multi_cleanup") &&
          look_up(&lib.multi_add, "curl_multi_add_handle") &&
          look_up(&lib.multi_remove, "curl_multi_remove_handle") &&
          look_up(&lib.multi_perform, "curl_multi_perform") &&
          look_up(&lib.multi_poll, "curl_multi_poll") &&
          look_up(&lib.multi_read, "curl_multi_info_read") &&
          lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK))
        lib.handle = NULL;
}

/* ---- one transfer ----------------------------------------------------------------------- */

/* Why a transfer was ended from our side. */
enum ending {
    GOES_ON,
    ENOUGH, /* no more of the answer is wanted, which is not a failure */
    TOO_BIG,
    HEADERS_TOO_BIG,
    TIMED_OUT,
    CANCELLED,
    PIECE_FAILED, /* the caller, which takes the pieces, returned an error */
};

struct transfer {
    const struct http_request *q;
    CURL                      *handle;
    struct curl_slist         *headers;
    struct sb                  body, answered;              /* answered: headers of the answer */
    enum address_kind          refused;                     /* why; public: it was not */
    bool                       insecure, is_private, begun; /* begun: a piece was passed on */
    enum ending                ending;
    int64_t                    began_us, last_us; /* last: a byte came; 0: none did */
    struct err                *e;                 /* of stream.piece */
};

static size_t end_with(struct transfer *t, enum ending why)
{
    t->ending = why;
    return 0;
}

static long status_of(const struct transfer *t)
{
    long status = 0;

    lib.getinfo(t->handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* A body that is not a stream's: collected, up to a limit. */
static size_t collect(struct transfer *t, struct sv bytes)
{
    const struct http_request *q = t->q;
    size_t                     max = q->stream.piece ? q->stream.max_error : q->max_bytes;

    if (t->body.n + bytes.n <= max) {
        sb_add(&t->body, bytes);
        return bytes.n;
    }
    if (!q->stream.piece)
        return end_with(t, TOO_BIG);
    sb_add(&t->body, sv_first(bytes, max - t->body.n));
    return end_with(t, ENOUGH);
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer          *t = ctx;
    const struct http_stream *stream = &t->q->stream;
    struct sv                 bytes = { data, size * n };
    long                      status = stream->piece ? status_of(t) : 0;

    t->last_us = clock_steady_us();
    if (status < 200 || status > 299)
        return collect(t, bytes);
    curl_off_t so_far = 0;
    lib.getinfo(t->handle, CURLINFO_SIZE_DOWNLOAD_T, &so_far);
    if ((size_t)so_far > t->q->max_bytes)
        return end_with(t, TOO_BIG);
    if (stream->begin && !t->begun && stream->begin(stream->ctx, sb_sv(&t->answered), t->e))
        return end_with(t, PIECE_FAILED);
    t->begun = true;
    return stream->piece(stream->ctx, bytes, t->e) ? end_with(t, PIECE_FAILED) : bytes.n;
}

/* Each answer begins with its status line: those before the last are redirects and 1xx. */
static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    struct sv        line = sv_trim((struct sv){ data, size * n });

    t->last_us = clock_steady_us();
    if (sv_starts(line, SV("HTTP/"))) {
        t->answered.n = 0;
        return size * n;
    }
    if (t->answered.n + size * n > HTTP_HEADERS_MAX)
        return end_with(t, HEADERS_TOO_BIG);
    sb_add(&t->answered, line);
    sb_adds(&t->answered, line.n ? "\n" : "");
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
    if (t->q->secure && !sv_starts(t->q->url, SV("https://")) &&
        !http_address_is_loopback(&address->addr)) {
        t->insecure = true;
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
    if (q->stream.piece) { /* without compression: the recorded bytes are those received */
        lib.setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)q->stream.connect_ms);
        lib.setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
    } else {
        lib.setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    }
    lib.setopt(h, CURLOPT_USERAGENT, "heddle/" HEDDLE_VERSION);
    lib.setopt(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)q->max_bytes);
    lib.setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    lib.setopt(h, CURLOPT_WRITEDATA, (void *)t);
    lib.setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    lib.setopt(h, CURLOPT_HEADERDATA, (void *)t);
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

static enum status insecure(struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "the connection would not be encrypted");
    return err_reason(e, "insecure");
}

static enum status failed(enum status code, const char *text, const char *reason, struct err *e)
{
    err_set(e, code, "%s", text);
    return err_reason(e, reason);
}

static enum status outcome(const struct transfer *t, CURLcode rc, struct err *e)
{
    if (t->insecure)
        return insecure(e);
    if (t->refused)
        return refused(t->refused, e);
    switch (t->ending) {
    case GOES_ON: break;
    case ENOUGH: return ST_OK;
    case TOO_BIG: return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", t->q->max_bytes);
    case HEADERS_TOO_BIG:
        return err_set(e, ST_LIMIT_EXCEEDED, "more than %d bytes of headers", HTTP_HEADERS_MAX);
    case TIMED_OUT:
        return failed(ST_IO,
                      t->last_us ? "no more of the answer came in time" : "no answer came in time",
                      "timeout", e);
    case CANCELLED: return failed(ST_CONFLICT, "the request was cancelled", "cancelled", e);
    case PIECE_FAILED: return err_code(e);
    }
    if (rc == CURLE_FILESIZE_EXCEEDED)
        return err_set(e, ST_LIMIT_EXCEEDED, "more than %zu bytes", t->q->max_bytes);
    if (rc == CURLE_OK)
        return ST_OK;
    return failed(ST_IO, lib.strerror(rc), rc == CURLE_OPERATION_TIMEDOUT ? "timeout" : "network",
                  e);
}

/* A line break in a value would add a header that the caller did not intend. */
static enum status check_headers(const struct http_request *q, struct err *e)
{
    for (size_t i = 0; i < q->n_headers; i++)
        for (size_t k = 0; k < q->headers[i].n; k++)
            if ((unsigned char)q->headers[i].s[k] < 0x20 || q->headers[i].s[k] == 0x7f)
                return err_set(e, ST_INVALID_SYNTAX, "a control character in a header");
    return ST_OK;
}

/* Has the transfer been cancelled, or has it timed out? */
static bool must_end(struct transfer *t)
{
    const struct http_stream *stream = &t->q->stream;
    int64_t                   now = clock_steady_us();

    if (t->q->cancel && atomic_load(t->q->cancel))
        end_with(t, CANCELLED);
    else if (stream->piece && (t->last_us ? now - t->last_us > stream->idle_ms * 1000
                                          : now - t->began_us > stream->first_byte_ms * 1000))
        end_with(t, TIMED_OUT);
    return t->ending != GOES_ON;
}

/* Run the transfer in short steps, so that it can be cancelled at any time. */
static CURLcode drive(CURLM *m, struct transfer *t)
{
    enum { STEP_MS = 50 }; /* how long a cancelled transfer goes on waiting */
    int running = 1, left;

    while (running) {
        if (lib.multi_perform(m, &running) != CURLM_OK)
            return CURLE_FAILED_INIT;
        if (!running)
            break;
        if (t->q->wait)
            t->q->wait(t->q->wait_ctx);
        if (must_end(t))
            return CURLE_ABORTED_BY_CALLBACK;
        if (lib.multi_poll(m, NULL, 0, STEP_MS, NULL) != CURLM_OK)
            return CURLE_FAILED_INIT;
    }
    CURLMsg *message = lib.multi_read(m, &left);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
}

static CURLcode run(struct transfer *t)
{
    CURLM   *m = lib.multi_init();
    CURLcode rc = CURLE_OUT_OF_MEMORY;

    t->began_us = clock_steady_us();
    if (m && lib.multi_add(m, t->handle) == CURLM_OK) {
        rc = drive(m, t);
        lib.multi_remove(m, t->handle);
    }
    if (m)
        lib.multi_cleanup(m);
    return rc;
}

static enum status perform(struct transfer *t, struct arena *a, struct http_response *out,
                           struct err *e)
{
    char *type = NULL;

    for (size_t i = 0; i < t->q->n_headers; i++) {
        struct curl_slist *more = lib.slist_append(t->headers, sv_cstr(t->q->headers[i], a));
        if (!more)
            return err_set(e, ST_IO, "out of memory");
        t->headers = more;
    }
    set_up(t->handle, t, a);
    enum status s = outcome(t, run(t), e);
    if (s && !t->q->stream.piece)
        return s;
    lib.getinfo(t->handle, CURLINFO_CONTENT_TYPE, &type);
    *out = (struct http_response){ .status = (int)status_of(t),
                                   .body = sb_sv(&t->body),
                                   .type = sv_dup(sv_of(type ? type : ""), a),
                                   .headers = sb_sv(&t->answered),
                                   .is_private = t->is_private };
    return s;
}

/* The checks that need no connection. */
static enum status check_request(const struct http_request *q, struct err *e)
{
    enum address_kind host = q->proxy.n ? address_kind_of_host(q->url) : ADDRESS_PUBLIC;

    if (check_headers(q, e))
        return err_code(e);
    if (host == ADDRESS_METADATA || (host == ADDRESS_PRIVATE && !q->allow_private))
        return refused(host, e);
    if (q->secure && !sv_starts(q->url, SV("https://")) &&
        !(sv_starts(q->url, SV("http://")) && http_url_is_loopback(q->url)))
        return insecure(e);
    return ST_OK;
}

enum status http_send(const struct http_request *q, struct arena *a, struct http_response *out,
                      struct err *e)
{
    struct transfer t = { .q = q, .body = sb_in(a, 0), .answered = sb_in(a, 0), .e = e };

    if (q->stream.piece)
        *out = (struct http_response){ .type = SV("") };

    assert(q->max_redirects == 0 || (!q->n_headers && !q->body.s));
    if (check_request(q, e))
        return err_code(e);
    pthread_once(&lib_once, load);
    t.handle = lib.handle ? lib.easy_init() : NULL;
    if (!t.handle) {
        err_set(e, ST_IO, "libcurl is not installed");
        err_reason(e, "library");
        return err_hint(e, "install the package libcurl4");
    }
    enum status s = perform(&t, a, out, e);
    lib.cleanup(t.handle);
    lib.slist_free_all(t.headers);
    return s;
}
