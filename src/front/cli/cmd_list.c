/* `list`, `status`, `artifacts`: what threads there are and what they have. */
#include "front/cli/command.h"

extern const struct operation op_thread_list, op_thread_status, op_asset_list;

static const struct cli_word thread[] = { { "thread", WORD_PLAIN }, { 0 } };
static const struct cli_word status_words[] = {
    { "thread", WORD_PLAIN },
    { "shared", WORD_HIDDEN },
    { 0 },
};

const struct command cmd_list = { .name = "list", .op = &op_thread_list };
const struct command cmd_status = {
    .name = "status",
    .op = &op_thread_status,
    .words = status_words,
};
const struct command cmd_artifacts = { .name = "artifacts", .op = &op_asset_list, .words = thread };
