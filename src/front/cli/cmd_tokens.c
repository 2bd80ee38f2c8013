/* `tokens`, as the shell has it: standard input is a file too, and a terminal may have colours. */
#include "api/payload/tokens_count.h"
#include "front/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

static const struct cli_word words[] = {
    { "files", WORD_OPTIONAL | WORD_REST },
    { "text", WORD_HIDDEN },
    { "keep_going", WORD_HIDDEN },
    { 0 },
};

static enum status open_input(void *ctx, struct sv path, int *fd, struct err *e)
{
    const struct app *app = ctx;

    if (sv_is(path, "-")) {
        app_say_waiting(app);
        *fd = dup(STDIN_FILENO);
        return *fd < 0 ? err_errno(e, "standard input") : ST_OK;
    }
    *fd = open(sv_cstr(path, app->a), O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, SV_FMT, SV_ARG(path)) : ST_OK;
}

/* A file that cannot be read does not hide the others, except in JSON, which has one answer. */
static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    static const struct sv      input = SV_STATIC("-");
    struct tokens_count_params *p = params;

    (void)e;
    if (!p->files.n)
        p->files = (struct sv_list){ &input, 1 };
    p->keep_going = !app->json && p->files.n > 1;
    r->open = open_input;
    r->open_ctx = app;
    return ST_OK;
}

static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    const struct tokens_count_params *p = params;
    struct term                       t = app_term(app);
    struct json                       doc;

    if (app->json || !p->split)
        return command_print_answer(app, &op_tokens_count, r, e);
    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    if (t.colour)
        app->out.show = SB_RAW; /* the printer makes the text fit, and adds colours */
    op_tokens_count.print(&doc, &t);
    return ST_OK;
}

const struct command cmd_tokens = {
    .name = "tokens",
    .synopsis = "[--encoding E] [--model M] [--ids|--split] [--estimate] [FILE…]",
    .op = &op_tokens_count,
    .words = words,
    .prepare = prepare,
    .finish = finish,
};
