/* `api schema`, `api call`: every operation by its name, as JSON. */
#include "api/request.h"
#include "api/schema.h"
#include "front/cli/command.h"

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
        for (size_t i = 0; operations[i]; i++)
            schema_operation(&w, operations[i]);
        jw_close(&w, ']');
        jw_close(&w, '}');
    }
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status call(struct app *app, const struct operation *op, struct request *r,
                        struct err *e)
{
    void       *params = params_init(op->params, op->params_size, app->a);
    struct sv   text;
    struct json doc;

    if (app_text(app, SV("-"), &text, e))
        return err_code(e);
    if (!sv_trim(text).n)
        text = SV("{}");
    if (json_parse(text, 0, app->a, &doc, e))
        return err_in(e, "stdin");
    if (params_read(op->params, &doc, params, app->a, e) || operation_run(op, r, params, e))
        return err_code(e);
    sb_add(&app->out, request_document(r));
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status run_call(struct app *app, const void *opts, struct err *e)
{
    const struct operation *op;
    struct request          r;

    (void)opts;
    app->json = true; /* errors too: whoever calls this way reads JSON */
    if (operation_named(app_arg(app, 0), &op, e))
        return err_code(e);
    request_init(&r, &app->ws, app->a);
    r.actor = app->actor;
    r.out = &app->out;
    enum status s = call(app, op, &r, e);
    app->error_details = r.error_details;
    request_end(&r);
    return s;
}

const struct command cmd_api_schema = {
    .name = "api schema",
    .synopsis = "[NAME]",
    .group = GROUP_DOORS,
    .summary = "Print the operations with the JSON Schema of their parameters and answers",
    .details = "  heddle api schema thread.list",
    .max_args = 1,
    .run = run_schema,
};

const struct command cmd_api_call = {
    .name = "api call",
    .synopsis = "NAME",
    .group = GROUP_DOORS,
    .summary = "Call an operation: parameters as JSON on stdin, the answer as JSON on stdout",
    .details = "Nothing on stdin stands for no parameters.\n"
               "\n"
               "  echo '{\"status\":\"active\"}' | heddle api call thread.list",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_call,
};
