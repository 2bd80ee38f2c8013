/* `context`: the <thread_context> block in front of a task, and the way back. */
#include "front/cli/command.h"
#include "front/share/door.h"
#include "share/block.h"
#include "share/prompt.h"

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

static void put_asset(struct jw *w, const struct block_asset *x)
{
    jw_open(w, '{');
    jw_kstr(w, "type", x->type);
    jw_kstr(w, "path", x->path);
    jw_close(w, '}');
}

static void put_doc(struct jw *w, const struct block_doc *doc)
{
    jw_open(w, '{');
    jw_kstr(w, "thread", doc->thread);
    jw_kstr(w, "objective", doc->objective);
    jw_kstr(w, "relations_file", doc->relations_file);
    jw_key(w, "assets");
    jw_open(w, '[');
    for (size_t i = 0; i < doc->assets.n; i++)
        put_asset(w, &doc->assets.v[i]);
    jw_close(w, ']');
    jw_key(w, "refs");
    jw_open(w, '[');
    for (size_t i = 0; i < doc->refs.n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "thread", doc->refs.v[i].thread);
        jw_key(w, "assets");
        jw_open(w, '[');
        for (size_t k = 0; k < doc->refs.v[i].assets.n; k++)
            put_asset(w, &doc->refs.v[i].assets.v[k]);
        jw_close(w, ']');
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status run_parse(struct app *app, struct err *e)
{
    struct sv        file = app_arg(app, 0), text;
    struct block_doc doc;
    struct jw        w = jw_in(&app->out, 2);
    bool             is_stdin = !file.n || sv_is(file, "-");

    if ((is_stdin ? app_text(app, SV("-"), &text, e) : app_file(app, file, 0, &text, e)) ||
        block_parse(text, app->a, &doc, e))
        return err_code(e);
    put_doc(&w, &doc);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* The answer is printed before the injections in it are acknowledged: told twice is better
 * than never told. */
static enum status acknowledge(struct app *app, struct sv thread, const struct prompt *p,
                               struct err *e)
{
    struct door d;

    if (!p->n_pending)
        return ST_OK;
    if (sb_flush(&app->out, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) ||
        share_delivered(&d.s, thread, p->pending, p->n_pending, e) || door_commit(&d, e))
        return door_fail(&d, e);
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct context_opts *o = opts;
    struct door                d;
    struct prompt              p;
    struct sv                  task = { 0 };

    if (o->parse)
        return run_parse(app, e);
    if (!app->n_args)
        return err_set(e, ST_USAGE, "`heddle context` takes a thread, or --parse");
    if (o->task.s && app_text(app, o->task, &task, e))
        return err_code(e);
    if (door_open(&d, app, STORE_READ, e) ||
        prompt_make(&d.s, app_arg(app, 0),
                    (o->spawned ? BLOCK_AT_SPAWN : 0u) | (o->notes ? BLOCK_NOTES : 0u), task, &p,
                    e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "thread", app_arg(app, 0));
    jw_kstr(d.data, "context", p.text);
    jw_kint(d.data, "injections", (int64_t)p.n_pending);
    jw_close(d.data, '}');
    sb_add(&d.text, p.text);
    sb_addc(&d.text, '\n');
    if (door_done(&d, e))
        return err_code(e);
    if (o->peek || d.s.read_only)
        return ST_OK;
    return acknowledge(app, app_arg(app, 0), &p, e);
}

const struct command cmd_context = {
    .name = "context",
    .synopsis = "T [--task TEXT|-] [--notes] [--peek] | --parse [FILE]",
    .group = GROUP_SHARE,
    .summary = "Print a thread's <thread_context>, then the task",
    .details =
        "--notes adds comments to the block: where the thread writes its own assets and, of\n"
        "each reference, the title and state of its thread, whether it is live or a copy of\n"
        "when, since when the copy is stale, its size, and work of no listed type.\n\n"
        "Injections that wait for the thread stand between the block and the task, and are\n"
        "acknowledged in the log once they are printed.\n\n"
        "--parse finds the block in a message and prints what it says as JSON.\n\n"
        "  heddle context build --task 'Start with the lexer.'",
    .opts = context_opts,
    .opts_size = sizeof(struct context_opts),
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run,
};
