/* `token create`, `token list`, `token revoke`: rows of operations. */
#include "front/cli/command.h"

extern const struct operation op_token_create, op_token_list, op_token_revoke;

static const struct cli_word name[] = { { "name", WORD_OPTIONAL }, { NULL, 0 } };
static const struct cli_word id[] = { { "id", WORD_PLAIN }, { NULL, 0 } };

const struct command cmd_token_create = {
    .name = "token create",
    .op = &op_token_create,
    .words = name,
};

const struct command cmd_token_list = { .name = "token list", .op = &op_token_list };

const struct command cmd_token_revoke = {
    .name = "token revoke",
    .op = &op_token_revoke,
    .words = id,
};
