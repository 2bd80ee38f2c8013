/* `config list | get | set | unset | schema`: rows of operations. */
#include "api/workspace_open.h"
#include "front/cli/command.h"

extern const struct operation op_config_get, op_config_list, op_config_schema, op_config_set,
    op_config_unset;

/* The user's own file can be changed from any directory; the file of a workspace only if the
 * workspace may be used. */
static enum status find_file(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct param *p = param_find(app->command->op->params, SV("user"));
    const bool         *user = (const bool *)((const char *)params + p->offset);

    (void)r;
    return *user ? ST_OK : workspace_settings(&app->ws, app->a, e);
}

static const struct cli_word key[] = { { "key", WORD_PLAIN }, { NULL, 0 } };
static const struct cli_word key_value[] = {
    { "key", WORD_PLAIN },
    { "value", WORD_STDIN },
    { NULL, 0 },
};

const struct command cmd_config_list = { .name = "config list", .op = &op_config_list };

const struct command cmd_config_get = { .name = "config get", .op = &op_config_get, .words = key };

const struct command cmd_config_set = {
    .name = "config set",
    .needs = NEEDS_PLACE,
    .op = &op_config_set,
    .words = key_value,
    .prepare = find_file,
};

const struct command cmd_config_unset = {
    .name = "config unset",
    .needs = NEEDS_PLACE,
    .op = &op_config_unset,
    .words = key,
    .prepare = find_file,
};

const struct command cmd_config_schema = {
    .name = "config schema",
    .data = true,
    .op = &op_config_schema,
};
