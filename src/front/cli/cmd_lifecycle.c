/* `lifecycle`, `transfer`, `inject`: steering a thread. */
#include "front/cli/command.h"

extern const struct operation op_thread_lifecycle, op_thread_transfer, op_thread_inject;

static const struct cli_word lifecycle_words[] = {
    { "thread", WORD_PLAIN },
    { "action", WORD_PLAIN },
    { 0 },
};
static const struct cli_word transfer_words[] = {
    { "thread", WORD_PLAIN },
    { "direction", WORD_OPTIONAL | WORD_EITHER },
    { 0 },
};
static const struct cli_word inject_words[] = {
    { "thread", WORD_PLAIN },
    { "content", WORD_OPTIONAL | WORD_EITHER | WORD_STDIN },
    { 0 },
};

const struct command cmd_lifecycle = {
    .name = "lifecycle",
    .op = &op_thread_lifecycle,
    .words = lifecycle_words,
};
const struct command cmd_transfer = {
    .name = "transfer",
    .synopsis = "T request_approval|delegate|handoff [--target human|agent|system] [--scope A,B] "
                "[--reason TEXT]",
    .op = &op_thread_transfer,
    .words = transfer_words,
};
const struct command cmd_inject = {
    .name = "inject",
    .synopsis = "T TEXT|- [--type WORD]",
    .op = &op_thread_inject,
    .words = inject_words,
};
