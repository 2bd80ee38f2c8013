/* `objective`: the goals that threads work on. */
#include "front/cli/command.h"

extern const struct operation op_objective_create, op_objective_delete, op_objective_list,
    op_objective_status;

static const struct cli_word title[] = {
    { "title", WORD_PLAIN },
    { "id_from", WORD_HIDDEN },
    { 0 },
};
static const struct cli_word id[] = { { "id", WORD_PLAIN }, { 0 } };

const struct command cmd_objective_create = {
    .name = "objective create",
    .op = &op_objective_create,
    .words = title,
};
const struct command cmd_objective_delete = {
    .name = "objective delete",
    .op = &op_objective_delete,
    .words = id,
};
const struct command cmd_objective_list = { .name = "objective list", .op = &op_objective_list };
const struct command cmd_objective_status = {
    .name = "objective status",
    .op = &op_objective_status,
    .words = id,
};
