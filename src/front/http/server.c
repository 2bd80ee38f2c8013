/* Starting and ending the server. */
#include "front/http/server.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "front/app.h"
#include "front/http/cache.h"
#include "front/http/listen.h"
#include "front/http/mcp.h"
#include "front/http/metrics.h"
#include "front/http/rate.h"
#include "front/http/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- signals ----------------------------------------------------------------------------- */

/* The one server of this process, for the signal handler. */
static struct serve *running;

static void on_signal(int number)
{
    (void)number;
    if (running)
        server_stop(running);
}

void server_stop(struct serve *s)
{
    uint64_t one = 1;
    int      saved = errno;

    atomic_store(&s->stopping, true);
    (void)!write(s->stop_fd, &one, sizeof one);
    errno = saved;
}

static void catch_signals(struct serve *s)
{
    struct sigaction action = { .sa_handler = on_signal };

    running = s;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- libmicrohttpd ------------------------------------------------------------------------ */

static void on_error(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx;
    (void)fmt;
    (void)ap; /* errors of clients are not printed; the access log has the requests */
}

/* MHD_OPTION_STRICT_FOR_CLIENT is not set: it only adds that a missing Host is refused, which
 * head_fault() does too, with the headers that every answer of this server has. */
static enum status start_daemon(struct serve *s, struct serve_door *d, struct err *e)
{
    struct MHD_OptionItem tls[3] = { { MHD_OPTION_END, 0, NULL } };
    unsigned              flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;

    if (d->names.tls) {
        flags |= MHD_USE_TLS;
        tls[0] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)s->tls_cert };
        tls[1] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)s->tls_key };
        tls[2] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
    }
    /* clang-format off */
    d->daemon = s->mhd.start_daemon(flags, 0, NULL, NULL, call_step, d,
        MHD_OPTION_EXTERNAL_LOGGER, on_error, NULL,
        MHD_OPTION_LISTEN_SOCKET, d->fd,
        MHD_OPTION_URI_LOG_CALLBACK, call_begin, d,
        MHD_OPTION_NOTIFY_COMPLETED, call_end, d,
        MHD_OPTION_NOTIFY_CONNECTION, watch_notify, d,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)SERVE_THREADS,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(s->o->max_connections + SERVE_SPARE),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVE_HEAD_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_IDLE_S,
        MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    /* clang-format on */
    if (d->daemon)
        return ST_OK;
    err_set(e, ST_IO, "the server cannot be started on " SV_FMT, SV_ARG(d->url));
    return d->names.tls ? err_hint(e, "check the certificate and the key") : err_code(e);
}

static enum status start_daemons(struct serve *s, struct err *e)
{
    for (size_t i = 0; i < s->n_doors; i++)
        if (start_daemon(s, &s->doors[i], e))
            return err_code(e);
    return ST_OK;
}

/* No further connections; then what runs may end, answers are sent to their end, and streams are
 * told to. MHD_stop_daemon() cuts off what was not sent; a suspended connection would end the
 * process there, so every one is resumed first. */
static void end_daemons(struct serve *s)
{
    int64_t until = clock_steady_us() + s->o->grace_ms * 1000;

    for (size_t i = 0; i < s->n_doors; i++)
        if (s->doors[i].daemon)
            s->mhd.quiesce_daemon(s->doors[i].daemon);
    feed_end(s->feed);
    mcps_stop(s->mcps);
    while ((call_any_runs(s) || call_any_unsent(s)) && clock_steady_us() < until)
        poll(NULL, 0, 5);
    call_cancel_all(s);
    while (call_any_runs(s))
        poll(NULL, 0, 5);
    for (size_t i = 0; i < s->n_doors; i++)
        if (s->doors[i].daemon)
            s->mhd.stop_daemon(s->doors[i].daemon);
}

/* ---- telling where it is ------------------------------------------------------------------ */

