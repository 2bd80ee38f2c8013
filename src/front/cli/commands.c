/* The table of commands, in the order of `heddle help`. A command lives in its cmd_ file. */
#include "front/cli/command.h"

#define COMMAND_TABLE(X)                                                                           \
    X(cmd_help)                                                                                    \
    X(cmd_completion)                                                                              \
    X(cmd_version)                                                                                 \
    X(cmd_config_schema)

#define X(name) extern const struct command name;
COMMAND_TABLE(X)
#undef X

const struct command *const commands[] = {
#define X(name) &name,
    COMMAND_TABLE(X)
#undef X
        NULL,
};
