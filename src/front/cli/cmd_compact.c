/* `compact`: replace older messages by a summary, or undo that. */
#include "front/cli/command.h"

extern const struct operation op_compact;

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };

const struct command cmd_compact = {
    .name = "compact",
    .op = &op_compact,
    .words = words,
};
