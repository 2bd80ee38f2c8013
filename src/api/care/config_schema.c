/* config.schema: the JSON Schema of a settings file. */
#include "api/request.h"
#include "api/term.h"

struct schema_params {
    bool user;
};

/* clang-format off */
static const struct param params[] = {
    { "user", PARAM_FLAG, offsetof(struct schema_params, user), .help = "the user's own file, for every workspace" },
    { 0 },
};
static const struct field answer[] = {
    { "schema", FIELD_OBJECT, .help = "JSON Schema, 2020-12" },
    { 0 },
};
/* clang-format on */

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct schema_params *p = params_given;

    (void)e;
    jw_open(r->doc, '{');
    jw_key(r->doc, "schema");
    config_schema(r->doc, p->user ? CONFIG_OF_USER : CONFIG_OF_WORKSPACE);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    struct jw w = jw_in(t->out, 2);

    jw_json(&w, json_find(doc, "schema"));
    term_f(t, "\n");
}

const struct operation op_config_schema = {
    .name = "config.schema",
    .summary = "Print the JSON Schema of a settings file",
    .details =
        "Of .heddle/config.json, or with --user of the user's own file, which has all of its\n"
        "keys and a few more.",
    .group = GROUP_CARE,
    .needs = NEEDS_NOTHING,
    .params = params,
    .params_size = sizeof(struct schema_params),
    .answer = answer,
    .run = run,
    .print = print,
};
