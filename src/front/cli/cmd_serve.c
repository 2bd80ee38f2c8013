/* `serve`: the command line of the server. main.c passes in the function that runs it. */
#include "api/serve_client.h"
#include "base/fs.h"
#include "front/cli/command.h"
#include "front/services.h"

#include <poll.h>

struct serve_opts {
    struct sv listen, allow_host, tls_cert, tls_key, page, access_log;
    int64_t   max_body, max_connections, rate, grace;
    bool      insecure, status, stop;
};

/* clang-format off */
static const struct opt opts[] = {
    { OPT_FLAG,   "status", NULL, "say where the server of this workspace is, and end", offsetof(struct serve_opts, status), 0 },
    { OPT_FLAG,   "stop", NULL, "ask it to end, and wait until it has", offsetof(struct serve_opts, stop), 0 },
    { OPT_LIST,   "listen", "ADDR", "where to listen: 127.0.0.1:8000, [::1]:8000 or unix:PATH; several with commas (default: the loopback, a free port)", offsetof(struct serve_opts, listen), 0 },
    { OPT_LIST,   "allow-host", "NAME", "a name under which the server may be addressed, such as that of a proxy in front; NAME:PORT where it is neither 80, 443 nor the server's own", offsetof(struct serve_opts, allow_host), 0 },
    { OPT_TEXT,   "tls-cert", "FILE", "serve HTTPS with this certificate (PEM)", offsetof(struct serve_opts, tls_cert), 0 },
    { OPT_TEXT,   "tls-key", "FILE", "and this key", offsetof(struct serve_opts, tls_key), 0 },
    { OPT_FLAG,   "insecure", NULL, "allow an address that other machines reach, without TLS", offsetof(struct serve_opts, insecure), 0 },
    { OPT_NUMBER, "max-body", "BYTES", "largest body of a request that is not a stream (default 32 MiB)", offsetof(struct serve_opts, max_body), 0 },
    { OPT_NUMBER, "max-connections", "N", "connections at the same time (default 4096)", offsetof(struct serve_opts, max_connections), 0 },
    { OPT_NUMBER, "rate", "N", "requests a second of one caller; 0: no limit (default 5000)", offsetof(struct serve_opts, rate), 0 },
    { OPT_NUMBER, "grace", "SECONDS", "how long requests may go on when the server is asked to end (default 10)", offsetof(struct serve_opts, grace), 0 },
    { OPT_TEXT,   "access-log", "FILE", "a JSON line for each request, without secrets and payloads; -: standard error", offsetof(struct serve_opts, access_log), 0 },
    { OPT_TEXT,   "page", "DIR", "serve the page from the files in DIR, to work on them", offsetof(struct serve_opts, page), 0 },
    { 0 },
};
/* clang-format on */

static struct sv_list items_of(struct sv text, struct arena *a)
{
    struct sv_list list = { 0 };
    struct sv_cut  cut = { .tail = text, .found = text.n > 0 };

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        if (sv_trim(cut.head).n)
            param_list_add(&list, sv_trim(cut.head), a);
    }
    return list;
}

static int64_t number_or(int64_t given, int64_t otherwise)
{
    return given == OPT_UNSET ? otherwise : given;
}

static enum status check_numbers(const struct serve_opts *p, struct err *e)
{
    const struct {
        const char *name;
        int64_t     given, least, most;
    } numbers[] = {
        { "max-body", p->max_body, 1, INT64_C(1) << 40 },
        { "max-connections", p->max_connections, 1, 1000000 },
        { "rate", p->rate, 0, INT64_C(1000000000) },
        { "grace", p->grace, 0, 24 * 3600 },
    };

    for (size_t i = 0; i < COUNT(numbers); i++)
        if (numbers[i].given != OPT_UNSET &&
            (numbers[i].given < numbers[i].least || numbers[i].given > numbers[i].most))
            return err_set(e, ST_USAGE, "--%s is from %lld to %lld", numbers[i].name,
                           (long long)numbers[i].least, (long long)numbers[i].most);
    return ST_OK;
}

