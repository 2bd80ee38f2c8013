/* `context`: makes the <thread_context> block in front of a task, and reads one. */
#include "api/share/context.h"
#include "front/cli/command.h"

struct context_opts {
    struct sv task;
    bool      parse, peek, spawned, notes;
};

static const struct opt context_opts[] = {
    { OPT_TEXT, "task", "TEXT", "what follows the block; - reads it from stdin",
      offsetof(struct context_opts, task), 0 },
    { OPT_FLAG, "parse", NULL, "read a block from FILE or stdin and print it as JSON",
      offsetof(struct context_opts, parse), 0 },
    { OPT_FLAG, "peek", NULL, "leave waiting injections where they are",
      offsetof(struct context_opts, peek), 0 },
    { OPT_FLAG, "spawned", NULL, "as it is at spawn: without the thread's own assets",
      offsetof(struct context_opts, spawned), 0 },
    { OPT_FLAG, "notes", NULL, "say in comments what else there is to know, and where to write",
      offsetof(struct context_opts, notes), 0 },
    { 0 },
};

/* The answer is printed before its injections are acknowledged: delivering one twice is better than
 * losing it. */
static enum status print_and_acknowledge(struct app *app, struct request *r, const void *params,
                                         struct err *e)
{
    const struct context_make_params *asked = params;
    struct json                       doc;
    struct request                    later;

    if (command_print_answer(app, &op_context_make, r, e) || sb_flush(&app->out, e) ||
        json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    struct context_acknowledge_params p = { .thread = asked->thread,
                                            .waiting = json_find(&doc, "waiting") };
    if (!p.waiting->n || r->mode == STORE_READ)
        return ST_OK; /* nothing to acknowledge, or the log cannot be written */
    request_init(&later, &app->ws, app->a);
    later.actor = app->actor;
    enum status s = operation_run(&op_context_acknowledge, &later, &p, e);
    request_end(&later);
    return s;
}

static enum status run_parse(struct app *app, struct err *e)
{
    static const struct command row = { .name = "context", .op = &op_context_parse };
    struct sv                   file = app_arg(app, 0);
    struct context_parse_params p;
    bool                        is_stdin = !file.n || sv_is(file, "-");

    if (is_stdin ? app_text(app, SV("-"), &p.text, e) : app_file(app, file, 0, &p.text, e))
        return err_code(e);
    return command_call(app, &row, &p, e);
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    static const struct command peek = { .name = "context", .op = &op_context_make };
    static const struct command tell = { .name = "context",
                                         .op = &op_context_make,
                                         .finish = print_and_acknowledge };
    const struct context_opts  *o = opts;
    struct context_make_params  p = {
         .thread = app_arg(app, 0), .task = o->task, .spawned = o->spawned, .notes = o->notes
    };

    if (o->parse)
        return run_parse(app, e);
    if (!app->n_args)
        return err_set(e, ST_USAGE, "`heddle context` takes a thread, or --parse");
    if (p.task.s && app_text(app, p.task, &p.task, e))
        return err_code(e);
    return command_call(app, o->peek ? &peek : &tell, &p, e);
}

const struct command cmd_context = {
    .name = "context",
    .synopsis = "T [--task TEXT|-] [--notes] [--peek] | --parse [FILE]",
    .group = GROUP_SHARE,
    .summary = CONTEXT_SUMMARY,
    .details = CONTEXT_DETAILS,
    .opts = context_opts,
    .opts_size = sizeof(struct context_opts),
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run,
};
