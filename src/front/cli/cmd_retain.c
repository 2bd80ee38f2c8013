/* `retain`: erase what is old and not in use. */
#include "front/cli/command.h"

extern const struct operation op_log_retain;

static const struct cli_word words[] = {
    { "keep_days", WORD_OPTION },
    { "thread", WORD_OPTION },
    { 0 },
};

const struct command cmd_retain = {
    .name = "retain",
    .synopsis = "--keep-days N [--thread T]… [--dry-run | --yes]",
    .op = &op_log_retain,
    .words = words,
};
