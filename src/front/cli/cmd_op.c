/* `op replace | switch | fork`: operations on the context of a lane. */
#include "front/cli/command.h"

extern const struct operation op_op_replace, op_op_switch, op_op_fork;

static const struct cli_word replace_words[] = {
    { "thread", WORD_PLAIN },
    { "context", WORD_OPTION | WORD_FILE },
    { 0 },
};
static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };

const struct command cmd_op_replace = {
    .name = "op replace",
    .op = &op_op_replace,
    .words = replace_words,
};

const struct command cmd_op_switch = { .name = "op switch", .op = &op_op_switch, .words = words };

const struct command cmd_op_fork = { .name = "op fork", .op = &op_op_fork, .words = words };
