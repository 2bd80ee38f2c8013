/* `summarize`: make the summaries that a tree waits for. */
#include "front/cli/command.h"

extern const struct operation op_tree_summarize;

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };

const struct command cmd_summarize = {
    .name = "summarize",
    .synopsis = "T [--all]",
    .op = &op_tree_summarize,
    .words = words,
};
