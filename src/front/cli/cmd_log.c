/* `log append | show | list | marks | follow | export | import | rechain`: the log itself, as JSON
 * Lines. */
#include "api/log/entry_doc.h"
#include "front/cli/command.h"

#include <signal.h>

extern const struct operation op_log_append, op_log_show, op_log_follow, op_log_export,
    op_log_import, op_log_list, op_log_marks, op_log_rechain;

/* Lines or entries were printed while they arrived, and are the whole answer. */
static enum status nothing_more(struct app *app, struct request *r, const void *params,
                                struct err *e)
{
    (void)app;
    (void)r;
    (void)params;
    (void)e;
    return ST_OK;
}

/* ---- append --------------------------------------------------------------------------- */

static const struct cli_word append_words[] = {
    { "thread", WORD_PLAIN },
    { "entries", WORD_HIDDEN }, /* the shell reads them from standard input */
    { 0 },
};

static enum status finish_append(struct app *app, struct request *r, const void *params,
                                 struct err *e)
{
    struct json doc;

    (void)params;
    if (json_parse(request_document(r), 0, app->a, &doc, e))
        return err_code(e);
    return json_find(&doc, "appended") ? ST_OK /* --each: an answer was printed for every line */
                                       : command_print_answer(app, r->op, r, e);
}

const struct command cmd_log_append = {
    .name = "log append",
    .op = &op_log_append,
    .words = append_words,
    .finish = finish_append,
};

/* ---- show ----------------------------------------------------------------------------- */

struct show_opts {
    bool raw;
};
static const struct opt show_opts[] = {
    { OPT_FLAG, "raw", NULL, "everything that is stored of each entry",
      offsetof(struct show_opts, raw), 0 },
    { 0 },
};
static const struct cli_word thread_words[] = { { "thread", WORD_PLAIN }, { 0 } };

static enum status raw_event(void *ctx, struct sv document, struct err *e)
{
    struct app  *app = ctx;
    struct arena scratch = { 0 };
    struct term  t = { .out = &app->out, .a = &scratch };
    struct json  doc;
    enum status  s = json_parse(document, JSON_KEEP_ORDER, &scratch, &doc, e);

    if (!s)
        entry_print_raw(&doc, &t);
    arena_free(&scratch);
    return s || !app->out.failed ? s : sb_flush(&app->out, e);
}

static enum status prepare_show(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct show_opts *o = command_shell_opts(app->command, params);

    (void)e;
    if (o->raw && !app->json)
        r->event = raw_event;
    return ST_OK;
}

const struct command cmd_log_show = {
    .name = "log show",
    .op = &op_log_show,
    .words = thread_words,
    .opts = show_opts,
    .opts_size = sizeof(struct show_opts),
    .prepare = prepare_show,
    .finish = nothing_more,
};

/* ---- follow --------------------------------------------------------------------------- */

/* Static, because a signal handler has no other way to reach them. */
static atomic_bool stopped, writing;
static enum status (*send_on)(void *ctx, struct sv document, struct err *e);

/* Between two lines the operation ends by itself. While a line is being written to a reader that
 * does not read, it would never end. */
static void on_signal(int number)
{
    stopped = true;
    if (writing) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static enum status send_line(void *ctx, struct sv document, struct err *e)
{
    writing = true;
    enum status s = send_on(ctx, document, e);
    writing = false;
    return s;
}

/* A signal that the parent process ignores, as a shell does for background jobs, stays ignored. */
static void catch_signal(int number)
{
    struct sigaction action = { .sa_handler = on_signal }, old;

    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static enum status prepare_follow(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)params;
    (void)e;
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    send_on = r->event;
    r->event = send_line;
    r->cancel = &stopped;
    r->peer = app->out.fd;
    return ST_OK;
}

static const struct cli_word follow_words[] = { { "thread", WORD_OPTIONAL }, { 0 } };

const struct command cmd_log_follow = {
    .name = "log follow",
    .op = &op_log_follow,
    .words = follow_words,
    .prepare = prepare_follow,
    .finish = nothing_more,
};

/* ---- export, import, rechain ---------------------------------------------------------- */

static const struct cli_word export_words[] = { { "thread", WORD_OPTIONAL }, { 0 } };

const struct command cmd_log_export = {
    .name = "log export",
    .synopsis = "T [--from SEQ] [--to SEQ] | --all",
    .op = &op_log_export,
    .words = export_words,
    .data = true,
    .finish = nothing_more,
};

static const struct cli_word import_words[] = {
    { "thread", WORD_OPTIONAL },
    { "file", WORD_OPTIONAL | WORD_SOURCE },
    { 0 },
};

static struct sv *text_param(const struct operation *op, void *params, const char *name)
{
    return (struct sv *)(void *)((char *)params + param_find(op->params, sv_of(name))->offset);
}

/* With --all there is no thread: the only word is the file. */
static enum status prepare_import(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct operation *op = app->command->op;
    struct sv              *thread = text_param(op, params, "thread");
    struct sv              *file = text_param(op, params, "file");
    bool all = *(const bool *)((char *)params + param_find(op->params, SV("all"))->offset);

    (void)r;
    if (all && file->s)
        return err_set(e, ST_USAGE, "--all takes no thread");
    if (all) {
        *file = *thread;
        *thread = (struct sv){ 0 };
    }
    return ST_OK;
}

const struct command cmd_log_import = {
    .name = "log import",
    .synopsis = "T [FILE|-] [--salvage] | --all [FILE|-] [--salvage]",
    .op = &op_log_import,
    .words = import_words,
    .prepare = prepare_import,
};

const struct command cmd_log_rechain = {
    .name = "log rechain",
    .op = &op_log_rechain,
    .words = thread_words,
};

const struct command cmd_log_list = {
    .name = "log list",
    .op = &op_log_list,
    .words = thread_words,
};

const struct command cmd_log_marks = {
    .name = "log marks",
    .op = &op_log_marks,
    .words = thread_words,
};
