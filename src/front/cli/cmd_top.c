/* `top`: what the server of the workspace is doing. */
#include "api/serve_client.h"
#include "api/term.h"
#include "base/clock.h"
#include "front/cli/command.h"
#include "front/cli/interrupt.h"

#include <poll.h>
#include <unistd.h>

struct top_opts {
    bool    once;
    int64_t interval;
};

static const struct opt opts[] = {
    { OPT_FLAG, "once", NULL, "print it once", offsetof(struct top_opts, once), 0 },
    { OPT_NUMBER, "interval", "SECONDS", "how often it is asked (default 2)",
      offsetof(struct top_opts, interval), 0 },
    { 0 },
};

/* The latest figures of the server, and those before them. */
struct top {
    struct json  now, before;
    struct arena kept[2]; /* memory of `now` and `before`, used alternately */
    bool         has_before;
    double       seconds; /* between the two */
};

static int64_t grown(const struct top *t, const char *key)
{
    return json_number(&t->now, key) - (t->has_before ? json_number(&t->before, key) : 0);
}

static double rate(const struct top *t, int64_t n)
{
    return t->has_before && t->seconds > 0 ? (double)n / t->seconds : 0;
}

static void put_head(const struct top *t, struct term *to)
{
    int64_t now = clock_now_ms(), since = now;

    (void)clock_parse_iso(json_text(&t->now, "since"), &since);
    term_styled(to, STYLE_HEAD, SV("heddle serve "));
    term_text(to, json_text(&t->now, "url"));
    term_f(to, "  up %llds  pid %lld  %.1f MB\n", (long long)(now - since) / 1000,
           (long long)json_number(&t->now, "pid"), (double)json_number(&t->now, "memory") / 1e6);
    term_f(to, "requests %lld (%.0f/s), refused %lld, connections %lld, event streams %lld\n",
           (long long)json_number(&t->now, "requests"), rate(t, grown(t, "requests")),
           (long long)json_number(&t->now, "refused"),
           (long long)json_number(&t->now, "connections"),
           (long long)json_number(&t->now, "event_streams"));
    int64_t groups = grown(t, "write_groups"), writes = grown(t, "writes");
    term_f(to, "writes %lld (%.0f/s, %.1f a commit, %lld wait), running %lld\n\n",
           (long long)json_number(&t->now, "writes"), rate(t, writes),
           groups ? (double)writes / (double)groups : 0.0,
           (long long)json_number(&t->now, "writes_queued"),
           (long long)json_number(&t->now, "running"));
}

static const struct json *row_of(const struct json *list, struct sv name)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        if (sv_eq(json_text(&list->items[i], "name"), name))
            return &list->items[i];
    return NULL;
}

static struct sv text_of(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
static struct sv text_of(struct arena *a, const char *fmt, ...)
{
    struct sb b = sb_in(a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return sb_sv(&b);
}

static void put_operations(const struct top *t, struct term *to)
{
    static const char *const heads[] = { "OPERATION", "CALLS",  "A SECOND", "FAILED",
                                         "P50 MS",    "P99 MS", NULL };
    struct term_table        table = { .heads = heads };
    const struct json       *list = json_find(&t->now, "operations");
    const struct json       *old = t->has_before ? json_find(&t->before, "operations") : NULL;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        const struct json *x = &list->items[i], *b = row_of(old, json_text(x, "name"));
        int64_t            n = json_number(x, "count"), had = b ? json_number(b, "count") : 0;
        term_row(&table, to->a,
                 (struct sv[]){ json_text(x, "name"), text_of(to->a, "%lld", (long long)n),
                                text_of(to->a, "%.1f", rate(t, n - had)),
                                text_of(to->a, "%lld", (long long)json_number(x, "failed")),
                                text_of(to->a, "%.1f", (double)json_number(x, "p50_us") / 1000),
                                text_of(to->a, "%.1f", (double)json_number(x, "p99_us") / 1000) });
    }
    term_table(&table, to);
}

static enum status show(struct app *app, const struct top *t, struct sv text, bool redraw,
                        struct err *e)
{
    struct arena scratch = { 0 };
    struct term  to = app_term(app);

    to.a = &scratch;
    if (app->json) {
        sb_add(&app->out, text);
        sb_addc(&app->out, '\n');
        return sb_flush(&app->out, e);
    }
    if (redraw &&
        write(app->out.fd, "\033[H\033[2J", 7) < 0) /* a terminal: checked by the caller */
        return err_errno(e, "write");
    put_head(t, &to);
    put_operations(t, &to);
    arena_free(&scratch);
    return sb_flush(&app->out, e);
}

static enum status run(struct app *app, const void *given, struct err *e)
{
    const struct top_opts *o = given;
    int64_t                every = o->interval == OPT_UNSET ? 2 : o->interval < 1 ? 1 : o->interval;
    const atomic_bool     *stopped = interrupt_begin();
    struct top             t = { 0 };
    bool                   redraw = !o->once && isatty(app->out.fd);
    int64_t                at = 0;
    enum status            s = ST_OK;

    for (size_t i = 0; !s && !atomic_load(stopped); i++) {
        struct arena *a = &t.kept[i % 2];
        struct sv     text;
        arena_free(a);
        s = serve_client_document(&app->ws, "GET", SV("/api/status"), a, &text, &t.now, e);
        int64_t now = clock_steady_us();
        t.seconds = (double)(now - at) / 1e6;
        if (!s)
            s = show(app, &t, text, redraw, e);
        if (o->once)
            break;
        t.before = t.now;
        t.has_before = true;
        at = now;
        poll(NULL, 0, (int)(every * 1000));
    }
    arena_free(&t.kept[0]);
    arena_free(&t.kept[1]);
    interrupt_end();
    return s;
}

const struct command cmd_top = {
    .name = "top",
    .synopsis = "[--once] [--interval SECONDS]",
    .group = GROUP_DOORS,
    .summary = "Show what the server of this workspace is doing",
    .details = "Requests, writes and how many of them share a commit, connections, event streams,\n"
               "and each operation with its number of calls and the time below which half of its\n"
               "answers, and 99 of 100, were complete. On a terminal it is drawn again every two\n"
               "seconds, until Ctrl-C. With --json each answer of the server is a line.\n"
               "\n"
               "  heddle top --once",
    .opts = opts,
    .opts_size = sizeof(struct top_opts),
    .needs = NEEDS_ROOT,
    .run = run,
};
