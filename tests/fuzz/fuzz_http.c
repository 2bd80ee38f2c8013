/* Bytes of a client, sent to a server that runs in this process. Whatever comes in, nothing
 * crashes, and no more requests are accepted than a strict reader of RFC 9112 finds in the same
 * bytes: what two programs could take apart in two ways is refused, so that nothing is smuggled
 * past a proxy. Behind a body in chunks nothing is accepted at all.
 *
 * "TTTT" in an input stands for a token that may read. The server is known as "h". */
#include "api/door_token.h"
#include "fresh.h"
#include "front/app.h"
#include "front/http/server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fresh         folder;
static struct arena         arena;
static struct app           app;
static struct sv            secret;
static pthread_t            thread;
static sem_t                ready;
static int                  port;
static char                 runtime[300], home[300];
static char                *variables[] = { runtime, home, NULL };
static struct sv            allowed[] = { SV_STATIC("h") };
static struct sv            address[] = { SV_STATIC("127.0.0.1:0") };
static struct serve_options options = { .listen = { address, 1 },
                                        .allow_host = { allowed, 1 },
                                        .max_body = 1 << 16,
                                        .max_connections = 100 };

/* ---- the server ------------------------------------------------------------------------------ */

static int take_output(void *ctx, struct sv text)
{
    ptrdiff_t at = sv_find(text, SV("http://127.0.0.1:"));

    (void)ctx;
    if (at < 0)
        return 0;
    port = atoi(text.s + at + sizeof "http://127.0.0.1:" - 1);
    sem_post(&ready);
    return 0;
}

static void *serve(void *ctx)
{
    struct err e;

    (void)ctx;
    if (server_run(&app, &options, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    return NULL;
}

static void stop(void)
{
    raise(SIGTERM);
    pthread_join(thread, NULL);
    app_release(&app);
    arena_free(&arena);
    fresh_done(&folder);
}

static void make_token(void)
{
    struct door_token t = { .actor = SV("fuzz"), .permissions = TOKEN_read };
    struct err        e;

    if (door_token_add(&app.ws, &t, &arena, &secret, &e))
        abort();
}

static void begin(void)
{
    if (port)
        return;
    folder = fresh_folder();
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", folder.path);
    snprintf(home, sizeof home, "HOME=%s", folder.path);
    app_init(&app, &arena);
    app.actor = SV("user");
    app.ws.root = app.ws.start = sv_of(folder.path);
    app.ws.root_fd = dup(folder.fd);
    app.ws.store_url = SV("mem:fuzz_http");
    app.ws.variables = variables;
    app.out = sb_to_sink(take_output, NULL, &arena);
    make_token();
    sem_init(&ready, 0, 0);
    if (pthread_create(&thread, NULL, serve, NULL) != 0)
        abort();
    sem_wait(&ready);
    atexit(stop);
}

/* ---- a client -------------------------------------------------------------------------------- */

/* All that comes back, until the server closes or is silent for a while. */
static struct sv exchange(struct sv bytes, struct arena *a)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct linger      at_once = { 1, 0 }; /* leave no connection behind that waits */
    struct sb          all = sb_in(a, 0);
    char               buf[4096];
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        abort();
    while (bytes.n) {
        ssize_t n = send(fd, bytes.s, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        bytes = sv_skip(bytes, (size_t)n);
    }
    shutdown(fd, SHUT_WR);
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t       n = poll(&p, 1, 50) > 0 ? recv(fd, buf, sizeof buf, 0) : 0;
        if (n <= 0)
            break;
        sb_add(&all, (struct sv){ buf, (size_t)n });
    }
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
    return sb_sv(&all);
}

/* ---- a strict reader --------------------------------------------------------------------------
 */

struct strict {
    struct sv rest;
    bool      is_head, is_last;
};

static bool is_token(struct sv s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.s[i] >= '0' && s.s[i] <= '9') ||
              (byte_lower(s.s[i]) >= 'a' && byte_lower(s.s[i]) <= 'z') ||
              (s.s[i] && strchr("!#$%&'*+-.^_`|~", s.s[i]))))
            return false;
    return s.n > 0;
}

static bool is_text(struct sv s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.s[i] != '\t' && ((unsigned char)s.s[i] < ' ' || s.s[i] == 0x7f))
            return false;
    return true;
}

static bool has_line(struct sv *rest, struct sv *line)
{
    ptrdiff_t end = sv_find(*rest, SV("\r\n"));

    if (end < 0)
        return false;
    *line = sv_first(*rest, (size_t)end);
    *rest = sv_skip(*rest, (size_t)end + 2);
    return is_text(*line);
}

