/* `api schema`, `api call`: every operation by its name, as JSON. Other doors work like `api call`:
 * parameters in, events and a document out, warnings and a bad verdict beside them. */
#include "api/openapi.h"
#include "api/schema.h"
#include "api/workspace_open.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "front/cli/command.h"
#include "front/cli/interrupt.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---- schema ---------------------------------------------------------------------------- */

static enum status run_schema(struct app *app, const void *opts, struct err *e)
{
    struct jw               w = jw_in(&app->out, 0);
    const struct operation *op;

    (void)opts;
    if (app->n_args) {
        if (operation_named(app_arg(app, 0), &op, e))
            return err_code(e);
        schema_operation(&w, op);
    } else {
        jw_open(&w, '{');
        jw_key(&w, "items");
        jw_open(&w, '[');
        for (size_t i = 0; operation_table[i]; i++)
            schema_operation(&w, operation_table[i]);
        jw_close(&w, ']');
        jw_key(&w, "error");
        schema_error(&w);
        jw_close(&w, '}');
    }
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- openapi --------------------------------------------------------------------------- */

static enum status run_openapi(struct app *app, const void *opts, struct err *e)
{
    struct jw w = jw_in(&app->out, 0);

    (void)opts;
    (void)e;
    openapi_write(&w);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- call ------------------------------------------------------------------------------ */

struct call_opts {
    struct sv params, out;
};

static const struct opt call_opts[] = {
    { OPT_TEXT, "params", "JSON", "the parameters, in the place of standard input",
      offsetof(struct call_opts, params), 0 },
    { OPT_TEXT, "out", "FILE",
      "where the bytes go of an operation that streams out; -: standard output, and the document "
      "to standard error",
      offsetof(struct call_opts, out), 0 },
    { 0 },
};

static void put_line(FILE *to, struct sv document)
{
    fwrite(document.s, 1, document.n, to);
    fputc('\n', to);
}

/* {"warning":{"code","message","thread"}} on stderr, without what is absent. */
static void put_warning(struct app *app, const struct warning *x)
{
    struct sb b = sb_in(app->a, 0), message = sb_in(app->a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_lossy(&message, x->message);
    jw_open(&w, '{');
    jw_key(&w, "warning");
    jw_open(&w, '{');
    if (x->code.s)
        jw_kstr(&w, "code", x->code);
    jw_kstr(&w, "message", sb_sv(&message));
    if (x->thread.s)
        jw_kstr(&w, "thread", x->thread);
    jw_close(&w, '}');
    jw_close(&w, '}');
    put_line(stderr, sb_sv(&b));
}

/* A note of the workspace is a warning too. */
static void take_note(void *ctx, struct sv text)
{
    put_warning(ctx, &(struct warning){ .message = text });
}

static enum status take_event(void *ctx, struct sv document, struct err *e)
{
    struct app *app = ctx;

    sb_add(&app->out, document);
    sb_addc(&app->out, '\n');
    return sb_flush(&app->out, e);
}

static enum status read_params(struct app *app, const struct operation *op, struct sv text,
                               void *into, struct err *e)
{
    const char *from = text.s ? "--params" : "stdin";
    struct json doc;

    if (!text.s && !(op->streams & STREAM_IN) && app_text(app, SV("-"), &text, e))
        return err_code(e);
    if (!sv_trim(text).n)
        text = SV("{}");
    if (json_parse(text, 0, app->a, &doc, e))
        return err_in(e, "%s", from);
    if (!params_read(op->params, &doc, into, app->a, e))
        return ST_OK;
    return e->hint[0] ? err_code(e)
                      : err_hint(e, "`heddle api schema %s` describes its parameters", op->name);
}

/* Print an event to stderr, because stdout has the bytes of the operation. */
static enum status event_beside(void *ctx, struct sv document, struct err *e)
{
    (void)ctx, (void)e;
    put_line(stderr, document);
    return ST_OK;
}

/* Open the destination of the bytes that an operation writes; file->fd stays -1 for standard
 * output. */
static enum status open_out(struct app *app, const struct operation *op, struct sv name,
                            struct sb *file, struct err *e)
{
    if (!(op->streams & STREAM_OUT))
        return name.s ? err_set(e, ST_USAGE, "%s writes no bytes: leave --out out", op->name)
                      : ST_OK;
    if (!name.s) {
        err_set(e, ST_USAGE, "%s writes bytes beside its document: --out is missing", op->name);
        return err_hint(e, "--out FILE; `--out -` takes standard output for the bytes, and "
                           "standard error for the document");
    }
    if (sv_is(name, "-"))
        return ST_OK;
    int fd = open(sv_cstr(name, app->a), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(name));
    *file = sb_to_fd(fd, app->a);
    return ST_OK;
}

/* Write all bytes before the document that reports them. */
static enum status close_out(struct sb *file, struct err *e)
{
    enum status s = sb_flush(file, e);

    if (close(file->fd) != 0 && !s)
        s = err_errno(e, "close the file of --out");
    return s;
}

/* A signal asks an operation that goes on for long to end, and its document is printed. */
static enum status run_until_signal(const struct operation *op, struct request *r,
                                    const void *params, struct err *e)
{
    bool listens = op->cancels || (op->streams & STREAM_EVENTS);

    if (listens)
        r->cancel = interrupt_begin();
    enum status s = operation_run(op, r, params, e);
    if (listens)
        interrupt_end();
    return s;
}

static enum status call(struct app *app, const struct operation *op, const struct call_opts *o,
                        struct request *r, struct err *e)
{
    void         *params = params_init(op->params, op->params_size, app->a);
    struct lines *in = ARENA_NEW(app->a, struct lines, 1);
    struct sb     file = { .fd = -1 };

    app->ws.only_here = op->here;
    if (workspace_open(&app->ws, app->dir, op->needs, app->a, e) ||
        read_params(app, op, o->params, params, e) || open_out(app, op, o->out, &file, e))
        return err_code(e);
    if (op->streams & STREAM_IN)
        app_say_waiting(app);
    *in = lines_of(STDIN_FILENO, REQUEST_LINE_MAX, app->a);
    r->in = in;
    r->out = file.fd < 0 ? &app->out : &file;
    r->event = o->out.s && file.fd < 0 ? event_beside : take_event;
    r->event_ctx = app;
    r->peer = app->out.fd;
    enum status s = run_until_signal(op, r, params, e);
    if (file.fd >= 0 && !s)
        s = close_out(&file, e);
    else if (file.fd >= 0)
        close(file.fd);
    if (s)
        return s;
    return r->event(app, request_document(r), e);
}

static enum status run_call(struct app *app, const void *opts, struct err *e)
{
    const struct operation *op;
    struct request          r;

    app->json = true; /* errors too: callers of this command read JSON */
    app->ws.note = take_note;
    if (operation_named(app_arg(app, 0), &op, e))
        return err_code(e);
    request_init(&r, &app->ws, app->a);
    r.actor = app->actor;
    enum status s = call(app, op, opts, &r, e);
    app->error_details = r.error_details;
    request_end(&r);
    for (size_t i = 0; i < r.warnings.n; i++)
        if (!r.warnings.v[i].in_doc)
            put_warning(app, &r.warnings.v[i]);
    if (!s && r.verdict.code) {
        app->answered = true;
        *e = r.verdict;
        s = err_code(e);
    }
    return s;
}

const struct command cmd_api_schema = {
    .name = "api schema",
    .synopsis = "[NAME]",
    .group = GROUP_DOORS,
    .summary = "Print the operations with the JSON Schema of their parameters and answers",
    .details = "Of each: what it needs, whether repeating it is harmless, its streams, and JSON\n"
               "Schema 2020-12 of its parameters, its answer and its events. Without NAME, all of\n"
               "them in \"items\", and in \"error\" the schema of a failure.\n"
               "\n"
               "  heddle api schema thread.list",
    .max_args = 1,
    .data = true,
    .run = run_schema,
};

const struct command cmd_api_openapi = {
    .name = "api openapi",
    .synopsis = "",
    .group = GROUP_DOORS,
    .summary = "Print the HTTP API of `heddle serve` as an OpenAPI 3.1 document",
    .details =
        "What a server gives at /api/openapi.json: every operation with its parameters, its\n"
        "answers and the permission that a token needs (x-permission).\n"
        "\n"
        "  heddle api openapi > heddle.json",
    .data = true,
    .run = run_openapi,
};

const struct command cmd_api_call = {
    .name = "api call",
    .synopsis = "NAME [--params JSON] [--out FILE|-]",
    .group = GROUP_DOORS,
    .opts = call_opts,
    .opts_size = sizeof(struct call_opts),
    .summary = "Call an operation: parameters as JSON on stdin, the answer as JSON on stdout",
    .details =
        "Empty stdin means no parameters. Standard output is JSON lines: one event per\n"
        "line, of an operation that has events, and at the end the document, or the error. On\n"
        "standard error stands a line {\"warning\":{...}} for each warning.\n"
        "\n"
        "An operation that reads lines (log.append) gets its parameters from --params, and its\n"
        "lines from standard input. One that writes bytes beside its document (log.export)\n"
        "needs --out. SIGINT or SIGTERM asks one that goes on (log.follow, talk) to end, and its\n"
        "document comes all the same.\n"
        "\n"
        "The exit status is that of an error, or that of what the operation found: then the\n"
        "document is on standard output all the same, and the error on standard error.\n"
        "\n"
        "  echo '{\"status\":\"active\"}' | heddle api call thread.list",
    .min_args = 1,
    .max_args = 1,
    .data = true,
    .run = run_call,
};
