/* `memo add | remove | list`, as the shell has them. */
#include "front/cli/command.h"

extern const struct operation op_memo_add, op_memo_remove, op_memo_list;

static const struct cli_word add_words[] = { { "text", WORD_STDIN }, { 0 } };
static const struct cli_word remove_words[] = { { "memo", WORD_STDIN }, { 0 } };

const struct command cmd_memo_add = { .name = "memo add", .op = &op_memo_add, .words = add_words };
const struct command cmd_memo_remove = { .name = "memo remove",
                                         .op = &op_memo_remove,
                                         .words = remove_words };
const struct command cmd_memo_list = { .name = "memo list", .op = &op_memo_list };
