/* `assemble`: what a model is sent for a turn of an agent, or what that is made of. */
#include "front/cli/command.h"

extern const struct operation op_assemble;

static const struct cli_word words[] = {
    { "thread", WORD_PLAIN },
    { "task", WORD_OPTION | WORD_STDIN },
    { 0 },
};

static const void *value_of(const void *params, const char *name)
{
    return (const char *)params + param_find(op_assemble.params, sv_of(name))->offset;
}

static bool is_text(struct request *r, const void *params)
{
    struct json doc;
    struct err  ignored;

    (void)params;
    return json_parse(request_document(r), 0, r->a, &doc, &ignored) == ST_OK &&
           sv_is(json_text(&doc, "format"), "text");
}

/* Collect the output: whether it is text for a person depends on the agent, which the operation
 * reads. */
static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)params;
    (void)e;
    r->out = ARENA_NEW(app->a, struct sb, 1);
    *r->out = sb_in(app->a, 0);
    return ST_OK;
}

/* Text for a person goes through SB_PLAIN, and is a member of an object under --json; a body is
 * JSON by itself. */
static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    struct jw w = jw_in(&app->out, 0);
    struct sv bytes = sb_sv(r->out);
    bool      body = sv_starts(bytes, SV("{"));

    bool explains = *(const bool *)value_of(params, "explain");
    if (!app->json && (explains || is_text(r, params)))
        app->out.show = SB_PLAIN;
    if (explains)
        return command_print_answer(app, &op_assemble, r, e);
    if (app->json && !body) {
        jw_open(&w, '{');
        jw_kstr(&w, "text", bytes);
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    sb_add(&app->out, bytes);
    return ST_OK;
}

const struct command cmd_assemble = {
    .name = "assemble",
    .synopsis = "T [--agent A] [--task TEXT|-] [--budget N] [--format F] [--explain]",
    .op = &op_assemble,
    .words = words,
    .data = true,
    .prepare = prepare,
    .finish = finish,
};
