/* `agent add`, `agent list`, `agent set`, `agent remove`: who works here, and what each may do. */
#include "front/cli/command.h"

extern const struct operation op_agent_add, op_agent_list, op_agent_set, op_agent_remove;

static const struct cli_word words[] = { { "name", WORD_PLAIN }, { 0 } };

const struct command cmd_agent_add = {
    .name = "agent add",
    .synopsis = "NAME --kind human|model [--model P:ID] [--permissions A,B]",
    .op = &op_agent_add,
    .words = words,
};

const struct command cmd_agent_list = { .name = "agent list", .op = &op_agent_list };

const struct command cmd_agent_set = {
    .name = "agent set",
    .synopsis = "NAME [--model P:ID] [--permissions A,B]",
    .op = &op_agent_set,
    .words = words,
};

const struct command cmd_agent_remove = {
    .name = "agent remove",
    .op = &op_agent_remove,
    .words = words,
};
