/* `graph`: objectives, threads, and who reads whom. */
#include "front/cli/command.h"

extern const struct operation op_thread_graph;

const struct command cmd_graph = { .name = "graph", .op = &op_thread_graph };
