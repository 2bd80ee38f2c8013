/* `init`: make a workspace. */
#include "front/cli/command.h"

extern const struct operation op_workspace_init;

const struct command cmd_init = { .name = "init", .op = &op_workspace_init };
