/* `project`, `compare`: what a model would be shown of a lane, and how two such contexts differ. */
#include "front/cli/command.h"

extern const struct operation op_project, op_project_compare;

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };

static struct sv format_of(const void *params)
{
    const struct param *p = param_find(op_project.params, SV("format"));

    return *(const struct sv *)(const void *)((const char *)params + p->offset);
}

/* Text is for a person and goes through SB_PLAIN; the others are for programs. Under --json text
 * is collected, and becomes a member of an object. */
static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)e;
    if (!sv_is(format_of(params), "text"))
        return ST_OK;
    if (app->json) {
        r->out = ARENA_NEW(app->a, struct sb, 1);
        *r->out = sb_in(app->a, 0);
    } else {
        app->out.show = SB_PLAIN;
    }
    return ST_OK;
}

static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    struct jw w = jw_in(&app->out, 0);

    (void)params;
    (void)e;
    if (r->out == &app->out)
        return ST_OK; /* the bytes were the answer */
    jw_open(&w, '{');
    jw_kstr(&w, "text", sb_sv(r->out));
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_project = {
    .name = "project",
    .op = &op_project,
    .words = words,
    .data = true,
    .prepare = prepare,
    .finish = finish,
};

const struct command cmd_compare = {
    .name = "compare",
    .op = &op_project_compare,
    .words = words,
};