struct sv server_url(const struct serve *s)
{
    for (size_t i = 0; i < s->n_doors; i++)
        if (!s->doors[i].names.is_local)
            return s->doors[i].url;
    return (struct sv){ 0 };
}

static enum status write_file(struct serve *s, const char *token, struct err *e)
{
    struct serve_file f = { .root = s->ws->root,
                            .url = server_url(s),
                            .socket = listen_path_of_shell(s),
                            .token = sv_of(token),
                            .pid = getpid() };

    return serve_file_write(&s->place, &f, s->a, e);
}

/* The address that opens the page once; absent when no address is for browsers, or none is wanted.
 */
static struct sv page_link(struct serve *s)
{
    char      key[SESSION_SECRET + 1];
    struct sb link = sb_in(s->a, 0);

    if (!server_url(s).n || s->o->quiet)
        return (struct sv){ 0 };
    session_link(&s->sessions, key);
    sb_addf(&link, SV_FMT "/#k=%s", SV_ARG(server_url(s)), key);
    return sb_sv(&link);
}

static void say_where(struct app *app, struct serve *s)
{
    struct sv link = page_link(s);

    sb_addf(&app->out, "heddle serves " SV_FMT "\n", SV_ARG(s->ws->root));
    for (size_t i = 0; i < s->n_doors; i++)
        sb_addf(&app->out, "  at " SV_FMT "\n", SV_ARG(s->doors[i].url));
    if (link.s)
        sb_addf(&app->out, "open within a minute, once: " SV_FMT "\n", SV_ARG(link));
    sb_adds(&app->out, "ready\n");
}

