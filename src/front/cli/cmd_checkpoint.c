/* `checkpoint` and `restore`: print a run as a signed token, and restore it from one. */
#include "front/cli/command.h"

extern const struct operation op_checkpoint_make, op_checkpoint_restore;

static const struct cli_word make_words[] = { { "thread", WORD_PLAIN }, { 0 } };
static const struct cli_word restore_words[] = { { "token", WORD_STDIN }, { 0 } };

const struct command cmd_checkpoint = {
    .name = "checkpoint",
    .op = &op_checkpoint_make,
    .words = make_words,
};

const struct command cmd_restore = {
    .name = "restore",
    .op = &op_checkpoint_restore,
    .words = restore_words,
};