static bool is_field(struct sv name, const char *low)
{
    bool same = name.n == strlen(low);

    for (size_t i = 0; same && i < name.n; i++)
        same = byte_lower(name.s[i]) == low[i];
    return same;
}

static bool read_number(struct sv text, int base, size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = byte_lower(text.s[i]);
        int  d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (d >= base || *out > 1 << 24)
            return false;
        *out = *out * (size_t)base + (size_t)d;
    }
    return text.n > 0;
}

/* Size, extensions, line end, bytes, line end; then trailers. */
static bool skip_chunks(struct sv *rest)
{
    struct sv line;
    size_t    n;

    do {
        if (!has_line(rest, &line) || !read_number(sv_cut(line, ';').head, 16, &n) || rest->n < n)
            return false;
        *rest = sv_skip(*rest, n);
        if (n && (!has_line(rest, &line) || line.n))
            return false;
    } while (n);
    do {
        if (!has_line(rest, &line))
            return false;
    } while (line.n);
    return true;
}

struct fields {
    int    hosts, lengths, codings;
    size_t length;
};

static bool read_field(struct fields *f, struct sv line)
{
    struct sv_cut cut = sv_cut(line, ':');
    struct sv     value = sv_trim(cut.tail);

    if (!cut.found || !is_token(cut.head))
        return false;
    f->hosts += is_field(cut.head, "host");
    f->lengths += is_field(cut.head, "content-length");
    f->codings += is_field(cut.head, "transfer-encoding");
    if (is_field(cut.head, "content-length") && !read_number(value, 10, &f->length))
        return false;
    return !is_field(cut.head, "transfer-encoding") || is_field(value, "chunked");
}

/* One request as RFC 9112 has it, and nothing beside it. */
static bool next_request(struct strict *x)
{
    struct fields f = { 0 };
    struct sv     line;

    while (sv_starts(x->rest, SV("\r\n")))
        x->rest = sv_skip(x->rest, 2);
    if (!has_line(&x->rest, &line))
        return false;
    struct sv_cut method = sv_cut(line, ' '), target = sv_cut(method.tail, ' ');
    if (!method.found || !target.found || !is_token(method.head) || !target.head.n ||
        (!sv_is(target.tail, "HTTP/1.1") && !sv_is(target.tail, "HTTP/1.0")))
        return false;
    x->is_head = sv_is(method.head, "HEAD");
    for (;;) {
        if (!has_line(&x->rest, &line))
            return false;
        if (!line.n)
            break;
        if (!read_field(&f, line))
            return false;
    }
    if (f.hosts != 1 || f.lengths + f.codings > 1 || x->rest.n < f.length)
        return false;
    x->is_last = f.codings > 0; /* where its body ends is seen in more than one way */
    x->rest = sv_skip(x->rest, f.length);
    return true;
}

/* ---- answers ------------------------------------------------------------------------------------
 */

/* The status of the next answer; 0: there is none, or only part of one. */
static int next_answer(struct sv *rest, bool is_head)
{
    struct fields f = { 0 };
    struct sv     line;
    int64_t       status;

    if (!has_line(rest, &line))
        return 0;
    if (!sv_starts(line, SV("HTTP/1.1 ")) || !sv_to_int(sv_first(sv_skip(line, 9), 3), &status))
        abort();
    do {
        if (!has_line(rest, &line) || (line.n && !read_field(&f, line)))
            return (int)status;
    } while (line.n);
    if (status == 100)
        return next_answer(rest, is_head);
    if (is_head || status == 304)
        return (int)status;
    if (!f.codings)
        *rest = sv_skip(*rest, f.length < rest->n ? f.length : rest->n);
    else if (!skip_chunks(rest))
        *rest = (struct sv){ 0 };
    return (int)status;
}

static void check(struct sv sent, struct sv got)
{
    struct strict x = { .rest = sent };
    bool          strict = true;

    for (;;) {
        strict = strict && !x.is_last && next_request(&x);
        int status = next_answer(&got, strict && x.is_head);
        if (!status)
            return;
        if (!strict && status < 400) {
            fprintf(stderr, "answered %d to what is not a request\n", status);
            abort();
        }
    }
}

static struct sv with_secret(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    ptrdiff_t at;

    while ((at = sv_find(text, SV("TTTT"))) >= 0) {
        sb_add(&b, sv_first(text, (size_t)at));
        sb_add(&b, secret);
        text = sv_skip(text, (size_t)at + 4);
    }
    sb_add(&b, text);
    return sb_sv(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };

    begin();
    struct sv sent = with_secret((struct sv){ (const char *)data, size }, &a);
    check(sent, exchange(sent, &a));
    arena_free(&a);
    return 0;
}
