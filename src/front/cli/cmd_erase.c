/* `erase`: removes content from the log for good. */
#include "front/cli/command.h"

extern const struct operation op_erase;

static const struct cli_word words[] = {
    { "thread", WORD_PLAIN },
    { "seqs", WORD_OPTIONAL | WORD_REST },
    { "find", WORD_OPTION | WORD_WHOLE },
    { 0 },
};

const struct command cmd_erase = {
    .name = "erase",
    .synopsis = "T [SEQ…] --reason R [--node ID] [--actor A] [--before TIME] [--find TEXT] "
                "[--with-derived | --leave-derived] [--dry-run]",
    .op = &op_erase,
    .words = words,
};