/* The same for a program: one line, printed once requests are answered. */
static void write_where(struct app *app, struct serve *s)
{
    struct sv link = page_link(s);
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "root", s->ws->root);
    jw_key(&w, "urls");
    jw_open(&w, '[');
    for (size_t i = 0; i < s->n_doors; i++)
        jw_str(&w, s->doors[i].url);
    jw_close(&w, ']');
    if (link.s)
        jw_kstr(&w, "link", link);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status tell_ready(struct app *app, struct serve *s, struct err *e)
{
    (app->json ? write_where : say_where)(app, s);
    if (sb_flush(&app->out, e))
        return err_code(e);
    listen_notify("READY=1");
    return ST_OK;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void wait_for_stop(struct serve *s)
{
    struct pollfd p = { .fd = s->stop_fd, .events = POLLIN };

    while (!atomic_load(&s->stopping))
        (void)poll(&p, 1, -1);
}

static enum status serve_until_stopped(struct app *app, struct serve *s, const char *token,
                                       struct err *e)
{
    if (listen_open(s, e))
        return err_code(e);
    catch_signals(s);
    enum status st = start_daemons(s, e);
    if (!st)
        st = write_file(s, token, e);
    if (!st)
        st = tell_ready(app, s, e);
    if (!st)
        wait_for_stop(s);
    atomic_store(&s->stopping, true);
    listen_notify("STOPPING=1");
    serve_file_remove(&s->place);
    end_daemons(s);
    running = NULL;
    return st;
}

/* As many as there are processors: each has a store of its own. */
static int readers_wanted(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 2 ? 2 : n > SERVE_READERS_MAX ? SERVE_READERS_MAX : (int)n;
}

/* ---- what a server has --------------------------------------------------------------------- */

static void open_parts(struct serve *s, const char *token)
{
    static struct serve_rate    rate; /* there is one server in a process, and both are large */
    static struct serve_metrics metrics;

    rate_init(&rate);
    memset(&metrics, 0, sizeof metrics);
    s->rate = &rate;
    s->metrics = &metrics;
    session_init(&s->sessions, token);
    pthread_mutex_init(&s->lock, NULL);
    s->tokens = token_book_open(s->ws);
    s->readers = crew_open(readers_wanted(), readers_wanted(), SERVE_QUEUE);
    s->streams = crew_open(readers_wanted(), SERVE_STREAMS, SERVE_QUEUE);
    s->waits = crew_open(SERVE_WAITS, SERVE_WAITS, 0);
    s->writer = writer_open(s->ws, WRITER_GROUP_US);
    s->feed = feed_open(s->ws);
    s->since_ms = clock_now_ms();
    s->mcps = mcps_open(s);
    s->cache = cache_open(s);
    watch_open(s);
}

static void close_parts(struct serve *s)
{
    writer_close(s->writer);
    crew_close(s->readers);
    crew_close(s->streams);
    crew_close(s->waits);
    feed_close(s->feed);
    mcps_close(s->mcps);
    watch_close(s);
    cache_close(s->cache);
    session_release(&s->sessions);
    token_book_close(s->tokens);
    rate_release(s->rate);
    listen_close(s);
    pthread_mutex_destroy(&s->lock);
}

static enum status open_log(const struct serve_options *o, struct arena *a, int *fd, struct err *e)
{
    if (!o->access_log.n)
        return ST_OK;
    *fd = sv_is(o->access_log, "-")
              ? dup(STDERR_FILENO)
              : open(sv_cstr(o->access_log, a), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(o->access_log)) : ST_OK;
}

/* The text of the certificate and of its key. */
static enum status read_tls(struct app *app, struct serve *s, struct err *e)
{
    struct sv cert, key;

    if (!s->o->tls_cert.n && !s->o->tls_key.n)
        return ST_OK;
    if (!s->o->tls_cert.n || !s->o->tls_key.n)
        return err_set(e, ST_USAGE, "--tls-cert and --tls-key belong together");
    if (app_file(app, s->o->tls_cert, SERVE_TLS_MAX, &cert, e) ||
        app_file(app, s->o->tls_key, SERVE_TLS_MAX, &key, e))
        return err_code(e);
    process_hide(); /* it holds a key now */
    s->tls_cert = sv_cstr(cert, s->a);
    s->tls_key = sv_cstr(key, s->a);
    return ST_OK;
}

/* Every connection is a file, and so are the log's and the page's. */
static void allow_connections(struct app *app, const struct serve_options *o)
{
    enum { OTHER_FILES = 512 };
    int64_t wanted = o->max_connections + SERVE_SPARE + OTHER_FILES;
    int64_t may = process_allow_files(wanted);

    if (may < wanted)
        app_note(app, "this process may have %lld open files: fewer than --max-connections needs",
                 (long long)may);
}

/* With the place at which the server is found, from its lock to its end. */
static enum status run_at_place(struct app *app, struct serve *s, struct err *e)
{
    UNDO(fd_undo) int lock = -1;
    char              token[SESSION_SECRET + 1];

    if (serve_file_lock(&s->place, &lock, e))
        return err_code(e);
    serve_file_remove(&s->place); /* left by a killed server */
    session_draw(token);
    open_parts(s, token);
    enum status st = serve_until_stopped(app, s, token, e);
    close_parts(s);
    return st;
}

/* The C library gives each thread a heap of its own, up to eight for each processor, and none of
 * them shrinks for what another needs: with the threads that come and go here, memory would grow
 * for hours. */
static void share_heaps(void)
{
    mallopt(M_ARENA_MAX, SERVE_HEAPS);
}

enum status server_run(struct app *app, const struct serve_options *o, struct err *e)
{
    struct serve s = { .ws = &app->ws, .o = o, .actor = app->actor, .a = app->a, .log_fd = -1 };
    UNDO(fd_undo) int log = -1;
    UNDO(fd_undo) int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (stop < 0)
        return err_errno(e, "eventfd");
    s.stop_fd = stop;
    share_heaps();
    allow_connections(app, o);
    if (mhd_load(&s.mhd, e) || read_tls(app, &s, e) || open_log(o, s.a, &log, e) ||
        serve_place_open(s.ws, s.a, &s.place, e))
        return err_code(e);
    s.log_fd = log;
    enum status st = run_at_place(app, &s, e);
    close(s.place.dir);
    return st;
}
