/* `search`: nodes of every thread by their words. */
#include "front/cli/command.h"

extern const struct operation op_loom_search;

static const struct cli_word words[] = { { "query", WORD_PLAIN }, { 0 } };

const struct command cmd_search = {
    .name = "search",
    .synopsis = "QUERY [--thread T] [--max N]",
    .op = &op_loom_search,
    .words = words,
};
