/* `reference`, `refresh`, `unreference`, `rebind`, `read`, `diff`, `history`: work of threads. */
#include "front/cli/command.h"

extern const struct operation op_reference_add, op_reference_refresh, op_reference_drop,
    op_reference_rebind, op_asset_read, op_asset_compare, op_asset_history;

const struct command cmd_reference = { .name = "reference", .op = &op_reference_add };
const struct command cmd_refresh = { .name = "refresh", .op = &op_reference_refresh };
const struct command cmd_unreference = {
    .name = "unreference",
    .synopsis = "--from T (--target T | --ref ID)",
    .op = &op_reference_drop,
};
const struct command cmd_rebind = {
    .name = "rebind",
    .synopsis = "--from T (--target T | --ref ID) [--binding live|frozen] [--as-before]",
    .op = &op_reference_rebind,
};

/* With --json the document says where the bytes are, in their place. */
static enum status prepare_read(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)params;
    (void)e;
    if (app->json)
        r->out = NULL;
    return ST_OK;
}

static const struct cli_word read_words[] = {
    { "thread", WORD_PLAIN },
    { "name", WORD_PLAIN },
    { 0 },
};

const struct command cmd_read = {
    .name = "read",
    .op = &op_asset_read,
    .words = read_words,
    .data = true,
    .prepare = prepare_read,
};

const struct command cmd_diff = {
    .name = "diff",
    .op = &op_asset_compare,
    .words = read_words,
};

static const struct cli_word history_words[] = {
    { "thread", WORD_PLAIN },
    { "name", WORD_OPTIONAL },
    { 0 },
};

const struct command cmd_history = {
    .name = "history",
    .op = &op_asset_history,
    .words = history_words,
};