static enum status serve(struct app *app, const struct serve_opts *p, struct err *e)
{
    struct serve_options o = {
        .listen = items_of(p->listen, app->a),
        .allow_host = items_of(p->allow_host, app->a),
        .tls_cert = p->tls_cert,
        .tls_key = p->tls_key,
        .insecure = p->insecure,
        .page = p->page,
        .max_body = number_or(p->max_body, 32 << 20),
        .max_connections = number_or(p->max_connections, 4096),
        .rate = number_or(p->rate, 5000),
        .access_log = p->access_log,
        .grace_ms = number_or(p->grace, 10) * 1000,
    };

    return check_numbers(p, e) ? err_code(e) : app->services->serve(app, &o, e);
}

/* ---- a server that runs ------------------------------------------------------------------------
 */

static enum status say_status(struct app *app, struct err *e)
{
    struct sv   text;
    struct json doc;

    if (serve_client_document(&app->ws, "GET", SV("/api/status"), app->a, &text, &doc, e))
        return err_code(e);
    if (app->json) {
        sb_add(&app->out, text);
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    struct term t = app_term(app);
    term_f(&t, "serving ");
    term_text(&t, json_text(&doc, "root"));
    term_f(&t, "\n  at      ");
    term_text(&t, json_text(&doc, "url"));
    term_f(&t, "\n  since   ");
    term_text(&t, json_text(&doc, "since"));
    term_f(&t, "\n  pid     %lld\n  version ", (long long)json_number(&doc, "pid"));
    term_text(&t, json_text(&doc, "version"));
    term_f(&t, "\n  %lld requests, %lld connections, %lld event streams\n",
           (long long)json_number(&doc, "requests"), (long long)json_number(&doc, "connections"),
           (long long)json_number(&doc, "event_streams"));
    return ST_OK;
}

/* The server removes its file before it ends, and holds its lock until then. */
static enum status stop(struct app *app, struct err *e)
{
    enum { STEP_MS = 20, MOST_MS = 60000 };
    struct serve_place place;
    struct sv          text;
    struct json        doc;
    int                held = -1;

    if (serve_client_document(&app->ws, "POST", SV("/api/stop"), app->a, &text, &doc, e) ||
        serve_place_open(&app->ws, app->a, &place, e))
        return err_code(e);
    UNDO(fd_undo) int dir = place.dir;
    (void)dir;
    for (int waited = 0; serve_file_lock(&place, &held, e); waited += STEP_MS) {
        fd_undo(&held);
        if (waited > MOST_MS)
            return err_in(e, "the server was asked to end, and still runs");
        poll(NULL, 0, STEP_MS);
    }
    fd_undo(&held);
    if (app->json)
        sb_adds(&app->out, "{\"stopped\":true}\n");
    return ST_OK;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static enum status run(struct app *app, const void *given, struct err *e)
{
    const struct serve_opts *p = given;

    if (p->status || p->stop)
        return p->status ? say_status(app, e) : stop(app, e);
    return serve(app, p, e);
}

const struct command cmd_serve = {
    .name = "serve",
    .synopsis =
        "[--listen ADDR,...] [--allow-host NAME[:PORT],...] [--tls-cert FILE --tls-key FILE] "
        "[--insecure] [--max-body BYTES] [--max-connections N] [--rate N] [--grace SECONDS] "
        "[--access-log FILE|-] [--page DIR]",
    .group = GROUP_DOORS,
    .summary = "Answer for this workspace over HTTP, with a page for people",
    .details =
        "Every operation is at POST /api/NAME, with its parameters as JSON; those that only read\n"
        "also at GET /api/NAME?parameter=value. The server listens on the loopback alone unless\n"
        "it is told otherwise, and prints a link that opens the page once, within a minute.\n"
        "Programs send `Authorization: Bearer` with a token.\n"
        "\n"
        "It runs until SIGINT or SIGTERM, then finishes what it has begun.\n"
        "\n"
        "  heddle serve --listen 127.0.0.1:8000",
    .opts = opts,
    .opts_size = sizeof(struct serve_opts),
    .needs = NEEDS_ROOT,
    .run = run,
};
